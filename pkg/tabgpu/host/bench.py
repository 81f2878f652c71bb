"""`tabgpu bench`: what the suite in the tab (tab/suite.py) reports, as progress, as a table and as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tabgpu.host import pins

SUITE = Path(__file__).resolve().parent / "tab" / "suite.py"
# The tab's script. Not in a file: what compiles the files of a wheel takes no `await` outside of functions.
START = b"""\
import time
times = [time.perf_counter()]
import tabgpu as tg
times.append(time.perf_counter())
await tg.init()
times.append(time.perf_counter())
import suite
suite.IMPORTING, suite.OPENING = times[1] - times[0], times[2] - times[1]
await suite.main()
"""
MARK = "\x1e"  # before each line of JSON
Row = dict[str, Any]


class Report:
    """Collects the suite's lines; `output` takes what the tab prints, in pieces as they come."""

    def __init__(self, say: Callable[[str], None], other: Callable[[str, str], None], begins: bool) -> None:
        """say: told of each figure and, if `begins`, of each item that is begun. other: takes all other output."""
        self.say, self.other, self.begins = say, other, begins
        self.rows: list[Row] = []
        self.device: Row = {}
        self._rest = ""

    def output(self, stream: str, text: str) -> None:
        if stream != "stdout":
            self.other(stream, text)
            return
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if line.startswith(MARK):
                self._line(json.loads(line[1:]))
            else:
                self.other(stream, line + "\n")

    def _line(self, line: Row) -> None:
        kind = line.pop("t")
        if kind == "begin":
            if self.begins:
                self.say(f"measuring {line['item']} ...")
        elif kind == "device":
            self.device = line
            self.say(f"adapter: {line['name']}{', a CPU' if line['software'] else ''}")
        else:
            self.rows.append(line)
            self.say(brief(line))

    def status(self) -> int:
        """1 if a result was wrong or an item failed, or if there is none."""
        return 1 if not self.rows or any(verdict(row) for row in self.rows) else 0

    def save(self, file: Path) -> None:
        """The rows with what they were measured on."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        about = {"date": when, "pyodide": pins.PYODIDE, **self.device}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**about, "rows": self.rows}, indent=1) + "\n", encoding="utf-8")


def verdict(row: Row) -> str:
    """What is wrong with a row; empty if nothing."""
    if "fail" in row:
        return "failed"
    return "" if row["error"] <= 1 else "wrong"  # a NaN is wrong, too


def rate(row: Row) -> str:
    if row.get("tflops"):
        tera = row["tflops"]
        return f"{tera:.3g} TFLOP/s" if tera >= 0.1 else f"{tera * 1e3:.3g} GFLOP/s"
    return f"{row['gbs']:.3g} GB/s" if row.get("gbs") else ""


def duration(ms: float | None) -> str:
    if ms is None:
        return ""
    return f"{ms * 1e3:.3g} µs" if ms < 0.1 else f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1e3:.3g} s"


def brief(row: Row) -> str:
    """One line for a person."""
    if "fail" in row:
        return f"{row['item']}: failed: {row['fail'].strip().splitlines()[-1]}"
    parts = [duration(row.get("ms")), rate(row), "WRONG" if verdict(row) else ""]
    return f"{row['item']}: {', '.join(p for p in parts if p)}"


def table(rows: Iterable[Row]) -> Table:
    """The figures, with rates as shares of the two ceilings that were measured in the same run."""
    rows = list(rows)
    top = {row["item"]: row for row in rows}
    copy = top.get("ceiling_copy", {}).get("gbs")
    fma = top.get("ceiling_fma", {}).get("tflops")
    made = Table(box=None, header_style="bold")
    made.add_column("item", no_wrap=True)
    made.add_column("what", no_wrap=True)
    for name in ("time", "min to max", "rate", "of ceiling", "launches", "error / allowed"):
        made.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        if "fail" in row:
            made.add_row(row["item"], row.get("shown", ""), "failed", style="red")
            continue
        share = ""
        if not row["item"].startswith(("ceiling", "upload", "read")):
            if row.get("tflops") and fma and "f16" not in row["item"]:
                share = f"{row['tflops'] / fma:.0%}"
            elif row.get("gbs") and copy:
                share = f"{row['gbs'] / copy:.0%}"
        spread = f"{duration(row['min'])} to {duration(row['max'])}" if "min" in row else ""
        launches = f"{row['launches']:.4g}" if "launches" in row else ""
        error = f"{row['error']:.2g}" if "launches" in row else ""
        cells = [
            row["item"],
            row["shown"],
            duration(row.get("ms")),
            spread,
            rate(row),
            share,
            launches,
            error,
        ]
        made.add_row(*cells, style="red" if verdict(row) else None)
    return made


def show(report: Report) -> None:
    """The table and what went wrong, on stdout."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 160
    console.print(
        f"{report.device.get('name', 'no adapter')}: tabgpu {report.device.get('tabgpu', '')}, Pyodide {pins.PYODIDE}"
    )
    console.print(table(report.rows))
    for row in report.rows:
        if "fail" in row:
            console.print(f"{row['item']} failed:\n{row['fail']}", markup=False)
        elif verdict(row):
            console.print(
                f"{row['item']}: wrong: its error is {row['error']:.3g} times what is allowed", markup=False
            )
