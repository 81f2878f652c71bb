"""`async with tg.profile() as p:` measures what a block costs: on the GPU, kernel by kernel, and on the host.

How it is shown is in profile_report.py; who listens meanwhile is recorder.py.
"""

from __future__ import annotations

import os
from time import perf_counter_ns
from typing import Any

from . import ceilings as ceiling
from . import engine, profile_report
from .config import Config
from .errors import TabgpuError
from .recorder import Recorder, Span, Timed

HOST = ("find", "plan", "lower", "emit", "submit", "upload", "compile", "read", "wait")
MUST_END = "the profile is not finished: its block is still running (or was never entered)"


def profile(*, timestamps: bool = True, ceilings: bool = True) -> Profile:
    """Measures a block: `async with tg.profile() as p: ...`, then `print(p)`, or `p` as the last line of a cell.

    Plain `with` works where Python can wait (JSPI, the native host), else it raises SyncError. Entering waits until
    the device is idle, so that earlier work is not counted; leaving computes what is pending and waits for it.

    GPU time comes from timestamp queries (the WebGPU feature `timestamp-query`), for which each launch gets a pass of
    its own. Without the feature, or with timestamps=False, each launch is a submit of its own and the host's clock
    tells when it was done: with the cost of a submit and of the notice, so only good for long kernels. Chromium rounds
    timestamps to about 0.1 ms: of many short launches the sum is right on average, a single one may read 0. For
    exact ones start it with --enable-webgpu-developer-features (chrome://flags/#enable-webgpu-developer-features).
    Launches that overlap are counted once: times of kernels add up to at most the block's wall time.

    ceilings: when the first profile of a device ends, a copy and a multiply-add kernel are timed (about 0.3 s), so that
    rates can be stated as a share of what the GPU can do; False leaves that out.

    Profiles may be nested, and open in several tasks at once: each sees all that the device does meanwhile. The way
    times are taken is that of the first. If the block raises, what was measured so far is kept.
    """
    return Profile(timestamps, ceilings)


class Profile:
    """What `tg.profile()` gives: `str(p)`, HTML in a notebook, `p.rows`, `p.totals`, `p.trace("file.json")`."""

    def __init__(self, timestamps: bool, ceilings: bool) -> None:
        self._timestamps, self._ceilings = timestamps, ceilings
        self._recorder: Recorder | None = None
        self._begin = 0
        self._marks = 0, 0
        self._before: dict[str, int] = {}
        self._launches: list[Timed] | None = None
        self._spans: list[Span] = []
        self._offset = 0
        self._scale = 1.0
        self._totals: dict[str, Any] = {}

    # the block

    async def __aenter__(self) -> Profile:
        if self._recorder is not None:
            raise RuntimeError("this profile is running already; nest another tg.profile() instead")
        if engine.current() is None:
            await engine.open_new(Config())
        await engine.wait()
        gpu = engine.device()
        recorder = gpu.recorder
        if recorder is None:
            recorder = Recorder(gpu, self._timestamps)
            recorder.attach()
        recorder.users += 1
        self._recorder, self._launches = recorder, None
        self._marks = len(recorder.launches), len(recorder.spans)
        self._before = gpu.counters.as_dict()
        self._begin = perf_counter_ns()
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        recorder = self._recorder
        assert recorder is not None
        gpu = recorder.gpu
        failure: TabgpuError | None = None
        note = ""
        end = 0
        try:
            try:
                if engine.current() is gpu:
                    await engine.wait()
                    self._before["crossings"] += 1  # this wait is not the block's
            except TabgpuError as wrong:
                failure = wrong
            end = perf_counter_ns()
            try:
                if not gpu.lost:
                    await recorder.collect()
            except TabgpuError as wrong:
                failure = failure or wrong
            if gpu.lost:
                note = f"the device was lost ({gpu.lost}): times are missing"
        finally:
            recorder.users -= 1
            if not recorder.users:
                recorder.detach()
            self._recorder = None
            self._finish(recorder, end or perf_counter_ns(), note)
        if failure is not None:
            if error is None:
                raise failure
            return
        if self._ceilings and error is None and not gpu.lost and gpu.recorder is None:
            try:
                await ceiling.measure(gpu)
            except TabgpuError as wrong:  # no memory left, say: rates are then not compared
                self._totals["note"] = f"the ceilings were not measured: {wrong}"
        self._compare(ceiling.known(gpu))

    def __enter__(self) -> Profile:
        engine.wait_for(self.__aenter__(), "with tg.profile()", "async with tg.profile()")
        return self

    def __exit__(self, *error: Any) -> None:
        engine.wait_for(self.__aexit__(*error), "with tg.profile()", "async with tg.profile()")

    def _finish(self, recorder: Recorder, end: int, note: str) -> None:
        gpu = recorder.gpu
        first, span = self._marks
        self._launches = recorder.launches[first:]
        self._spans = [s for s in recorder.spans[span:] if s.begin >= self._begin]
        self._offset = recorder.offset()
        wall = (end - self._begin) / 1e9
        busy = sum(t.took for t in self._launches) / 1e9
        # A rounded clock may say a little more than the host's.
        self._scale = min(1.0, wall / busy) if busy else 1.0
        after = gpu.counters.as_dict()
        self._totals = {
            "wall": wall,
            "gpu": min(busy, wall),
            "timed": sum(t.begin > 0 for t in self._launches),
            **{name: after[name] - self._before.get(name, 0) for name in after},
            **{kind: _covered([s for s in self._spans if s.kind == kind]) / 1e9 for kind in HOST},
            "clock": recorder.clock,
            "resolution": recorder.resolution / 1e9,
            "adapter": gpu.name,
            "copy": None,
            "fma": None,
            "note": note,
        }

    def _compare(self, measured: ceiling.Ceilings | None) -> None:
        if measured is not None:
            self._totals["copy"], self._totals["fma"] = measured

    # what was measured

    @property
    def totals(self) -> dict[str, Any]:
        """Sums of the block, times in seconds.

        wall; gpu, what kernels took; timed, launches whose time is known; the counters of `tg.memory()` for this block
        (launches, crossings, submits, reads, pipelines, bytes_uploaded, bytes_read, evaluated ..); host time in find
        (looking for a known program), plan, lower, emit, submit and upload (the bridge), compile (pipelines being
        made), read and wait (waiting for the GPU); clock, "gpu" or "host", and its resolution; adapter; copy, fma, the
        ceilings in bytes and float32 operations a second, None if not measured; note, what went wrong.
        """
        self._ended()
        return dict(self._totals)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict a kernel, the one that took longest first.

        kernel, its label; launches; time, seconds, None if nobody knows; share of all kernels' time; bytes, read and
        written, each value once; operations, 2 m n k of a product, one an element of a reduction or elementwise
        function, 0 where not counted; bytes_per_second, operations_per_second; of_copy, of_fma, these as a share of
        the ceilings. None for a rate that is not known.
        """
        found: dict[str, dict[str, Any]] = {}
        for timed in self._ended():
            row = found.setdefault(
                timed.label,
                {"kernel": timed.label, "launches": 0, "time": 0.0, "bytes": 0, "operations": 0, "known": 0},
            )
            row["launches"] += 1
            row["bytes"] += timed.bytes
            row["operations"] += timed.operations
            row["known"] += timed.begin > 0
            row["time"] += timed.took / 1e9 * self._scale
        busy, copy, fma = self._totals["gpu"], self._totals["copy"], self._totals["fma"]
        rows = []
        for row in found.values():
            took, known = row["time"], row.pop("known")
            row["time"] = took if known else None
            row["share"] = took / busy if busy and known else None
            # Where some launches were not timed the rate is that of those that were.
            part = known / row["launches"]
            for what, ceiling_of, most in (("bytes", "copy", copy), ("operations", "fma", fma)):
                rate = row[what] * part / took if took and row[what] else None
                row[f"{what}_per_second"] = rate
                row[f"of_{ceiling_of}"] = rate / most if rate is not None and most else None
            rows.append(row)
        return sorted(rows, key=lambda r: -(r["time"] or 0.0))

    def trace_json(self) -> str:
        """The block as a trace in Chrome's JSON format: tracks of the host, of what it waits for, and of the GPU."""
        launches = self._ended()
        return profile_report.trace(launches, self._spans, self._begin, self._offset, self._totals)

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Writes the trace to a file, to be opened in https://ui.perfetto.dev or chrome://tracing.

        In a tab the file is in Pyodide's file system; offer `p.trace_json()` as a download, or drop it into Perfetto.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.trace_json())

    def _ended(self) -> list[Timed]:
        if self._launches is None:
            raise RuntimeError(MUST_END)
        return self._launches

    def __str__(self) -> str:
        return profile_report.text(self.rows, self._totals) if self._launches is not None else repr(self)

    def __repr__(self) -> str:
        if self._launches is None:
            return (
                "<tabgpu profile: running>" if self._recorder is not None else "<tabgpu profile: not begun>"
            )
        said = self._totals
        return (
            f"<tabgpu profile: {said['wall'] * 1e3:.3f} ms, {said['launches']} launches, "
            f"GPU {said['gpu'] * 1e3:.3f} ms; print it for a table>"
        )

    def _repr_html_(self) -> str:
        return profile_report.html(self.rows, self._totals) if self._launches is not None else ""


def _covered(spans: list[Span]) -> int:
    """Nanoseconds in which at least one of the spans was open."""
    total = upto = 0
    for s in sorted(spans, key=lambda s: s.begin):
        total += max(0, s.end - max(s.begin, upto))
        upto = max(upto, s.end)
    return total
