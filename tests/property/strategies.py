"""What generated cases are made of: arrays of every dtype in every layout, axes, and the comparison with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tabgpu as tg

NAMES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32", "complex64"]
REAL = NAMES[:-1]
NUMERIC = NAMES[1:]
names = st.sampled_from(NAMES)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
solid = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)


@st.composite
def arrays(draw: Any, dtype: Any = names, shape: Any = shapes) -> np.ndarray:
    """A NumPy array, special values among its floats."""
    name = draw(dtype) if isinstance(dtype, st.SearchStrategy) else dtype
    dims = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    kind = np.dtype(name)
    size = int(np.prod(dims))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if kind.kind == "b":
        flat = rng.integers(0, 2, size).astype(bool)
    elif kind.kind in "iu":
        info = np.iinfo(kind)
        flat = rng.integers(info.min, info.max, size, dtype=kind, endpoint=True)
        few = rng.integers(0, 5, size).astype(kind)
        flat = np.where(rng.random(size) < draw(st.sampled_from([0.0, 0.5, 1.0])), few, flat).astype(kind)
    else:
        flat = rng.normal(size=size).round(draw(st.integers(0, 3)))
        if kind.kind == "c":
            flat = flat + 1j * rng.normal(size=size).round(1)
        flat = flat.astype(kind)
        if size and draw(st.booleans()):
            flat[rng.integers(0, size, 1 + size // 6)] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0])
    return flat.reshape(dims)


@st.composite
def pairs(draw: Any, dtype: Any = names, shape: Any = shapes) -> tuple[tg.Array, np.ndarray]:
    """The same values on both sides, on the GPU as they are, transposed, reversed, sliced or broadcast."""
    x = draw(arrays(dtype, shape))
    how = draw(st.sampled_from(["plain", "transposed", "reversed", "strided", "offset"]))
    if how == "transposed" and x.ndim:
        return tg.asarray(np.ascontiguousarray(x.T)).T, x
    if how == "reversed" and x.ndim:
        return tg.asarray(np.ascontiguousarray(x[::-1]))[::-1], x
    if how == "strided" and x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return tg.asarray(wide)[..., ::2], x
    if how == "offset" and x.ndim:
        return tg.asarray(np.concatenate([x[:1], x]))[min(1, x.shape[0]) :], x
    return tg.asarray(x), x


def axis_sets(rank: int) -> Any:
    """None, one axis or several, negative or not."""
    one = st.integers(-rank, rank - 1) if rank else st.nothing()
    several = st.lists(st.integers(0, max(rank - 1, 0)), unique=True, max_size=rank).map(tuple)
    return st.one_of(st.none(), several, one) if rank else st.sampled_from([None, ()])


def equal(got: tg.Array, want: Any, rtol: float = 0.0, atol: float = 0.0, dtype: bool = True) -> None:
    """Shape, dtype (with 32 bits for NumPy's 64) and values."""
    want = np.asarray(want)
    narrow = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
    assert got.shape == want.shape, (got.shape, want.shape)
    if dtype:
        assert got.dtype.name == narrow.get(want.dtype.name, want.dtype.name), (got.dtype, want.dtype)
    if want.dtype.kind in "fc" and rtol:
        np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)
    else:
        np.testing.assert_array_equal(np.asarray(got), want)
