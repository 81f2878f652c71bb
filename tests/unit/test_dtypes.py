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

AVAILABLE = [d for d in dt.ALL.values() if d.available]
WIDE = ["int64", "uint64", "float64", "complex128"]
INTEGERS = [d for d in AVAILABLE if d.kind in "iu"]


def expected(a: dt.DType, b: dt.DType) -> dt.DType | None:
    """NumPy's table with our widest types in place of 64 bits; None: there is no common type."""
    names = {"float64": "float32", "complex128": "complex64"}
    if {a.kind, b.kind} == {"i", "u"} and uint32 in (a, b):
        return None
    if dt.bfloat16 in (a, b) and a is not b:
        other = a if b is dt.bfloat16 else b
        if other.kind == "b" or (other.kind in "iu" and other.itemsize == 1):
            return dt.bfloat16
        return dt.complex64 if other.kind == "c" else float32
    if a is b:
        return a
    found = np.promote_types(a.name, b.name).name
    return dt.ALL[names.get(found, found)]


TABLE = {
    pair: want for pair in itertools.product(AVAILABLE, repeat=2) if (want := expected(*pair)) is not None
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
    (dt.int8, "i"): dt.int8,
    (dt.int8, "f"): float32,
    (dt.uint16, "i"): dt.uint16,
    (dt.float16, "i"): dt.float16,
    (dt.float16, "f"): dt.float16,
    (dt.bfloat16, "f"): dt.bfloat16,
    (dt.float16, "c"): dt.complex64,
    (dt.int8, "c"): dt.complex64,
    (dt.complex64, "f"): dt.complex64,
}


@pytest.mark.parametrize(("pair", "want"), TABLE.items(), ids=str)
def test_promotion_of_two_arrays(pair: Any, want: Any) -> None:
    assert promote(*pair) is want
    assert promote(*pair[::-1]) is want


def test_every_pair_is_in_the_table_or_refused() -> None:
    for a, b in itertools.product(AVAILABLE, repeat=2):
        if (a, b) not in TABLE:
            assert {a.kind, b.kind} == {"i", "u"} and uint32 in (a, b)
            with pytest.raises(TypeError, match=r"add: .*astype\('int32'\).*astype\('uint32'\)"):
                promote(a, b, where="add")


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


@pytest.mark.parametrize("dtype", [d for d in AVAILABLE if d is not dt.bfloat16], ids=str)
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
