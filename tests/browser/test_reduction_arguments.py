"""Arguments of reductions: dtype, axis, where, initial, out; axes that are not there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from reduced import POSITIONS, VALUES, check, draw, host, run

import tabgpu as tg

# --- arguments ----------------------------------------------------------------------------------------------


async def test_dtype() -> None:
    x = draw("i", (6, 9)) // 2**20
    g = tg.asarray(x)
    got = await tg.fetch(
        tg.sum(g, dtype=tg.float32),
        tg.prod(tg.asarray(x % 3 + 1), axis=1, dtype="float32"),
        tg.sum(g, axis=0, dtype=tg.uint32),
        tg.sum(tg.asarray(x > 0), dtype=tg.float32),
        tg.sum(g, axis=(), dtype=np.float32),
    )
    assert [a.dtype for a in got] == [np.float32, np.float32, np.uint32, np.float32, np.float32]
    assert got[0] == x.sum() and np.array_equal(got[1], (x % 3 + 1).prod(axis=1, dtype=np.float64))
    assert np.array_equal(got[2], x.astype(np.uint32).sum(axis=0, dtype=np.uint32))
    assert got[3] == (x > 0).sum() and np.array_equal(got[4], x)
    assert tg.sum(g).dtype is tg.int32 and tg.sum(tg.asarray(x > 0)).dtype is tg.int32
    for wrong in (tg.float64, np.int64, "complex128"):
        with pytest.raises(TypeError):
            tg.sum(g, dtype=wrong)


async def test_no_axes_makes_a_new_array() -> None:
    a = tg.asarray(np.array([1.0, 2.0], np.float32))
    copies = [
        tg.sum(a, axis=()),
        tg.sum(a, axis=(), dtype=tg.float32),
        tg.max(a, axis=()),
        tg.mean(a, axis=()),
    ]
    a += 1
    for c in copies:
        assert await c.tolist() == [1.0, 2.0]


def test_axes_out_of_range() -> None:
    """B08: each wrong axis raises before any GPU work."""
    g = tg.ones((2, 3))
    before = tg.device().counters.launches
    for name in (*VALUES, *POSITIONS):
        f = getattr(tg, name)
        for axis in (2, -3, 4294967295, 100):
            with pytest.raises(tg.AxisError, match=str(axis)):
                f(g, axis=axis)
        with pytest.raises(TypeError):
            f(g, axis=1.0)
    for name in VALUES:
        with pytest.raises(tg.AxisError):
            getattr(tg, name)(g, axis=(0, 2))
        with pytest.raises(ValueError, match="duplicate"):
            getattr(tg, name)(g, axis=(1, -1))
        with pytest.raises(tg.AxisError):
            getattr(tg, name)(tg.ones(()), axis=1)
    assert tg.device().counters.launches == before


async def test_numpy_integers_as_axes_and_methods() -> None:
    x = draw("f", (3, 4))
    g = tg.asarray(x)
    await run([("", name, x, g, {"axis": np.int64(-1)}) for name in VALUES])
    for name in (*VALUES, *POSITIONS):
        check(
            f"a.{name}()",
            name,
            await getattr(g, name)(axis=0, keepdims=True).numpy(),
            x,
            axis=0,
            keepdims=True,
        )
    check("of a list", "sum", await tg.sum([[1.5, 2.0], [3.0, 4.0]], axis=0).numpy(),
          np.array([[1.5, 2], [3, 4]], np.float32), axis=0)  # fmt: skip
    assert await tg.amax(g).item() == x.max() and await tg.amin(g).item() == x.min()


# --- where, initial, out ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", "fiu")
async def test_masks(kind: str) -> None:
    x = draw(kind, (4, 5, 6))
    g = tg.asarray(x)
    masks = [np.random.default_rng(1).random((4, 5, 6)) < 0.6, np.arange(6) % 2 == 0, np.zeros((5, 1), bool)]
    names = {"f": ("sum", "mean"), "i": ("prod", "all"), "u": ("sum", "any")}[kind]
    cases: list[tuple[str, dict[str, Any]]] = []
    for mask, axis in ((masks[0], None), (masks[1], (0, -1)), (masks[2], 1), (False, 0), (masks[1], ())):
        options = {"axis": axis, "where": mask}
        cases += [(name, options) for name in names]
        if axis in (None, 1):
            cases.append(("max" if kind == "i" else "min", options | {"initial": 3, "keepdims": True}))
    results = await tg.fetch(*[getattr(tg, name)(g, **options) for name, options in cases])
    for (name, options), got in zip(cases, results, strict=True):
        want = host(name, x, **options)
        ok = got.shape == want.shape and np.allclose(got, want, rtol=1e-5, atol=1e-6, equal_nan=True)
        assert ok, (name, options)
    on_gpu = tg.asarray(masks[0])
    assert np.allclose(
        await g.sum(axis=1, where=on_gpu).numpy(), host("sum", x, axis=1, where=masks[0]), rtol=1e-5
    )
    assert not np.signbit(await tg.sum(tg.asarray([-1.0]), where=False).numpy())


async def test_wrong_masks() -> None:
    g = tg.ones((2, 3))
    with pytest.raises(TypeError, match="bool"):
        tg.sum(g, where=np.ones(3, np.int32))
    for mask in (np.ones((4, 2, 3), bool), np.ones(2, bool)):
        with pytest.raises(ValueError, match="sum"):
            tg.sum(g, where=mask)
    for name in ("max", "min"):
        with pytest.raises(ValueError, match="initial"):
            getattr(tg, name)(g, where=np.ones(3, bool))


async def test_initial() -> None:
    x = draw("i", (3, 4)) // 2**20
    g = tg.asarray(x)
    cases = []
    for name, value in (("sum", 5), ("prod", -2), ("max", 100), ("min", 2.9), ("sum", np.float64(1.5))):
        cases += [("initial", name, x, g, {"axis": axis, "initial": value}) for axis in (None, 1, ())]
    await run(cases)
    for name, value in (("max", 3), ("min", -3), ("sum", 2), ("prod", 2)):
        got = await getattr(tg, name)(tg.zeros((2, 0)), axis=1, initial=value).tolist()
        assert got == [value, value]
    assert await tg.max(tg.asarray([1.0, 2.0]), initial=tg.asarray(7.0)).item() == 7.0
    assert np.isnan(await tg.max(tg.asarray([1.0]), initial=math.nan).item())
    with pytest.raises(OverflowError):
        tg.max(tg.ones(3, dtype=tg.int8), initial=300)
    for wrong in (np.ones(2), tg.ones(2), "1"):
        with pytest.raises(ValueError, match="initial"):
            tg.sum(g, initial=wrong)


async def test_out() -> None:
    x = draw("f", (3, 4))
    g = tg.asarray(x)
    out = tg.zeros(4)
    for name in VALUES:
        assert getattr(tg, name)(g, axis=0, out=out) is out
        got, want = await out.numpy(), getattr(np, name)(x, axis=0).astype(np.float32)
        assert np.allclose(got, want, rtol=1e-6), name
    ints = tg.zeros((3, 1), dtype=tg.int32)
    assert g.sum(1, None, ints, True) is ints  # NumPy computes in the dtype of out
    assert np.array_equal(await ints.numpy(), x.astype(np.int32).sum(1, keepdims=True))
    place = tg.zeros(3, dtype=tg.int32)
    assert tg.argmax(g, 1, place) is place and np.array_equal(await place.numpy(), x.argmax(1))
    square = tg.asarray(x[:3, :3])
    tg.sum(square, axis=0, out=square[1])  # from its own operand
    want = x[:3, :3].copy()
    want[1] = x[:3, :3].sum(axis=0)
    assert np.allclose(await square.numpy(), want, rtol=1e-6)
    for wrong in (tg.zeros(3), tg.zeros((1, 4)), tg.zeros(())):
        with pytest.raises(ValueError, match="out"):
            tg.sum(g, axis=0, out=wrong)
    with pytest.raises(TypeError, match="tabgpu array"):
        tg.sum(g, out=np.zeros(()))
    with pytest.raises(TypeError, match="int32"):
        tg.argmax(g, out=tg.zeros(()))
