"""Brings other packages into the tab: their wheels, and whatever their metadata requires.

Dependencies that Pyodide's lock has are loaded from the distribution; others must be pure and come from PyPI. One
version is chosen per name; what does not fit is an error that names the requirements.
"""

from __future__ import annotations

import email.parser
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
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
    """File name and bytes of a wheel file, of the wheel built from a project folder, or of NAME==VERSION."""
    path = Path(item)
    if not path.exists():
        return from_pypi(item)
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


def from_pypi(requirement: str) -> tuple[str, bytes]:
    """A pure wheel from PyPI."""
    try:
        Requirement(requirement)
    except InvalidRequirement as e:
        raise HostError(f"--with {requirement}: neither a file, a folder nor a requirement") from e
    with tempfile.TemporaryDirectory() as tmp:
        file = dist.pip_download(requirement, Path(tmp), dist.PURE_ARGS)
        return file.name, file.read_bytes()


def requirements(data: bytes) -> list[Requirement]:
    """What a wheel requires in the tab."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = next((n for n in archive.namelist() if n.endswith(".dist-info/METADATA")), None)
        if name is None:  # a library or a test suite of Pyodide's lock, not a wheel
            return []
        metadata = email.parser.HeaderParser().parsestr(archive.read(name).decode())
    found = [Requirement(r) for r in metadata.get_all("Requires-Dist") or []]
    return [r for r in found if r.marker is None or r.marker.evaluate(dict(TAB_ENVIRONMENT))]


class Resolver:
    """Chooses one version per name; a later, narrower requirement may replace a choice, but never what --with named."""

    def __init__(self, lock: dict[str, str], get: Callable[[str], bytes]) -> None:
        self.lock, self.get = lock, get
        self.fixed: dict[str, tuple[Version, str]] = {"tabgpu": (Version(wheel.version()), "this tabgpu")}
        self.chosen: dict[str, Version] = {}
        self.wanted: dict[str, list[tuple[Requirement, str]]] = {}
        self.wheels: dict[str, tuple[str, bytes]] = {}  # by name; the lock gives the other chosen ones
        self.todo: list[tuple[Requirement, str]] = []

    def add(self, item: str) -> None:
        """A wheel, folder or requirement of --with."""
        file, data = wheel_of(item)
        project, version = file.split("-")[:2]
        name = canonicalize_name(project)
        if name != "tabgpu":  # the tab has this tabgpu already
            self.fixed[name] = (Version(version), f"--with {item}")
            self.wheels[name] = file, data
            self.todo += [(r, file) for r in requirements(data)]

    def run(self) -> None:
        while self.todo:
            need, by = self.todo.pop()
            name = canonicalize_name(need.name)
            self.wanted.setdefault(name, []).append((need, by))
            if name in self.fixed:
                version, why = self.fixed[name]
                if not need.specifier.contains(version, prereleases=True):
                    raise HostError(f"{by} requires {need}, but {name} {version} is given by {why}")
            elif name not in self.chosen or not need.specifier.contains(self.chosen[name], prereleases=True):
                self._choose(name)

    def _choose(self, name: str) -> None:
        """The version of the lock if it fits all that is known, otherwise the newest pure one of PyPI that does."""
        specifier = SpecifierSet()
        for need, _ in self.wanted[name]:
            specifier &= need.specifier
        self.wheels.pop(name, None)
        if name in self.lock and specifier.contains(self.lock[name], prereleases=True):
            self.chosen[name] = Version(self.lock[name])
            # The lock's own lists leave out what it does not have.
            self.todo += [(r, f"{name} {self.lock[name]}") for r in requirements(self.get(name))]
            return
        try:
            file, data = from_pypi(f"{name}{specifier}")
        except HostError as e:
            users = ", ".join(f"{by} ({need})" for need, by in self.wanted[name])
            raise HostError(f"{e}\nneeded by {users}") from e
        self.chosen[name] = Version(file.split("-")[1])
        self.wheels[name] = file, data
        self.todo += [(r, file) for r in requirements(data)]


def resolve(
    items: Iterable[str], folder: Path, add: Callable[[str], object]
) -> tuple[list[str], dict[str, bytes]]:
    """(names to load from the distribution, {file name: wheel}) for what --with names.

    `add(name)` puts a package of the lock into the folder, if that may be changed.
    """

    def get(name: str) -> bytes:
        add(name)
        packages = json.loads((folder / "pyodide-lock.json").read_bytes())["packages"]
        return (folder / str(packages[name]["file_name"])).read_bytes()

    resolver = Resolver(lock_versions(folder), get)
    for item in items:
        resolver.add(item)
    resolver.run()
    names = [name for name in resolver.chosen if name not in resolver.wheels]
    return names, dict(resolver.wheels.values())
