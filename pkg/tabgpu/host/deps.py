"""Brings other packages into the tab: their wheels, and whatever their metadata requires.

Dependencies that Pyodide's lock has are loaded from the distribution; others must be pure and come from PyPI. One
version is chosen per name, without backtracking: what does not fit is an error that names both requirements.
"""

from __future__ import annotations

import email.parser
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tabgpu.host import dist, pins, wheel
from tabgpu.host.errors import HostError

TAB_ENVIRONMENT = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "wasm32",
    "platform_python_implementation": "CPython",
    "platform_system": "Emscripten",
    "python_full_version": f"{pins.PYTHON}.0",
    "python_version": pins.PYTHON,
    "sys_platform": "emscripten",
    "extra": "",
}


def lock_versions(folder: Path) -> dict[str, str]:
    """Name -> version of every package that Pyodide's lock can give, already in the folder or not."""
    published = folder / "published-lock.json"
    file = published if published.is_file() else folder / "pyodide-lock.json"
    packages = json.loads(file.read_text(encoding="utf-8"))["packages"]
    versions = {dist.normal(n): str(e["version"]) for n, e in packages.items()}
    if published.is_file():
        versions |= {name: pin.version for name, pin in pins.PURE.items()}
    return versions


def wheel_of(item: str) -> tuple[str, bytes]:
    """File name and bytes of a wheel file, or of the wheel built from a project folder."""
    path = Path(item)
    if path.suffix == ".whl" and path.is_file():
        if not path.stem.endswith("-any"):
            raise HostError(
                f"{path.name} is a compiled wheel for another system; the tab can install pure ones only"
            )
        return path.name, path.read_bytes()
    if not (path / "pyproject.toml").is_file() and not (path / "setup.py").is_file():
        raise HostError(f"--with {item}: neither a wheel nor a folder with a pyproject.toml")
    with tempfile.TemporaryDirectory() as tmp:
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--disable-pip-version-check", "-q"]
        done = subprocess.run(
            [*command, "-w", tmp, str(path)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if done.returncode != 0:
            raise HostError(f"pip could not build {item}:\n{done.stdout}{done.stderr}")
        built = next(Path(tmp).glob("*.whl"))
        return wheel_of(str(built))


def requirements(data: bytes) -> list[Requirement]:
    """What a wheel requires in the tab."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = email.parser.HeaderParser().parsestr(archive.read(name).decode())
    found = [Requirement(r) for r in metadata.get_all("Requires-Dist") or []]
    return [r for r in found if r.marker is None or r.marker.evaluate(dict(TAB_ENVIRONMENT))]


def resolve(items: Iterable[str], folder: Path) -> tuple[list[str], dict[str, bytes]]:
    """(names to load from the distribution, {file name: wheel}) for the wheels and folders given with --with."""
    lock = lock_versions(folder)
    chosen: dict[str, tuple[Version, str]] = {"tabgpu": (Version(wheel.version()), "this tabgpu")}
    names: list[str] = []
    wheels: dict[str, bytes] = {}
    todo: list[tuple[Requirement, str]] = []

    def take(name: str, data: bytes, why: str) -> None:
        project, version = name.split("-")[:2]
        chosen[canonicalize_name(project)] = (Version(version), why)
        wheels[name] = data
        todo.extend((r, name) for r in requirements(data))

    for item in items:
        name, data = wheel_of(item)
        if canonicalize_name(name.split("-")[0]) != "tabgpu":  # the tab has this tabgpu already
            take(name, data, f"--with {item}")
    while todo:
        need, by = todo.pop()
        name = canonicalize_name(need.name)
        if name in chosen:
            version, why = chosen[name]
            if not need.specifier.contains(version, prereleases=True):
                raise HostError(f"{by} requires {need}, but {name} {version} is chosen (by {why})")
        elif name in lock and need.specifier.contains(lock[name], prereleases=True):
            chosen[name] = (Version(lock[name]), f"{by}, from Pyodide's lock")
            names.append(name)
        else:
            with tempfile.TemporaryDirectory() as tmp:
                file = dist.pip_download(f"{need.name}{need.specifier}", Path(tmp), dist.PURE_ARGS)
                take(file.name, file.read_bytes(), by)
    return names, wheels
