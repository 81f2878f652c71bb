"""Indexing with generated keys: what is read, what is assigned, and which keys are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keys import random_key
from strategies import arrays, equal, pairs, solid

import tabgpu as tg


def draw_key(data: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    return random_key(np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))), shape)


def moved(data: Any, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Some of the key's arrays on the GPU, some as lists."""
    how = {"gpu": tg.asarray, "list": lambda k: k.tolist() if k.size else k, "numpy": lambda k: k}
    return tuple(
        how[data.draw(st.sampled_from(list(how)))](k) if isinstance(k, np.ndarray) else k for k in key
    )


@given(pairs(shape=solid), st.data())
def test_get(pair: Any, data: Any) -> None:
    got, x = pair
    key = draw_key(data, x.shape)
    try:
        want = x[key]
    except IndexError:
        with pytest.raises(IndexError):
            np.asarray(got[moved(data, key)])
        return
    equal(got[moved(data, key)], want)


@given(pairs(shape=solid), st.data())
def test_set(pair: Any, data: Any) -> None:
    got, x = pair
    key = draw_key(data, x.shape)
    want = x.copy()
    try:
        part = want[key]
    except IndexError:
        with pytest.raises(IndexError):
            got[key] = 0
        return
    shape = data.draw(st.sampled_from([part.shape, (), part.shape[1:]]))
    value = data.draw(arrays(x.dtype.name, shape))
    whole = got[...]
    pending = got + got if data.draw(st.booleans()) else None
    twice = want + want
    want[key] = value
    got[moved(data, key)] = data.draw(st.sampled_from([value, tg.asarray(value)]))
    equal(got, want)
    equal(whole, want)
    if pending is not None:
        equal(pending, twice, rtol=1e-6)


@given(pairs(shape=solid), st.data())
def test_along_an_axis(pair: Any, data: Any) -> None:
    got, x = pair
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    n = x.shape[axis]
    count = data.draw(st.integers(0, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    picks = rng.integers(-n, n, [count if d == axis % x.ndim else m for d, m in enumerate(x.shape)])
    equal(tg.take_along_axis(got, tg.asarray(picks), axis), np.take_along_axis(x, picks, axis))
    flat = rng.integers(-3 * n, 3 * n, (2, count))
    mode = data.draw(st.sampled_from(["wrap", "clip"]))
    equal(tg.take(got, tg.asarray(flat), axis=axis, mode=mode), np.take(x, flat, axis=axis, mode=mode))


@given(pairs(dtype=st.sampled_from(["int8", "uint16", "int32", "float32"]), shape=solid), st.data())
def test_accumulation_counts_every_duplicate(pair: Any, data: Any) -> None:
    got, x = pair
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    index = rng.integers(0, x.shape[0], 20)
    values = rng.integers(0, 3, (20, *x.shape[1:])).astype(x.dtype)
    x = np.nan_to_num(x, posinf=1, neginf=1).round()
    got = tg.asarray(x)
    for name, ufunc in (("add", np.add), ("max", np.maximum), ("min", np.minimum)):
        want = x.copy()
        ufunc.at(want, index, values)
        equal(getattr(got.at[tg.asarray(index)], name)(tg.asarray(values)), want)
    equal(got, x)
