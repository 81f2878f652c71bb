"""Dtypes: names, storage, the promotion table, and the refusal of what WebGPU cannot hold."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest

from tabgpu import dtypes as dt
from tabgpu.dtypes import as_dtype, bool_, check_scalar, float32, int32, promote, uint32

AVAILABLE = [bool_, int32, uint32, float32]
WIDE = ["int64", "uint64", "float64", "complex128"]

TABLE = {
    (bool_, bool_): bool_,
    (bool_, int32): int32,
    (bool_, uint32): uint32,
    (bool_, float32): float32,
    (int32, int32): int32,
    (int32, float32): float32,
    (uint32, uint32): uint32,
    (uint32, float32): float32,
    (float32, float32): float32,
}
WEAK = {
    (bool_, "b"): bool_,
    (bool_, "i"): int32,
    (bool_, "f"): float32,
    (int32, "b"): int32,
    (int32, "i"): int32,
    (int32, "f"): float32,
    (uint32, "b"): uint32,
    (uint32, "i"): uint32,
    (uint32, "f"): float32,
    (float32, "b"): float32,
    (float32, "i"): float32,
    (float32, "f"): float32,
}


@pytest.mark.parametrize(("pair", "want"), TABLE.items(), ids=str)
def test_promotion_of_two_arrays(pair: Any, want: Any) -> None:
    assert promote(*pair) is want
    assert promote(*pair[::-1]) is want


def test_every_pair_is_in_the_table_or_refused() -> None:
    for a, b in itertools.product(AVAILABLE, repeat=2):
        if {a, b} == {int32, uint32}:
            with pytest.raises(TypeError, match=r"add: .*astype\('int32'\).*astype\('uint32'\)"):
                promote(a, b, where="add")
        else:
            assert (a, b) in TABLE or (b, a) in TABLE


@pytest.mark.parametrize(("pair", "want"), WEAK.items(), ids=str)
def test_python_scalars_only_lift_the_kind(pair: Any, want: Any) -> None:
    assert promote(*pair) is want
    assert promote(*pair[::-1]) is want


def test_scalars_alone_have_the_default_dtypes() -> None:
    assert promote("b") is bool_
    assert promote("b", "i") is int32
    assert promote("i", "f") is float32


@pytest.mark.parametrize("kinds", list(itertools.product("bif", repeat=2)), ids=str)
def test_promotion_of_several_is_that_of_pairs(kinds: tuple[str, str]) -> None:
    for a, b in TABLE:
        first = promote(a, b)
        assert promote(a, *kinds, b) is promote(promote(first, kinds[0]), kinds[1])


def test_refusals_are_not_remembered_as_answers() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="multiply"):
            promote(uint32, int32, where="multiply")
    with pytest.raises(TypeError, match="complex"):
        promote(float32, "c")


@pytest.mark.parametrize("dtype", AVAILABLE, ids=str)
def test_spellings(dtype: dt.DType) -> None:
    np_name = dtype.name
    spellings: list[Any] = [
        dtype,
        dtype.name,
        np.dtype(np_name),
        np.dtype(np_name).str,
        getattr(np, f"{np_name}"),
    ]
    for spec in spellings:
        assert as_dtype(spec) is dtype
        assert dtype == spec
    assert hash(dtype) == hash(copy.copy(dtype)) and str(dtype) == f"tabgpu.{dtype.name}"
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype


@pytest.mark.parametrize(("spec", "want"), [(bool, bool_), (int, int32), (float, float32)])
def test_python_types(spec: type, want: dt.DType) -> None:
    assert as_dtype(spec) is want


@pytest.mark.parametrize("name", WIDE)
def test_64_bit_names_exist_and_are_refused(name: str) -> None:
    found = getattr(dt, name)
    assert as_dtype(name, checked=False) is found and found.name in dt.ALL
    for spec in (name, found, np.dtype(name)):
        with pytest.raises(TypeError, match=f"{name}.*64-bit"):
            as_dtype(spec)


@pytest.mark.parametrize("name", [n for n, d in dt.ALL.items() if not d.available and n not in WIDE])
def test_dtypes_to_come_are_refused_by_name(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        as_dtype(name)


@pytest.mark.parametrize(
    "spec", ["float31", "", None, object(), 3, "datetime64[s]", np.dtype("U3"), object, "S2"]
)
def test_unknown_dtypes(spec: Any) -> None:
    if spec is None:  # NumPy takes None for float64
        with pytest.raises(TypeError):
            as_dtype(spec)
        return
    with pytest.raises(TypeError, match="not known"):
        as_dtype(spec)
    assert float32 != spec


def test_byte_order_of_a_numpy_dtype_does_not_matter_here() -> None:
    assert as_dtype(np.dtype(">f4")) is float32


@pytest.mark.parametrize("name", dt.ALL)
def test_storage(name: str) -> None:
    """Packed or whole words, never both; as many bytes as NumPy's twin."""
    d = dt.ALL[name]
    assert d.per_word * d.itemsize == 4 * d.words or (d.itemsize >= 4 and d.words * 4 == d.itemsize)
    if name != "bfloat16":
        assert np.dtype(name).itemsize == d.itemsize


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2**31, int32), (-(2**31) - 1, int32), (-1, uint32), (2**32, uint32), (10**30, int32)],
)
def test_integers_that_do_not_fit_are_named(value: int, dtype: dt.DType) -> None:
    with pytest.raises(OverflowError, match=f"add.*{value}.*{dtype.name}"):
        check_scalar(value, dtype, "add")
    with pytest.raises(OverflowError):  # NumPy's own rule
        np.ones(1, dtype.name) + value


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (2**31 - 1, int32),
        (-(2**31), int32),
        (0, uint32),
        (2**32 - 1, uint32),
        (10**30, float32),
        (2.5, int32),
    ],
)
def test_values_that_are_taken(value: Any, dtype: dt.DType) -> None:
    check_scalar(value, dtype, "add")
