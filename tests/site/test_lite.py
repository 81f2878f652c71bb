"""README's cell in a real JupyterLite: its own kernel in its own worker, the wheel by `%pip install` from a URL."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from tabgpu.host import dist, wheel

LITE = ROOT / ".cache" / "lite"  # made by build.sh
KERNEL = ("numpy", "micropip", "packaging", "ipython", "jedi")  # what the kernel takes from Pyodide's lock
SETTINGS = {"pyodideUrl": "./pyodide/pyodide.mjs", "disablePyPIFallback": True}
LIMIT = 180_000  # ms for the cell; about 20 s on two quiet cores

OPEN = """async () => {
  const panel = await window.jupyterapp.commands.execute("notebook:create-new", { kernelName: "python" });
  await panel.context.ready;
  await panel.sessionContext.ready;
}"""
RUN = """(text) => {
  const { commands, shell } = window.jupyterapp;
  shell.currentWidget.content.activeCell.model.sharedModel.setSource(text);
  commands.execute("notebook:run-cell");
}"""


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built JupyterLite site that takes Pyodide and all packages from beside it."""
    assert (LITE / "bin" / "jupyter-lite").exists(), "no JupyterLite: run ./build.sh setup"
    folder = tmp_path_factory.mktemp("lite")
    (folder / "source").mkdir()
    (folder / "source" / "pypi").symlink_to(LITE / "pypi")
    settings = {"@jupyterlite/pyodide-kernel-extension:kernel": SETTINGS}
    config = {"exposeAppInBrowser": True, "litePluginSettings": settings}
    text = json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": config})
    (folder / "source" / "jupyter-lite.json").write_text(text)
    # Its state file lands in the working folder; one left over would make the build skip steps.
    line = [LITE / "bin" / "jupyter-lite", "build", "--lite-dir", "source", "--output-dir", "site"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_the_readme_cell_in_jupyterlite(lite, serve, chromium) -> None:
    dist.ensure(ROOT / ".cache" / "pyodide", KERNEL, note=print)
    server = serve(lite)
    readme = (ROOT / "README.md").read_text()
    cell = re.search(r"^```python\n(.*?)\n```", readme, re.MULTILINE | re.DOTALL)[1]
    local = re.sub(r"https://\S+\.whl", f"{server.url}/wheels/{wheel.wheel_name()}", cell, count=1)
    assert local != cell
    page = chromium.new_page()
    page.set_default_timeout(LIMIT)
    away: list[str] = []
    errors: list[str] = []  # a package that the kernel misses shows only here
    page.on("request", lambda r: r.url.startswith((server.url, "blob:", "data:")) or away.append(r.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        page.goto(server.url + "/lab/index.html")
        page.wait_for_function("window.jupyterapp?.commands.hasCommand('notebook:create-new')")
        page.evaluate("() => window.jupyterapp.restored")
        page.evaluate(OPEN)
        page.evaluate(RUN, local)
        prompt = "document.querySelector('.jp-Notebook .jp-CodeCell .jp-InputPrompt')?.textContent ?? ''"
        page.wait_for_function(f"/^\\[\\d+\\]/.test({prompt})")
        said = page.inner_text(".jp-Notebook .jp-CodeCell .jp-OutputArea")
    except Exception:
        print(*errors, sep="\n")
        raise
    finally:
        page.close()
    assert said.strip().splitlines() == re.findall(r"# prints (.+)$", cell, re.MULTILINE)
    assert not away  # nothing from PyPI or a CDN
