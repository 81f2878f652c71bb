"""Making arrays in the tab against NumPy: host values of every kind, constants, ranges, copies, all casts."""

from __future__ import annotations

import array
import copy
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

DTYPES = {
    "bool": np.bool_, "int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32,
    "uint32": np.uint32, "float16": np.float16, "float32": np.float32, "complex64": np.complex64,
}  # fmt: skip  # bfloat16, which NumPy does not have: test_dtypes.py
TINY = 2.0**-126


def draw(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind == "f":
        return np.asarray(rng.standard_normal(shape), dtype)
    if kind == "c":
        return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


async def same(made: list[Any], wanted: list[Any]) -> None:
    """The same values, shapes and dtypes, bit by bit (so -0 and NaN too)."""
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        assert got.dtype == want.dtype and got.shape == want.shape, (
            f"{k}: {got.dtype} {got.shape}, {want.dtype}"
        )
        assert got.tobytes() == want.tobytes(), f"{k}: {got} is not {want}"


# --- from the host ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
async def test_numpy_arrays_of_every_layout(name: str) -> None:
    x = draw(DTYPES[name], (6, 7, 5))
    fixed = x.copy()
    fixed.flags.writeable = False
    hosts = [
        x, x.T, np.asfortranarray(x), x[::-1, 1::2], x[..., 2], x[:, :0], x[3, 2, 1:2], np.array(x[1, 2, 3]),
        fixed,
        np.broadcast_to(x[0, 0], (3, 5)), x.astype(x.dtype.newbyteorder(">")),
        x.astype(x.dtype.newbyteorder(">")).T[1:],
        np.empty((0,), x.dtype), np.empty((3, 0, 2), x.dtype), x.view(np.ndarray)[None, :, None], x[x > x[0, 0,
        0]],
    ]  # fmt: skip
    wanted = [np.ascontiguousarray(h).astype(DTYPES[name]).reshape(h.shape) for h in hosts]
    await same([tg.asarray(h) for h in hosts], wanted)
    await same([tg.array(h, copy=True) for h in hosts], wanted)


@pytest.mark.parametrize("n", [*range(10), 63, 64, 65, 255, 256, 257])
async def test_lengths_that_are_no_multiple_of_a_word(n: int) -> None:
    hosts = [draw(d, (n,)) for d in DTYPES.values()]
    await same([tg.asarray(h) for h in hosts], hosts)


async def test_special_floats_arrive_bit_by_bit() -> None:
    bits = np.array([0, 1, 0x80000000, 0x80000001, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x00800000], np.uint32)
    x = bits.view(np.float32)
    await same([tg.asarray(x), tg.asarray(x)[::-1], tg.asarray(x, copy=True)], [x, x[::-1].copy(), x])


async def test_lists_scalars_and_buffers() -> None:
    f, i, b = np.float32, np.int32, np.bool_
    cases: list[tuple[Any, Any]] = [
        (1.5, f), (True, b), (-3, i), (2**31 - 1, i), ([1, 2, 3], i), ([1, 2.5], f), ([True, False], b), ([], f),
        ([[1, 2], [3, 4]], i), ([[]], f), ((1, (2)), i), ([[[1.0]]], f), ([True, 2], i), ([1, float("nan")], f),
        (range(3), i), (np.float32(2.5), f), (np.int32(-2), i), (np.uint32(2**32 - 1), np.uint32),
        (np.bool_(True), b),
        (np.float64(0.1), f), (np.int64(7), i), (array.array("f", [1, 2]), f), (array.array("i", [1, -2]), i),
        (memoryview(np.arange(6, dtype=f).reshape(2, 3)), f), (memoryview(np.arange(12, dtype=f))[1::3], f),
        (memoryview(bytearray(8)).cast("I"), np.uint32), ([np.float32(1), np.float32(2)], f), (float("inf"), f),
        ([np.array([1.0, 2.0]), np.array([3.0, 4.0])], f),
    ]  # fmt: skip
    wanted = [np.asarray(list(v) if isinstance(v, range) else v).astype(d) for v, d in cases]
    await same([tg.asarray(v) for v, _ in cases], wanted)


async def test_64_bit_values() -> None:
    low, high = np.array([-(2**31), 2**31 - 1]), np.array([0, 2**32 - 1], np.uint64)
    wide = np.array([0.1, -1e300, 1e-300, np.nan, 2**24 + 1])
    with np.errstate(over="ignore"):
        await same(
            [tg.asarray(low.astype(np.int64)), tg.asarray(high), tg.asarray(wide), tg.asarray([0.1, 1e39])],
            [
                low.astype(np.int32),
                high.astype(np.uint32),
                wide.astype(np.float32),
                np.array([0.1, 1e39]).astype("f"),
            ],
        )
    for bad in (
        [2**31],
        [-(2**31) - 1],
        2**31,
        -(2**40),
        np.array([5_000_000_000]),
        np.array([2**32], np.uint64),
    ):
        value = bad if isinstance(bad, int) else int(bad[0])
        with pytest.raises(OverflowError, match=str(value)):
            tg.asarray(bad)
    for bad, dtype in [
        ([2**32], tg.uint32),
        ([-1], tg.uint32),
        (-1, tg.uint32),
        (2**31, tg.int32),
        ([2**40], tg.int32),
    ]:
        with pytest.raises(OverflowError):
            tg.asarray(bad, dtype=dtype)
    with pytest.raises(OverflowError):
        tg.asarray(np.array([2**40]), dtype=tg.int32)


@pytest.mark.parametrize("to", DTYPES)
async def test_dtype_argument(to: str) -> None:
    """From the host: as astype would on the GPU."""
    hosts = [draw(d, (9,)) for d in DTYPES.values() if d is not np.complex64 or to in ("bool", "complex64")]
    hosts += [np.arange(-3, 4, dtype=np.int8) % 5, np.array([0.5, 1.5], np.float16)]
    exact = [np.arange(3, dtype=np.int64), np.arange(3, dtype=np.uint64), np.array([0.5, 70.25])]
    await same(
        [tg.asarray(h, dtype=to) for h in hosts + exact],
        [*await tg.fetch(*[tg.astype(tg.asarray(h), to) for h in hosts]), *[h.astype(to) for h in exact]],
    )
    if to not in ("bool", "complex64"):
        with pytest.raises(TypeError, match="imaginary"):
            tg.asarray(np.ones(2, np.complex64), dtype=to)
    for spec in (DTYPES[to], np.dtype(to), getattr(tg, to if to != "bool" else "bool_")):
        assert tg.asarray([0, 1], dtype=spec).dtype.name == to


@pytest.mark.parametrize(
    "bad",
    [object(), None, "text", [None], ["a"], {1: 2}, {1, 2}, np.array(["2020"], "M8[D]"),
     np.zeros(2, [("a", "f4")]), np.array([object()]), np.array(["a"])],
    ids=lambda bad: type(bad).__name__,  # the same in every process
)  # fmt: skip
def test_what_has_no_place_on_the_gpu(bad: Any) -> None:
    before = tg.memory()["bytes_uploaded"]
    with pytest.raises(TypeError):
        tg.asarray(bad)
    assert tg.memory()["bytes_uploaded"] == before


def test_ragged_lists() -> None:
    with pytest.raises((ValueError, TypeError)):
        tg.asarray([[1, 2], [3]])
    with pytest.raises((ValueError, TypeError)):
        tg.asarray([tg.ones(2), tg.ones(3)])


async def test_later_changes_of_the_host_do_not_leak_in() -> None:
    x = np.arange(5, dtype=np.float32)
    g = tg.asarray(x)
    x[...] = -1
    later = g + 1
    assert await g.tolist() == [0, 1, 2, 3, 4] and await later.tolist() == [1, 2, 3, 4, 5]


async def test_copy_argument_and_device() -> None:
    g = tg.asarray(np.arange(4, dtype=np.float32))
    assert tg.asarray(g) is g and tg.asarray(g, dtype=tg.float32) is g and tg.asarray(g, copy=False) is g
    copies = [
        tg.asarray(g, copy=True),
        tg.array(g, copy=True),
        g.copy(),
        copy.copy(g),
        copy.deepcopy(g),
        g.flatten(),
    ]
    copies += [tg.astype(g, tg.float32), g.reshape((4,), copy=True), tg.positive(g)]
    kept = tg.astype(g, tg.float32, copy=False)
    assert kept is g
    g += 1
    await same(copies, [np.arange(4, dtype=np.float32)] * len(copies))
    with pytest.raises(ValueError):
        tg.asarray(g, dtype=tg.int32, copy=False)
    with pytest.raises(ValueError):
        tg.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="cpu"):
        tg.asarray([1.0], device="cpu")
    assert tg.zeros(3, device="webgpu").device == "webgpu"


# --- constants ----------------------------------------------------------------------------------------------


async def test_constants() -> None:
    made, wanted = [], []
    for shape, (name, dtype) in itertools.product([(), 3, (0,), (2, 3), (2, 0, 3), [4, 1]], DTYPES.items()):
        made += [tg.zeros(shape, dtype=name), tg.ones(shape, dtype=dtype), tg.empty(shape, dtype=name)]
        wanted += [np.zeros(shape, dtype), np.ones(shape, dtype), np.zeros(shape, dtype)]
        made += [
            tg.full(shape, 1, dtype=name),
            tg.zeros_like(made[-1]),
            tg.ones_like(made[-2]),
            tg.empty_like(made[-3]),
        ]
        wanted += [
            np.full(shape, 1, dtype),
            np.zeros(shape, dtype),
            np.ones(shape, dtype),
            np.zeros(shape, dtype),
        ]
    await same(made, wanted)


async def test_full() -> None:
    x = np.arange(3, dtype=np.float32)
    made = [
        tg.full(2, 1.5), tg.full(2, 3), tg.full(2, True), tg.full(2, -0.0), tg.full((), np.inf), tg.full(3,
        np.nan),
        tg.full(2, 7, dtype=tg.uint32), tg.full(2, 2**32 - 1, dtype=tg.uint32), tg.full(2, 2.9, dtype=tg.int32),
        tg.full((2, 3), x), tg.full((2, 3), tg.asarray(x)), tg.full((2, 3), [1, 2, 3], dtype=tg.float32),
        tg.full(2, np.float32(0.1)), tg.full(2, np.int64(5)), tg.full(2, np.uint32(5)), tg.full(2, tg.asarray(4)),
        tg.full_like(tg.ones(2), 5), tg.full_like(tg.ones(2, dtype=tg.int32), 2.5), tg.full(2, 3, dtype=tg.bool_),
        tg.full_like(tg.ones((2, 2)), 1, dtype=tg.uint32), tg.full(2, 1e39),
    ]  # fmt: skip
    f, i, u = np.float32, np.int32, np.uint32
    with np.errstate(over="ignore"):
        wanted = [
            np.full(2, 1.5, f), np.full(2, 3, i), np.full(2, True), np.full(2, -0.0, f), np.full((), np.inf, f),
            np.full(3, np.nan, f), np.full(2, 7, u), np.full(2, 2**32 - 1, u), np.full(2, 2, i), np.full((2,
            3), x),
            np.full((2, 3), x), np.full((2, 3), [1, 2, 3], f), np.full(2, 0.1, f), np.full(2, 5, i), np.full(2,
            5, u),
            np.full(2, 4, i), np.full(2, 5, f), np.full(2, 2, i), np.full(2, True), np.full((2, 2), 1, u),
            np.full(2, np.inf, f),
        ]  # fmt: skip
    await same(made, wanted)
    for bad in (-1, 2**32):
        with pytest.raises(OverflowError):
            tg.full(2, bad, dtype=tg.uint32)
    with pytest.raises(ValueError):
        tg.full((2, 2), x)
    for name in ("int32", "uint8", "float16", "float32"):
        with pytest.raises(TypeError, match=name):
            tg.full(2, 1j, dtype=name)
    for name, bad in [("int8", 128), ("uint8", 256), ("int16", -32769), ("uint16", -1)]:
        with pytest.raises(OverflowError, match=name):
            tg.full(2, bad, dtype=name)
    made = [
        tg.full(2, 1j), tg.full_like(tg.zeros(2, dtype=tg.int8), -128), tg.full(3, np.complex64(2 - 1j)),
        tg.full(2, 1e-8, dtype=tg.float16), tg.full(2, 65520.0, dtype=tg.float16), tg.full(2, np.float16(0.1)),
    ]  # fmt: skip
    wanted = [np.full(2, 1j, np.complex64), np.full(2, -128, np.int8), np.full(3, 2 - 1j, np.complex64),
              np.full(2, 0, np.float16), np.full(2, np.inf, np.float16), np.full(2, 0.1, np.float16)]  # fmt: skip
    await same(made, wanted)


@pytest.mark.parametrize("bad", [-1, (2, -1), 1.5, "3", (1.0, 2), None, [[1]]], ids=repr)
def test_shapes_that_are_none(bad: Any) -> None:
    for f in (tg.zeros, tg.ones, tg.empty, lambda s: tg.full(s, 1)):
        with pytest.raises((TypeError, ValueError)):
            f(bad)


def test_constants_take_no_memory() -> None:
    before = tg.memory()["live_bytes"]
    held = [
        tg.zeros((4000, 4000)),
        tg.full((4000, 4000), 3.0),
        tg.arange(10**7),
        tg.zeros_like(tg.ones((9, 10**6))),
    ]
    assert tg.memory()["live_bytes"] == before and len(held) == 4


async def test_eye_and_identity() -> None:
    made, wanted = [], []
    for n, m, k in itertools.product([0, 1, 3, 5], [None, 0, 2, 5], [-6, -2, -1, 0, 1, 2, 4, 9]):
        made.append(tg.eye(n, m, k=k))
        wanted.append(np.eye(n, m, k=k, dtype=np.float32))
    for dtype in DTYPES.values():
        made += [tg.eye(3, dtype=dtype), tg.identity(4, dtype)]
        wanted += [np.eye(3, dtype=dtype), np.identity(4, dtype)]
    await same(made, wanted)


# --- ranges -------------------------------------------------------------------------------------------------

WHOLE = [
    (0,), (1,), (7,), (-3,), (2, 9), (9, 2), (0, 10, 3), (0, 9, 3), (0, 8, 3), (10, 0, -3), (10, 1, -3),
    (5, 5), (5, 5, -1),
    (-7, 8, 5), (8, -7, -5), (2**31 - 5, 2**31 - 1), (-(2**31), -(2**31) + 3), (2**31 - 1, -(2**31), -(2**30)),
    (-(2**31), 2**31 - 1, 2**29 + 1), (0, 100_001), (0, 2, 5), (3, 0, -7),
]  # fmt: skip


async def test_whole_ranges() -> None:
    made = [tg.arange(*a) for a in WHOLE]
    await same(made, [np.arange(*a, dtype=np.int64).astype(np.int32) for a in WHOLE])
    small = [a for a in WHOLE if all(abs(v) < 1000 for v in a)]
    await same(
        [tg.arange(*a, dtype=tg.float32) for a in small], [np.arange(*a, dtype=np.float32) for a in small]
    )
    unsigned = [
        (5,),
        (2**31, 2**31 + 9, 4),
        (2**32 - 3, 2**32),
        (2**32 - 1, 5, -(2**30)),
        (7, 0, -2),
        (0, 2**32, 2**30),
    ]
    await same(
        [tg.arange(*a, dtype=tg.uint32) for a in unsigned],
        [np.arange(*a, dtype=np.int64).astype(np.uint32) for a in unsigned],
    )
    for name, dtype in DTYPES.items():
        ends = [(5,), (3, 120, 13), (100, 3, -7), (0,)]
        if name != "bool":
            await same([tg.arange(*a, dtype=name) for a in ends], [np.arange(*a).astype(dtype) for a in ends])
    await same(
        [tg.arange(np.int64(4)), tg.arange(np.int32(1), np.uint8(3))],
        [np.arange(4, dtype="i4"), np.int32([1, 2])],
    )


async def test_float_ranges() -> None:
    """As many as NumPy's, each start + k * step to float32's rounding."""
    cases = [
        (5.0,),
        (0, 1, 0.1),
        (1, 0, -0.25),
        (0.5, 3),
        (1, 2, 0.3),
        (0.0, 1.0, 1 / 3),
        (-2.5, 2.5, 0.7),
        (3.0, 1.0),
        (0, 1e6, 99.5),
    ]
    for a, got in zip(cases, await tg.fetch(*[tg.arange(*a) for a in cases]), strict=True):
        want = np.arange(*a, dtype=np.float64)
        assert got.dtype == np.float32 and got.shape == want.shape, a
        assert (np.abs(got - want) <= 2.0**-23 * np.maximum(np.abs(want), abs(a[0]))).all(), a
    await same([tg.arange(np.array(1.5))], [np.array([0, 1], np.float32)])
    await same([tg.arange(0.0, 3.0, 0.75, dtype=tg.int32)], [np.array([0, 0, 1, 2], np.int32)])


def test_ranges_that_are_none() -> None:
    with pytest.raises(ValueError, match="step"):
        tg.arange(0, 5, 0)
    for bad in ("3", None, [1], 1j, tg.asarray([3])):
        with pytest.raises(TypeError):
            tg.arange(bad)
    for args, dtype in [((2**31 + 1,), tg.int32), ((-1, 3), tg.uint32), ((0, 2**33, 2**32), tg.uint32),
                        ((129,), tg.int8), ((-1, 3), tg.uint8), ((65537,), tg.uint16)]:  # fmt: skip
        with pytest.raises(OverflowError):
            tg.arange(*args, dtype=dtype)
    for bad in (-1, 2.5):
        with pytest.raises((ValueError, TypeError)):
            tg.linspace(0, 1, bad)


async def test_ranges_between_arrays() -> None:
    """Ends that are arrays, the new axis, endpoint, dtypes, steps: linspace, logspace, geomspace."""
    low, high = np.float32([1, -2, 5]), np.float32([[2], [8]])
    cases = []
    for num, endpoint, axis in ((5, True, 0), (4, False, -1), (1, True, 1), (0, True, 0)):
        options = {"endpoint": endpoint, "axis": axis}
        wide = low.astype(float), high.astype(float)
        cases.append((tg.linspace(low, high, num, **options), np.linspace(*wide, num, **options)))
        powers = (
            tg.logspace(low / 4, high / 4, num, **options),
            np.logspace(wide[0] / 4, wide[1] / 4, num, **options),
        )
        cases.append(powers)
        ends = np.abs(wide[0]), wide[1]
        cases.append((tg.geomspace(np.abs(low), high, num, **options), np.geomspace(*ends, num, **options)))
    cases.append((tg.linspace([0, 1], [4, 9], 5, dtype=tg.int32), np.linspace([0, 1], [4, 9], 5, dtype=int)))
    cases.append((tg.linspace([1j, 2], 3, 4), np.linspace([1j, 2], 3, 4)))
    cases.append(
        (tg.geomspace([-1.0, 1], [-8.0, -8], 4), [[-1, np.nan], [-2, np.nan], [-4, np.nan], [-8, np.nan]])
    )
    cases.append((tg.logspace(0, 2, 3, base=tg.asarray([2.0, 3])), np.logspace(0, 2, 3, base=[2.0, 3])))
    line, step = tg.linspace(0, 1, 5, retstep=True)
    cases += [
        (line, np.linspace(0, 1, 5)),
        (step, 0.25),
        (tg.linspace(low, high, 3, retstep=True)[1], (high - low) / 2),
    ]
    for (_, want), got in zip(cases, await tg.fetch(*[c[0] for c in cases]), strict=True):
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=3e-6)
    exact = await tg.linspace(low, high, 7).numpy()
    np.testing.assert_array_equal(exact[0], np.broadcast_to(low, (2, 3)))
    np.testing.assert_array_equal(exact[-1], np.broadcast_to(high, (2, 3)))
    with pytest.raises(TypeError, match="complex"):
        tg.linspace([1j], 2, 3, dtype=tg.float32)


LINES = [
    (0, 1), (1, 0), (-1, 1), (0.1, 0.1), (5, 5), (1e6, 1e6 + 1), (-3e38, 3e38), (3e38, -3e38), (0, 1.0726e15),
    (1e-30, 1e30),
    (-7.3, 0.2), (16777216, 16777217), (np.float32(0.3), np.int32(2)),
]  # fmt: skip


@pytest.mark.parametrize("endpoint", [True, False])
async def test_lines(endpoint: bool) -> None:
    """I13: ends exact, all between within two roundings of the larger end."""
    cases = [(a, b, n) for a, b in LINES for n in (0, 1, 2, 3, 4, 7, 50, 100, 1001)]
    made = [tg.linspace(a, b, n, endpoint=endpoint) for a, b, n in cases]
    for (a, b, n), got in zip(cases, await tg.fetch(*made), strict=True):
        want = np.linspace(np.float64(a), np.float64(b), n, endpoint=endpoint)
        assert got.dtype == np.float32 and got.shape == (n,)
        scale = max(abs(float(a)), abs(float(b)), TINY)
        assert (np.abs(got - want) <= 2.0**-23 * scale).all(), f"{a} {b} {n}: {got} {want}"
        if n:
            assert got[0] == np.float32(a)
        if n > 1 and endpoint:
            assert got[-1] == np.float32(b)
        if a == b:
            assert (got == np.float32(a)).all()
        assert (np.diff(got) * np.sign(float(b) - float(a)) >= 0).all(), f"{a} {b} {n}: not monotonic"


async def test_lines_of_other_dtypes() -> None:
    cases = [(a, b, n) for a, b in [(0, 1), (-2, 7), (3.5, -1.25), (0, 60000)] for n in (0, 1, 2, 5, 33)]
    for a, b, n in cases:
        made = [tg.linspace(a, b, n, dtype=tg.float16), tg.linspace(a, b, n, dtype=tg.complex64)]
        half, whole = await tg.fetch(*made)
        want = np.linspace(a, b, n)
        assert (
            half.dtype == np.float16 and (np.abs(half - want) <= np.spacing(np.abs(want).astype("e"))).all()
        )
        assert whole.dtype == np.complex64 and (np.abs(whole - want) <= 2.0**-22 * max(abs(a), abs(b))).all()
    for a, b in [(0, 1j), (1 - 2j, 3.5 + 1j), (np.complex64(1j), 2)]:
        got = await tg.linspace(a, b, 7).numpy()
        assert got.dtype == np.complex64
        np.testing.assert_allclose(got, np.linspace(a, b, 7), rtol=3e-7, atol=2e-7)
        assert got[0] == a and got[-1] == b
    await same(
        [tg.linspace(0, 255, 6, dtype=tg.uint8), tg.linspace(127, -128, 4, dtype=tg.int8)],
        [np.linspace(0, 255, 6).astype(np.uint8), np.floor(np.linspace(127, -128, 4)).astype(np.int8)],
    )
    with pytest.raises(TypeError, match="complex"):
        tg.linspace(0, 1j, 3, dtype=tg.float32)
    with pytest.raises(OverflowError, match="int8"):
        tg.linspace(0, 128, 3, dtype=tg.int8)


@pytest.mark.parametrize("endpoint", [True, False])
async def test_whole_lines_round_down_exactly(endpoint: bool) -> None:
    cases = [
        (a, b, n)
        for a, b in [(0, 10), (10, 0), (-7, 5), (-(2**31), 2**31 - 1), (3, 3), (0, 100)]
        for n in (0, 1, 2, 7, 50, 101)
    ]
    made = [tg.linspace(a, b, n, dtype=tg.int32, endpoint=endpoint) for a, b, n in cases]
    wanted = []
    for a, b, n in cases:
        steps = max(n - 1 if endpoint else n, 1)
        wanted.append(
            np.array([(a + Fraction(b - a) * k / steps).__floor__() for k in range(n)], np.int64).astype(
                np.int32
            )
        )
    await same(made, wanted)
    await same(
        [tg.linspace(2**32 - 1, 0, 4, dtype=tg.uint32)],
        [np.array([2**32 - 1, 2863311530, 1431655765, 0], np.uint32)],
    )
    got = await tg.linspace(-1.5, 1.5, 7, dtype=tg.int32).numpy()
    assert np.array_equal(got, np.linspace(-1.5, 1.5, 7, dtype=np.int32))


# --- casts --------------------------------------------------------------------------------------------------

FLOATS = [
    0,
    -0.0,
    0.5,
    -0.5,
    0.9999999,
    1,
    1.5,
    -1.5,
    2.5,
    1e5,
    1e10,
    -1e10,
    1e20,
    -1e20,
    np.inf,
    -np.inf,
    np.nan,
    1e-45,
    -1e-45,
]
FLOATS += [
    2147483520.0,
    2147483648.0,
    -2147483648.0,
    -2147483904.0,
    4294967040.0,
    4294967296.0,
    16777217,
    3e38,
]


def cast(x: Any, to: Any) -> Any:
    """I01, I02, I10: toward zero, saturating, NaN to 0; integers wrap; to bool: not zero."""
    if x.dtype.kind != "f" or np.dtype(to).kind not in "iu":
        return x.astype(to)
    info = np.iinfo(to)
    wide = np.where(np.isnan(x), 0, np.trunc(x.astype(np.float64)))
    return np.clip(wide, info.min, info.max).astype(np.int64).astype(to)


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("have", DTYPES)
async def test_casts(have: str, to: str) -> None:
    """I01, I02, I10, and of narrow types (I08)."""
    if have == "complex64" and to not in ("bool", "complex64"):
        with pytest.raises(TypeError, match="imaginary"):
            tg.ones(3, dtype=have).astype(to)
        return
    dtype = np.dtype(DTYPES[have])
    with np.errstate(over="ignore"):
        if dtype.kind == "f":
            extremes = np.array(FLOATS, np.float32).astype(dtype)
        elif dtype.kind == "c":
            parts = np.array([0, -0.0, 1e-40, 0.5, np.inf, np.nan, -3], np.float32)
            extremes = np.stack([np.repeat(parts, 7), np.tile(parts, 7)], 1).view(np.complex64)[:, 0]
        elif dtype.kind == "b":
            extremes = np.array([False, True, True])
        else:
            info, near = (
                np.iinfo(dtype),
                [2**k + d for k in (7, 8, 15, 16, 24, 30, 31) for d in (-65, -1, 0, 1, 33)],
            )
            signed = [0, 1, info.max, info.max - 1, info.min, *near, *[-v for v in near], 3_000_000_001]
            extremes = np.array([v for v in signed if info.min <= v <= info.max], dtype)
    cases = [(extremes, lambda a: a), (draw(DTYPES[have], (257,)), lambda a: a)]
    cases += [(draw(DTYPES[have], (5, 7)), lambda a: a.T[::-2]), (draw(DTYPES[have], (3, 1)), lambda a: a[1:]),
              (np.empty((0, 2), DTYPES[have]), lambda a: a), (draw(DTYPES[have], ()), lambda a: a)]  # fmt: skip
    made = [view(tg.asarray(x)).astype(to) for x, view in cases]
    with np.errstate(all="ignore"):
        await same(
            made,
            [np.ascontiguousarray(cast(view(x), DTYPES[to])).reshape(view(x).shape) for x, view in cases],
        )


async def test_chains_of_casts_are_not_shortened() -> None:
    x = tg.asarray(np.array([2.7, -1.2, 0.4, 3e9, np.nan], np.float32))
    assert await x.astype(tg.int32).astype(tg.float32).tolist() == [2, -1, 0, 2147483648.0, 0]
    assert await x.astype(tg.bool_).astype(tg.float32).tolist() == [1, 1, 1, 1, 1]
    assert await x.astype(tg.int32).astype(tg.uint32).tolist() == [2, 2**32 - 1, 0, 2**31 - 1, 0]


def test_casts_to_what_is_not_there() -> None:
    for bad in (np.float64, "int64", tg.complex128, "uint64", "no such type"):
        with pytest.raises(TypeError):
            tg.ones(2).astype(bad)
    assert tg.ones(2).astype(int).dtype is tg.int32 and tg.ones(2).astype(float).dtype is tg.float32
    assert tg.ones(2).astype(bool).dtype is tg.bool_
