"""`tabgpu bench`: the whole suite in small sizes on the adapter here, a part of it, and what makes it fail."""

from __future__ import annotations

import json
import re

import pytest
from rich.console import Console

from tabgpu.host import bench

ROW = {
    "item": "sum",
    "shown": "sum(a)",
    "error": 0.5,
    "ms": 0.05,
    "min": 0.04,
    "max": 0.06,
    "launches": 2,
    "gbs": 50.0,
}


def test_every_item_is_right(command, tmp_path) -> None:
    done = command("bench", "--small", "--json", "figures/b.json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "figures" / "b.json").read_text())
    rows = {row["item"]: row for row in found["rows"]}
    assert found["name"] and found["tabgpu"] and found["pyodide"]
    assert {
        "start_import",
        "ceiling_copy",
        "matmul_256",
        "chain",
        "softmax",
        "sort",
        "adds_jit",
        "read_scalar",
    } <= set(rows)
    assert "adds_unfused" in rows and len(rows) == len(found["rows"])
    for name, row in rows.items():
        assert row["error"] <= 1, name
        assert name in done.stdout
        if "launches" in row:  # fewer would mean that operations were merged, which is not what is measured
            assert row["launches"] >= 1, name
    assert rows["adds_unfused"]["launches"] == 1000


def test_some_items(command) -> None:
    done = command("bench", "--small", "--items", "cumsum,read_scalar")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^ *(\w+) ", done.stdout, re.M)[2:] == ["cumsum", "read_scalar"]


def test_no_item_of_that_name(command) -> None:
    assert command("bench", "--small", "--items", "nowhere").returncode == 1


@pytest.mark.parametrize(
    ("row", "status"),
    [({}, 0), ({"error": 1.5}, 1), ({"error": float("nan")}, 1), ({"fail": "Traceback\nValueError: no"}, 1)],
)
def test_status(row, status) -> None:
    said: list[str] = []
    report = bench.Report(said.append, lambda stream, text: said.append(text), begins=True)
    line = json.dumps({"t": "row", **ROW, **row})
    for piece in ("hel", "lo\n\x1e" + line[:9], line[9:], "\n"):  # output comes in pieces
        report.output("stdout", piece)
    assert report.status() == status
    assert said[0] == "hello\n" and said[1].startswith("sum: ")
    with Console(record=True, width=160) as console:
        console.print(bench.table(report.rows))
    assert ("50 GB/s" in console.export_text()) == ("fail" not in row)


def test_nothing_measured_is_no_success() -> None:
    assert bench.Report(print, print, begins=False).status() == 1
