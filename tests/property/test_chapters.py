"""Reductions over every set of axes, and concat, pad, roll, sort, unique on every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import NAMES, NUMERIC, REAL, arrays, axis_sets, equal, names, pairs, shapes, solid

import tabgpu as tg

REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "mean"]


@given(pairs(dtype=names), st.sampled_from(REDUCTIONS), st.booleans(), st.data())
def test_reductions(pair: Any, name: str, keepdims: bool, data: Any) -> None:
    got, x = pair
    axis = data.draw(axis_sets(x.ndim))
    if x.dtype.kind == "c" and name in ("max", "min"):
        with pytest.raises(TypeError):
            getattr(tg, name)(got, axis=axis)
        return
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if x.dtype.kind in "fc" else x
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if name in ("sum", "prod") and x.dtype.kind in "iub":
        options["dtype"] = np.uint32 if x.dtype.kind == "u" else np.int32
    try:
        with np.errstate(all="ignore"):
            want = getattr(np, name)(wide, **options)
    except ValueError:
        with pytest.raises(ValueError):
            getattr(tg, name)(got, axis=axis)
        return
    result = getattr(tg, name)(got, axis=axis, keepdims=keepdims)
    if x.dtype.kind in "fc" and name in ("sum", "prod", "mean"):
        with np.errstate(all="ignore"):
            size = getattr(np, "sum" if name != "prod" else "prod")(
                np.abs(np.nan_to_num(wide)), axis=axis, keepdims=keepdims
            )
        assume(np.all(np.isfinite(wide)) or x.dtype.kind == "f")
        assert result.dtype.name == x.dtype.name and result.shape == np.shape(want)
        step = 2e-3 if x.dtype == np.float16 else 3e-6
        with np.errstate(all="ignore"):
            rounded = np.asarray(want).astype(x.dtype)
        close = np.isclose(
            np.asarray(result), rounded, rtol=step, atol=step * np.maximum(size, 1e-3), equal_nan=True
        )
        assert np.all(close), (np.asarray(result), rounded)
    else:
        want = np.asarray(want)
        equal(result, want.astype(np.float32) if name == "mean" else want, rtol=1e-6 if name == "mean" else 0)


@given(st.lists(arrays(shape=st.just((2, 3))), min_size=1, max_size=4), st.integers(-2, 1))
def test_concat_of_several_dtypes(parts: list[np.ndarray], axis: int) -> None:
    kinds = {p.dtype.name for p in parts}
    if "uint32" in kinds and kinds & {"int8", "int16", "int32"}:
        return
    with np.errstate(all="ignore"):
        want = np.concatenate(parts, axis=axis)
    got = tg.concat([tg.asarray(p) for p in parts], axis=axis)
    equal(got, want.astype(got.dtype.name), dtype=False)
    equal(tg.stack([tg.asarray(parts[0])] * 3, axis=axis), np.stack([parts[0]] * 3, axis=axis))


MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


@given(pairs(shape=solid), st.sampled_from(MODES), st.data())
def test_pad(pair: Any, mode: str, data: Any) -> None:
    got, x = pair
    widths = data.draw(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=x.ndim, max_size=x.ndim)
    )
    equal(tg.pad(got, widths, mode=mode), np.pad(x, widths, mode=mode))


@given(pairs(), st.data())
def test_roll(pair: Any, data: Any) -> None:
    got, x = pair
    if not x.ndim or data.draw(st.booleans()):
        shift = data.draw(st.integers(-7, 7))
        equal(tg.roll(got, shift), np.roll(x, shift))
        return
    axes = data.draw(st.lists(st.integers(-x.ndim, x.ndim - 1), min_size=1, max_size=3).map(tuple))
    shifts = tuple(data.draw(st.integers(-7, 7)) for _ in axes)
    equal(tg.roll(got, shifts, axis=axes), np.roll(x, shifts, axis=axes))


@given(pairs(dtype=st.sampled_from(REAL), shape=solid), st.data())
def test_sort(pair: Any, data: Any) -> None:
    got, x = pair
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    equal(tg.sort(got, axis=axis), np.sort(x, axis=axis, kind="stable"))
    equal(tg.argsort(got, axis=axis), np.argsort(x, axis=axis, kind="stable"))


@given(pairs(dtype=st.sampled_from(NAMES)))
def test_unique(pair: Any) -> None:
    got, x = pair
    if x.dtype.kind == "c":
        x = np.nan_to_num(x)
        got = tg.asarray(x)
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, equal_nan=False)
    equal(tg.unique_values(got), values)
    found = tg.unique_all(got)
    equal(found.values, values)
    equal(found.counts, counts)
    equal(found.inverse_indices, inverse.reshape(x.shape))


@given(
    pairs(dtype=st.sampled_from(NUMERIC)), st.sampled_from(["cumulative_sum", "cumulative_prod"]), st.data()
)
def test_scans(pair: Any, name: str, data: Any) -> None:
    got, x = pair
    if not x.ndim:
        return
    x = np.nan_to_num(x, posinf=2, neginf=-2)
    got = tg.asarray(x)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    kind = {"i": np.int32, "u": np.uint32}.get(x.dtype.kind, x.dtype)
    result = getattr(tg, name)(got, axis=axis)
    if x.dtype.kind in "iu":
        equal(result, getattr(np, name)(x, axis=axis, dtype=kind))
    else:
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        with np.errstate(all="ignore"):
            want = getattr(np, name)(x.astype(wide), axis=axis).astype(x.dtype)
            size = getattr(np, name)(np.abs(x).astype(np.float64), axis=axis)
        step = 4e-3 if x.dtype == np.float16 else 4e-6
        close = np.isclose(
            np.asarray(result), want, rtol=step, atol=step * np.nan_to_num(size, posinf=1e30), equal_nan=True
        )
        assert np.all(close), (np.asarray(result), want)


@given(shapes, st.data())
def test_broadcasting_shapes(shape: tuple[int, ...], data: Any) -> None:
    """B01: zero-size and size-1 axes against each other."""
    other = tuple(data.draw(st.sampled_from([1, n])) for n in shape)
    x, y = data.draw(arrays("float32", shape)), data.draw(arrays("float32", other))
    equal(tg.add(tg.asarray(x), tg.asarray(y)), x + y)
