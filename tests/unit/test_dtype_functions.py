"""finfo, iinfo, isdtype, result_type, can_cast against NumPy's, for every dtype and pair; and what differs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.dtypes import ALL

NUMPY = [d for n, d in ALL.items() if n != "bfloat16"]
INTEGERS = [d for d in ALL.values() if d.kind in "iu"]
KINDS = (
    "bool",
    "signed integer",
    "unsigned integer",
    "integral",
    "real floating",
    "complex floating",
    "numeric",
)


def name(d: Any) -> str:
    return d.name


@pytest.mark.parametrize("dtype", [d for d in NUMPY if d.kind in "fc"], ids=name)
def test_finfo(dtype: Any) -> None:
    got, want = tg.finfo(dtype), np.finfo(dtype.name)
    assert got.dtype is {"complex64": tg.float32, "complex128": tg.float64}.get(dtype.name, dtype)
    for key in ("bits", "precision", "nmant", "nexp", "maxexp", "minexp"):
        assert getattr(got, key) == getattr(want, key) and type(getattr(got, key)) is int, key
    for key in ("eps", "epsneg", "max", "min", "smallest_normal", "smallest_subnormal", "tiny"):
        assert getattr(got, key) == float(getattr(want, key)) and type(getattr(got, key)) is float, key
    assert np.isclose(got.resolution, float(want.resolution), rtol=1e-2)
    assert repr(got).startswith("finfo(") and f"dtype={got.dtype.name}" in repr(got)


def test_finfo_of_bfloat16() -> None:
    got = tg.finfo("bfloat16")
    assert (got.bits, got.eps, got.smallest_normal) == (16, 2.0**-7, 2.0**-126)
    assert got.max == float(np.uint32(0x7F7F0000).view(np.float32)) == -got.min


@pytest.mark.parametrize("dtype", INTEGERS, ids=name)
def test_iinfo(dtype: Any) -> None:
    got, want = tg.iinfo(dtype), np.iinfo(dtype.name)
    assert got.dtype is dtype and (got.bits, got.max, got.min) == (want.bits, want.max, want.min)
    assert all(type(x) is int for x in (got.bits, got.max, got.min)) and dtype.name in repr(got)


def test_what_they_take() -> None:
    for spec in (
        tg.float32,
        "float32",
        float,
        np.float32,
        np.dtype("float32"),
        np.ones(2, np.float32),
        tg.ones(2),
    ):
        assert tg.finfo(spec).bits == 32
    assert tg.iinfo(tg.ones(2, dtype=tg.int8)).max == 127 and tg.iinfo(int).bits == 32
    for bad in (tg.int32, tg.bool, "int64"):
        with pytest.raises(TypeError, match="iinfo"):
            tg.finfo(bad)
    for bad in (tg.float32, tg.bool, tg.complex64):
        with pytest.raises(TypeError, match="finfo"):
            tg.iinfo(bad)
    for f in (tg.finfo, tg.iinfo):
        with pytest.raises(TypeError, match="float99"):
            f("float99")


def test_isdtype() -> None:
    for d in NUMPY:
        for kind in (*KINDS, *itertools.combinations(KINDS, 2)):
            assert tg.isdtype(d, kind) is np.isdtype(np.dtype(d.name), kind), (d, kind)
        for other in NUMPY:
            assert tg.isdtype(d, other) is (d is other) and tg.isdtype(d, (other, "bool")) is (
                d in (other, tg.bool)
            )
    assert tg.isdtype(tg.bfloat16, "real floating") and tg.isdtype(np.float32, tg.float32)
    with pytest.raises(ValueError, match="'floating'"):
        tg.isdtype(tg.float32, "floating")
    with pytest.raises(TypeError, match="notype"):
        tg.isdtype("notype", "bool")


def test_can_cast() -> None:
    for a, b in itertools.product(NUMPY, NUMPY):
        for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
            want = np.can_cast(a.name, b.name, casting)
            assert tg.can_cast(a, b, casting) is want, (a, b, casting)
        assert tg.can_cast(a, b) is np.can_cast(a.name, b.name)
    for small in (tg.bool, tg.int8, tg.uint8):
        assert tg.can_cast(small, tg.bfloat16)
    assert not tg.can_cast(tg.int16, tg.bfloat16) and not tg.can_cast(tg.float16, tg.bfloat16)
    assert tg.can_cast(tg.bfloat16, tg.float32) and not tg.can_cast(tg.bfloat16, tg.float16)
    assert tg.can_cast(tg.float16, tg.bfloat16, "same_kind") and not tg.can_cast(
        tg.float32, tg.int32, "same_kind"
    )
    assert tg.can_cast(tg.ones(2), tg.float64) and not tg.can_cast(np.ones(2), "float32")
    with pytest.raises(TypeError, match="scalars"):
        tg.can_cast(1, tg.int8)
    with pytest.raises(ValueError, match="'loose'"):
        tg.can_cast(tg.int8, tg.int8, "loose")


SMALL = [d for d in NUMPY if d.available]


def test_result_type_of_dtypes() -> None:
    """The array API's table; beyond it NumPy's, but for what would need 64 bits."""
    for a, b in itertools.product(NUMPY, NUMPY):
        want = np.result_type(a.name, b.name).name
        if a.available and b.available and ALL[want].itemsize > (8 if "complex" in want else 4):
            if {a.kind, b.kind} == {"i", "u"}:
                with pytest.raises(TypeError, match=rf"{a.name}.*{b.name}|{b.name}.*{a.name}"):
                    tg.result_type(a, b)
                continue
            want = {"float64": "float32", "complex128": "complex64"}[want]
        assert tg.result_type(a, b).name == want, (a, b)
    assert tg.result_type(tg.float16, tg.bfloat16) is tg.float32
    assert (
        tg.result_type(tg.bfloat16, tg.float32) is tg.float32
        and tg.result_type("int8", "bfloat16") is tg.bfloat16
    )


def test_result_type_is_that_of_an_operation() -> None:
    for a, b in itertools.product(SMALL, SMALL):
        x, y = tg.ones(1, dtype=a), tg.ones(1, dtype=b)
        try:
            want = tg.result_type(a, b)
        except TypeError:
            with pytest.raises(TypeError):
                x + y
            continue
        assert (x + y).dtype is want is tg.result_type(x, b) is tg.result_type(a, y) is tg.result_type(x, y)


def test_result_type_of_scalars() -> None:
    """Python scalars are weak."""
    assert tg.result_type(1) is tg.int32 and tg.result_type(True, 1.0) is tg.float32
    assert tg.result_type(1, 1j) is tg.complex64 and tg.result_type(False) is tg.bool
    for d in ALL.values():
        assert tg.result_type(d, True) is d
        assert tg.result_type(d, 1) is (tg.int32 if d is tg.bool else d)
        if d.kind in "fc":
            assert tg.result_type(1.5, d) is d
        elif d.available:
            assert tg.result_type(1.5, d) is tg.float32
    assert tg.result_type(tg.float16, 1j) is tg.complex64 and tg.result_type(tg.float64, 1j) is tg.complex128
    assert tg.result_type(tg.int64, 1.5) is tg.float64
    with pytest.raises(ValueError, match="at least one"):
        tg.result_type()
    with pytest.raises(TypeError, match="'text'"):
        tg.result_type("text", tg.int8)


def test_no_array_has_64_bits() -> None:
    for d in (tg.int64, tg.uint64, tg.float64, tg.complex128):
        with pytest.raises(TypeError, match="64-bit"):
            tg.zeros(2, dtype=d)
        assert tg.result_type(d, tg.bool) is d
