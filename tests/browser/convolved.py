"""Convolutions, their transposes and gradients in float64, tap by tap: the oracle of test_conv.py. No tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def each(v: Any, rank: int) -> tuple[int, ...]:
    return (v,) * rank if isinstance(v, int) else tuple(v) * (rank if len(v) == 1 else 1)


def pairs(v: Any, rank: int) -> list[tuple[int, int]]:
    return [(p, p) if isinstance(p, int) else tuple(p) for p in ((v,) * rank if isinstance(v, int) else v)]


def same(sizes: Sequence[int], taps: Sequence[int], stride: Any, dilation: Any, lower: bool) -> Any:
    """ONNX's SAME_UPPER and SAME_LOWER as pairs."""
    found = []
    rank = len(sizes)
    for n, t, s, d in zip(sizes, taps, each(stride, rank), each(dilation, rank), strict=True):
        out = -(-n // s)
        total = max((out - 1) * s + (t - 1) * d + 1 - n, 0)
        found.append((total - total // 2, total // 2) if lower else (total // 2, total - total // 2))
    return found


def taps(
    x: Any, sizes: Sequence[int], stride: Any, padding: Any, dilation: Any, fill: float = 0.0
) -> Iterator[tuple[Any, Any]]:
    """(tap, what it meets at every position) of a padded input."""
    rank = x.ndim - 2
    stride, dilation, pads = each(stride, rank), each(dilation, rank), pairs(padding, rank)
    wide = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=fill)
    out = [
        (n - d * (t - 1) - 1) // s + 1
        for n, t, s, d in zip(wide.shape[2:], sizes, stride, dilation, strict=True)
    ]
    for tap in itertools.product(*[range(t) for t in sizes]):
        cut = [
            slice(t * d, t * d + (o - 1) * s + 1, s)
            for t, d, s, o in zip(tap, dilation, stride, out, strict=True)
        ]
        yield tap, wide[(slice(None), slice(None), *cut)]


def conv(
    x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    x, w = x.astype(np.float64), w.astype(np.float64)
    total: Any = 0
    for tap, met in taps(x, w.shape[2:], stride, padding, dilation):
        m = met.reshape(met.shape[0], groups, -1, *met.shape[2:])
        part = w[(slice(None), slice(None), *tap)].reshape(groups, -1, w.shape[1])
        total = total + np.einsum("ngc...,gkc->ngk...", m, part).reshape(len(x), w.shape[0], *met.shape[2:])
    return total if bias is None else total + bias.astype(np.float64).reshape(-1, *[1] * (x.ndim - 2))


def to_input(
    size: Any, w: Any, g: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """What conv makes of g going back to an input of a size."""
    rank = len(size) - 2
    pads = pairs(padding, rank)
    w, g = w.astype(np.float64), g.astype(np.float64)
    wide = np.zeros((*size[:2], *[n + low + high for n, (low, high) in zip(size[2:], pads, strict=True)]))
    stride, dilation = each(stride, rank), each(dilation, rank)
    gg = g.reshape(len(g), groups, -1, *g.shape[2:])
    for tap in itertools.product(*[range(t) for t in w.shape[2:]]):
        part = w[(slice(None), slice(None), *tap)].reshape(groups, -1, w.shape[1])
        made = np.einsum("ngk...,gkc->ngc...", gg, part).reshape(len(g), -1, *g.shape[2:])
        cut = [
            slice(t * d, t * d + (o - 1) * s + 1, s)
            for t, d, s, o in zip(tap, dilation, stride, g.shape[2:], strict=True)
        ]
        wide[(slice(None), slice(None), *cut)] += made
    return wide[
        (slice(None), slice(None), *[slice(low, low + n) for n, (low, _) in zip(size[2:], pads, strict=True)])
    ]


def transpose(
    x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    rank = x.ndim - 2
    size = [
        (n - 1) * s - low - high + d * (t - 1) + e + 1
        for n, s, (low, high), d, t, e in zip(
            x.shape[2:], each(stride, rank), pairs(padding, rank), each(dilation, rank), w.shape[2:],
            each(output_padding, rank), strict=True,
        )
    ]  # fmt: skip
    # beyond the last position of the convolution's input nothing arrives, but those rows are there
    grown = [
        (low, high + e)
        for (low, high), e in zip(pairs(padding, rank), each(output_padding, rank), strict=True)
    ]
    out = to_input((len(x), w.shape[1] * groups, *size), w, x, stride, grown, dilation, groups)
    return out if bias is None else out + bias.astype(np.float64).reshape(-1, *[1] * rank)


def to_weight(
    x: Any, size: Any, g: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    x, g = x.astype(np.float64), g.astype(np.float64)
    out = np.zeros(size)
    gg = g.reshape(len(g), groups, g.shape[1] // groups, -1)
    for tap, met in taps(x, size[2:], stride, padding, dilation):
        m = met[(slice(None), slice(None), *[slice(n) for n in g.shape[2:]])]
        m = m.reshape(len(x), groups, x.shape[1] // groups, -1)
        out[(slice(None), slice(None), *tap)] = np.einsum("ngkp,ngcp->gkc", gg, m).reshape(size[:2])
    return out
