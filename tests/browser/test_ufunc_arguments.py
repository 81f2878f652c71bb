"""out=, where=, dtype=, casting= of elementwise functions, and their methods reduce, accumulate, outer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg


def draw(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


async def same(got: Any, want: Any) -> None:
    a = await got.numpy()
    assert a.dtype == np.asarray(want).dtype and np.array_equal(a, want, equal_nan=a.dtype.kind == "f"), (
        a,
        want,
    )


# --- out ----------------------------------------------------------------------------------------------------


async def test_out_takes_the_result() -> None:
    x, y = draw((3, 4)), draw((3, 4), 1)
    a, b = tg.asarray(x), tg.asarray(y)
    out = tg.zeros((3, 4))
    for call in (
        lambda: tg.add(a, b, out=out), lambda: tg.add(a, b, out), lambda: tg.add(a, b, out=(out,)),
        lambda: tg.add(a, b, out=out, where=True, casting="same_kind", order="K", subok=True),
    ):  # fmt: skip
        out[...] = 0
        assert call() is out
        await same(out, x + y)
    assert tg.negative(a, out) is out
    await same(out, -x)
    assert tg.sqrt(a, out=None) is not out
    wide = tg.zeros((2, 3, 4))
    tg.multiply(a, b, out=wide)
    await same(wide, np.broadcast_to(x * y, (2, 3, 4)))


async def test_out_may_be_an_operand() -> None:
    """B05: x += x; add(x, x, out=x); add(x[1:], x[:-1], out=x[1:])."""
    x = draw((6,))
    a = tg.asarray(x)
    a += a
    tg.add(a, a, out=a)
    await same(a, 4 * x)
    base = a.reshape(2, 3)
    tg.add(base, base[::-1], out=base)
    await same(base, (4 * x).reshape(2, 3) + (4 * x).reshape(2, 3)[::-1])
    turned = tg.asarray(draw((3, 3)))
    tg.subtract(turned, turned.T, out=turned)
    await same(turned, draw((3, 3)) - draw((3, 3)).T)
    tg.add(turned.T, 1.0, out=turned)
    await same(turned, (draw((3, 3)) - draw((3, 3)).T).T + 1)
    b = tg.asarray(x)
    tg.add(b[1:], b[:-1], out=b[1:])
    await same(b, np.concatenate([x[:1], x[1:] + x[:-1]]))


async def test_out_casts_by_the_rule() -> None:
    whole = tg.asarray([1, 2, 3])
    out = tg.zeros(3)
    await same(tg.add(whole, 1, out=out), np.array([2, 3, 4], np.float32))
    await same(tg.less(whole, 2, out=out), np.array([1, 0, 0], np.float32))
    small = tg.zeros(3, dtype=tg.int8)
    await same(tg.add(whole, 300, out=small), np.array([301, 302, 303]).astype(np.int8))
    ints = tg.zeros(3, dtype=tg.int32)
    with pytest.raises(TypeError, match="same_kind"):
        tg.add(out, 0.5, out=ints)
    with pytest.raises(TypeError, match="safe"):
        tg.add(whole, 1, out=small, casting="safe")
    await same(
        tg.add(tg.asarray([1.5, 2.5, -1.5]), 0.75, out=ints, casting="unsafe"), np.array([2, 3, 0], np.int32)
    )
    with pytest.raises(TypeError, match="same_kind"):
        tg.add(whole, 1, out=tg.zeros(3, dtype=tg.uint32))


def test_wrong_out() -> None:
    a = tg.ones((2, 3))
    for out in (tg.zeros(3), tg.zeros((1, 3)), tg.zeros((2, 4))):
        with pytest.raises(ValueError, match="add"):
            tg.add(a, a, out=out)
    with pytest.raises(TypeError, match="tabgpu array"):
        tg.add(a, a, out=np.zeros((2, 3), np.float32))
    with pytest.raises(TypeError, match="both"):
        tg.add(a, a, tg.zeros((2, 3)), out=tg.zeros((2, 3)))
    with pytest.raises(ValueError, match="one entry"):
        tg.add(a, a, out=(a, a))
    for call in (lambda: tg.add(a), lambda: tg.add(a, a, a, a), lambda: tg.sin()):
        with pytest.raises(TypeError, match="operands"):
            call()
    with pytest.raises(TypeError, match="'axis'"):
        tg.add(a, a, axis=0)
    with pytest.raises(ValueError, match="fast"):
        tg.add(a, a, casting="fast")


# --- where --------------------------------------------------------------------------------------------------


async def test_where_selects() -> None:
    x, y = draw((3, 4)), draw((3, 4), 1)
    a, b, mask = tg.asarray(x), tg.asarray(y), x > 0
    out = tg.full((3, 4), 7.0)
    tg.subtract(a, b, out=out, where=mask)
    await same(out, np.where(mask, x - y, np.float32(7)))
    tg.log(a, out=out, where=tg.asarray(x[0] > 0))
    want = np.where(mask, x - y, np.float32(7))
    got = await out.numpy()
    with np.errstate(all="ignore"):
        assert np.allclose(got, np.where(x[0] > 0, np.log(x), want), rtol=1e-6, atol=1e-6, equal_nan=True)
    await same(tg.add(a, b, where=mask), np.where(mask, x + y, np.float32(0)))  # elsewhere zeros
    await same(tg.add(a[0], 1.0, where=mask), np.where(mask, x[0] + 1, np.float32(0)))
    await same(tg.equal(a, a, where=mask), mask)
    await same(tg.add(a, a, where=False), np.zeros((3, 4), np.float32))
    counts = tg.ones((3, 4), dtype=tg.int32)
    tg.add(counts, counts, out=counts, where=tg.asarray(mask))
    await same(counts, np.where(mask, 2, 1).astype(np.int32))
    with pytest.raises(TypeError, match="bool"):
        tg.add(a, b, where=tg.asarray(x))
    with pytest.raises(ValueError, match="add"):
        tg.add(a, b, where=np.ones(5, bool))
    with pytest.raises(ValueError, match="out"):
        tg.add(a[0], 1.0, out=tg.zeros(4), where=mask)


# --- dtype --------------------------------------------------------------------------------------------------


async def test_dtype_is_computed_in() -> None:
    whole, real = tg.asarray([1, 2, 300]), tg.asarray([1.5, 2.5, -1.5])
    await same(tg.add(whole, 1, dtype=tg.float32), np.array([2, 3, 301], np.float32))
    await same(tg.add(whole, 1, dtype="int8"), np.add([1, 2, 300], 1, dtype=np.int8, casting="same_kind"))
    await same(tg.multiply(real, 2, dtype=tg.float16), np.array([3, 5, -3], np.float16))
    await same(tg.add(real, 1, dtype=tg.int32, casting="unsafe"), np.array([2, 3, 0], np.int32))
    await same(tg.sqrt(whole, dtype=tg.float32), np.sqrt(np.array([1, 2, 300], np.float32)))
    await same(tg.less(whole, 2, dtype=bool), np.array([True, False, False]))
    assert tg.add(1, 2, dtype=tg.float32).dtype is tg.float32
    for call in (
        lambda: tg.add(real, 1, dtype=tg.int32), lambda: tg.add(whole, 1.5, dtype=tg.int32),
        lambda: tg.sqrt(whole, dtype=tg.int32), lambda: tg.less(whole, 2, dtype=tg.float32),
        lambda: tg.add(whole, 1, dtype=tg.float64),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()
    with pytest.raises(OverflowError):
        tg.add(whole, 300, dtype=tg.int8)


async def test_functions_made_of_others() -> None:
    """power, clip, round and those of two results take the arguments too."""
    x, y = draw((3, 4)), np.abs(draw((3, 4), 1))
    a, b, mask = tg.asarray(x), tg.asarray(y), x > 0
    out, other = tg.full((3, 4), 7.0), tg.zeros((3, 4))
    assert tg.clip(a, -0.5, 0.5, out) is out
    await same(out, np.clip(x, np.float32(-0.5), np.float32(0.5)))
    assert tg.round(a, 1, out) is out
    assert np.allclose(await out.numpy(), np.round(x, 1), atol=1e-6)
    tg.power(b, 2, out=out, where=mask)
    assert np.allclose(await out.numpy(), np.where(mask, y**2, np.round(x, 1)), atol=1e-6)
    assert tg.divmod(a, b, out=(out, other)) == (out, other)
    quotient, rest = np.divmod(x, y)
    await same(out, quotient)
    assert np.allclose(await other.numpy(), rest, atol=1e-6)
    fraction, whole = tg.modf(a, out=(out, None))
    assert fraction is out
    await same(whole, np.modf(x)[1])
    tg.frexp(a, out, tg.zeros((3, 4), dtype=tg.int32))
    await same(out, np.frexp(x)[0])
    with pytest.raises(ValueError, match="out"):
        tg.modf(a, out=(out,))


# --- methods ------------------------------------------------------------------------------------------------


async def test_reduce() -> None:
    """In NumPy's defaults: the first axis."""
    x = draw((4, 5, 6))
    whole = (x * 1000).astype(np.int32)
    g, i = tg.asarray(x), tg.asarray(whole)
    for name in ("maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or"):
        for options in ({}, {"axis": 1}, {"axis": (0, -1), "keepdims": True}, {"axis": None}):
            await same(getattr(tg, name).reduce(g, **options), getattr(np, name).reduce(x, **options))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "subtract", "add", "multiply"):
        for axis in (1,) if name in ("gcd", "lcm") else (0, -1):  # slow to compile on SwiftShader
            few = whole % 12 if name == "lcm" else whole  # an lcm that wraps depends on the order
            host = getattr(np, name).reduce(few, axis, dtype=np.int32)
            await same(getattr(tg, name).reduce(tg.asarray(few), axis), host)
    await same(tg.bitwise_xor.reduce(i, initial=5), np.bitwise_xor.reduce(whole, initial=5))
    await same(tg.bitwise_and.reduce(i, where=whole > 0), np.bitwise_and.reduce(whole, where=whole > 0))
    got = await tg.fetch(
        tg.add.reduce(g),
        tg.subtract.reduce(g, 1, keepdims=True),
        tg.divide.reduce(g, 2),
        tg.multiply.reduce(g, None),
    )
    wide = x.astype(np.float64)
    wants = [wide.sum(0), np.subtract.reduce(wide, 1, keepdims=True), np.divide.reduce(wide, 2), wide.prod()]
    for a, want in zip(got, wants, strict=True):
        assert a.shape == np.shape(want) and np.allclose(a, want, rtol=1e-5)
    await same(tg.logical_xor.reduce(i % 3, 1), np.logical_xor.reduce(whole % 3, 1))
    out = tg.zeros((5, 6))
    assert tg.maximum.reduce(g, out=out) is out
    await same(out, x.max(0))
    assert await tg.bitwise_and.reduce(tg.zeros(0, dtype=tg.uint8)).item() == 255
    for name in ("maximum", "subtract"):
        with pytest.raises(ValueError, match=name):
            getattr(tg, name).reduce(tg.zeros((0, 3)))
    with pytest.raises(TypeError, match="arctan2"):
        tg.arctan2.reduce(g)
    got = await tg.logaddexp.reduce(g, 1, where=x > -1).numpy()
    assert np.allclose(got, np.log(np.where(x > -1, np.exp(wide), 0).sum(axis=1)), rtol=1e-5)
    with pytest.raises(TypeError, match="float32"):
        tg.gcd.reduce(g)
    with pytest.raises(ValueError, match="two operands"):
        tg.sin.reduce(g)


async def test_accumulate() -> None:
    x = (draw((4, 5)) * 100).astype(np.int32)
    g = tg.asarray(x)
    for name in ("add", "multiply", "maximum", "minimum"):
        for axis in (0, 1, -1):
            await same(
                getattr(tg, name).accumulate(g, axis), getattr(np, name).accumulate(x, axis, dtype=np.int32)
            )
    out = tg.zeros((4, 5), dtype=tg.int32)
    assert tg.add.accumulate(g, out=out) is out
    await same(out, np.add.accumulate(x, dtype=np.int32))
    await same(tg.add.accumulate(g, dtype=tg.float32), np.add.accumulate(x, dtype=np.float32))
    y = draw((3, 40))
    got = await tg.logaddexp.accumulate(tg.asarray(y), 1).numpy()
    assert np.allclose(got, np.logaddexp.accumulate(y.astype(np.float64), 1), rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match="scalar"):
        tg.add.accumulate(tg.ones(()))
    with pytest.raises(TypeError, match="accumulate"):
        tg.hypot.accumulate(g)


async def test_outer() -> None:
    x, y = draw((2, 3)), draw((4,), 1)
    await same(tg.subtract.outer(x, tg.asarray(y)), np.subtract.outer(x, y))
    await same(tg.less.outer(tg.asarray(y), 0.5), np.less.outer(y, np.float32(0.5)))
    out = tg.zeros((2, 3, 4))
    assert tg.multiply.outer(x, y, out=out) is out
    await same(out, np.multiply.outer(x, y))
    with pytest.raises(ValueError, match="two operands"):
        tg.sin.outer(x, y)


async def test_at() -> None:
    """Duplicates all count, as NumPy's ufunc.at."""
    index, values = np.array([0, 3, 3, 1, 3, -1]), np.array([5, 1, 2, -4, 7, 2], np.int32)
    for name in ("add", "subtract", "multiply", "maximum", "minimum"):
        x = np.arange(6, dtype=np.int32)
        g = tg.asarray(x)
        f = getattr(np, name)
        assert getattr(tg, name).at(g, tg.asarray(index), values) is None
        f.at(x, index, values)
        await same(g, x)
        getattr(tg, name).at(g, (index,), 3)
        f.at(x, (index,), 3)
        await same(g, x)
    y = np.zeros((4, 3), np.float32)
    h = tg.asarray(y)
    tg.add.at(h[::2], ([0, 1, 0], [2, 2, 2]), 1.0)
    np.add.at(y[::2], ([0, 1, 0], [2, 2, 2]), 1.0)
    await same(h, y)
    with pytest.raises(TypeError, match="same_kind"):
        tg.add.at(tg.asarray(values), [0], 1.5)
    with pytest.raises(IndexError):
        tg.add.at(h, 7, 1.0)
    with pytest.raises(TypeError, match="hypot"):
        tg.hypot.at(h, 0, 1.0)
    with pytest.raises(TypeError, match="in place"):
        tg.add.at(y, 0, 1.0)


def test_facts() -> None:
    assert (tg.add.nin, tg.add.nout, tg.add.nargs, tg.sin.nargs) == (2, 1, 3, 2)
    for name in ("add", "multiply", "bitwise_and", "logical_or", "gcd", "hypot", "subtract", "maximum"):
        assert getattr(tg, name).identity == getattr(np, name).identity


# --- rounding -----------------------------------------------------------------------------------------------


async def test_round() -> None:
    """E07: halves to even, -0 kept, decimals of either sign."""
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -0.2, 1e20, np.inf, np.nan], np.float32)
    got = await tg.round(tg.asarray(x)).numpy()
    assert np.array_equal(got, np.round(x), equal_nan=True) and np.array_equal(
        np.signbit(got), np.signbit(np.round(x))
    )
    y = (draw((50,)) * 100).astype(np.float32)
    for decimals in (-2, -1, 1, 2, 3):
        assert np.allclose(await tg.round(tg.asarray(y), decimals).numpy(), np.round(y, decimals), rtol=1e-6)
    whole = np.array([15, 25, -15, -25, 149, 5], np.int32)
    for decimals in (-2, -1, 0, 1):
        await same(tg.round(tg.asarray(whole), decimals), np.round(whole, decimals))
