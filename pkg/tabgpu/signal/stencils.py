"""Direct correlations of several axes: sums of products with neighbours, of any of the results of "full"."""

from __future__ import annotations

from itertools import product

from ..array import Array
from ..ops import elementwise as ew
from ..ops.creation import zeros
from ..ops.manipulation import getitem, reshape
from .samples import ends, taps_along, zeros_beside

CONSTANT, SYMMETRIC, WRAP = 0, 2, 4  # borders as kernels/lib/border.wgsl counts them


def correlated(
    x: Array, taps: Array, spans: list[tuple[int, int]], border: int = CONSTANT, value: float = 0.0
) -> Array:  # fmt: skip
    """Correlation of x with taps, of one dtype (float32, int32, uint32, complex64): (first, how many) of the results of
    "full", an axis each. border: of what lies beyond x; others than zeros for two axes of float32."""
    if x.dtype.kind == "c":
        return _by_parts(x, taps, spans)
    # result `first` needs samples first - taps + 1 .. first
    pads = [
        (k - 1 - first, first + many - n)
        for (first, many), n, k in zip(spans, x.shape, taps.shape, strict=True)
    ]
    many = tuple([m for _, m in spans])
    if x.ndim == 2 and x.dtype.kind == "f":
        from ..image.stencils import stencil

        return stencil(x, taps, (many[0], many[1]), (pads[0][0], pads[1][0]), (border, border), value)
    if x.ndim in (2, 3) and x.dtype.kind != "f":
        from ..nn.convolution import conv2d, conv3d

        pads = [ends(n, *pad) for n, pad in zip(x.shape, pads, strict=True)]
        for axis, (low, high) in enumerate(pads):
            if low < 0 or high < 0:
                x = zeros_beside(x, axis, min(low, 0), min(high, 0))
        more = [(max(low, 0), max(high, 0)) for low, high in pads]
        return reshape((conv2d if x.ndim == 2 else conv3d)(x[None], taps[None, None], padding=more), many)
    lead = x.ndim - (2 if x.dtype.kind == "f" else 1)
    made: Array | None = None
    for at in product(*[range(n) for n in taps.shape[:lead]]):
        part = x
        for axis, t in enumerate(at):
            low = pads[axis][0] - t
            part = zeros_beside(part, axis, low, many[axis] - low - part.shape[axis])
        own = getitem(taps, at)
        one = _lines(part, own, spans[-1]) if own.ndim == 1 else _planes(part, own, many[-2:], pads[-2:])
        made = one if made is None else ew.add(made, one)
    return zeros(many, dtype=x.dtype) if made is None else made


def _lines(x: Array, taps: Array, span: tuple[int, int]) -> Array:
    return taps_along(x, taps[::-1], x.ndim - 1, *span)


def _planes(x: Array, taps: Array, many: tuple[int, ...], pads: list[tuple[int, int]]) -> Array:
    from ..image.stencils import stencil

    return stencil(x, taps, (many[0], many[1]), (pads[0][0], pads[1][0]), (CONSTANT, CONSTANT), 0.0)


def _by_parts(x: Array, taps: Array, spans: list[tuple[int, int]]) -> Array:
    """Complex numbers: four real correlations."""
    a, b = (ew.real(x), ew.imag(x)), (ew.real(taps), ew.imag(taps))
    rr, ii, ri, ir = (correlated(a[i], b[j], spans) for i, j in ((0, 0), (1, 1), (0, 1), (1, 0)))
    return ew.complex_of(ew.subtract(rr, ii), ew.add(ri, ir))
