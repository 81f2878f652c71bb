"""The JupyterLite of web/lite: README's cell and the notebooks, each run to its end in a worker of its own.

Each shows figures, whose pixels are looked at, and no request leaves the machine.
"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pictures
from conftest import ROOT
from tabgpu.host import wheel

LIMIT = 180_000  # ms for a notebook; about 20 s on two quiet cores

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
OPEN_FILE = """async (path) => {
  const panel = await window.jupyterapp.commands.execute("docmanager:open", { path });
  await panel.context.ready;
  await panel.sessionContext.ready;
  window.notebook = panel;
}"""
# Its promise ends with the last cell, or with the first that raises.
RUN_ALL = """() => {
  window.done = false;
  window.jupyterapp.commands.execute("notebook:run-all-cells").finally(() => (window.done = true));
}"""
CLOSE = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.sessionContext.shutdown();
  panel.dispose();
}"""
OUTPUTS = """() => [...window.notebook.content.model.cells]
  .filter((cell) => cell.type === "code").map((cell) => cell.toJSON().outputs)"""


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site."""
    site = tmp_path_factory.mktemp("lite") / "site"
    line = [sys.executable, ROOT / "web" / "lite" / "build.py", site]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return site


class Lab:
    """A page with JupyterLab, what it asked of other hosts, and what went wrong."""

    def __init__(self, page, url: str) -> None:
        self.page, self.url, self.away, self.errors = page, url, [], []
        page.set_default_timeout(LIMIT)
        page.on("request", lambda r: r.url.startswith((url, "blob:", "data:")) or self.away.append(r.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))  # a package that the kernel misses
        page.goto(url + "/lab/index.html")
        page.wait_for_function("window.jupyterapp?.commands.hasCommand('notebook:run-all-cells')")
        page.evaluate("() => window.jupyterapp.restored")


@pytest.fixture(scope="module")
def opened(lite, serve, chromium):
    """One page for all tests; each opens a notebook of its own."""
    context = chromium.new_context(viewport={"width": 1200, "height": 1000})
    yield Lab(context.new_page(), serve(lite).url)
    context.close()


@pytest.fixture
def lab(opened):
    """The page; afterwards its notebook and kernel are gone, and nothing was asked of PyPI or a CDN."""
    yield opened
    print(*opened.errors, sep="\n")
    opened.page.evaluate(CLOSE)
    assert not opened.away


def test_the_readme_cell_in_jupyterlite(lab) -> None:
    readme = (ROOT / "README.md").read_text()
    cell = re.search(r"^```python\n(.*?)\n```", readme, re.MULTILINE | re.DOTALL)[1]
    local = re.sub(r"https://\S+\.whl", f"{lab.url}/pypi/{wheel.wheel_name()}", cell, count=1)
    assert local != cell
    lab.page.evaluate(OPEN)
    lab.page.evaluate(RUN, local)
    prompt = "document.querySelector('.jp-Notebook .jp-CodeCell .jp-InputPrompt')?.textContent ?? ''"
    lab.page.wait_for_function(f"/^\\[\\d+\\]/.test({prompt})")
    said = lab.page.inner_text(".jp-Notebook .jp-CodeCell .jp-OutputArea")
    assert said.strip().splitlines() == re.findall(r"# prints (.+)$", cell, re.MULTILINE)


def run(lab: Lab, name: str, many: int = 1) -> tuple[str, list[list[bytes]], ...]:
    """Run a notebook: (all that it printed, the rows of RGB pixels of each of its figures)."""
    lab.page.evaluate(OPEN_FILE, name)
    lab.page.evaluate(RUN_ALL)
    lab.page.wait_for_function("window.done")
    cells = lab.page.evaluate(OUTPUTS)
    outputs = [output for cell in cells for output in cell]
    text = "".join("".join(o["text"]) for o in outputs if o["output_type"] == "stream")
    for o in outputs:
        assert o["output_type"] != "error", f"{text}\n{o['ename']}: {o['evalue']}"
        assert o.get("name") != "stderr", o["text"]
    figures = [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {})]
    assert len(figures) == many, text
    return text, *[pixels(base64.b64decode(figure)) for figure in figures]


def pixels(png: bytes) -> list[list[bytes]]:
    """The rows of an RGBA PNG, without the alpha."""
    return [[bytes(p) for p in row] for row in pictures.decode(png)[..., :3]]


def share(rows: list[list[bytes]], what) -> float:
    """The share of pixels for which what(r, g, b) holds."""
    return sum(what(*p) for row in rows for p in row) / sum(map(len, rows))


def test_first_steps(lab) -> None:
    said, figure = run(lab, "first-steps.ipynb")
    assert "(500,) tabgpu.float32 webgpu" in said
    assert re.search(r"greatest value 0\.9\d+, at position 19;", said)
    assert float(re.search(r"largest difference to NumPy: (\S+)", said)[1]) < 1e-5
    assert 22.5 < float(re.search(r"([\d.]+)% of the numbers never ran away", said)[1]) < 24.0
    # The axes' share of the figure times the set's share of the axes; the rest of the axes is nearly black.
    assert 0.08 < share(figure, lambda r, g, b: r > 240 and g > 240 and 170 < b < 210) < 0.2
    assert share(figure, lambda r, g, b: r + g + b < 150) > 0.3


def test_image_filters(lab) -> None:
    said, figure = run(lab, "image-filters.ipynb")
    assert "(427, 640, 3) uint8" in said
    differences = re.findall(r"(\w+): largest difference (\S+)", said)
    assert [name for name, _ in differences] == ["blurred", "edges", "sharpened"]
    assert all(float(d) < 5e-6 for _, d in differences)
    height, width = len(figure), len(figure[0])
    quarter = [
        [row[left : left + width // 2] for row in figure[top : top + height // 2]]
        for top in (0, height // 2)
        for left in (0, width // 2)
    ]
    photo, blurred, edges, sharpened = ([p for row in q for p in row] for q in quarter)
    assert len(set(photo)) > 5000  # a photograph in colours
    assert all(len({*p}) == 1 for q in (blurred, edges, sharpened) for p in q)
    assert share([edges], lambda r, g, b: r < 60) > 0.6  # mostly black
    assert rough(quarter[1]) < 0.4 * rough(quarter[3])  # a blur is smooth


def rough(rows: list[list[bytes]]) -> float:
    """The mean difference of neighbours in the middle of a picture."""
    inner = [row[len(row) // 8 : -len(row) // 8] for row in rows[len(rows) // 4 : -len(rows) // 4]]
    steps = [abs(p[0] - q[0]) for row in inner for p, q in zip(row, row[1:], strict=False)]
    return sum(steps) / len(steps)


def test_nearest_neighbours(lab) -> None:
    said, figure = run(lab, "nearest-neighbours.ipynb")
    assert "(1200, 64) (597, 64)" in said
    assert float(re.search(r"([\d.]+)% of 597 digits", said)[1]) > 95
    assert "largest difference of a distance: 0.0" in said
    assert "equal predictions: 1.0" in said
    height, width = len(figure), len(figure[0])
    # The digits to be read are blue, their neighbours grey.
    first = [row[: width // 6] for row in figure[height // 12 :]]
    others = [row[width // 5 :] for row in figure[height // 12 :]]
    assert share(first, lambda r, g, b: b > r + 20) > 0.1
    assert share(others, lambda r, g, b: b > r + 20) == 0
    assert share(others, lambda r, g, b: r < 50) > 0.05


def test_components_and_chance(lab) -> None:
    said, digits, option = run(lab, "components-and-chance.ipynb", 2)
    assert "2 components explain 28.5% of the variance, 8 explain 67.4%, 32 96.6%" in said
    assert "restored from 8 scores: 2.47" in said
    assert float(re.search(r"of what is explained: (\S+)", said)[1]) < 1e-5
    assert float(re.search(r"directions and NumPy's: (\S+)", said)[1]) > 0.9999
    price, half, exact = map(float, re.search(r"simulated: (\S+) \+- (\S+) .*formula: (\S+)", said).groups())
    assert exact == 7.128 and abs(price - exact) < 2 * half < 0.06
    left, right = ([row[: len(row) // 2] for row in digits], [row[len(row) // 2 :] for row in digits])
    for here in (left, right):  # components; points of ten colours
        assert (
            share(here, lambda r, g, b: b > r + 60) > 0.004
            and share(here, lambda r, g, b: r > b + 60) > 0.004
        )
    assert share(option, lambda r, g, b: b > r + 100) > 0.01  # lines in blue
    assert share(option, lambda r, g, b: r > b + 150) > 0.001  # and orange


def test_photo_and_sound(lab) -> None:
    said, photo, sound = run(lab, "photo-and-sound.ipynb", 2)
    decibels = [float(d) for d in re.findall(r"([\d.]+) dB$", said, re.MULTILINE)]
    assert decibels == pytest.approx([20.9, 28.8, 27.1, 31.1], abs=0.2)
    assert float(re.search(r"largest difference: (\S+) of a decibel", said)[1]) < 1e-3
    assert "155,773 samples, 3.53 s" in said
    assert [int(hertz) for hertz in re.findall(r"after \S+ s: (\d+) Hz", said)] == [668, 495, 495]
    height, width = len(photo) // 2, len(photo[0]) // 2
    noisy, best = [row[:width] for row in photo[:height]], [row[width:] for row in photo[height:]]
    assert share(best, lambda r, g, b: r > b + 60) > 0.1  # the flower
    assert rough(best) < 0.6 * rough(noisy)
    assert (
        share(sound, lambda r, g, b: r + g + b < 120) > 0.3
        and share(sound, lambda r, g, b: r > b + 60) > 0.02
    )
