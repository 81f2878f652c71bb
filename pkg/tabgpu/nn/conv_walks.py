"""A convolution, its transpose and its gradient of the weight as products with one operand that is never in memory.

What the words mean is said in kernels/conv.wgsl; which of its forms a size takes, in routines/conv.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import Any

from .. import engine
from ..array import Array, fresh, source
from ..dtypes import DType
from ..graph import IOTA, MATMUL, SCALAR, Op
from ..layout import Layout, Shape, contiguous, reshape
from ..ops.creation import copy_of
from ..ops.routine import stored

Pairs = Sequence[tuple[int, int]]


def forward(
    x: Array, w: Array, shape: Shape, dtype: DType, stride: Shape, pads: Pairs, dilation: Shape, groups: int
) -> Array:
    """x (n, c, ..), w (k, c / groups, taps ..) -> shape, whose elements are those of (n, k, positions ..)."""
    rank = x.ndim - 2
    images, sizes, out = x.shape[0], x.shape[2:], shape[-rank:]
    kernels, channels, *taps = w.shape
    rows, terms = kernels // groups, prod(taps)
    op, lay = _walked(x)
    flat = not any(p for pair in pads for p in pair)
    if terms == 1 and flat and all(s == 1 for s in stride):
        seen = reshape(lay, (images, groups, channels, prod(sizes)))
        if seen is not None:
            mine = Layout((images, groups, rows, channels), (0, rows * channels, channels, 1))
            return _emit(
                (stored(w), op), (mine, seen), shape, dtype, ((images, groups), rows, prod(out), channels)
            )
    if flat and groups == 1 and tuple(taps) == sizes and prod(out) == 1:
        seen = reshape(lay, (images, channels * terms))
        if seen is not None:
            turned = Layout((channels * terms, kernels), (1, channels * terms))
            return _emit(
                (op, stored(w)), (seen, turned), shape, dtype, ((), images, kernels, channels * terms)
            )
    n, c, *s = lay.strides
    return _walk(
        stored(w), op, lay, shape, dtype, rank, images, groups,
        sizes=(rows, prod(out), channels * terms),
        a=(channels * terms, rows * channels * terms, 0, terms), b=(channels * c, n, 0, c),
        D=out, M=stride, F=[-low for low, _ in pads], E=taps, N=dilation, I=sizes, S=s,
        A=contiguous(tuple(taps)).strides, linear=True, quads=True,
    )  # fmt: skip


def transposed(
    g: Array, w: Array, shape: Shape, dtype: DType, stride: Shape, pads: Pairs, dilation: Shape, groups: int
) -> Array:
    """g (n, k, ..), w (k, c / groups, taps ..) -> shape, whose elements are those of (n, c, positions ..): what a
    convolution from there to g makes of g."""
    rank = g.ndim - 2
    images, sizes, out = g.shape[0], g.shape[2:], shape[-rank:]
    kernels, rows, *taps = w.shape
    channels, terms = kernels // groups, prod(taps)
    op, lay = _walked(g)
    n, c, *s = lay.strides
    lows = [low for low, _ in pads]
    every = [x // gcd(x, d) for x, d in zip(stride, dilation, strict=True)]
    tap = contiguous(tuple(taps)).strides
    met = [-(-t // e) for t, e in zip(taps, every, strict=True)]
    steps = [-e * d // x for e, d, x in zip(every, dilation, stride, strict=True)]
    phases = prod(stride)
    each = [-(-o // x) for o, x in zip(out, stride, strict=True)]
    return _walk(
        stored(w), op, lay, shape, dtype, rank, images, groups,
        sizes=(rows, prod(out), channels * prod(met)), phases=phases,
        a=(terms, channels * rows * terms, 0, rows * terms), b=(channels * c, n, 0, c),
        D=each, M=[1] * rank, F=lows, E=met, N=steps, I=sizes, S=s,
        A=[t * e for t, e in zip(tap, every, strict=True)],
        more=(stride, dilation, out, taps, tap) if phases > 1 else (),
    )  # fmt: skip


def weights(
    x: Array, g: Array, shape: Shape, dtype: DType, stride: Shape, pads: Pairs, dilation: Shape, groups: int
) -> Array:
    """x (n, c, ..), g (n, k, positions ..) -> shape (k, c / groups, taps ..)."""
    rank = x.ndim - 2
    images, kernels, *out = g.shape
    taps, channels = shape[2:], shape[1]
    rows, places = kernels // groups, prod(out)
    op, lay = _walked(x)
    n, c, *s = lay.strides
    return _walk(
        stored(g), op, lay, shape, dtype, rank, 1, groups,
        sizes=(rows, channels * prod(taps), images * places),
        a=(places, rows * places, 0, kernels * places), b=(channels * c, 0, c, n),
        D=taps, M=dilation, F=[-low for low, _ in pads], E=out, N=stride, I=x.shape[2:], S=s,
        A=contiguous(tuple(out)).strides, linear=images == 1, quads=images == 1 or places % 4 == 0,
        b_along_k=True,
    )  # fmt: skip


def _walked(x: Array) -> tuple[Op, Layout]:
    """An operand that may be a view."""
    op, seen = source(x)
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        op, seen = source(copy_of(x))
    return op, seen or op.layout


def _emit(
    args: tuple[Op, Op], views: Any, shape: Shape, dtype: DType, extra: Any, fn: str | None = None
) -> Array:
    out = fresh(Op(MATMUL, fn, args, views, shape, dtype, extra))
    engine.weigh(out.size * extra[3] >> 10)
    return out


def _walk(
    a_op: Op, b_op: Op, lay: Layout, shape: Shape, dtype: DType, rank: int, images: int, groups: int, *,
    sizes: Shape, a: Shape, b: Shape, D: Any, M: Any, F: Any, E: Any, N: Any, I: Any, S: Any, A: Any,  # noqa: E741
    phases: int = 1, more: Any = (), linear: bool = False, quads: bool = False, b_along_k: bool = False,
) -> Array:  # fmt: skip
    """The pending product; names as in conv.wgsl."""
    m, n, k = sizes
    padded = False
    for d, q, first, e, j, size in zip(D, M, F, E, N, I, strict=True):
        ends = (d - 1) * q, (e - 1) * j
        low, high = (sum(f(0, x) for x in ends) for f in (min, max))
        padded |= first + low < 0 or first + high >= size
    if more:
        padded = True
        n = prod(D)

    def line(values: Any, last: int = 0, fill: int = 1) -> list[int]:
        return [*[fill] * (3 - rank), *values, last]

    ys = images * groups * phases
    words = [m, n, k, ys, groups, phases, 0, prod(shape), *a[:3], 0, lay.offset, *b[:2], a[3]]
    words += [*line(D, b[2]), *line(M, b[3]), *line(F, 0, 0), *line(E)]
    words += [*line([j * s for j, s in zip(N, S, strict=True)], 0, 0), 0, 0, 0, 0, *line(I), *line(S, 0, 0)]
    words += [*line(A, 0, 0), *line(N, 0, 0)]
    for values in more or [()] * 5:
        words += line(values) if values else [0, 0, 0, 0]
    while rank > 1 and D[0] == E[0] == I[0] == 1 and not F[0] and not more:  # an axis without extent
        rank, D, E, I, F = rank - 1, D[1:], E[1:], I[1:], F[1:]  # noqa: E741
    form = (rank, padded, bool(more), linear, quads, True, b_along_k)
    return _emit((a_op, b_op), (None, lay), shape, dtype, ((ys,), m, n, k, form, tuple(words)), "conv")
