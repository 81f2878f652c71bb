"""pad in all modes, roll, tile, repeat, resize against NumPy, in every dtype and layout."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, launches, layouts, numbered, on_gpu, same

import tabgpu as tg

WIDTHS: list[Any] = [1, (2, 1), ((3, 0), (0, 2)), ((9, 5), (0, 13))]
COPYING: list[dict[str, Any]] = [
    {"mode": "constant"}, {"mode": "constant", "constant_values": ((1, 0), (3, 4))}, {"mode": "edge"}, {"mode": "wrap"},
    {"mode": "reflect"}, {"mode": "symmetric"},
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.limits
async def test_modes_that_copy(dtype: str) -> None:
    """I05: pads longer than the axis, odd row lengths of packed dtypes, views of any strides."""
    made, wanted, labels = [], [], []
    for name, x, g in layouts((3, 5), dtype):
        for how, width in itertools.product(COPYING, WIDTHS):
            made.append(tg.pad(g, width, **how))
            wanted.append(np.pad(x, width, **how))
            labels.append(f"{name} {how} {width}")
    await same(made, wanted, labels)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "int32", "uint32", "float32", "complex64"])
async def test_odd_reflections(dtype: str) -> None:
    x = numbered((4, 3), dtype)
    g = on_gpu(x, dtype)
    cases = list(itertools.product(("reflect", "symmetric"), [*WIDTHS, ((0, 0), (17, 30))]))
    made = [tg.pad(g, w, mode=m, reflect_type="odd") for m, w in cases]
    wanted = [np.pad(x, w, mode=m, reflect_type="odd") for m, w in cases]
    await same(made, wanted, cases, 0.0 if x.dtype.kind in "iu" else 1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float16", "float32"])
async def test_statistics(dtype: str) -> None:
    x = numbered((4, 5), dtype)
    g = on_gpu(x, dtype)
    hows: list[dict[str, Any]] = [{"mode": m} for m in ("maximum", "minimum", "mean", "median")]
    hows += [
        {"mode": m, "stat_length": n}
        for m in ("maximum", "minimum", "mean", "median")
        for n in (2, ((1, 3), (9, 2)))
    ]
    cases = list(itertools.product(hows, WIDTHS))
    if dtype != "int32":
        cases = cases[DTYPES.index(dtype) % 3 :: 3]
    made = [tg.pad(g, w, **how) for how, w in cases]
    tolerance = {"float16": 2e-2, "float32": 1e-5}.get(dtype, 0.0)
    await same(made, [np.pad(x, w, **how) for how, w in cases], cases, tolerance)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "int32", "uint32", "float32", "complex64"])
async def test_linear_ramps(dtype: str) -> None:
    """Integers are floored exactly; NumPy's steps in float64 fall one below at some multiples."""
    x = numbered((3, 4), dtype)
    g = on_gpu(x, dtype)
    cases: list[Any] = list(itertools.product([0, 7, ((3, 1), (0, 5))], [*WIDTHS, (16, 8)]))
    cases = cases if dtype == "int32" else cases[DTYPES.index(dtype) % 2 :: 2]
    made = [tg.pad(g, w, mode="linear_ramp", end_values=e) for e, w in cases]
    wanted = [np.pad(x, w, mode="linear_ramp", end_values=e) for e, w in cases]
    if x.dtype.kind in "fc":
        await same(made, wanted, cases, 1e-4)
        return
    for got, want, case in zip(await tg.fetch(*made), wanted, cases, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        off = got.astype(np.int64) - want.astype(np.int64)
        assert ((off == 0) | (off == 1)).all() and (off != 0).mean() < 0.1, f"{case}: {got}, NumPy {want}"
    whole = tg.pad(tg.asarray([[2**31 - 1], [-(2**31)]]), ((0, 0), (7, 0)), mode="linear_ramp", end_values=-5)
    exact = [[-5 + (v + 5) * k // 7 for k in range(7)] + [v] for v in (2**31 - 1, -(2**31))]
    await same([whole], [np.array(exact, np.int32)])


async def test_forms_of_pad_width_and_shapes() -> None:
    x = numbered((2, 3, 1))
    g = tg.asarray(x)
    forms: list[Any] = [
        0, 2, (1,), (1, 2), ((1, 2),), [[1], [2], [3]], ((0, 1), (2, 0), (0, 0)), np.array([[1, 2]] * 3),
        {0: 1, -1: (2, 3)},
    ]  # fmt: skip
    for mode in ("constant", "wrap", "reflect"):
        pairs = [w if not isinstance(w, dict) else ((1, 1), (0, 0), (2, 3)) for w in forms]
        await same([tg.pad(g, w, mode) for w in forms], [np.pad(x, w, mode) for w in pairs], forms)
    line, point = tg.asarray(numbered((5,))), tg.asarray(np.int32(3))
    empty = tg.zeros((0, 3), dtype=tg.int32)
    await same(
        [
            tg.pad(line, 2), tg.pad(point, ()), tg.pad(empty, 1), tg.pad(empty, ((0, 0), (1, 2)), "edge"),
            tg.pad(line, 3, "empty")[3:-3],
        ],
        [
            np.pad(numbered((5,)), 2), np.int32(3), np.pad(np.zeros((0, 3), np.int32), 1), np.zeros((0, 6), np.int32),
            numbered((5,)),
        ],
    )  # fmt: skip


async def test_constants_of_every_kind() -> None:
    x = numbered((3,), "complex64")
    g = tg.asarray(x)
    values = [2 - 3j, (1j, 4), np.complex64(5)]
    made = [tg.pad(g, 1, constant_values=v) for v in values]
    wanted = [np.pad(x, 1, constant_values=v) for v in values]
    y = numbered((3,), "float32")
    made += [
        tg.pad(tg.asarray(y), 2, constant_values=v)
        for v in (np.nan, -0.0, (np.inf, -np.inf), np.float64(1.5))
    ]
    wanted += [np.pad(y, 2, constant_values=v) for v in (np.nan, -0.0, (np.inf, -np.inf), 1.5)]
    made.append(tg.pad(tg.asarray(y), 1, constant_values=tg.asarray(y)[1]))
    wanted.append(np.pad(y, 1, constant_values=y[1]))
    await same(made, wanted)
    assert np.signbit(await made[4].numpy())[0]
    with pytest.raises(OverflowError, match="300"):
        tg.pad(tg.ones(2, dtype=tg.uint8), 1, constant_values=300)


async def test_launches_of_padding_and_rolling() -> None:
    g = tg.asarray(numbered((6, 7, 8)))
    await tg.fetch(g)
    for f in (
        lambda: tg.pad(g, 2), lambda: tg.pad(g, 9, mode="reflect"), lambda: tg.pad(g.T, 3, mode="wrap"),
        lambda: tg.roll(g, (1, -2, 30), (0, 1, 2)), lambda: tg.roll(g, 5), lambda: tg.tile(g, (2, 3, 1, 2)),
        lambda: tg.repeat(g, 3, axis=1), lambda: tg.resize(g[::-1, 0], (50, 3)),
    ):  # fmt: skip
        out = f()
        before = launches()
        await out.numpy()
        assert launches() - before <= 2 - (out.size != 150)


@pytest.mark.parametrize("dtype", DTYPES)
async def test_roll(dtype: str) -> None:
    made, wanted, labels = [], [], []
    moves: list[Any] = [
        (1, None), (-8, None), (0, 0), (5, 1), ((1, 2), (0, 1)), (-1, (0, 1)), ((1, 1), 1), (2**33 + 1, -1),
        ((3, -2), (1, 1)), ((), ()), (1, ()), ((), 0),
    ]  # fmt: skip
    for name, x, g in layouts((3, 5), dtype):
        for shift, axis in moves:
            made.append(tg.roll(g, shift, axis))
            wanted.append(np.roll(x, shift, axis))
            labels.append(f"{name} {shift} {axis}")
    await same(made, wanted, labels)


@pytest.mark.parametrize("dtype", DTYPES)
async def test_tile_repeat_resize(dtype: str) -> None:
    cases: list[Any] = [lambda a, xp, r=r: xp.tile(a, r) for r in (2, (2, 3), (1, 1), (3, 1, 2), (0, 2), ())]
    cases += [lambda a, xp, r=r, k=k: xp.repeat(a, r, k) for r in (0, 1, 3) for k in (None, 0, -1)]
    cases += [
        lambda a, xp: xp.resize(a, (4, 9)),
        lambda a, xp: xp.resize(a, 7),
        lambda a, xp: xp.resize(a, (0, 3)),
    ]
    cases += [
        lambda a, xp: xp.repeat(a, [k % 3 for k in range(a.shape[0])], 0),
        lambda a, xp: xp.repeat(a, [2], axis=0),
    ]
    made, wanted, labels = [], [], []
    for name, x, g in layouts((3, 5), dtype):
        made += [f(g, tg) for f in cases]
        wanted += [f(x, np) for f in cases]
        labels += [f"{name} {k}" for k in range(len(cases))]
    await same(made, wanted, labels)


async def test_repeat_by_arrays() -> None:
    """The sum of the repeats is read, or bounded: cut, or filled up with the last element; a bound reads nothing."""
    x = numbered((3, 4), "int16")
    g, counts = tg.asarray(x), tg.asarray([2, 0, 3])
    made = [
        await tg.aio.repeat(g, counts, axis=0), await tg.aio.repeat(g, tg.asarray(2), axis=1),
        await tg.aio.repeat(g, 2, axis=1), await tg.aio.repeat(g[0], tg.asarray([0, 0, 0, 0], dtype=tg.uint8)),
    ]  # fmt: skip
    wanted = [np.repeat(x, [2, 0, 3], axis=0), np.repeat(x, 2, axis=1), np.repeat(x, 2, axis=1), x[0, :0]]
    reads = tg.memory()["reads"]
    for n in (0, 3, 5, 8):
        made.append(tg.repeat(g, counts, axis=0, total_repeat_length=n))
        wanted.append(x[[0, 0, 2, 2, 2, 2, 2, 2][:n]])
        made.append(tg.repeat(g, [2, 0, 3], axis=0, total_repeat_length=n))
        wanted.append(wanted[-1])
    assert tg.memory()["reads"] == reads
    await same(made, wanted)
    with pytest.raises(ValueError, match="negative"):
        await tg.repeat(g, tg.asarray([1, -1, 2]), axis=0, total_repeat_length=3).numpy()
    for wrong in (tg.ones(3), tg.asarray([1, 2]), tg.asarray([[1, 2, 3]])):
        with pytest.raises(ValueError, match="repeats must be"):
            tg.repeat(g, wrong, axis=0, total_repeat_length=3)


async def test_rolling_pending_values_fuses_around_it() -> None:
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
    g = tg.asarray(x)
    laplace = tg.roll(g, 1, 0) + tg.roll(g, -1, 0) + tg.roll(g, 1, 1) + tg.roll(g, -1, 1) - 4 * g
    want = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x
    await same([laplace, tg.roll(g * 2, 3)], [want, np.roll(x * 2, 3)], tolerance=1e-6)


async def test_wrong_arguments() -> None:
    g = tg.ones((2, 3))
    before = launches()
    for f, message in [
        (lambda: tg.pad(g, 1, mode="nope"), "nope"), (lambda: tg.pad(g, -1), "negative"),
        (lambda: tg.pad(g, (1, 2, 3)), "pairs"),
        (lambda: tg.pad(g, 1, mode="edge", constant_values=1), "constant_values"),
        (lambda: tg.roll(g, (1, 2, 3), (0, 1)), "shifts"),
        (lambda: tg.pad(g[:0], 1, mode="edge"), r"\(0, 3\)"),
        (lambda: tg.pad(g, 1, "maximum", stat_length=0), "stat_length"),
        (lambda: tg.repeat(g, -1), "negative"), (lambda: tg.repeat(g, [1, 2], axis=1), "2 repeats"),
        (lambda: tg.tile(g, -1), "negative"),
        (lambda: tg.pad(g, 1, "maximum", stat_length=-1), "negative"), (lambda: tg.resize(g, (-1, 2)), "negative"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            f()
    for f in (
        lambda: tg.roll(g, 1, 2),
        lambda: tg.roll(g, 1, (0, -3)),
        lambda: tg.repeat(g, 2, axis=2),
        lambda: tg.pad(g, {2: 1}),
    ):
        with pytest.raises(tg.AxisError):
            f()
    for f in (
        lambda: tg.pad(g, 1.5),
        lambda: tg.roll(g, 1.5),
        lambda: tg.repeat(g, 0.5),
        lambda: tg.pad(g, 1, mode=lambda *a: None),
    ):
        with pytest.raises(TypeError):
            f()
    for f in (
        lambda: tg.repeat(g, 2**31),
        lambda: tg.tile(g, (2**20, 2**20)),
        lambda: tg.pad(g, 2**31),
        lambda: tg.resize(g, 2**33),
    ):
        with pytest.raises(OverflowError, match="addressable"):  # S17
            f()
    assert launches() == before
