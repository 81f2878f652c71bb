"""tests/bench/peers with tabgpu and the plain WGSL: every kind of item is right, each operation really runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tabgpu.host import browser as host_browser
from tabgpu.host import wheel

PEERS = Path(__file__).resolve().parents[1] / "bench" / "peers"
ITEMS = (
    "mm256 chain1M sum_all_1024 sum_ax0_1024 sum_ax1_1024 argmax_1024 softmax_512 layernorm_512 cumsum_512 sort_16"
    " argsort_16 tiny1000 readback"
).split()


def found_browser() -> str:
    """The browser's path, looked for in a process of its own: another test here may have Playwright's loop running."""
    code = "from tabgpu.host import browser; print(browser.find_browser(None))"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_tabgpu_in_the_page_of_its_peers(tmp_path: Path, pyodide: Path) -> None:
    to = tmp_path / "dist" / "tabgpu"
    to.mkdir(parents=True)
    for file in pyodide.iterdir():
        if file.name.startswith("pyodide") or file.name == "python_stdlib.zip":
            shutil.copy(file, to)
    (to / wheel.wheel_name()).write_bytes(wheel.tab_wheel())
    (to / "wheels.json").write_text(json.dumps({"tabgpu": wheel.wheel_name()}))
    out = tmp_path / "bench.jsonl"
    adapter = "default" if host_browser.maybe_hardware() else "swiftshader"
    command = [
        sys.executable, str(PEERS / "run.py"), "--out", str(out), "--dist", str(tmp_path / "dist"), "--last=",
        "--items", ",".join(ITEMS), "--peers", "tabgpu,tabgpu+nofuse,tabgpu+jit,tabgpu+jit+nofuse,raw", "--reps", "2",
        "--target", "1", "--cell", "500", "--hang", "150", "--total", "220",
        "--chrome", found_browser(), "--", *host_browser.flags(adapter, []),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    cells = {}
    for line in out.read_text().splitlines():
        row = json.loads(line)
        if row["t"] == "cell":
            cells[row["item"], row["peer"]] = row
    for item in ITEMS:
        row = cells[item, "tabgpu"]
        assert "per_op_ms" in row and not row.get("wrong") and not row.get("gpuErrors"), (row, done.stdout)
        if item not in ("readback", "tiny1000"):
            assert row["launches_per_op"] >= 1, row
    assert cells["tiny1000", "tabgpu+nofuse"]["launches_per_op"] == 1000
    assert cells["tiny1000", "tabgpu+jit+nofuse"]["launches_per_op"] == 1000
    assert cells["tiny1000", "tabgpu+jit"]["launches_per_op"] < 1000
    assert "per_op_ms" in cells["chain1M", "raw"]
    report = [sys.executable, str(PEERS / "tools" / "report.py"), str(tmp_path), "--limits"]
    text = subprocess.run(report, capture_output=True, text=True, check=True).stdout
    assert "| sort_16 | **" in text and "Launches an operation below 1 (merged work): none." in text
