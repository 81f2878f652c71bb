#!/usr/bin/env python3
"""Makes dist/, which the page loads: the peers' own builds from npm and PyPI, Pyodide, tabgpu's wheel, ONNX models.

    .venv/bin/python tests/bench/peers/tools/make_dist.py [--wheel]

Needs npm, pip and the network. Versions are pinned in package.json and here; --wheel makes only tabgpu's wheel anew.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[2]
CACHE = ROOT / ".cache"
DIST = HERE / "dist"
ONNX = ("onnx==1.23.2", "protobuf==7.36.2", "ml_dtypes==0.6.0")
PYBORCH = "pyborch==1.14.1"
OLD = "0.27.7"  # the Pyodide that pyborch is made for; NumPy, the peer, runs in both

sys.path.insert(0, str(ROOT / "pkg"))
import tabgpu_command  # noqa: E402

tabgpu_command.without_core()
from tabgpu.host import dist, pins, wheel  # noqa: E402


def note(text: str) -> None:
    print(text, flush=True)


def pip(*args: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *args], check=True)


def copy(files: list[Path], to: str) -> None:
    (DIST / to).mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copy(file, DIST / to / file.name)


def from_npm() -> None:
    modules = HERE / "node_modules"
    if not modules.is_dir():
        npm = shutil.which("npm")
        assert npm, "needs npm"
        subprocess.run([npm, "ci", "--ignore-scripts", "--no-fund", "--no-audit"], cwd=HERE, check=True)
    tf = modules / "@tensorflow"
    copy([tf / "tfjs/dist/tf.min.js", tf / "tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js"], "tfjs")
    ort = modules / "onnxruntime-web" / "dist"
    for kind, name in (("webgpu", "asyncify"), ("jspi", "jspi")):
        loader = [ort / f"ort-wasm-simd-threaded.{name}.{end}" for end in ("mjs", "wasm")]
        copy([ort / f"ort.{kind}.bundle.min.mjs", *loader], "ort")
    copy(list((modules / "@jax-js/jax/dist").glob("*.js")), "jaxjs")


def pyodide(version: str, to: str) -> None:
    """The files of a Pyodide release that a page loads, with its NumPy."""
    folder = CACHE / ("pyodide" if version == pins.PYODIDE else f"pyodide-{version}")
    npm = ROOT / "node_modules" / "pyodide"
    dist.ensure(
        folder,
        ["numpy"],
        version=version,
        npm=npm if version == pins.PYODIDE and npm.is_dir() else None,
        note=note,
    )
    core = [f for f in folder.iterdir() if f.name.startswith("pyodide") or f.name == "python_stdlib.zip"]
    copy([*core, *folder.glob("numpy-*.whl")], to)


def tabgpu_wheel() -> None:
    """tabgpu as it is in this tree; wheels.json names it and NumPy's wheel."""
    to = DIST / "tabgpu"
    to.mkdir(parents=True, exist_ok=True)
    (to / wheel.wheel_name()).write_bytes(wheel.tab_wheel())
    names = {"tabgpu": wheel.wheel_name(), "numpy": next((f.name for f in to.glob("numpy-*.whl")), None)}
    (to / "wheels.json").write_text(json.dumps(names), encoding="utf-8")


def models() -> None:
    library = CACHE / "peers" / "onnx"
    if not (library / "onnx").is_dir():
        pip("install", "--target", str(library), *ONNX)
    command = [sys.executable, str(HERE / "tools" / "make_models.py"), str(DIST / "models")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(library)})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheel", action="store_true", help="only tabgpu's wheel")
    if not parser.parse_args().wheel:
        shutil.rmtree(DIST, ignore_errors=True)
        from_npm()
        pyodide(OLD, "pyodide")
        pyodide(pins.PYODIDE, "tabgpu")
        pip("download", "--no-deps", "-d", str(DIST / "pyborch"), PYBORCH)
        models()
    tabgpu_wheel()
    print(f"{sum(f.stat().st_size for f in DIST.rglob('*') if f.is_file()) / 1e6:.0f} MB in {DIST}")


if __name__ == "__main__":
    main()
