"""Builds the JupyterLite site: `python web/lite/build.py OUT`. Everything comes from packages; nothing is committed.

OUT is a static site: JupyterLite, the notebooks and their data, Pyodide with the packages they use, tabgpu's wheel.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "pkg"))

import tabgpu_command  # noqa: E402

tabgpu_command.without_core()

from tabgpu.host import dist, wheel  # noqa: E402

HERE = Path(__file__).parent
PYODIDE = ROOT / ".cache" / "pyodide"
LITE = ROOT / ".cache" / "lite"  # made by build.sh
EXAMPLES = ROOT / "web" / "examples"
DATA = "digits.csv.gz", "flower.png", "guitar.wav"
MODULES = "pca.py", "denoise.py", "spectrogram.py", "option_price.py"  # notebooks import what the page does
# What the kernel loads, and what the notebooks draw with.
PACKAGES = ("numpy", "micropip", "packaging", "ipython", "jedi", "matplotlib")
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
PHOTO = "sklearn/datasets/images/china.jpg"  # in scikit-learn's wheel; its licence: README.md
TIME = "2026-01-01T00:00:00Z"  # of all files in the listing: the same sources give the same site


def contents() -> dict[str, bytes]:
    """Name -> content of the files that JupyterLab's file browser shows."""
    dist.ensure(PYODIDE, ["scikit-learn"], note=print)
    packages = json.loads((PYODIDE / "pyodide-lock.json").read_bytes())["packages"]
    with zipfile.ZipFile(PYODIDE / packages["scikit-learn"]["file_name"]) as archive:
        photo = archive.read(PHOTO)
    files = {path.name: path.read_bytes() for path in sorted(HERE.glob("*.ipynb"))}
    return {
        **files,
        "china.jpg": photo,
        **{name: (EXAMPLES / "data" / name).read_bytes() for name in DATA},
        **{name: (EXAMPLES / "science" / name).read_bytes() for name in MODULES},
        "README.md": (HERE / "README.md").read_bytes(),
    }


def listing(files: dict[str, bytes]) -> dict[str, object]:
    """The answer of Jupyter's contents API for the top folder. (jupyter_server would make it, with 40 dependencies.)"""
    common = {"created": TIME, "last_modified": TIME, "mimetype": None, "writable": True}
    of_file = {**common, "content": None, "format": None}
    entries = [
        {
            **of_file, "name": name, "path": name, "size": len(data),
            "type": "notebook" if name.endswith(".ipynb") else "file",
        }
        for name, data in files.items()
    ]  # fmt: skip
    return {
        **common,
        "name": "",
        "path": "",
        "size": None,
        "type": "directory",
        "format": "json",
        "content": entries,
    }


def add_contents(site: Path) -> None:
    """The notebooks and their data, where JupyterLite looks for them."""
    files = contents()
    (site / "files").mkdir(exist_ok=True)
    for name, data in files.items():
        (site / "files" / name).write_bytes(data)
    api = site / "api" / "contents"
    api.mkdir(parents=True, exist_ok=True)
    (api / "all.json").write_text(json.dumps(listing(files)))


def add_pyodide(site: Path) -> None:
    """Pyodide with the packages that are used here, and no others."""
    dist.ensure(PYODIDE, PACKAGES, note=print)
    lock = json.loads((PYODIDE / "pyodide-lock.json").read_bytes())
    wanted: set[str] = set()
    todo = list(PACKAGES)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += lock["packages"][name]["depends"]
    lock["packages"] = {name: lock["packages"][name] for name in sorted(wanted)}
    folder = site / "pyodide"
    folder.mkdir()
    for name in (*CORE, *[entry["file_name"] for entry in lock["packages"].values()]):
        shutil.copyfile(PYODIDE / name, folder / name)
    (folder / "pyodide-lock.json").write_text(json.dumps(lock, indent=1))


def build(out: Path) -> None:
    """Make the site beside `out` and put it into its place."""
    command = LITE / "bin" / "jupyter-lite"
    if not command.exists():
        raise SystemExit("no JupyterLite: ./build.sh lite prepares it")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as tmp:
        source, site = Path(tmp, "source"), Path(tmp, "site")
        (source / "pypi").mkdir(parents=True)
        shutil.copyfile(HERE / "jupyter-lite.json", source / "jupyter-lite.json")
        for file in (LITE / "pypi").glob("*.whl"):
            shutil.copyfile(file, source / "pypi" / file.name)
        (source / "pypi" / wheel.wheel_name()).write_bytes(wheel.tab_wheel())
        # Its state file lands in the working folder; one left over would make the build skip steps.
        line = [str(command), "build", "--lite-dir", "source", "--output-dir", "site"]
        done = subprocess.run(line, cwd=tmp, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(f"jupyter lite build failed:\n{done.stdout}{done.stderr}")
        add_contents(site)
        add_pyodide(site)
        shutil.rmtree(out, ignore_errors=True)
        site.replace(out)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
