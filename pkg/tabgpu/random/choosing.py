"""What takes elements of one array: permutation, shuffle, permuted, choice. Orders of 64-bit random keys, the same
everywhere; choices by probability in whole numbers of 2**-31."""

from __future__ import annotations

import math
from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import int32, uint32
from ..layout import as_shape, normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import back, last
from ..ops.convert import from_host
from ..ops.creation import astype, copy_of, full
from ..ops.indexing import setitem
from ..ops.manipulation import ravel, reshape
from ..ops.sorting import order_of, then
from ..ops.taking import _into, take, take_along_axis
from .applying import random_words, whole
from .parameters import Parameters

_ALL = (1 << 31) - 1
LEAST = 1e-37  # a rate with which an arrival is finite, unlike one of 0


def _orders(rng: Any, shape: tuple[int, ...]) -> Array:
    """int32: a random order of each line of the last axis. Equal words are told apart by a second one."""
    key, start = rng._take((2, *shape))
    n = math.prod(shape)
    first = random_words(key, shape, start, "permutation")
    second = random_words(key, shape, (start + n) & 0xFFFFFFFF, "permutation")
    return then(order_of(second), first)


def permutation(rng: Any, x: Any, axis: int) -> Array:
    if whole(x):
        n = as_index(x)
        if n < 0:
            raise ValueError(f"permutation: the number must not be negative: {n}")
        return _orders(rng, (n,)) if n > 1 else full((n,), 0, dtype=int32)
    x = from_host(x, "permutation")
    if not x.ndim:
        raise TypeError(
            f"permutation: an integer or an array with axes is needed, not {x.dtype.name} of shape ()"
        )
    return take(x, _orders(rng, (x.shape[normalize_axis(axis, x.ndim, "permutation")],)), axis)


def shuffle(rng: Any, x: Any, axis: int) -> None:
    if not isinstance(x, Array):
        raise TypeError(f"shuffle: an Array of tabgpu is shuffled in place, not {type(x).__name__}")
    if not x.ndim:
        raise TypeError("shuffle: an array without axes cannot be shuffled")
    if x.shape[normalize_axis(axis, x.ndim, "shuffle")] > 1 and x.size:
        setitem(x, ..., permutation(rng, x, axis))


def permuted(rng: Any, x: Any, axis: int | None, out: Array | None) -> Array:
    x = from_host(x, "permuted")
    if axis is None:
        made = reshape(take(ravel(x), _orders(rng, (x.size,))), x.shape) if x.size > 1 else x
    else:
        at = normalize_axis(axis, x.ndim, "permuted")
        lines = last(x, at)
        made = x if not x.size else back(take_along_axis(lines, _orders(rng, lines.shape), -1), at)
    if out is None:
        return copy_of(made) if made is x else made
    return _into(out, made)


def choice(rng: Any, a: Any, size: Any, replace: bool, p: Any, axis: int, shuffle: bool) -> Array:
    if whole(a):
        n, pool = as_index(a), None
    else:
        pool = from_host(a, "choice")
        if not pool.ndim:
            raise ValueError("choice: a must be an integer or an array with axes")
        axis = normalize_axis(axis, pool.ndim, "choice")
        n = pool.shape[axis]
    dims = () if size is None else as_shape(size, "choice")
    count = math.prod(dims)
    if n < 0 or (n == 0 and count):
        raise ValueError(f"choice: there is nothing to choose from {n}")
    if not replace and count > n:
        raise ValueError(f"choice: {count} of {n} cannot be taken without putting back")
    if not count:
        at = full(dims, 0, dtype=int32)
    elif p is not None:
        at = (_weighted if replace else _raced)(rng, n, dims, _chances(p, n, 0 if replace else count))
    elif replace:
        at = rng.integers(0, n, dims)
    else:
        at = reshape(permutation(rng, n, 0)[:count], dims)
    if pool is None:
        return at
    return take(pool, at, axis)


def _chances(p: Any, n: int, least: int) -> Any:
    """The probabilities: float64 of the host, or (an Array, the conditions on it). least: so many must not be 0."""
    if isinstance(p, Array):
        if p.shape != (n,):
            raise ValueError(f"choice: a and p must have the same size; p has shape {p.shape}, not ({n},)")
        given = Parameters("choice")
        p = given.take("p", p, "not negative")
        far = ew.logical_not(ew.less(ew.abs(ew.subtract(rd.sum(p), 1.0)), 3.5e-4))
        given._watch(astype(far, uint32), "p must sum to 1")
        if least:
            few = ew.less(rd.sum(astype(ew.greater(p, 0), int32)), least)
            given._watch(astype(few, uint32), f"fewer than {least} of p are not 0")
        return p, given
    import numpy as np

    q = np.asarray(p)
    kind = q.dtype
    q = q.astype(np.float64)
    if q.shape != (n,):
        raise ValueError(f"choice: a and p must have the same size; p has shape {q.shape}, not ({n},)")
    if not (q >= 0).all():
        raise ValueError("choice: p must not be negative or NaN")
    if abs(q.sum() - 1) > (math.sqrt(np.finfo(kind).eps) if kind.kind == "f" else 1.5e-8):
        raise ValueError(f"choice: p must sum to 1, not {q.sum()}")
    if np.count_nonzero(q) < least:
        raise ValueError(f"choice: fewer than {least} of p are not 0")
    return q


def _weighted(rng: Any, n: int, dims: tuple[int, ...], p: Any) -> Any:
    """Positions by probability: where an integer below the sum of whole weights falls among their running sums."""
    from ..ops.scans import cumsum
    from ..ops.searching import searchsorted
    from .values import integers_from

    key, start = rng._take(dims)
    if isinstance(p, tuple):
        p, given = p
        scale = ew.divide(float(_ALL - 2 * n - 4096), rd.sum(p))
        sums: Any = cumsum(astype(ew.rint(ew.multiply(p, scale)), int32))
        total: Any = sums[-1]
        at = integers_from(key, 0, total, dims, int32, False, start, "choice")
        return given.put(searchsorted(sums, at, side="right"))
    import numpy as np

    weights = np.floor(p * ((_ALL - n) / p.sum())).astype(np.int64)
    sums = np.cumsum(np.where((p > 0) & (weights == 0), 1, weights))
    at = integers_from(key, 0, int(sums[-1]), dims, int32, False, start, "choice")
    return searchsorted(from_host(sums.astype(np.int32)), at, side="right")


def _raced(rng: Any, n: int, dims: tuple[int, ...], p: Any) -> Any:
    """The first arrivals of exponential times of rates p: what taking without putting back comes to."""
    given = None
    if isinstance(p, tuple):
        p, given = p
        p = ew.where(ew.greater(p, 0), ew.maximum(p, LEAST), 0.0)
    else:
        import numpy as np

        p = from_host(np.where(p > 0, np.maximum(p, LEAST), 0).astype(np.float32))
    times = ew.divide(rng.standard_exponential(n), p)
    order = reshape(order_of(times)[: math.prod(dims)], dims)
    return order if given is None else given.put(order)


__all__ = ["choice", "permutation", "permuted", "shuffle"]
