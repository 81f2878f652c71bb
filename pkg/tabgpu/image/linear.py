"""Linear filters under scipy.ndimage's names: correlation, means, Gaussians and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf
from typing import Any

from ..array import Array
from ..dtypes import as_dtype, float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype, copy_of
from ..ops.manipulation import flip
from .arguments import ascending, axes_of, each, finish, mode_of, prepared, scalar, start, whole
from .stencils import correlated

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d",
    "gaussian_gradient_magnitude", "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "laplace",
    "prewitt", "sobel", "uniform_filter", "uniform_filter1d",
]  # fmt: skip

Job = Callable[[Array, Any], Array]


def _sums(
    x: Array,
    w: Array,
    axes: Sequence[int],
    starts: Sequence[int],
    modes: Sequence[int],
    cval: Any,
    label: str,
) -> Array:
    """Real or complex arrays with real or complex weights."""
    if x.dtype.kind == "c" or w.dtype.kind == "c" or isinstance(cval, complex):
        edge = complex(cval)
        parts = []
        for v, c in ((ew.real(x), edge.real), (ew.imag(x), edge.imag)):
            re, im = (_sums(v, k, axes, starts, modes, c, label) for k in (ew.real(w), ew.imag(w)))
            parts.append(ew.add(re, ew.multiply(im, 1j)))
        return ew.add(parts[0], ew.multiply(parts[1], 1j))
    return correlated(x, w, axes, starts, modes, scalar(cval, label, "cval"))


def _correlate(
    x: Any, weights: Any, axes: Any, output: Any, mode: Any, cval: Any, origin: Any, turned: bool, label: str
) -> Array:  # fmt: skip
    x, w = prepared(x, label), prepared(weights, label)
    at = axes_of(axes, x.ndim, label)
    if w.ndim != len(at):
        raise ValueError(
            f"{label}: weights of shape {w.shape} have not one axis for each of axes {at} of {x.shape}"
        )
    if 0 in w.shape:
        raise ValueError(f"{label}: weights of shape {w.shape} are empty")
    origins = [whole(o, label, "origin") for o in each(origin, len(at), label, "origin")]
    modes = [mode_of(m, label) for m in each(mode, len(at), label, "mode")]
    at, origins, modes = ascending(at, origins, modes)
    if turned:
        origins = [-o - (1 - n % 2) for o, n in zip(origins, w.shape, strict=True)]
        w = flip(w)
    elif w.dtype.kind == "c":  # as NumPy's correlate
        w = ew.conj(w)
    starts = [start(n, o, label) for n, o in zip(w.shape, origins, strict=True)]
    made = _sums(x, w, at, starts, modes, cval, label)
    want = made if made.dtype.kind == "c" and output is None else x
    return finish(made, want, output, label)


def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Array:  # fmt: skip
    """Sums of the elements around each one, times weights: an array with one axis for each of `axes` (all by default).

    mode, for elements beyond the ends, is one or one an axis: reflect (d c b a | a b c d | d c b a), constant (cval),
    nearest, mirror (d c b | a b c d | c b a), wrap, or their grid-* names. origin moves the window, an int or one an
    axis. Sums are taken in float32; the result has the dtype of input (integers: towards zero), or what `output` says:
    a dtype, or an Array that takes the values. Complex arrays go by parts, complex weights as their conjugates.
    ValueError for shapes, modes and origins that do not fit.
    """
    return _correlate(input, weights, axes, output, mode, cval, origin, False, "correlate")


def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Array:  # fmt: skip
    """correlate with the weights turned around on every axis."""
    return _correlate(input, weights, axes, output, mode, cval, origin, True, "convolve")


def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Array:  # fmt: skip
    """correlate along one axis with 1-D weights."""
    return _correlate(input, weights, (axis,), output, mode, cval, origin, False, "correlate1d")


def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Array:  # fmt: skip
    """convolve along one axis with 1-D weights."""
    return _correlate(input, weights, (axis,), output, mode, cval, origin, True, "convolve1d")


def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:  # fmt: skip
    """The mean of `size` elements around each one along an axis. Arguments as correlate1d."""
    label = "uniform_filter1d"
    x, n = prepared(input, label), whole(size, label, "size")
    if n < 1:
        raise ValueError(f"{label}: size must be at least 1, not {n}")
    at = (normalize_axis(axis, x.ndim, label),)
    exact = x.dtype.kind in "iub"
    weights = from_host([1.0 if exact else 1.0 / n] * n, label)
    made = _sums(x, weights, at, [start(n, origin, label)], [mode_of(mode, label)], cval, label)
    return finish(ew.divide(made, float(n)) if exact else made, x, output, label)


def _over_axes(
    x: Array, axes: Sequence[int], jobs: Sequence[Job], output: Any, label: str
) -> Array:  # fmt: skip
    """1-D filters after one another; as in SciPy each leaves the dtype of the result."""
    dtype = output.dtype if isinstance(output, Array) else x.dtype if output is None else as_dtype(output)
    for job in jobs:
        x = job(x, dtype)
    if isinstance(output, Array):
        return finish(x, x, output, label)
    return astype(x, dtype, copy=False) if jobs else astype(copy_of(x), dtype, copy=False)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Array:  # fmt: skip
    """Means of boxes around each element: uniform_filter1d along each of `axes`. size: an int or one an axis."""
    label = "uniform_filter"
    x = prepared(input, label)
    at = axes_of(axes, x.ndim, label)
    given = [each(v, len(at), label, w) for v, w in ((size, "size"), (mode, "mode"), (origin, "origin"))]
    jobs = [
        lambda y, d, k=k, n=n, m=m, o=o: uniform_filter1d(y, n, k, d, m, cval, o)
        for k, n, m, o in zip(at, *given, strict=True)
        if n > 1
    ]
    return _over_axes(x, at, jobs, output, label)


def gaussian_weights(sigma: float, order: int, radius: int) -> list[float]:
    """A Gaussian's derivative, as weights of a correlation."""
    variance = sigma * sigma
    w = [exp(-0.5 * k * k / variance) if variance else float(k == 0) for k in range(-radius, radius + 1)]
    total = sum(w)
    w = [v / total for v in w]
    if not order:
        return w
    # The derivative of exp(p) q is exp(p) (q' + p' q): q as coefficients of powers of x.
    q = [1.0] + [0.0] * order
    for _ in range(order):
        moved = [0.0, *[-v / variance for v in q[:-1]]]
        q = [(k + 1) * q[k + 1] + moved[k] if k < order else moved[k] for k in range(order + 1)]
    return [
        v * sum(c * (-k) ** i for i, c in enumerate(q))
        for k, v in zip(range(-radius, radius + 1), w, strict=True)
    ]


def gaussian_filter1d(
    input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect",
    cval: Any = 0.0, truncate: float = 4.0, *, radius: int | None = None,
) -> Array:  # fmt: skip
    """A Gaussian filter along an axis, or of its derivative of an order.

    sigma: standard deviation in elements. The window reaches radius elements either way, by default
    int(truncate * sigma + 0.5). Other arguments as correlate1d.
    """
    label = "gaussian_filter1d"
    s = scalar(sigma, label, "sigma")
    if not 0 <= s < inf:
        raise ValueError(f"{label}: sigma must be a number of at least 0, not {sigma!r}")
    reach = int(truncate * s + 0.5) if radius is None else radius
    if not isinstance(reach, int) or reach < 0:
        raise ValueError(f"{label}: radius must be a nonnegative integer, not {radius!r}")
    if whole(order, label, "order") < 0:
        raise ValueError(f"{label}: order must be non-negative, not {order}")
    if order and not s:
        raise ValueError(f"{label}: a derivative (order {order}) needs a sigma above 0")
    return correlate1d(input, gaussian_weights(s, order, reach), axis, output, mode, cval, 0)


def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: Any = None, axes: Any = None,
) -> Array:  # fmt: skip
    """gaussian_filter1d along each of `axes`. sigma, order, mode, radius: one value, or one an axis."""
    label = "gaussian_filter"
    x = prepared(input, label)
    at = axes_of(axes, x.ndim, label)
    given = [
        each(v, len(at), label, w)
        for v, w in ((sigma, "sigma"), (order, "order"), (mode, "mode"), (radius, "radius"))
    ]
    jobs = [
        lambda y, d, k=k, s=s, o=o, m=m, r=r: gaussian_filter1d(y, s, k, o, d, m, cval, truncate, radius=r)
        for k, s, o, m, r in zip(at, *given, strict=True)
        if not scalar(s, label, "sigma") <= 1e-15
    ]
    return _over_axes(x, at, jobs, output, label)


def _derivative(
    input: Any, axis: int, output: Any, mode: Any, cval: Any, across: Sequence[float], label: str
) -> Array:  # fmt: skip
    x = prepared(input, label)
    axis = normalize_axis(axis, x.ndim, label)
    modes = each(mode, x.ndim, label, "mode")
    others = [k for k in range(x.ndim) if k != axis]
    plain = (isinstance(cval, (int, float)) and cval == 0) or not any("constant" in str(m) for m in modes)
    if (
        x.ndim == 2 and x.dtype.kind == "f" and plain
    ):  # one launch; else the second filter, too, sees cval beyond
        line = [-1.0, 0.0, 1.0]
        rows = [[a * b for b in (across if axis == 0 else line)] for a in (line if axis == 0 else across)]
        return correlate(x, rows, output, modes, cval)

    def along(k: int, weights: Sequence[float]) -> Job:
        return lambda y, d: correlate1d(y, weights, k, d, modes[k], cval)

    jobs = [along(axis, [-1.0, 0.0, 1.0]), *[along(k, across) for k in others]]
    return _over_axes(x, others, jobs, output, label)


def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Array:
    """Sobel's derivative along an axis: differences of neighbours, smoothed by 1 2 1 along the others."""
    return _derivative(input, axis, output, mode, cval, (1.0, 2.0, 1.0), "sobel")


def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Array:
    """Prewitt's derivative along an axis: differences of neighbours, summed over 1 1 1 along the others."""
    return _derivative(input, axis, output, mode, cval, (1.0, 1.0, 1.0), "prewitt")


def _sum_over_axes(
    x: Array, f: Callable[[int, Any], Array], axes: Any, mode: Any, output: Any, squares: bool, label: str
) -> Array:
    at = axes_of(axes, x.ndim, label)
    if not at:
        return finish(copy_of(x), x, output, label)
    total: Array | None = None
    for k, m in zip(at, each(mode, len(at), label, "mode"), strict=True):
        one = f(k, m)
        one = ew.multiply(one, one) if squares else one
        total = one if total is None else ew.add(total, one)
    assert total is not None
    return finish(ew.sqrt(total) if squares else total, x, output, label)


def _made(x: Array, output: Any) -> Any:
    dtype = output.dtype if isinstance(output, Array) else x.dtype if output is None else as_dtype(output)
    return float32 if dtype.kind == "f" else dtype


def generic_laplace(
    input: Any, derivative2: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The sum of derivative2(input, axis, dtype, mode, cval, *extra_arguments, **extra_keywords) over `axes`: an Array
    that the function returns (SciPy's writes into its output)."""
    x = prepared(input, "generic_laplace")
    more = extra_keywords or {}

    def one(k: int, m: Any) -> Array:
        made: Array = derivative2(x, k, _made(x, output), m, cval, *extra_arguments, **more)
        return made

    return _sum_over_axes(x, one, axes, mode, output, False, "generic_laplace")


def generic_gradient_magnitude(
    input: Any, derivative: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The root of the sum of squares of derivative(input, axis, dtype, mode, cval, ...) over `axes`; as
    generic_laplace."""
    x = prepared(input, "generic_gradient_magnitude")
    more = extra_keywords or {}

    def one(k: int, m: Any) -> Array:
        made: Array = derivative(x, k, _made(x, output), m, cval, *extra_arguments, **more)
        return made

    return _sum_over_axes(x, one, axes, mode, output, True, "generic_gradient_magnitude")


def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None
) -> Array:
    """The sum of second differences (1 -2 1) along `axes`."""

    def second(x: Any, axis: int, out: Any, m: Any, c: Any) -> Array:
        return correlate1d(x, [1.0, -2.0, 1.0], axis, out, m, c)

    return generic_laplace(input, second, output, mode, cval, axes=axes)


def _gaussians(sigma: Any, order: int, axes: Any, options: dict[str, Any], rank: int, label: str) -> Any:
    at = axes_of(axes, rank, label)
    widths = each(sigma, len(at), label, "sigma")

    def derivative(x: Any, axis: int, out: Any, m: Any, c: Any) -> Array:
        orders = [order * (k == axis) for k in at]
        return gaussian_filter(x, widths, orders, out, m, c, axes=at, **options)

    return derivative


def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **kwargs: Any,
) -> Array:  # fmt: skip
    """laplace by second derivatives of Gaussians. sigma: one or one an axis; more arguments go to gaussian_filter."""
    label = "gaussian_laplace"
    x = prepared(input, label)
    return generic_laplace(
        x, _gaussians(sigma, 2, axes, kwargs, x.ndim, label), output, mode, cval, axes=axes
    )


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **kwargs: Any,
) -> Array:  # fmt: skip
    """The length of the gradient by first derivatives of Gaussians. Arguments as gaussian_laplace."""
    label = "gaussian_gradient_magnitude"
    x = prepared(input, label)
    one = _gaussians(sigma, 1, axes, kwargs, x.ndim, label)
    return generic_gradient_magnitude(x, one, output, mode, cval, axes=axes)
