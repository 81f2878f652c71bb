"""Medians and quantiles on top of a sort; all of NumPy's methods. Positions are found on the host, in float64."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from ..array import Array
from ..dtypes import float32, int32
from ..layout import normalize_axes
from . import elementwise as ew
from . import reductions as rd
from .along import prepared
from .convert import from_host
from .creation import astype, full
from .manipulation import expand_dims, moveaxis, reshape
from .picking import pick
from .sorting import sorted_rows
from .ufunc_arguments import as_out, store_reduced

# alpha and beta of the continuous methods: the position is n q + (alpha + q (1 - alpha - beta)) - 1
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0), "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip
METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", *_CONTINUOUS, "lower", "higher", "midpoint",
    "nearest",
)  # fmt: skip
Place = tuple[Any, Any, Any]  # the two neighbours in the sorted row, and the weight of the second


class _Numbers:
    """What place_of asks of NumPy, for Python numbers."""

    floor, ceil, rint = staticmethod(floor), staticmethod(ceil), staticmethod(round)

    @staticmethod
    def where(condition: Any, x: Any, y: Any) -> Any:
        return x if condition else y

    @staticmethod
    def clip(x: Any, low: Any, high: Any) -> Any:
        return max(low, min(x, high))


def place_of(q: float, n: Any, method: str, m: Any = _Numbers) -> Place:
    """Where the q-th quantile of n sorted elements lies; n may be an array of m (NumPy)."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        at = (n - 1) * q if method == "linear" else n * q + (alpha + q * (1 - alpha - beta)) - 1
        low = m.floor(at)
        weight = at - low
    elif method == "averaged_inverted_cdf":
        at = n * q - 1
        low = m.floor(at)
        weight = m.where(at == low, 0.5, 1.0)
    elif method == "midpoint":
        low = m.floor((n - 1) * q)
        weight = m.where((n - 1) * q == low, 0.0, 0.5)
    else:
        if method == "inverted_cdf":
            low = m.ceil(n * q) - 1
        elif method == "closest_observation":
            at = n * q - 1.5
            low = m.floor(at)
            low = low + m.where(
                (at == low) & (low % 2 == 1), 0, 1
            )  # halves to the even place, counted from 1
        else:
            low = {"lower": m.floor, "higher": m.ceil, "nearest": m.rint}[method]((n - 1) * q)
        weight = 0.0 * low
    low, high = m.clip(low, 0, n - 1), m.clip(low + 1, 0, n - 1)
    return low, high, m.where(low == high, 0.0, weight)


def _table(q: float, n: int, method: str, where: str) -> tuple[Array, Array, Array]:
    """place_of for each number of elements up to n that a row may have; 0 elements count as one."""
    try:
        import numpy as np

        counts = np.maximum(np.arange(n + 1, dtype=np.float64), 1)
        low, high, weight = place_of(q, counts, method, np)
        low, high = low.astype(np.int32), high.astype(np.int32)
    except ImportError:
        low, high, weight = zip(*[place_of(q, max(k, 1), method) for k in range(n + 1)], strict=True)
    return from_host(low, where, int32), from_host(high, where, int32), from_host(weight, where, float32)


def _rows(a: Any, axis: Any, where: str) -> tuple[Array, tuple[int, ...], int]:
    """(rows with the elements of the axes last, those axes, how many axes a has)."""
    x = prepared(a, where)
    if x.dtype.kind == "c":
        raise TypeError(f"{where}: complex numbers have no order")
    axes = normalize_axes(axis, x.ndim, where)
    kept = [k for k in range(x.ndim) if k not in axes]
    moved = moveaxis(x, axes, tuple(range(x.ndim - len(axes), x.ndim))) if axes else x
    n = 1
    for k in axes:
        n *= x.shape[k]
    return reshape(moved, (*[x.shape[k] for k in kept], n)), axes, x.ndim


def _finish(found: Array, axes: tuple[int, ...], rank: int, keepdims: bool, extra: int = 0) -> Array:
    """Size-1 axes where the reduced ones were, behind `extra` leading axes."""
    return expand_dims(found, axis=tuple(k + extra for k in axes)) if keepdims and axes else found


def _lerp(a: Array, b: Array, weight: Any) -> Array:
    """a + weight (b - a), from the nearer end; a where the weight is 0 whatever b is, and one where both are equal."""
    t = astype(weight, a.dtype, copy=False) if isinstance(weight, Array) else weight
    step = ew.subtract(b, a)
    near = ew.add(a, ew.multiply(step, t))
    far = ew.subtract(b, ew.multiply(step, ew.subtract(1.0, t)))
    mixed = ew.where(ew.less(t, 0.5), near, far) if isinstance(t, Array) else (near if t < 0.5 else far)
    alone = ew.equal(a, b)
    return ew.where(ew.logical_or(alone, ew.equal(t, 0.0)) if isinstance(t, Array) else alone, a, mixed)


def _host_q(q: Any, scale: float, where: str) -> tuple[list[float], tuple[int, ...]]:
    """Quantiles as Python floats, and the shape they came in. An Array would have to be read: TypeError."""
    if isinstance(q, Array) or (isinstance(q, (list, tuple)) and any(isinstance(v, Array) for v in q)):
        raise TypeError(f"{where}: q must be host values; positions in the sorted rows depend on it")
    shape: tuple[int, ...] = ()
    if isinstance(q, (int, float)):
        flat = [float(q)]
    elif isinstance(q, (list, tuple)) and all(isinstance(v, (int, float)) for v in q):
        flat, shape = [float(v) for v in q], (len(q),)
    else:
        import numpy as np

        host = np.asarray(q, np.float64)
        flat, shape = host.reshape(-1).tolist(), host.shape
    flat = [v / scale for v in flat]
    if any(not 0 <= v <= 1 for v in flat):
        raise ValueError(
            f"{where}: {'percentiles must be in the range [0, 100]' if scale > 1 else 'quantiles must be in [0, 1]'}"
        )
    return flat, shape


def _float(x: Array) -> Array:
    return x if x.dtype.kind == "f" else astype(x, float32)


def _quantile(
    a: Any, q: Any, axis: Any, method: str, keepdims: bool, out: Any, scale: float, where: str
) -> Array:
    if method not in METHODS:
        raise ValueError(f"{where}: method must be one of {', '.join(METHODS)}, not {method!r}")
    target = as_out(out, where)
    flat, shape = _host_q(q, scale, where)
    rows, axes, rank = _rows(a, axis, where)
    n = rows.shape[-1]
    if not n:
        raise IndexError(f"{where}: no elements along axis {axis}")
    line = sorted_rows(rows)
    places = [place_of(v, n, method) for v in flat]
    low = pick(line, from_host([p[0] for p in places], where, int32))
    high = pick(line, from_host([p[1] for p in places], where, int32))
    if method in ("inverted_cdf", "closest_observation", "lower", "higher", "nearest"):
        found = low
    else:
        low, high = _float(low), _float(high)
        found = _lerp(low, high, from_host([p[2] for p in places], where, float32))
    if line.dtype.kind == "f":
        lost = ew.isnan(line[..., -1:])
        found = ew.where(lost, line[..., -1:], found)
    found = reshape(moveaxis(found, -1, 0), (*shape, *rows.shape[:-1]))
    return store_reduced(_finish(found, axes, rank, keepdims, len(shape)), target, where)


def quantile(
    a: Any, q: Any, /, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The q-th quantiles (host values in [0, 1]) over axes, of shape q.shape + the rest; NaN where there is a NaN.

    method: NumPy's. Integers give float32 (their own dtype where the method picks an element), floats keep their dtype.
    """
    return _quantile(a, q, axis, method, keepdims, out, 1.0, "quantile")


def percentile(
    a: Any, q: Any, /, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """quantile with q in [0, 100]."""
    return _quantile(a, q, axis, method, keepdims, out, 100.0, "percentile")


def median(
    a: Any, /, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """The middle element over axes, or the mean of the two; NaN where there is a NaN, and for no elements.

    Integers give float32, floats keep their dtype.
    """
    target = as_out(out, "median")
    rows, axes, rank = _rows(a, axis, "median")
    n = rows.shape[-1]
    if not n:
        none = full(rows.shape[:-1], float("nan"), dtype=rows.dtype if rows.dtype.kind == "f" else float32)
        return store_reduced(_finish(none, axes, rank, keepdims), target, "median")
    line = sorted_rows(rows)
    found = _mean_of(_float(line[..., (n - 1) // 2]), _float(line[..., n // 2]))
    if line.dtype.kind == "f":
        last = line[..., -1]
        found = ew.where(ew.isnan(last), last, found)
    return store_reduced(_finish(found, axes, rank, keepdims), target, "median")


def _mean_of(a: Array, b: Array) -> Array:
    """The mean of two, which does not overflow."""
    return ew.where(ew.equal(a, b), a, ew.add(ew.multiply(a, 0.5), ew.multiply(b, 0.5)))


def _counted(line: Array) -> Array:
    """int32: how many elements of each sorted row are numbers."""
    return rd.sum(astype(ew.logical_not(ew.isnan(line)), int32), axis=-1, keepdims=True)


def nanmedian(
    a: Any, /, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """median of what is no NaN; NaN where there is nothing else."""
    x = prepared(a, "nanmedian")
    if x.dtype.kind != "f":
        return median(x, axis=axis, out=out, keepdims=keepdims)
    target = as_out(out, "nanmedian")
    rows, axes, rank = _rows(x, axis, "nanmedian")
    if not rows.shape[-1]:
        return median(x, axis=axis, out=out, keepdims=keepdims)
    line = sorted_rows(rows)
    n = _counted(line)
    low = pick(line, ew.floor_divide(ew.subtract(n, 1), 2), float("nan"))
    high = pick(line, ew.floor_divide(n, 2), float("nan"))
    found = ew.where(ew.equal(n, 0), float("nan"), _mean_of(low, high))
    return store_reduced(_finish(found[..., 0], axes, rank, keepdims), target, "nanmedian")


def _nanquantile(
    a: Any, q: Any, axis: Any, method: str, keepdims: bool, out: Any, scale: float, where: str
) -> Array:
    x = prepared(a, where)
    if x.dtype.kind != "f" and x.size:
        return _quantile(x, q, axis, method, keepdims, out, scale, where)
    if method not in METHODS:
        raise ValueError(f"{where}: method must be one of {', '.join(METHODS)}, not {method!r}")
    target = as_out(out, where)
    flat, shape = _host_q(q, scale, where)
    rows, axes, rank = _rows(_float(x), axis, where)
    n = rows.shape[-1]
    line = sorted_rows(rows)
    count = reshape(_counted(line), (-1,))
    found = []
    for v in flat:  # where the quantile lies for each number of elements that a row may have
        low, high, table = _table(v, n, method, where)
        weight = pick(table, count)
        at = [reshape(pick(t, count), (*rows.shape[:-1], 1)) for t in (low, high)]
        ends = [pick(line, k)[..., 0] if n else full(rows.shape[:-1], 0.0, dtype=rows.dtype) for k in at]
        mixed = _lerp(ends[0], ends[1], reshape(weight, rows.shape[:-1]))
        found.append(ew.where(ew.equal(reshape(count, rows.shape[:-1]), 0), float("nan"), mixed))
    from .joining import stack

    both = stack(found, axis=0) if found else full((0,), 0.0, dtype=rows.dtype)
    both = reshape(both, (*shape, *rows.shape[:-1]))
    return store_reduced(_finish(both, axes, rank, keepdims, len(shape)), target, where)


def nanquantile(
    a: Any, q: Any, /, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """quantile of what is no NaN; NaN where there is nothing else."""
    return _nanquantile(a, q, axis, method, keepdims, out, 1.0, "nanquantile")


def nanpercentile(
    a: Any, q: Any, /, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """nanquantile with q in [0, 100]."""
    return _nanquantile(a, q, axis, method, keepdims, out, 100.0, "nanpercentile")


__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]
