"""XLA's gather, scatter, dot_general, pad and reduce_window, element by element in NumPy, plainly.

No tests. Slow and plain: what the kernels must give. Modes: "clip" moves a window inside, "drop" leaves out (or fills)
a window that is not inside as a whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np


def windows(
    shape: tuple[int, ...], index: Any, dims: Any, sizes: tuple[int, ...], out: tuple[int, ...], mode: str
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...] | None]]:
    """(place in the result or the updates, place in the operand or None) for each element. index: parts last."""
    window, missing, mapped, batching, index_batching = (tuple(d) for d in dims)
    kept = [k for k in range(len(shape)) if k not in missing and k not in batching]
    outer = [d for d in range(len(out)) if d not in window]
    for place in itertools.product(*(range(n) for n in out)):
        at = [0] * len(shape)
        batch = tuple(place[d] for d in outer)
        inside = True
        for j, k in enumerate(mapped):
            start = int(index[batch][j])
            limit = shape[k] - sizes[k]
            if mode == "clip":
                start = min(max(start, 0), limit)
            elif not 0 <= start <= limit:
                inside = False
            at[k] += start
        for k, b in zip(batching, index_batching, strict=True):
            at[k] += batch[b]
        for d, k in zip(window, kept, strict=True):
            at[k] += place[d]
        yield place, tuple(at) if inside else None


def gather(
    x: Any, index: Any, dims: Any, sizes: tuple[int, ...], mode: str = "clip", fill: Any = None
) -> Any:
    window = dims[0]
    kept = [k for k in range(x.ndim) if k not in dims[1] and k not in dims[3]]
    rank = index.ndim - 1 + len(window)
    batch, inner = iter(index.shape[:-1]), iter(sizes[k] for k in kept)
    out = np.empty([next(inner) if d in window else next(batch) for d in range(rank)], x.dtype)
    for place, at in windows(x.shape, index, dims, sizes, out.shape, mode):
        out[place] = fill if at is None else x[at]
    return out


COMBINE = {
    "": lambda old, new: new,
    "add": lambda old, new: old + new,
    "sub": lambda old, new: old - new,
    "mul": lambda old, new: old * new,
    "min": np.minimum,
    "max": np.maximum,
}


def scatter(x: Any, index: Any, new: Any, dims: Any, name: str = "", mode: str = "drop") -> Any:
    kept = [k for k in range(x.ndim) if k not in dims[1] and k not in dims[3]]
    sizes = [1] * x.ndim
    for d, k in zip(dims[0], kept, strict=True):
        sizes[k] = new.shape[d]
    out = x.copy()
    with np.errstate(over="ignore"):
        for place, at in windows(x.shape, index, dims, tuple(sizes), new.shape, mode):
            if at is not None:
                out[at] = COMBINE[name](out[at], new[place])
    return out


def dot_general(x: Any, y: Any, dims: Any) -> Any:
    """Batch axes, then lhs's others, then rhs's, by einsum."""
    (over_x, over_y), (batch_x, batch_y) = dims
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    a = [next(letters) for _ in range(x.ndim)]
    b = [next(letters) for _ in range(y.ndim)]
    for i, j in (*zip(over_x, over_y, strict=True), *zip(batch_x, batch_y, strict=True)):
        b[j] = a[i]
    free_x = [a[k] for k in range(x.ndim) if k not in (*over_x, *batch_x)]
    free_y = [b[k] for k in range(y.ndim) if k not in (*over_y, *batch_y)]
    out = [a[k] for k in batch_x] + free_x + free_y
    return np.einsum(f"{''.join(a)},{''.join(b)}->{''.join(out)}", x, y)


def pad(x: Any, value: Any, config: Any) -> Any:
    """(low, high, interior) for each axis, axis by axis."""
    for d, (low, high, interior) in enumerate(config):
        x = np.moveaxis(x, d, 0)
        n = x.shape[0]
        wide = np.full(
            (max(0, n + (n - 1) * interior) + max(low, 0) + max(high, 0), *x.shape[1:]), value, x.dtype
        )
        if n:
            begin = max(low, 0)
            wide[begin : begin + (n - 1) * (interior + 1) + 1 : interior + 1] = x
        wide = wide[max(-low, 0) : wide.shape[0] - max(-high, 0)]
        x = np.moveaxis(wide, 0, d)
    return x


def reduce_window(
    x: Any, init: Any, combine: Any, size: Any, stride: Any, pads: Any, base: Any, dilation: Any
) -> Any:
    """combine over each window of the padded, dilated operand, from init on."""
    x = pad(x, init, [(a, b, g - 1) for (a, b), g in zip(pads, base, strict=True)])
    reach = [(w - 1) * h + 1 for w, h in zip(size, dilation, strict=True)]
    out = [max(0, (n - r) // s + 1) for n, r, s in zip(x.shape, reach, stride, strict=True)]
    made = np.empty(out, x.dtype)
    for place in itertools.product(*(range(n) for n in out)):
        total = init
        for k in itertools.product(*(range(w) for w in size)):
            total = combine(
                total, x[tuple(p * s + i * h for p, s, i, h in zip(place, stride, k, dilation, strict=True))]
            )
        made[place] = total
    return made
