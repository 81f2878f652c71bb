"""Which convolutions with filters of 3 x 3 have tiles of pixels in workgroup memory, and which tiles. Texts:
kernels/conv_direct_inner.py."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels.conv_direct_inner import EACH, SIDE, TAPS, Span
from ..region import Facts

SPANS = (Span(7, 8, 32, 4, 16), Span(7, 8, 16, 4, 16))
PROCESSORS = 132  # of the GPU that this was measured on
LEAST, MOST = 96, 264  # workgroups with which these tiles are faster than those of products there
WORK = 1 << 30  # multiplications up to which they are; with more of them products fill the processors, too
STAGES = 4  # of channels, that a workgroup adds up at least
USED = 0.75  # of what tiles multiply, at least


class Plan(NamedTuple):
    """A tile, and how many parts the channels in are cut into."""

    span: Span
    pieces: int


def serves(extra: tuple[Any, ...]) -> bool:
    """Whether the kernel can make a convolution at all: two axes, 3 x 3 taps, strides and dilations of 1."""
    rank, _, phases, linear, _, _, b_along_k = extra[4]
    sizes, strides, taps, steps = (extra[5][i : i + 3] for i in (16, 20, 28, 52))
    return (
        rank == 2 and linear and not phases and not b_along_k and sizes[0] == 1 and taps == (1, SIDE, SIDE)
        and steps[1:] == strides[1:] == (1, 1)
    )  # fmt: skip


def plan(extra: tuple[Any, ...], most: int, facts: Facts, whole: bool = False) -> Plan | None:
    """The plan of a convolution, None where another kernel is better; most: parts that memory holds; whole: results are
    stored four at a time.

    As measured: where products have too few tiles for the processors of a large GPU."""
    if not serves(extra):
        return None
    (ys,), m, n, k = extra[:4]
    work, (rows, columns) = m * n * k * ys, extra[5][17:19]
    for span in SPANS:
        count = groups(span, rows, columns, m, ys)
        stages = -(-k // (TAPS * span.deep))
        pieces = max(1, min(PROCESSORS // count, stages // STAGES, most))
        room = count * span.high * span.wide * span.outs * stages * TAPS * span.deep
        if (
            LEAST <= count * pieces <= MOST and stages >= STAGES and USED * room <= work <= WORK
            and fits(span, facts) and not (whole and pieces == 1 and columns % 4)
        ):  # fmt: skip
            return Plan(span, pieces)
    return None


def fits(span: Span, facts: Facts) -> bool:
    """Whether a device can run a tile."""
    threads = min(facts.limits["maxComputeInvocationsPerWorkgroup"], facts.limits["maxComputeWorkgroupSizeX"])
    return span.threads <= threads and 16 * span.memory <= facts.limits["maxComputeWorkgroupStorageSize"]


def groups(span: Span, rows: int, columns: int, m: int, ys: int) -> int:
    """Workgroups of a tile."""
    return -(-rows // span.high) * -(-columns // span.wide) * -(-m // span.outs) * ys


def params(span: Span, columns: int) -> dict[str, Any]:
    """The const lines of conv.wgsl."""
    return {
        "BM": span.outs, "BN": span.high * span.wide, "BK": TAPS * span.deep, "TM": EACH, "TN": 4, "LX": 1,
        "SLICES": span.slices, "PAD": 0, "NT": span.threads, "DIRECT": True, "HIGH": span.high, "WIDE": span.wide,
        "SPAN": tuple(span), "ALONE": False, "A_ALONG_K": False, "B_ALONG_K": False, "N4": columns % 4 == 0,
    }  # fmt: skip
