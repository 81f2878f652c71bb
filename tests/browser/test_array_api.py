"""The Python array API standard, 2025.12: names, signatures, dtypes, and what its test suite found wrong once.

The suite itself runs with `./build.sh conformance` (tests/conformance/README.md).
"""

from __future__ import annotations

import inspect
import math
import operator
from itertools import product
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.bridge import can_suspend
from tabgpu.dtypes import ALL

can_wait = pytest.mark.skipif(not can_suspend(), reason="no JSPI")

UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log
log1p log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc
""".split()
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal floor_divide
greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply
nextafter not_equal pow remainder subtract
""".split()
FUNCTIONS = """
clip(x, /, min=None, max=None)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=None, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=None, keepdims=False)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
isin(x1, x2, /, *, invert=False)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
broadcast_arrays(*arrays)
broadcast_shapes(*shapes)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, axis)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
__array_namespace_info__()
""".strip().splitlines()
METHODS = """
__array_namespace__(*, api_version=None)
__bool__()
__complex__()
__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
__dlpack_device__()
__float__()
__getitem__(key, /)
__index__()
__int__()
__setitem__(key, value, /)
to_device(device, /, *, stream=None)
""".strip().splitlines()
METHODS += [f"__{name}__()" for name in ("abs", "invert", "neg", "pos")]
METHODS += [
    f"__{before}{name}__(other, /)"
    for name in (
        "add",
        "and",
        "floordiv",
        "lshift",
        "matmul",
        "mod",
        "mul",
        "or",
        "pow",
        "rshift",
        "sub",
        "truediv",
        "xor",
    )
    for before in ("", "r", "i")
]
METHODS += [f"__{name}__(other, /)" for name in ("eq", "ge", "gt", "le", "lt", "ne")]
INFO = """
capabilities()
default_device()
default_dtypes(*, device=None)
devices()
dtypes(*, device=None, kind=None)
""".strip().splitlines()

INTEGERS = [ALL[n] for n in ("int8", "int16", "int32", "uint8", "uint16", "uint32")]
# The standard's table as far as there are 32 bits: rows and columns int8, int16, int32, uint8, uint16, uint32.
PROMOTED = [
    "int8 int16 int32 int16 int32 -", "int16 int16 int32 int16 int32 -", "int32 int32 int32 int32 int32 -",
    "int16 int16 int32 uint8 uint16 uint32", "int32 int32 int32 uint16 uint16 uint32", "- - - uint32 uint32 uint32",
]  # fmt: skip


def agrees(owner: Any, line: str) -> None:
    """The function of that line exists, takes its arguments so, and has its defaults."""
    name, _, rest = line.partition("(")
    function = getattr(owner, name)
    want = list(inspect.signature(eval(f"lambda {rest[:-1]}: 0")).parameters.values())
    got = inspect.signature(function).parameters
    for have, p in zip(list(got.values()), want, strict=False):
        if p.kind is p.KEYWORD_ONLY:
            break
        if p.kind is not p.POSITIONAL_ONLY:
            assert have.kind is p.kind, line
            assert have.kind is p.VAR_POSITIONAL or have.name == p.name, line
        assert have.kind in (p.kind, p.POSITIONAL_OR_KEYWORD), line
    for p in want:
        if p.kind is p.KEYWORD_ONLY:
            assert got[p.name].kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD), line
            if p.default is not None:
                assert got[p.name].default == p.default, line
    required = [
        q for q in got.values() if q.default is q.empty and q.kind not in (q.VAR_POSITIONAL, q.VAR_KEYWORD)
    ]
    assert len(required) <= sum(p.default is p.empty for p in want), f"{line}: more is required"


def test_the_suite_found_no_name_or_argument_missing() -> None:
    for line in [f"{n}(x, /)" for n in UNARY] + [f"{n}(x1, x2, /)" for n in BINARY] + FUNCTIONS:
        agrees(tg, line)
    for line in METHODS:
        agrees(tg.ones((2, 2)), line)
    for line in INFO:
        agrees(tg.__array_namespace_info__(), line)
    for name in ("T", "device", "dtype", "mT", "ndim", "shape", "size"):
        assert hasattr(tg.ones((2, 2)), name)
    assert [tg.e, tg.pi, tg.inf, tg.newaxis] == [math.e, math.pi, math.inf, None] and math.isnan(tg.nan)
    assert tg.__array_api_version__ == "2025.12"
    assert tg.ones(1).__array_namespace__(api_version="2024.12") is tg


def test_dtype_objects() -> None:
    for d in ALL.values():
        assert d == d and d == d.name
        for other in (
            [],
            [1],
            (),
            {},
            None,
            1.5,
            object(),
            "nonsense",
        ):  # also unhashable, and what NumPy refuses
            assert d != other
    assert len({d.name for d in tg.__array_namespace_info__().dtypes().values()}) == 9


def test_integers_promote_by_the_table() -> None:
    for (a, row), (k, b) in product(zip(INTEGERS, PROMOTED, strict=True), enumerate(INTEGERS)):
        want = row.split()[k]
        if want == "-":
            with pytest.raises(TypeError, match="astype"):
                tg.result_type(a, b)
            continue
        assert tg.result_type(a, b) is tg.result_type(b, a) is ALL[want]
        x, y = tg.ones(2, dtype=a), tg.ones(3, dtype=b)[:2]
        for result in (tg.add(x, y), x * y, tg.bitwise_xor(x, y), tg.where(x == 1, x, y), tg.concat([x, y])):
            assert result.dtype is ALL[want]


def test_dtypes_of_results() -> None:
    for d in INTEGERS:
        x = tg.ones((2, 2), dtype=d)
        default = tg.int32 if d.kind == "i" else tg.uint32
        assert tg.sum(x).dtype is tg.prod(x).dtype is tg.cumulative_sum(x, axis=0).dtype is default
        assert tg.sum(x, dtype=d).dtype is tg.max(x).dtype is tg.sort(x).dtype is d
        assert (x + 1).dtype is (2 * x).dtype is (x // 1).dtype is abs(x).dtype is d
        assert (x == 1).dtype is tg.isnan(x).dtype is tg.all(x).dtype is tg.bool
        positions = (tg.argmax(x), tg.argsort(x), tg.count_nonzero(x), tg.searchsorted(x[0], x[1]))
        assert {p.dtype for p in positions} == {tg.int32}
    for d in (tg.float32, tg.complex64):
        x = tg.ones((2, 2), dtype=d)
        assert tg.sum(x).dtype is tg.mean(x).dtype is (x + 1).dtype is (x / 2).dtype is (x**2.0).dtype is d
        assert tg.abs(x).dtype is tg.real(x).dtype is tg.float32
    assert (tg.ones(1) + 1j).dtype is tg.complex64
    assert tg.finfo(tg.complex64).dtype == tg.float32


def test_functions_take_weak_scalars_on_either_side() -> None:
    for name in set(BINARY) - {"matmul"}:
        x = tg.ones(3, dtype=tg.uint8 if "bitwise" in name else tg.bool if "logical" in name else tg.float32)
        scalar = 1 if "bitwise" in name else True if "logical" in name else 1.0
        f = getattr(tg, name)
        assert f(x, scalar).dtype is f(scalar, x).dtype is f(x, x).dtype


# What the suite cannot check without int64 (tests/conformance/skips.txt).
@can_wait
def test_integer_arrays_as_numbers() -> None:
    for d in INTEGERS:
        x = tg.asarray(3, dtype=d)
        assert int(x) == operator.index(x) == 3 and "abcd"[x] == "d" and list(range(5))[x] == 3
        assert np.asarray(x << x).item() == 24 and np.asarray(x >> 1).item() == 1
    with pytest.raises(TypeError):
        operator.index(tg.asarray(3.0))


async def test_rounding_keeps_whole_floats() -> None:
    """What the suite draws beyond float32 (skips.txt)."""
    k = np.concatenate([np.arange(-300, 300), 2.0 ** np.arange(8, 128), 2.0 ** np.arange(8, 25) - 1])
    x = np.concatenate([k, -k, [1.6823618e18, 16777215, 3.4028235e38]]).astype(np.float32)
    for f in (tg.ceil, tg.floor, tg.round, tg.trunc):
        got = await f(tg.asarray(x)).numpy()
        assert got.tobytes() == x.tobytes()


@can_wait
def test_numbers_read_without_await_keep_type_and_sign() -> None:
    """They come through JavaScript, which has one kind of number and turns -0.0 into an integer."""
    for value in (-0.0, 2.0, 3, True, complex(-0.0, 2), 2.0**100):
        number = type(value)(tg.asarray(value))
        assert type(number) is type(value) and repr(number) == repr(value)


async def test_lists_of_arrays_are_stacked() -> None:
    a = tg.asarray([1, 2, 3], dtype=tg.int8)
    nested = tg.asarray([[a[0], a[1]], [a[2], 7]])
    assert nested.dtype is tg.int8 and await nested.tolist() == [[1, 2], [3, 7]]
    assert await tg.asarray((a, [4, 5, 6])).tolist() == [[1, 2, 3], [4, 5, 6]]
    mixed = tg.asarray([0.5, a[0]])
    assert mixed.dtype is tg.float32 and await mixed.tolist() == [0.5, 1.0]
    assert tg.asarray([a, a], dtype=tg.float32).dtype is tg.float32
    with pytest.raises(ValueError, match=r"\(3,\), \(2,\)"):
        tg.asarray([a, [1, 2]])
    with pytest.raises(OverflowError, match="300"):
        tg.asarray([a[0], 300])


async def test_what_the_suite_found() -> None:
    words = tg.asarray([1, 2, 4_000_000_000], dtype=tg.uint32)
    assert await tg.isin(words, 2).tolist() == [False, True, False]
    assert await tg.isin(words, -2, invert=True).tolist() == [True, True, True]
    assert (
        await tg.isin(4_000_000_000, words).item() is True
        and await tg.isin(2, words, invert=True).item() is False
    )
    assert tg.isin(tg.zeros((2, 0), dtype=tg.uint32), 0).shape == (2, 0)
    x = tg.asarray([1.0, 2.0])
    assert type(tg.meshgrid(x, x)) is type(tg.broadcast_arrays(x, x)) is tuple
    for k in (2**31, -(2**40), 2, -2, 9):
        assert await tg.eye(2, 2, k=k).tolist() == [[0, 0], [0, 0]]
    assert tg.astype(x, tg.int32, device=x.device).device == "webgpu"
    with pytest.raises(ValueError, match="cuda"):
        tg.astype(x, tg.int32, device="cuda")
    assert await tg.squeeze(tg.ones((1, 2, 1)), axis=(0, 2)).tolist() == [1, 1]
    assert (tg.asarray(-1.0) // math.inf).shape == ()
    assert math.copysign(1, await (tg.asarray(-1.0) // math.inf).item()) == -1
    assert await (tg.asarray(math.inf) // 2).item() == math.inf


@can_wait
def test_masks_of_no_elements() -> None:
    """A mask's axis may be 0 long beside an axis of any length: nothing is selected."""
    shapes = [
        ((0, 1), (0, 0)),
        ((2, 3), (2, 0)),
        ((2, 3), (0,)),
        ((1, 0), (0, 0)),
        ((0, 3), (0, 2)),
        ((2, 3), (1, 0)),
    ]
    for shape, mask in shapes:
        h, g = np.ones(shape, np.float32), tg.ones(shape)
        for select in (np.zeros(mask, bool), tg.zeros(mask, dtype=tg.bool)):
            try:
                want = h[np.zeros(mask, bool)].shape
            except IndexError:
                with pytest.raises(IndexError, match="axis"):
                    g[select]
                with pytest.raises(IndexError, match="axis"):
                    g[select] = 0
                continue
            assert g[select].shape == want
            g[select] = 5
            assert np.array_equal(np.asarray(g), h)
