"""Values of images: normalised, equalised, sharpened, in new sizes; scikit-image's names where it has them."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32, int32
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype, copy_of
from ..ops.manipulation import getitem, ravel, reshape
from ..ops.picking import pick
from ..ops.rowwise import affine_lines, floating
from ..ops.scans import cumsum
from ..ops.segments import count
from .arguments import each, prepared, scalar, whole
from .colors import as_float
from .geometry import _along_axes
from .linear import gaussian_filter
from .splines import ONE, order_of

__all__ = ["equalize_hist", "image_normalize", "resize", "unsharp_mask"]

# scikit-image's names of borders.
MODES = {
    "constant": "grid-constant", "edge": "nearest", "symmetric": "reflect", "reflect": "mirror", "wrap": "grid-wrap",
}  # fmt: skip


def image_normalize(
    images: Any, *, eps: float = 1e-6, gain: Any = None, bias: Any = None, gamma: float | None = None,
    clip: bool = False,
) -> Array:  # fmt: skip
    """(..., height, width) less each image's mean, divided by the root of its variance + eps; then times gain, plus
    bias (numbers or arrays that broadcast), with clip not below 0, to the power gamma.

    An image of one value becomes 0 (then bias). float32, float16 and bfloat16 keep their dtype, others become float32.
    Mean, variance and result are one launch; what follows is one more. ValueError for fewer than two axes.
    """
    label = "image_normalize"
    x = floating(images, label, None)
    if x.ndim < 2:
        raise ValueError(f"{label}: needs (..., height, width), not the shape {x.shape}")
    e = scalar(eps, label, "eps")
    if not 0 <= e < float("inf"):
        raise ValueError(f"{label}: eps must be at least 0, not {eps!r}")
    made = affine_lines("layer_norm", x, x.shape[-2:], None, None, e or 1e-30)
    if gain is not None:
        made = ew.multiply(made, gain)
    if bias is not None:
        made = ew.add(made, bias)
    if clip:
        made = ew.maximum(made, 0.0)
    if gamma is not None:
        made = ew.power(made, scalar(gamma, label, "gamma"))
    return astype(made, x.dtype, copy=False)


def equalize_hist(image: Any, nbins: int = 256, mask: Any = None) -> Array:
    """float32: how large a part of the image (of mask, where given) is not brighter, between the centres of nbins equal
    bins in a line; of uint8 and uint16 exactly, value by value."""
    label = "equalize_hist"
    x, n = prepared(image, label), whole(nbins, label, "nbins")
    if x.dtype.kind == "c":
        raise TypeError(f"{label}: complex numbers have no order")
    kept = None if mask is None else ravel(ew.not_equal(prepared(mask, label), 0))
    if kept is not None and kept.size != x.size:
        raise ValueError(f"{label}: mask and image {x.shape} differ in shape")
    if n < 1:
        raise ValueError(f"{label}: nbins must be at least 1, not {nbins!r}")
    if not x.size:
        return astype(x, float32)
    flat = ravel(x)
    if x.dtype.name in ("uint8", "uint16"):
        n = 1 << 8 * x.dtype.itemsize
        bins = astype(flat, int32)
        below, part = bins, None
    else:
        wide = astype(flat, float32, copy=False)
        inside = wide if kept is None else ew.where(kept, wide, float("inf"))
        low = rd.min(inside)
        high = rd.max(wide if kept is None else ew.where(kept, wide, float("-inf")))
        span = ew.where(ew.greater(high, low), ew.subtract(high, low), 1.0)
        place = ew.multiply(ew.divide(ew.subtract(wide, low), span), float(n))
        bins = astype(ew.clip(ew.floor(place), 0.0, float(n - 1)), int32)
        centred = ew.clip(ew.subtract(place, 0.5), 0.0, float(n - 1))
        start = ew.floor(centred)
        below, part = astype(start, int32), ew.subtract(centred, start)
    counts = count(bins if kept is None else ew.where(kept, bins, -1), n)
    running = astype(cumsum(counts), float32)
    share = ew.divide(running, getitem(running, -1))
    first = pick(share, below, 1.0)
    if part is not None:
        after = pick(share, ew.minimum(ew.add(below, 1), n - 1), 1.0)
        first = ew.add(first, ew.multiply(part, ew.subtract(after, first)))
    return reshape(first, x.shape)


def unsharp_mask(
    image: Any, radius: Any = 1.0, amount: float = 1.0, preserve_range: bool = False, *, channel_axis: int | None = None
) -> Array:  # fmt: skip
    """image + amount * (image - image blurred by a Gaussian of sigma radius), float32.

    Clipped to 0 .. 1, or to -1 .. 1 where image has negative elements; with preserve_range neither scaled nor clipped.
    channel_axis: an axis that is not blurred.
    """
    label = "unsharp_mask"
    x = astype(prepared(image, label), float32) if preserve_range else as_float(image, label)
    axes = [k for k in range(x.ndim) if channel_axis is None or k != channel_axis % x.ndim]
    blurred = gaussian_filter(x, radius, mode="reflect", axes=axes)
    made = ew.add(x, ew.multiply(ew.subtract(x, blurred), scalar(amount, label, "amount")))
    if preserve_range or not x.size:
        return made
    low = ew.where(ew.less(rd.min(x), 0), -1.0, 0.0)
    return ew.minimum(ew.maximum(made, low), 1.0)


def resize(
    image: Any, output_shape: Any, order: int = 1, mode: str = "reflect", cval: float = 0.0, clip: bool = True,
    preserve_range: bool = False, anti_aliasing: bool | None = None, anti_aliasing_sigma: Any = None,
) -> Array:  # fmt: skip
    """image with output_shape (its first axes; others stay), float32, by splines of an order from edge to edge.

    anti_aliasing (by default where an axis shrinks and order is above 0): a Gaussian first, of sigma (factor - 1) / 2
    or anti_aliasing_sigma. mode: constant, edge, symmetric, reflect, wrap, as numpy.pad. clip: not beyond image's
    extremes (but for cval). preserve_range: uint8 and uint16 are not divided by their greatest value.
    """
    label = "resize"
    n = order_of(order, label)
    x = astype(prepared(image, label), float32, copy=False) if preserve_range else as_float(image, label)
    sizes = output_shape if hasattr(output_shape, "__len__") else (output_shape,)
    outs = [whole(v, label, "output_shape") for v in sizes]
    outs += x.shape[len(outs) :]
    if len(outs) != x.ndim or min(outs, default=1) < 1 or 0 in x.shape:
        raise ValueError(f"{label}: an image of shape {x.shape} has no form of shape {tuple(outs)}")
    if mode not in MODES:
        raise ValueError(f"{label}: mode {mode!r} is none of {', '.join(MODES)}")
    factors = [s / o for s, o in zip(x.shape, outs, strict=True)]
    made, name = x, MODES[mode]
    if anti_aliasing or (anti_aliasing is None and n > 0 and max(factors, default=1) > 1):
        wanted = anti_aliasing_sigma
        sigma = (
            [max(0.0, (f - 1) / 2) for f in factors]
            if wanted is None
            else each(wanted, x.ndim, label, "sigma")
        )
        made = gaussian_filter(made, sigma, mode=name, cval=cval)
    steps: list[Any] = [(2 * s * ONE + o) // (2 * o) for s, o in zip(x.shape, outs, strict=True)]
    firsts: list[Any] = [((s - o) * ONE) // (2 * o) for s, o in zip(x.shape, outs, strict=True)]
    made = _along_axes(made, outs, firsts, steps, n, name, cval, True, label)
    if clip and n > 1:
        within = ew.minimum(ew.maximum(made, rd.min(x)), rd.max(x))
        made = ew.where(ew.equal(made, cval), made, within) if mode == "constant" else within
    return copy_of(x) if made is x else made
