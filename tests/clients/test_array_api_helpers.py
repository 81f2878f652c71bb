"""array-api-compat and array-api-extra: tabgpu is one of their arrays without being known to them by name."""

from __future__ import annotations

import array_api_compat as compat
import array_api_extra as extra
import numpy as np
import pytest
from data import COUNTS, REAL, X
from same import same

import tabgpu as tg

LINE = (REAL[:9] + 5).astype(np.float32)
MASK = REAL[:9] > 0
SQUARE = X[:4]


def test_namespace() -> None:
    a = tg.asarray(REAL)
    assert compat.array_namespace(a, 1.0, None) is tg
    assert compat.array_namespace(a, api_version="2024.12") is tg
    assert compat.is_array_api_obj(a)
    assert compat.is_writeable_array(a)
    assert not compat.is_lazy_array(a)  # bool(a), shapes that depend on data: they work
    assert not compat.is_numpy_array(a)
    assert compat.device(a) == "webgpu"
    assert compat.to_device(a, "webgpu") is a
    assert compat.size(a) == 24
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(a, REAL)


@pytest.mark.parametrize("name", ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"])
def test_at(name: str) -> None:
    same(lambda a: getattr(extra.at(a)[1:4], name)(2.0), LINE, tol=1e-4)
    same(lambda a, m: getattr(extra.at(a)[m], name)(2.0), LINE, MASK, tol=1e-4)
    same(lambda a: getattr(extra.at(a, 2), name)(2.0, copy=True), LINE, tol=1e-4)


def test_where_and_shapes() -> None:
    same(lambda m, a: extra.apply_where(m, a, lambda v: v * 2, lambda v: v - 1), MASK, LINE)
    same(lambda m, a: extra.apply_where(m, (a, a), lambda v, w: v * w, fill_value=-1.0), MASK, LINE)
    same(lambda a: extra.atleast_nd(a, ndim=3), LINE)
    same(lambda a: extra.expand_dims(a, axis=(0, 2)), LINE)
    same(lambda a: extra.create_diagonal(a, offset=1), LINE)
    same(lambda a: extra.pad(a, ((1, 2), (0, 1)), constant_values=3), SQUARE)


def test_numbers() -> None:
    same(extra.cov, X.T.copy())
    same(extra.kron, SQUARE, SQUARE[:2].copy())
    same(extra.sinc, LINE - 5)
    same(extra.angle, LINE - 5)
    same(extra.nan_to_num, np.where(MASK, LINE, np.float32(np.nan)))
    same(lambda a: extra.isclose(a, a + 1e-6), LINE)
    same(lambda a: extra.lazy_apply(lambda v: v * 2, a, as_numpy=True), LINE)


def test_sets_and_orders() -> None:
    few = COUNTS[:2].copy()
    same(extra.nunique, COUNTS)
    same(lambda a: extra.one_hot(a, 8), COUNTS)
    same(extra.setdiff1d, COUNTS, few)
    same(extra.isin, COUNTS, few)
    same(extra.union1d, COUNTS, few)
    same(lambda a: extra.partition(a, 3)[3, ...], LINE)
    same(lambda a: a[extra.argpartition(a, 3)][3, ...], LINE)
    assert extra.default_dtype(tg) == tg.float32
