"""Running combinations along rows: which passes of scan.wgsl a length takes, and what the passes combine."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import kernels
from ..dtypes import DType
from ..graph import Op
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import launch, temporary

VT = 8  # elements a thread combines one after the other
VT_SOFTWARE = 32  # the same on a CPU adapter, where each thread works for itself


class Scan(NamedTuple):
    """What one scan does: its operand is (rows, n), its result (rows, n + lead)."""

    rows: int
    n: int
    reverse: bool = False  # from the last element of a row to the first
    lead: bool = False  # whether an initial value stands before the first result


# combine(a, b) and the bits of its identity and of the initial value, by name and kind; complex64 takes two words
COMBINE: dict[tuple[str, str], tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    ("sum", "f"): ("a + b", (0x80000000,), (0,)),  # -0, so that a running sum of -0 stays -0
    ("sum", "i"): ("a + b", (0,), (0,)),
    ("sum", "u"): ("a + b", (0,), (0,)),
    ("sum", "c"): ("a + b", (0x80000000, 0x80000000), (0, 0)),
    ("prod", "f"): ("a * b", (0x3F800000,), (0x3F800000,)),
    ("prod", "i"): ("a * b", (1,), (1,)),
    ("prod", "u"): ("a * b", (1,), (1,)),
    ("prod", "c"): ("vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)", (0x3F800000, 0), (0x3F800000, 0)),
    ("max", "f"): ("maximum_f32(a, b)", (0xFF800000,), (0xFF800000,)),
    ("max", "i"): ("max(a, b)", (0x80000000,), (0x80000000,)),
    ("max", "u"): ("max(a, b)", (0,), (0,)),
    ("min", "f"): ("minimum_f32(a, b)", (0x7F800000,), (0x7F800000,)),
    ("min", "i"): ("min(a, b)", (0x7FFFFFFF,), (0x7FFFFFFF,)),
    ("min", "u"): ("min(a, b)", (0xFFFFFFFF,), (0xFFFFFFFF,)),
    # pairs (sum since the last flag, flag): the sums of segments, each begun by a flag of 1
    ("segments", "c"): ("vec2f(select(a.x + b.x, b.x, b.y != 0.0f), max(a.y, b.y))", (0x80000000, 0), (0, 0)),
    ("logaddexp", "f"): ("logaddexp_f32(a, b)", (0xFF800000,), (0xFF800000,)),
}


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "scan.NAME", a name of COMBINE; op.extra the fields of a Scan."""
    job = Scan(*op.extra)
    name = op.fn.partition(".")[2]
    initial = COMBINE[name, op.dtype.kind][2]
    return _passes(name, op.args[0], op, job, op.shape[-1], initial, facts)


def _passes(
    name: str, src: Op, dst: Op, job: Scan, out: int, initial: tuple[int, ...], facts: Facts
) -> list[Launch]:
    """The launches of one scan into rows of `out` elements: one, or the chunks' totals, their scan and the rest."""
    identity = COMBINE[name, src.dtype.kind][1]
    wg = facts.workgroup
    vt = VT_SOFTWARE if facts.software else VT // src.dtype.words
    lanes = 1 if facts.software else min(wg, 1 << (-(-job.n // vt) - 1).bit_length())
    chunks = -(-job.n // (lanes * vt))
    words = [job.n, job.rows, chunks, job.reverse, out, job.lead, 0, 0]
    for bits in (identity, initial):
        words += (*bits, 0)[:2]
    groups = -(-job.rows * chunks // (wg // lanes))

    size = (wg, 0 if facts.software else lanes, vt)

    def step(switch: str, reads: tuple[Op, Op], into: Op) -> Launch:
        return launch(_kernel(name, src.dtype, size, switch), reads, (into,), groups, words, facts)

    if chunks == 1:
        return [step("", (src, src), dst)]
    totals, carry = (temporary((job.rows, chunks), src.dtype) for _ in range(2))
    return [
        step("TOTALS", (src, src), totals),
        *_passes(name, totals, carry, Scan(job.rows, chunks, lead=True), chunks, identity, facts),
        step("CARRY", (src, carry), dst),
    ]


def _kernel(name: str, dtype: DType, size: tuple[int, int, int], switch: str) -> Kernel:
    """size: threads, lanes (0: scan_serial), elements a thread."""
    wg, lanes, vt = size
    key = ("scan" if lanes else "scan_serial", name, dtype.kind, wg, lanes, vt, switch)
    return kernel_for(key, _text, f"scan_{name}_{dtype.name}{'_' + switch.lower() if switch else ''}", wg)


def _text(key: Any) -> tuple[str, str]:
    file, name, kind, wg, lanes, vt, switch = key
    alias = {"f": "f32", "i": "i32", "u": "u32", "c": "vec2f"}[kind]
    params: dict[str, object] = {"T": alias, "WG": wg, "VT": vt}
    if lanes:
        params["LANES"] = lanes
    if switch:
        params[switch] = True
    text = kernels.specialise(file, **params)
    body = f"fn combine(a: T, b: T) -> T {{ return {COMBINE[name, kind][0]}; }}"
    text = kernels.replace_function(text, "combine", body)
    if kind == "c":
        text = kernels.replace_function(
            text, "from_bits", "fn from_bits(b: vec2u) -> T { return bitcast<T>(b); }"
        )
    return kernels.library(kernels.called(body)) + "\n" + text, "rrw"
