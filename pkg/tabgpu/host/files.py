"""Which of the host's files the tab gets, at the same relative paths, and where the tab's files go on the host."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tabgpu.host.errors import HostError

SKIP_DIRS = {"node_modules", "__pycache__", "build", "dist", "out", "venv", "env"}
MAX_FILE = 32 << 20
CONFIG_NAMES = ("pyproject.toml", "pytest.toml", "pytest.ini", "tox.ini", "setup.cfg", "conftest.py")


def tree(folder: Path) -> list[Path]:
    """The files below a folder, without hidden and generated folders and without very large files."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if path.name not in SKIP_DIRS and not path.name.endswith(".egg-info"):
                found += tree(path)
        elif path.is_file() and path.stat().st_size <= MAX_FILE:
            found.append(path)
    return found


def gather(root: Path, paths: Iterable[Path]) -> dict[str, bytes]:
    """Files and whole folders as {path relative to root: content}; all must lie below root."""
    files: dict[str, bytes] = {}
    for path in paths:
        path = path.resolve()
        if not path.exists():
            raise HostError(f"no such file or folder: {path}")
        for file in tree(path) if path.is_dir() else [path]:
            if not file.is_relative_to(root):
                raise HostError(f"{file} is outside {root}: start tabgpu from a folder that holds both")
            files[file.relative_to(root).as_posix()] = file.read_bytes()
    return files


def script_files(script: Path, extra: Iterable[Path]) -> tuple[str, dict[str, bytes]]:
    """The script's path in the tab, and the files to copy: its own folder and the extra ones."""
    root, script = Path.cwd().resolve(), script.resolve()
    if not script.is_file():
        raise HostError(f"no such script: {script}")
    if not script.is_relative_to(root):
        root = script.parent
    # The whole of a working directory may be anything (a home folder); there only the script's neighbours go along.
    near = [p for p in script.parent.iterdir() if p.is_file() and not p.name.startswith(".")]
    folder = [script.parent] if script.parent != root else [p for p in near if p.stat().st_size <= MAX_FILE]
    return script.relative_to(root).as_posix(), gather(root, [script, *folder, *extra])


def test_files(args: Iterable[str], extra: Iterable[Path]) -> dict[str, bytes]:
    """The files that pytest needs for these arguments: the named tests with their folders, and the configuration.

    Without a path among the arguments the whole working directory goes along, as pytest would search it.
    """
    root = Path.cwd().resolve()
    named = [Path(a.split("::")[0]) for a in args if not a.startswith("-")]
    named = [p.resolve() for p in named if p.exists()]
    if not named:
        return gather(root, [root, *extra])
    paths: list[Path] = list(extra)
    for path in named:
        folder = path if path.is_dir() else path.parent
        if not folder.is_relative_to(root):
            raise HostError(f"{path} is outside {root}: start tabgpu from a folder that holds it")
        paths += [path, folder] if folder != root else [path]
        for parent in (folder, *folder.parents):
            paths += [parent / n for n in CONFIG_NAMES if (parent / n).is_file()]
            if parent == root:
                break
    return gather(root, paths)


def save(out: dict[str, bytes], folder: Path) -> list[Path]:
    """Write what the tab left under /out below a host folder; never outside it."""
    written = []
    for name, data in sorted(out.items()):
        target = (folder / name).resolve()
        if not target.is_relative_to(folder.resolve()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        written.append(folder / name)
    return written
