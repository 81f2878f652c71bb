#!/usr/bin/env python3
"""Markdown tables of what run.py wrote: report.py DIR [--limits]; DIR holds bench.jsonl, f16.jsonl, startup.jsonl.

--limits adds how far everything is from the paper limits of an NVIDIA H200.
"""

import gzip
import json
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DIST = Path(__file__).resolve().parents[1] / "dist"
FP32, HBM = 67e12, 4.8e12  # an H200 on paper: float32 operations and bytes a second
NAMES = {
    "tabgpu": "tabgpu", "tfjs": "TensorFlow.js", "ort": "ORT-web", "ort+": "ORT-web +", "jaxjs": "jax-js",
    "pyborch": "pyborch", "numpy": "NumPy (CPU)", "raw": "raw WGSL",
}  # fmt: skip
PEERS = ("tfjs", "ort", "ort+", "jaxjs", "pyborch", "numpy")
APART = ("tiny1000", "readback", "copy64M")  # items with tables of their own
Row = dict[str, Any]
Cells = dict[tuple[str, str], Row]


def lines(file: Path) -> Iterator[Row]:
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def load(file: Path) -> Cells:
    """(item, peer) -> its last line with figures, or its last line."""
    cells: Cells = {}
    for line in lines(file):
        if line.get("t") == "cell":
            key = line["item"], line["peer"]
            if key not in cells or line.get("per_op_ms") or not cells[key].get("per_op_ms"):
                cells[key] = line
    return cells


def work(item: str) -> tuple[int, int]:
    """Floating-point operations and least bytes of an item; 0 where they do not matter."""
    if match := re.fullmatch(r"mm(h?)(\d+)", item):
        n = int(match[2])
        return 2 * n**3, (2 if match[1] else 4) * 3 * n * n
    if match := re.fullmatch(r"(sum_all|sum_ax\d|argmax|softmax|layernorm|cumsum)_(\d+)", item):
        return 0, (4 if match[1][:3] in ("sum", "arg") else 8) * int(match[2]) ** 2
    if match := re.fullmatch(r"attn_(causal_)?(\d+)", item):
        n = int(match[2])
        return 4 * 8 * n * n * 64 // (2 if match[1] else 1), 4 * 4 * 8 * n * 64
    if match := re.fullmatch(r"(arg)?sort_(\d+)", item):
        return 0, 8 << int(match[2])
    if match := re.fullmatch(r"fft_(\d+)x(\d+)", item):
        return 0, 16 * int(match[1]) * int(match[2])
    known = {
        "bmm64x128": (2 * 64 * 128**3, 4 * 64 * 3 * 128 * 128), "mv4096": (2 * 4096**2, 4 * (4096**2 + 8192)),
        "chain1M": (0, 16 << 20), "chain64M": (0, 16 << 26), "copy64M": (0, 8 << 26),
        "conv": (2 * 64 * 64 * 9 * 56 * 56, 4 * (2 * 64 * 56 * 56 + 64 * 64 * 9)),
    }  # fmt: skip
    return known.get(item, (0, 0))


def limit(item: str) -> float:
    """Milliseconds that the card takes on paper."""
    flops, nbytes = work(item)
    return max(flops / FP32, nbytes / HBM) * 1e3


def value(row: Row | None, key: str) -> float | None:
    return row[key]["med"] if row and row.get(key) and not row.get("wrong") else None


def short(x: float | None) -> str:
    return "" if x is None else f"{x:.3g}" if x < 100 else f"{x:.0f}"


def cell_text(row: Row | None, key: str) -> str:
    if row is None:
        return ""
    if row.get("wrong"):
        return "wrong"
    if row.get("fail"):
        return "failed"
    got = value(row, key)
    if got is None:
        return "not run" if str(row.get("none", "")).startswith("not run") else ""
    return short(got) + (f" (n={row[key]['n']})" if row[key]["n"] < 3 else "")


def spread(row: Row, key: str) -> str:
    return f"{short(row[key]['min'])} to {short(row[key]['max'])}"


def compare(cells: Cells, items: list[str], key: str) -> tuple[str, list[str]]:
    """A table, and the items in which a peer is faster by more than 5 % and tabgpu's spread."""
    present = [p for p in PEERS if any(value(cells.get((i, p)), key) for i in items)]
    head = [
        "item",
        "tabgpu",
        "min to max",
        *(NAMES[p] for p in present),
        "raw WGSL",
        "best peer",
        "peer / tabgpu",
    ]
    out = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lost = []
    for item in items:
        ours = cells.get((item, "tabgpu"))
        found = {p: v for p in present if (v := value(cells.get((item, p)), key)) is not None}
        mine = value(ours, key)
        if not found and mine is None:
            continue
        best = min(found, key=found.__getitem__) if found else ""
        ratio = f"{found[best] / mine:.2f}" if best and mine else ""
        if best and (mine is None or found[best] * 1.05 < mine):
            note = "tabgpu: " + (cell_text(ours, key) or str((ours or {}).get("none")))
            near = mine is not None and ours is not None and found[best] * 1.05 >= ours[key]["min"]
            lost.append(
                f"{item}: {NAMES[best]} {short(found[best])}, {note}{' (within the spread)' if near else ''}"
            )
        row = [item, f"**{cell_text(ours, key)}**", spread(ours, key) if ours and mine else ""]
        row += [cell_text(cells.get((item, p)), key) for p in present]
        row += [cell_text(cells.get((item, "raw")), key), NAMES.get(best, ""), ratio]
        out.append(f"| {' | '.join(row)} |")
    return "\n".join(out), lost


def rates(cells: Cells, items: list[str]) -> str:
    """What tabgpu and the best peer reach, and the card's limit on paper."""
    out = ["| item | limit, ms | by | tabgpu / limit | tabgpu | best peer |", "|---|---|---|---|---|---|"]
    for item in items:
        flops, nbytes = work(item)
        mine = value(cells.get((item, "tabgpu")), "per_op_ms")
        others = [v for p in PEERS if (v := value(cells.get((item, p)), "per_op_ms"))]
        if not (flops or nbytes) or not mine:
            continue
        compute = flops / FP32 > nbytes / HBM

        def rate(ms: float, compute: bool = compute, flops: int = flops, nbytes: int = nbytes) -> str:
            return f"{flops / ms / 1e9:.3g} TFLOP/s" if compute else f"{nbytes / ms / 1e6:.0f} GB/s"

        by = "float32" if compute else "memory"
        best = rate(min(others)) if others else ""
        out.append(
            f"| {item} | {short(limit(item))} | {by} | {mine / limit(item):.3g} | {rate(mine)} | {best} |"
        )
    return "\n".join(out)


def overhead(cells: Cells) -> str:
    out = ["| peer | how | µs an addition | scalar read-back, ms |", "|---|---|---|---|"]
    for peer in dict.fromkeys(p for i, p in cells if i == "tiny1000"):
        row, back = cells[("tiny1000", peer)], cells.get(("readback", peer))
        ms = value(row, "per_op_ms")
        if ms is not None:
            out.append(f"| {peer} | {row.get('how', '')} | {short(ms)} | {short(value(back, 'per_op_ms'))} |")
    return "\n".join(out)


def halves(cells: Cells) -> str:
    out = ["| item | peer | ms | TFLOP/s | error |", "|---|---|---|---|---|"]
    for (item, peer), row in cells.items():
        ms = value(row, "per_op_ms")
        if ms:
            out.append(
                f"| {item} | {peer} | {short(ms)} | {work(item)[0] / ms / 1e9:.3g} | {row['err']:.2g} |"
            )
    return "\n".join(out)


def start_up(file: Path) -> str:
    """Median time from the page's load to the first result, and what was fetched for it."""
    found: dict[str, list[Row]] = {}
    for line in lines(file):
        if line.get("t") == "startup" and "to_first_result_ms" in line:
            found.setdefault(line["peer"], []).append(line)

    def packed(path: str) -> int:
        here = DIST / path.removeprefix("/dist/")
        if not here.is_file():
            return 0
        data = here.read_bytes()
        return len(data) if path.endswith((".whl", ".zip")) else len(gzip.compress(data, 9))

    out = [
        "| peer | first result, ms: median (min to max, n) | of which loading | MB | MB, gzip |",
        "|---|---|---|---|---|",
    ]
    for peer, rows in sorted(
        found.items(), key=lambda kv: statistics.median(o["to_first_result_ms"] for o in kv[1])
    ):
        first = [o["to_first_result_ms"] for o in rows]
        sizes = {k: v for k, v in rows[0]["bytes"].items() if k.startswith("/dist/")}
        shown = f"{statistics.median(first):.0f} ({min(first):.0f} to {max(first):.0f}, {len(first)})"
        setup = f"{statistics.median(o['init_ms'] for o in rows):.0f}"
        squeezed = sum(packed(k) for k in sizes) / 1e6
        out.append(f"| {peer} | {shown} | {setup} | {sum(sizes.values()) / 1e6:.2f} | {squeezed:.2f} |")
    return "\n".join(out)


def main() -> None:
    folder = Path(next(a for a in sys.argv[1:] if not a.startswith("-")))
    cells = load(folder / "bench.jsonl")
    items = [i for i in dict.fromkeys(i for i, _ in cells) if i not in APART]
    lost: dict[str, list[str]] = {}
    for title, key in (
        ("Per operation, ms (many in a row, one sync)", "per_op_ms"),
        ("One operation and one sync, ms", "one_ms"),
        ("End to end, ms: the inputs uploaded, one operation, the whole result read", "e2e_ms"),
    ):
        text, lost[title] = compare(cells, items, key)
        print(f"### {title}\n\n{text}\n")
    print(f"### 1,000 dependent additions of 1,024 elements; reading a settled scalar\n\n{overhead(cells)}\n")
    if "--limits" in sys.argv:
        print(f"### Rates\n\n{rates(cells, [*items, 'copy64M'])}\n")
    for title, name, make in (("float16", "f16.jsonl", halves), ("Start-up", "startup.jsonl", start_up)):
        if (folder / name).is_file():
            print(f"### {title}\n\n{make(load(folder / name) if make is halves else folder / name)}\n")
    merged = [
        f"{i}: {row['launches_per_op']:.2f}"
        for (i, p), row in cells.items()
        if p == "tabgpu" and row.get("launches_per_op", 1) < 0.99 and i not in APART
    ]
    print(f"Launches an operation below 1 (merged work): {', '.join(merged) or 'none'}.\n")
    for title, found in lost.items():
        print(f"Peers faster, {title}:", *(found or ["none"]), sep="\n- ")


if __name__ == "__main__":
    main()
