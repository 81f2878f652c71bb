"""`./build.sh wheel`: each way to install what it makes in Pyodide installs, imports and computes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT
from tabgpu.host import dist

PIPLITE = (
    "jupyterlite-pyodide-kernel==0.8.6",
    "c9e698420e7f95f156c09c1474898ee6727b35b1740b369cb5f5aaa59ea73d3f",
)

COMPUTE = """
import numpy as np, sys
assert "tabgpu" not in sys.modules
import tabgpu as tg
await tg.init()
x = np.arange(12, dtype=np.float32).reshape(3, 4)
got = await (tg.asarray(x) @ tg.asarray(x).T + 1).numpy()
assert np.array_equal(got, x @ x.T + 1), got
f"{tg.__file__} {tg.device().counters.launches > 0}"
"""
OPEN = """async ([install, compute, packages]) => {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", location.href).href);
  const py = await loadPyodide();
  const problems = [];
  await py.loadPackage(packages, { messageCallback() {}, errorCallback: (m) => problems.push(m) });
  if (problems.length) throw new Error(problems.join());
  await py.runPythonAsync(install);
  return await py.runPythonAsync(compute);
}"""


@pytest.fixture(scope="module")
def wheels() -> Path:
    """The dist/ folder, made anew by the command that a person would run."""
    done = subprocess.run(["./build.sh", "wheel"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "recipe of tabgpu" in done.stdout
    return ROOT / "dist"


@pytest.fixture
def site_folder(wheels: Path, pyodide: Path, tmp_path: Path) -> Path:
    """A site of static files: Pyodide with the lock of dist/, and the pure wheel under pypi/."""
    (tmp_path / "index.html").write_text("<!doctype html><title>install</title>")
    for folder in ("pyodide", "pypi"):
        (tmp_path / folder).mkdir()
    for file in (*pyodide.iterdir(), *wheels.glob("*-cp314-*.whl"), wheels / "pyodide-lock.json"):
        link = tmp_path / "pyodide" / file.name
        link.unlink(missing_ok=True)
        link.symlink_to(file)
    pure = next(wheels.glob("*-py3-none-any.whl"))
    (tmp_path / "pypi" / pure.name).write_bytes(pure.read_bytes())
    return tmp_path


def computes(chromium, url: str, install: str, packages: list[str]) -> str:
    page = chromium.new_page()
    try:
        page.goto(url)
        return page.evaluate(OPEN, [install, COMPUTE, packages])
    finally:
        page.close()


def test_the_wheel_holds_what_it_should(wheels) -> None:
    pure = zipfile.ZipFile(next(wheels.glob("*-py3-none-any.whl")))
    names = pure.namelist()
    assert "tabgpu/bridge.js" in names and "tabgpu/host/tab/runner.mjs" in names
    assert "tabgpu/kernels/packed.txt" in names and not [n for n in names if n.endswith(".wgsl")]
    compiled = zipfile.ZipFile(next(wheels.glob("*-cp314-none-any.whl"))).namelist()
    assert "tabgpu/array.pyc" in compiled and not [n for n in compiled if n.endswith(".py")]
    assert {n for n in names if n.endswith((".txt", ".js"))} <= set(compiled)


def test_load_package_by_name_takes_the_compiled_wheel(chromium, serve, site_folder) -> None:
    answer = computes(chromium, serve(site_folder).url + "/", "", ["tabgpu"])
    assert answer.endswith("tabgpu/__init__.pyc True")


def test_micropip_from_a_url(chromium, serve, site_folder) -> None:
    server = serve(site_folder, prefix="/sub/path/")
    wheel = next((site_folder / "pypi").glob("*.whl")).name
    install = f"import micropip; await micropip.install('{server.url}/sub/path/pypi/{wheel}')"
    answer = computes(chromium, server.url + "/sub/path/", install, ["micropip"])
    assert answer.endswith("tabgpu/__init__.py True")


def test_micropip_from_the_tabs_file_system(chromium, serve, site_folder) -> None:
    wheel = next((site_folder / "pypi").glob("*.whl")).name
    install = f"""
import micropip, pyodide.http
data = await (await pyodide.http.pyfetch("pypi/{wheel}")).bytes()
open("/tmp/{wheel}", "wb").write(data)
await micropip.install("emfs:/tmp/{wheel}")  # P14
"""
    answer = computes(chromium, serve(site_folder).url + "/", install, ["micropip"])
    assert answer.endswith("tabgpu/__init__.py True")


def test_piplite_as_in_jupyterlite(chromium, serve, site_folder) -> None:
    requirement, digest = PIPLITE
    with tempfile.TemporaryDirectory() as tmp:
        kernel = dist.pip_download(requirement, Path(tmp), [])
        dist.checked(kernel.name, kernel.read_bytes(), digest)
        with zipfile.ZipFile(kernel) as archive:
            member = next(n for n in archive.namelist() if "/pypi/piplite-" in n)
            piplite = Path(member).name
            (site_folder / "pypi" / piplite).write_bytes(archive.read(member))
    pure = next((site_folder / "pypi").glob("tabgpu-*.whl"))
    release = {
        "filename": pure.name,
        "url": f"./{pure.name}",
        "packagetype": "bdist_wheel",
        "python_version": "py3",
        "requires_python": ">=3.11",
        "yanked": False,
        "digests": {"sha256": hashlib.sha256(pure.read_bytes()).hexdigest()},
    }
    index = {"tabgpu": {"releases": {pure.name.split("-")[1]: [release]}}}
    (site_folder / "pypi" / "all.json").write_text(json.dumps(index))
    url = serve(site_folder).url
    install = f"""
import piplite
piplite.piplite._PIPLITE_URLS.append("{url}/pypi/all.json")
piplite.piplite._PIPLITE_DISABLE_PYPI = True
await piplite.install("tabgpu")
"""
    # The lock of dist/ would win over piplite's index: this site has Pyodide's own.
    lock = site_folder / "pyodide" / "pyodide-lock.json"
    lock.unlink()
    lock.symlink_to(ROOT / ".cache" / "pyodide" / "pyodide-lock.json")
    answer = computes(chromium, f"{url}/", install, ["micropip", f"{url}/pypi/{piplite}"])
    assert answer.endswith("tabgpu/__init__.py True")
