"""Operators of Array in the tab: every dunder with arrays, Python and NumPy operands on either side, errors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.bridge import can_suspend

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
BITS = ("and_", "or_", "xor", "lshift", "rshift")
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY = ("neg", "pos", "abs", "invert")

FLOATS = np.array([[0.5, -1.5, 2.0], [3.25, -4.0, 0.75]], np.float32)
INTS = np.array([[7, -3, 2], [5, -8, 31]], np.int32)
UINTS = np.array([[7, 3, 2], [5, 2**32 - 1, 31]], np.uint32)
BOOLS = np.array([[True, False, True], [False, False, True]])
HOSTS = {"f": FLOATS, "i": INTS, "u": UINTS, "b": BOOLS}


def narrow(x: Any) -> Any:
    """NumPy's answer in our default dtypes."""
    return np.asarray(x).astype({"f": "f4", "i": "i4", "u": "u4", "b": "?"}[np.asarray(x).dtype.kind])


async def agree(label: str, got: Any, want: Any) -> None:
    assert isinstance(got, tg.Array), f"{label}: {type(got)}"
    out, want = await got.numpy(), narrow(want)
    assert out.dtype == want.dtype and out.shape == want.shape, (
        f"{label}: {out.dtype} {out.shape}, {want.dtype}"
    )
    if out.dtype == np.float32:
        assert np.allclose(out, want, rtol=3e-7, atol=0, equal_nan=True), f"{label}: {out}, {want}"
    else:
        assert np.array_equal(out, want), f"{label}: {out}, {want}"


async def both_sides(name: str, host: Any, other: Any, ours: Any = None) -> None:
    """host op other and other op host, with the host array on the GPU."""
    f = getattr(operator, name)
    with np.errstate(all="ignore"):
        await agree(
            f"array {name} {other!r}", f(tg.asarray(host), other if ours is None else ours), f(host, other)
        )
        await agree(
            f"{other!r} {name} array", f(other if ours is None else ours, tg.asarray(host)), f(other, host)
        )


@pytest.mark.parametrize("name", ARITHMETIC + COMPARE)
async def test_floats(name: str) -> None:
    for other in (2, 0.5, -1.25, True, np.float32(2), FLOATS[::-1].copy(), FLOATS[0]):
        if name == "pow" and np.any(np.asarray(other) != np.asarray(other, np.float32)):
            continue
        await both_sides(name, FLOATS, other)
    await both_sides(name, FLOATS, FLOATS[:, :1].copy(), tg.asarray(FLOATS)[:, :1])


@pytest.mark.parametrize("name", (*ARITHMETIC, *BITS, *COMPARE))
async def test_integers(name: str) -> None:
    positive = np.abs(INTS) % 9
    for other in (2, np.int32(3), True, positive, positive[0]):
        host = positive + 1 if name == "pow" else INTS
        if name == "lshift" and other is positive:
            host = positive
        if name == "truediv":
            f = operator.truediv
            await agree("truediv", f(tg.asarray(host), other), f(host.astype(np.float64), other))
        else:
            await both_sides(name, host, other)


@pytest.mark.parametrize("name", ("add", "sub", "mul", "floordiv", "mod", *BITS, *COMPARE))
async def test_unsigned(name: str) -> None:
    shifts = np.array([1, 5, 31], np.uint32)
    for other in (2, np.uint32(3), shifts):
        await both_sides(name, UINTS, other)


@pytest.mark.parametrize("name", ("and_", "or_", "xor", "add", "mul", *COMPARE))
async def test_bools(name: str) -> None:
    for other in (True, np.bool_(False), BOOLS[0], ~BOOLS):
        await both_sides(name, BOOLS, other)


async def test_unary() -> None:
    for kind, host in HOSTS.items():
        for name in UNARY:
            if (kind == "f" and name == "invert") or (kind == "b" and name in ("neg", "pos")):
                continue
            f = getattr(operator, name)
            await agree(f"{name} {kind}", f(tg.asarray(host)), f(host))
    for bad in (
        lambda: ~tg.asarray(FLOATS),
        lambda: tg.asarray(FLOATS) & 1,
        lambda: tg.asarray(FLOATS) << 1,
        lambda: -tg.asarray(BOOLS),
    ):
        with pytest.raises(TypeError):
            bad()


async def test_reflected_operators_keep_their_order() -> None:
    """I16: 2 - x, 2 / x, 2 ** x, np.float32(2) * x, NumPy array * x; no object array comes out."""
    x = np.array([1.0, 2.0, 4.0], np.float32)
    g = tg.asarray(x)
    await agree("2 - x", 2 - g, 2 - x)
    await agree("2 / x", 2 / g, 2 / x)
    await agree("2 ** x", 2**g, 2**x)
    await agree("2 // x", 2 // g, 2 // x)
    await agree("2 % x", 2 % g, 2 % x)
    await agree("np.float32(2) * x", np.float32(2) * g, np.float32(2) * x)
    await agree("np.float64(2) - x", np.float64(2) - g, 2 - x)
    await agree("np.array(2.0) / x", np.array(2.0) / g, 2 / x)
    await agree("array * x", x[::-1].copy() * g, x[::-1] * x)
    await agree("array[:, None] - x", x[:, None] - g, x[:, None] - x)
    await agree("[1, 2, 3] - x", [1, 2, 3] - g, np.array([1, 2, 3]) - x)
    await agree("array < x", np.array([2, 2, 2], np.float32) < g, x > 2)
    await agree("1 << x", 1 << tg.asarray(INTS[0] & 7), 1 << (INTS[0] & 7))
    await agree("100 >> x", 100 >> tg.asarray(INTS[0] & 7), 100 >> (INTS[0] & 7))


async def test_divmod() -> None:
    for a, b in ((FLOATS, 0.75), (INTS, 3), (INTS, np.array([2, -3, 5], np.int32)), (UINTS, 7)):
        for got, want in zip(divmod(tg.asarray(a), b), divmod(a, b), strict=True):
            await agree("divmod", got, want)
    for got, want in zip(divmod(7.5, tg.asarray(FLOATS)), divmod(np.float32(7.5), FLOATS), strict=True):
        await agree("reflected divmod", got, want)


@pytest.mark.parametrize("name", ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"))
async def test_in_place_floats(name: str) -> None:
    f = getattr(operator, name)
    for other in (2, 1.5, FLOATS[1].copy(), np.float64(2), INTS):
        if name == "ipow" and not isinstance(other, int):
            continue  # negative bases
        g, x = tg.asarray(FLOATS), FLOATS.copy()
        view, held = g[1:, ::-1], g
        with np.errstate(all="ignore"):
            f(x, other)
            got = f(g, other)
        assert got is held
        await agree(name, g, x)
        await agree(f"{name} seen by a view", view, x[1:, ::-1])


@pytest.mark.parametrize(
    "name", ("iadd", "isub", "imul", "ifloordiv", "imod", "iand", "ior", "ixor", "ilshift", "irshift")
)
async def test_in_place_integers(name: str) -> None:
    f = getattr(operator, name)
    for host in (INTS, UINTS):
        g, x = tg.asarray(host), host.copy()
        got = f(g, 3)
        x = f(x, host.dtype.type(3))
        assert got is g
        await agree(name, g, x)


async def test_in_place_with_itself() -> None:
    """B05: x += x, x -= x, x *= x[::-1]: the old values are read."""
    x = FLOATS[0].copy()
    g = tg.asarray(x)
    g += g
    await agree("x += x", g, x * 2)
    g *= g[::-1]
    await agree("x *= x[::-1]", g, (x * 2) * (x * 2)[::-1])
    g -= g
    await agree("x -= x", g, np.zeros(3))


def test_in_place_that_does_not_fit() -> None:
    before = tg.memory()["launches"]
    with pytest.raises(TypeError, match="float32"):
        i = tg.asarray(INTS)
        i += 1.5
    with pytest.raises(TypeError, match="float32"):
        i = tg.asarray(INTS)
        i /= 2
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        r = tg.asarray(FLOATS[0])
        r += tg.asarray(FLOATS)
    with pytest.raises(TypeError):
        b = tg.asarray(BOOLS)
        b += 1
    assert tg.memory()["launches"] == before


async def test_wrapping() -> None:
    big = tg.asarray(np.array([2**31 - 1, -(2**31)], np.int32))
    assert await (big + 1).tolist() == [-(2**31), -(2**31) + 1]
    assert await (big * 2).tolist() == [-2, 0] and await (-big).tolist() == [-(2**31) + 1, -(2**31)]
    assert await (tg.asarray(np.uint32([0])) - 1).tolist() == [2**32 - 1]
    assert await abs(big).tolist() == [2**31 - 1, -(2**31)]


async def test_comparison_of_whole_arrays() -> None:
    g = tg.asarray(FLOATS)
    assert (g == g).dtype is tg.bool_ and (g != 0.5).shape == (2, 3)
    nan = tg.asarray(np.array([np.nan, 1], np.float32))
    assert await (nan == nan).tolist() == [False, True] and await (nan != nan).tolist() == [True, False]
    assert await (nan < 2).tolist() == [False, True] and await (nan >= 2).tolist() == [False, False]
    assert (g == None) is False and (g != None) is True and (g == "text") is False  # noqa: E711
    with pytest.raises(TypeError):
        g < None  # noqa: B015
    with pytest.raises(ValueError, match="broadcast"):
        g == tg.ones(4)  # noqa: B015


async def test_truth() -> None:
    assert can_suspend(), "tests run where Python can suspend"
    one = tg.asarray(3.0)
    assert (
        (one > 2) and not (one > 4) and (2 < one < 4) and not (1 < one < 2) and bool(one) and not tg.zeros(1)
    )
    assert (tg.ones((1, 1)) == 1) and (1 if tg.asarray(-0.0) else 2) == 2 and bool(tg.asarray(float("nan")))
    for shape in ((2,), (2, 3), (0,)):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(tg.ones(shape))
    with pytest.raises(ValueError, match="ambiguous"):
        1 < tg.asarray(FLOATS) < 2


async def test_contains() -> None:
    g = tg.asarray(FLOATS)
    before = tg.memory()["reads"]
    assert 2.0 in g and -4 in g and 9 not in g
    assert tg.memory()["reads"] - before == 3
    assert np.float32(0.75) in g and tg.asarray(3.25) in g and FLOATS[0] in g
    assert 1 not in tg.ones((0, 3)) and 5 in tg.asarray(5) and True in tg.asarray(BOOLS)
    assert float("nan") not in tg.asarray(np.array([np.nan], np.float32))


def test_what_an_array_is_not() -> None:
    for g in (tg.ones(3), tg.ones(())):
        with pytest.raises(TypeError, match="unhashable"):
            hash(g)
        with pytest.raises(TypeError):
            {g: 1}
    for f in (len, iter, list):
        with pytest.raises(TypeError, match="0-d"):
            f(tg.ones(()))
    for f in (float, int):
        with pytest.raises(ValueError, match="scalar"):
            f(tg.ones(2))
    for g in (tg.ones(()), tg.ones(1, dtype=tg.int32)):
        with pytest.raises(TypeError, match="index"):
            operator.index(g)
    for other in ("text", None, object(), {}, b"x"):
        for name in ("add", "sub", "mul", "matmul", "lt", "pow"):
            with pytest.raises(TypeError):
                getattr(operator, name)(tg.ones(2), other)
            with pytest.raises(TypeError):
                getattr(operator, name)(other, tg.ones(2))
    with pytest.raises(TypeError):
        pow(tg.ones(2), 2, 3)
    assert (tg.ones(2) * 1j).dtype is tg.complex64
    with pytest.raises(AttributeError):
        tg.ones(2).colour = 1


async def test_other_classes_may_take_over() -> None:
    class Unit:
        def __radd__(self, other: Any) -> str:
            return f"{other.shape} and a unit"

        def __lt__(self, other: Any) -> str:
            return "less"

    assert tg.ones(2) + Unit() == "(2,) and a unit"
    assert (tg.ones(2) > Unit()) == "less"


async def test_methods() -> None:
    g = tg.asarray(FLOATS)
    await agree("clip", g.clip(-1, 2), FLOATS.clip(-1, 2))
    await agree("round", g.round(), FLOATS.round())
    await agree("dot", g[0].dot(g[1]), FLOATS[0].dot(FLOATS[1]))
    await agree("ravel", g.ravel(), FLOATS.ravel())
    assert (g.shape, g.ndim, g.size, g.itemsize, g.nbytes, g.dtype.name) == ((2, 3), 2, 6, 4, 24, "float32")
    assert tg.asarray(BOOLS).nbytes == 6 and len(g) == 2


async def test_setting_a_whole_array() -> None:
    g = tg.asarray(FLOATS)
    view = g.T
    g[...] = 7
    await agree("scalar", view, np.full((3, 2), 7.0))
    g[:] = FLOATS[0]
    await agree("broadcast", view, np.broadcast_to(FLOATS[0], (2, 3)).T)
    g[:, :] = INTS
    await agree("another dtype", view, INTS.T.astype(np.float32))
    with pytest.raises(ValueError):
        g[...] = np.ones(4, np.float32)
    g[0] = 1
    want = INTS.astype(np.float32)
    want[0] = 1
    await agree("a row", view, want.T)
