"""How a profile is shown: a text table, an HTML table, a trace for Perfetto. Pure text; measuring is profiling.py's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from .recorder import Span, Timed

COARSE = 20e-6  # seconds: a clock that counts in such steps says nothing of one short launch
WIDEST = 60  # characters of a label in the text table
HEAD = ("kernel", "launches", "time ms", "share", "each us", "GB/s", "of copy", "GFLOP/s", "of fma")
DURING = ("compile", "read", "wait")  # what the host waits for, or does on the side


def summary(said: dict[str, Any]) -> list[str]:
    """The lines above the table."""

    def ms(name: str) -> str:
        return f"{said[name] * 1e3:,.3f}"

    clock = {"gpu": "by timestamps", "host": "as the host saw it, submits included", "": "not measured"}
    share = f" ({said['gpu'] / said['wall']:.0%})" if said["wall"] else ""
    lines = [
        f"{ms('wall')} ms, of which the GPU {ms('gpu')} ms{share}, {clock[said['clock']]}; {said['adapter']}",
        f"{said['launches']:,} launches in {said['submits']:,} submits, {said['crossings']:,} crossings, "
        f"{said['reads']:,} reads; {size(said['bytes_uploaded'])} up, {size(said['bytes_read'])} down; "
        f"{said['pipelines']:,} pipelines compiled in {ms('compile')} ms",
        f"host ms: planning {(said['find'] + said['plan']) * 1e3:,.3f}, lowering {ms('lower')}, emitting {ms('emit')}, "
        f"bridge {(said['submit'] + said['upload']) * 1e3:,.3f}; waiting for reads {ms('read')}, "
        f"for the queue {ms('wait')}",
    ]
    if said["copy"]:
        lines.append(
            f"ceilings of this GPU: copy {said['copy'] / 1e9:,.1f} GB/s, "
            f"multiply-add {said['fma'] / 1e9:,.1f} GFLOP/s"
        )
    if said["clock"] == "gpu" and said["resolution"] >= COARSE:
        lines.append(
            f"timestamps are rounded to {said['resolution'] * 1e6:,.1f} us: only sums over many launches mean "
            "something. Chromium gives exact ones with --enable-webgpu-developer-features"
        )
    if said["clock"] == "host" and said["resolution"] >= COARSE:
        lines.append(
            f"the host's clock counts in steps of {said['resolution'] * 1e6:,.1f} us; pages that are cross-origin "
            "isolated have a finer one"
        )
    if said["clock"] and said["timed"] < said["launches"]:
        lines.append(f"{said['launches'] - said['timed']:,} launches were not timed")
    if said["note"]:
        lines.append(said["note"])
    return lines


def cells(rows: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The table's cells; what is not known is a dash."""

    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.0%}"

    return [
        (
            row["kernel"],
            f"{row['launches']:,}",
            "-" if row["time"] is None else f"{row['time'] * 1e3:,.3f}",
            share(row["share"]),
            "-" if row["time"] is None else f"{row['time'] * 1e6 / row['launches']:,.1f}",
            figures(row["bytes_per_second"]),
            share(row["of_copy"]),
            figures(row["operations_per_second"]),
            share(row["of_fma"]),
        )
        for row in rows
    ]


def figures(rate: float | None) -> str:
    """Billions with three figures."""
    if rate is None:
        return "-"
    rate /= 1e9
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}" if rate >= 10 else f"{rate:.2f}"


def text(rows: Sequence[dict[str, Any]], said: dict[str, Any]) -> str:
    """Lines of facts, then a table."""
    table = [HEAD, *cells(rows)]
    table = [(_cut(r[0]), *r[1:]) for r in table]
    widths = [max(len(r[k]) for r in table) for k in range(len(HEAD))]
    lines = [
        "  ".join([r[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(r[1:], widths[1:], strict=True))])
        for r in table
    ]
    return "\n".join([*summary(said), "", *(line.rstrip() for line in lines)])


def _cut(label: str) -> str:
    return label if len(label) <= WIDEST else label[: WIDEST - 3] + "..."


def html(rows: Sequence[dict[str, Any]], said: dict[str, Any]) -> str:
    """The same in HTML. Labels are text from programs and adapters: everything is escaped."""
    lines = "".join(f"<div>{escape(line)}</div>" for line in summary(said))
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    body = "".join(
        f"<tr><td style='text-align:left'><code>{escape(row[0])}</code></td>"
        + "".join(f"<td style='text-align:right'>{escape(c)}</td>" for c in row[1:])
        + "</tr>"
        for row in cells(rows)
    )
    return (
        f"<div><small>{lines}</small><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def size(n: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if n < 1024:
            return f"{n:,.0f} {unit}" if unit == "bytes" else f"{n:,.1f} {unit}"
        n /= 1024
    return f"{n:,.1f} GiB"


def trace(
    launches: Sequence[Timed], spans: Sequence[Span], begin: int, offset: int, said: dict[str, Any]
) -> str:
    """Chrome's trace event format. The GPU's clock is shifted so that no launch begins before it was sent."""
    events: list[dict[str, Any]] = [_name("process_name", 0, f"tabgpu on {said['adapter']}")]
    events += [_name("thread_name", 1, "host: planning, emitting, bridge"), _name("thread_name", 2, "GPU")]
    lanes: list[int] = []  # when each track of what goes on meanwhile is free again
    for s in sorted(spans, key=lambda s: s.begin):
        track = 1
        if s.kind in DURING:
            lane = next((k for k, free in enumerate(lanes) if free <= s.begin), len(lanes))
            if lane == len(lanes):
                lanes.append(0)
                events.append(_name("thread_name", 10 + lane, "host: compiling, waiting"))
            lanes[lane] = s.end
            track = 10 + lane
        name = f"{s.kind} {s.detail}".strip()
        events.append(_event(name, s.kind, track, s.begin - begin, s.end - s.begin, {}))
    for t in launches:
        if t.begin:
            about = {"bytes": t.bytes, "operations": t.operations, "submit": t.serial}
            events.append(_event(t.label, "gpu", 2, t.begin + offset - begin, t.end - t.begin, about))
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": said})


def _name(what: str, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": 1, "tid": track, "args": {"name": name}}


def _event(name: str, kind: str, track: int, at: int, length: int, about: dict[str, Any]) -> dict[str, Any]:
    where = {"pid": 1, "tid": track, "ts": at / 1e3, "dur": length / 1e3}
    return {"ph": "X", "name": name, "cat": kind, **where, "args": about}
