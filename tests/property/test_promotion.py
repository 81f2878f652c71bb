"""Every pair of dtypes, arrays and Python scalars, under the operators: NumPy's result dtype and values."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, arrays, equal

import tabgpu as tg

OPERATORS = [operator.add, operator.mul, operator.sub, operator.eq, operator.and_, operator.truediv]
SCALARS = [True, 3, -2, 2.5, 1.5 - 2j]
# Without a 64-bit type, and with float32 as the default float (docs/differences.md).
ROUNDS = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}


def refused(a: str, b: str) -> bool:
    return {np.dtype(a).kind, np.dtype(b).kind} == {"i", "u"} and "uint32" in (a, b)


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations_with_replacement(NAMES, 2)))
def test_every_pair(a: str, b: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, 7).astype(a), rng.integers(0, 2, 7).astype(b)
    for op in OPERATORS:
        for left, right in ((x, y), (y, x)):
            try:
                with np.errstate(all="ignore"):
                    want = op(left, right)
            except TypeError:
                with pytest.raises(TypeError):
                    op(tg.asarray(left), tg.asarray(right))
                continue
            if refused(a, b):
                with pytest.raises(TypeError, match="astype"):
                    op(tg.asarray(left), tg.asarray(right))
                continue
            check(op, op(tg.asarray(left), tg.asarray(right)), want)


def check(op: Any, got: tg.Array, want: np.ndarray) -> None:
    if op is operator.truediv and want.dtype == np.float16 and got.dtype.name == "float32":
        want = want.astype(np.float32)  # integers of 8 bits divide in float32 here
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-3)
        return
    equal(got, want.astype(ROUNDS.get(want.dtype.name, want.dtype.name)), rtol=2e-6)


@given(arrays(shape=(5,)), st.sampled_from(SCALARS), st.sampled_from(OPERATORS), st.booleans())
def test_python_scalars_are_weak(x: np.ndarray, scalar: Any, op: Any, reflected: bool) -> None:
    args = (scalar, x) if reflected else (x, scalar)
    gpu = tuple(tg.asarray(v) if v is x else v for v in args)
    try:
        with np.errstate(all="ignore"):
            want = op(*args)
    except (TypeError, OverflowError) as error:
        with pytest.raises(type(error)):
            op(*gpu)
        return
    with np.errstate(all="ignore"):
        if want.dtype == np.complex64 and op in (operator.mul, operator.truediv):
            return  # special values of complex products and quotients: tests/browser/test_complex.py
        check(op, op(*gpu), want)


@given(arrays(shape=(9,)), st.sampled_from(NAMES))
def test_astype(x: np.ndarray, name: str) -> None:
    if x.dtype.kind == "c" and np.dtype(name).kind in "iuf":
        with pytest.raises(TypeError, match="imaginary"):
            tg.asarray(x).astype(name)
        return
    if x.dtype.kind == "f" and np.dtype(name).kind in "iu":
        info = np.iinfo(name)
        wide = np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=info.max, neginf=info.min)
        want = np.clip(np.trunc(wide), info.min, info.max).astype(name)
    else:
        with np.errstate(all="ignore"):
            want = x.astype(name)
    equal(tg.asarray(x).astype(name), want)
