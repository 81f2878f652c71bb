"""Long graphs, loss and concurrent reads in a Web Worker: tests of the tab, run there."""

from __future__ import annotations

import subprocess
import sys

from conftest import LIMIT, ROOT


def test_the_device_in_a_worker(pyodide) -> None:
    line = [sys.executable, "-m", "tabgpu_command", "test", "--worker", "--pyodide", str(pyodide), "-q"]
    names = "20000 or loss_with_a_read or concurrent or twenty_gathered or view_reads_only"
    paths = ["tests/browser/test_device.py", "tests/browser/test_async.py"]
    done = subprocess.run(
        [*line, *paths, "-k", names], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
