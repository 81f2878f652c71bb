"""tg.jit(f) equals f: on new data, shapes, views, numbers, captured arrays, assignments, errors; and its counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from faults import restored, soon

import tabgpu as tg
from tabgpu.errors import DeviceLostError, TracingError

__all__ = ["restored"]
RNG = np.random.default_rng(7)


def f32(*shape: int) -> Any:
    return RNG.uniform(-2, 2, shape).astype(np.float32)


async def values(x: Any) -> Any:
    """A result with NumPy arrays in place of arrays."""
    if isinstance(x, tg.Array):
        return await soon(x.numpy(), 60)
    if isinstance(x, dict):
        return {k: await values(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        got = [await values(v) for v in x]
        return type(x)(*got) if hasattr(x, "_fields") else type(x)(got)
    return x


def equal(got: Any, want: Any) -> None:
    assert type(got) is type(want)
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)
    elif isinstance(want, dict):
        assert list(got) == list(want)
        for k, v in want.items():
            equal(got[k], v)
    elif isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            equal(g, w)
    else:
        assert got == want or (got != got and want != want)


async def same(f: Callable[..., Any], *calls: tuple[Any, ...], traces: int | None = None) -> Any:
    """Calls tg.jit(f) and f with each of the arguments, twice; the results are equal."""
    jitted = tg.jit(f)
    for _ in range(2):
        for args in calls:
            equal(await values(jitted(*args)), await values(f(*args)))
    if traces is not None:
        assert jitted.traces == traces, jitted.cache_info()
    return jitted


def counters() -> Any:
    c = tg.device().counters
    return np.array([c.launches, c.crossings, c.submits, c.pipelines])


async def test_new_values_and_shapes() -> None:
    def f(x: Any, y: Any) -> Any:
        return tg.tanh(x @ y).sum(axis=0) * 0.5 + y.max()

    a = [tuple(map(tg.asarray, (f32(3, 4), f32(4, 5)))) for _ in range(3)]
    b = [tuple(map(tg.asarray, (f32(6, 2), f32(2, 7)))) for _ in range(2)]
    await same(f, *a, *b, traces=2)


async def test_a_call_is_one_copy_of_its_commands() -> None:
    f = tg.jit(lambda x: (tg.exp(x) * 2).sum(axis=0) + x[0])
    x = tg.asarray(f32(64, 33))
    first = await soon(f(x).numpy())
    before = counters()
    for _ in range(10):
        y = f(x)
    assert (counters() - before)[1:].tolist() == [0, 0, 0], (
        "nothing is submitted before there is much or a read"
    )
    np.testing.assert_array_equal(await soon(y.numpy()), first)
    launches, crossings, submits, pipelines = counters() - before
    assert (crossings, submits, pipelines) == (2, 1, 0)
    assert launches % 10 == 0 and f.cache_info().hits == 10


async def test_many_launches_do_not_wait_for_a_read() -> None:
    f = tg.jit(lambda x: x @ x)
    x = tg.asarray(f32(8, 8))
    await soon(f(x).numpy())
    before = counters()
    for _ in range(300):
        f(x)
    assert (counters() - before)[2] == 2


async def test_numbers_are_operands_without_a_trace_of_their_own() -> None:
    def f(x: Any, s: Any, n: Any) -> Any:
        return x * s - n + (s * 0.5 + 1) * x

    x = tg.asarray(f32(5))
    calls = [
        (x, s, n) for s, n in ((1.5, 2), (-0.0, 0), (float("inf"), -7), (1e300, 1 << 20), (float("nan"), 3))
    ]
    await same(f, *calls, traces=1)
    i = tg.asarray(np.arange(5, dtype=np.int32))
    await same(lambda x, n: (x + n) * n, (i, 3), (i, -4), (i, 0), traces=1)
    for dtype in (tg.float16, tg.int8, tg.uint8, tg.bfloat16):
        y = tg.asarray(np.arange(5)).astype(dtype)
        await same(lambda x, n: x * n + n, (y, 3), (y, 7), traces=1)
    z = tg.asarray(f32(5) + 1j * f32(5))
    await same(lambda x, c: x * c, (z, 1 + 2j), (z, -0.5j), (z, 2.0), traces=2)
    await same(lambda x, s: tg.where(x > s, x, s), (x, 0.5), (x, -0.5), traces=1)
    await same(lambda x, s: tg.clip(x, -s, s), (x, 0.5), (x, 1.5), traces=1)


async def test_numbers_that_are_looked_at_are_part_of_the_trace() -> None:
    def power(x: Any, n: Any) -> Any:
        y = x
        for _ in range(n - 1):
            y = y * x
        return y

    x = tg.asarray(f32(6))
    await same(power, (x, 2), (x, 5), (x, 2), traces=2)
    await same(lambda x, n: x[n:], (x, 1), (x, 3), traces=2)
    await same(lambda x, s: x + 1 if s > 0 else x - 1, (x, 1.0), (x, -1.0), traces=2)
    await same(lambda x, n: tg.zeros((n, 2)) + x[0], (x, 1), (x, 3), traces=2)
    await same(lambda x, s: tg.full((2,), s) * x[1], (x, 1.5), (x, -1.5), traces=2)
    await same(lambda x, s: x**s, (x, 2), (x, 3), (x, 2.0))
    await same(lambda x, s: f"{s:.1f}" + str(s), (x, 2.5), (x, 3.5), traces=2)
    await same(lambda x, s: {"is": isinstance(s, float), "int": int(s), "x": x + int(s)}, (x, 2.5), (x, 7.0))
    await same(lambda x, s: tg.asarray([s, s + 1]) * x[:2], (x, 2.5), (x, 3.5), traces=2)
    await same(lambda x, n: x.at[n].add(1.0), (x, 1), (x, 2), traces=2)
    await same(lambda x, s: tg.sum(x, initial=s), (x, 1.0), (x, 2.0))
    await same(lambda x, s: x * np.float32(s), (x, 1.0), (x, 2.0), traces=2)


async def test_the_sign_of_a_looked_at_zero_counts() -> None:
    x = tg.asarray(f32(3))
    await same(lambda x, s: tg.full((3,), 1.0) / tg.full((3,), s), (x, 0.0), (x, -0.0), traces=2)


async def test_numbers_that_do_not_fit_raise_as_the_function_does() -> None:
    f = tg.jit(lambda x, n: x + n)
    x = tg.asarray(np.arange(3, dtype=np.int8))
    np.testing.assert_array_equal(await soon(f(x, 100).numpy()), np.arange(3, dtype=np.int8) + np.int8(100))
    with pytest.raises(OverflowError):
        f(x, 1000)
    np.testing.assert_array_equal(await soon(f(x, 1).numpy()), [1, 2, 3])
    g = lambda x, n: x > n  # noqa: E731
    await same(g, (x, 1), (x, 1000), (x, -1000))
    with pytest.raises(OverflowError):
        tg.jit(lambda x, n: x + n)(x, 1000)
    with pytest.raises(ZeroDivisionError):
        tg.jit(lambda x, n: x + 1 / n)(x, 0)
    h = tg.jit(lambda x, n: x * (1 / n))
    await soon(h(tg.asarray(f32(3)), 2).numpy())
    with pytest.raises(ZeroDivisionError):
        h(tg.asarray(f32(3)), 0)


class Pair(NamedTuple):
    left: Any
    right: Any


async def test_structures() -> None:
    def f(p: Any, extra: Any = None) -> Any:
        w, (b, c) = p["w"], p["bc"]
        return {"sum": w + b, "pair": Pair(c * 2, [w, 3, "text", None]), "x": extra, "n": p["n"]}

    def made() -> Any:
        return {"w": tg.asarray(f32(3)), "bc": (tg.asarray(f32(3)), tg.asarray(f32(2, 2))), "n": 4}

    await same(f, (made(),), (made(),), traces=1)
    await same(f, (made(), 1.5), (made(), None), (made(), "a"), (made(), True), traces=4)
    await same(lambda p: p.left - p.right, (Pair(tg.asarray(f32(2)), tg.asarray(f32(2))),), traces=1)
    await same(lambda *xs, **named: xs[0] + sum(named.values()), (tg.asarray(f32(2)), 1.0))
    jitted = tg.jit(f)
    equal(await values(jitted(p=(p := made()), extra=2)), await values(f(p=p, extra=2)))
    equal(await values(jitted(extra=3, p=p)), await values(f(p=p, extra=3)))
    assert jitted.traces == 1
    await same(
        lambda shape, x: x.reshape(shape),
        ((2, 3), tg.asarray(f32(6))),
        ((3, 2), tg.asarray(f32(6))),
        traces=2,
    )


async def test_static_arguments() -> None:
    def f(x: Any, how: Any, axis: Any = 0) -> Any:
        return getattr(tg, how)(x, axis=axis)

    x = tg.asarray(f32(4, 5))
    jitted = tg.jit(f, static_argnums=1, static_argnames=("axis",))
    for how in ("sum", "max", "sum"):
        for axis in (0, 1):
            equal(await values(jitted(x, how, axis=axis)), await values(f(x, how, axis=axis)))
    assert jitted.traces == 4
    with pytest.raises(TypeError, match="argument 1 is static"):
        jitted(x, ["sum"])
    with pytest.raises(TypeError, match=r"argument 0.*set"):
        tg.jit(lambda s: s)({1, 2})

    @tg.jit(static_argnums=(1,))
    def g(x: Any, n: int) -> Any:
        return x * n

    assert g.__name__ == "g"
    for n in (2, 3):
        np.testing.assert_array_equal(await soon(g(x, n).numpy()), await soon((x * n).numpy()))
    assert g.traces == 2


async def test_views_as_arguments() -> None:
    x = tg.asarray(f32(6, 8))
    views = [
        x.T,
        x[::-1],
        x[1:4],
        x[2],
        x[:, 3],
        x[:, ::2],
        x.reshape(8, 6),
        x[None],
        tg.broadcast_to(x[0], (4, 8)),
    ]
    for v in views:
        await same(lambda v: tg.exp(v) * 2 + v.sum(), (v,))
    await same(lambda a, b: a @ b, (x, x.T), (x[1:5], x.T[:, 1:3]))
    f = await same(lambda row: row * 2, *[(x[k],) for k in range(6)])
    assert f.traces == 1, "where a view begins is no part of its kind"


async def test_one_array_twice() -> None:
    x, y = tg.asarray(f32(3, 3)), tg.asarray(f32(3, 3))
    await same(lambda a, b: a @ b - b.T, (x, x), (x, y), (x, x.T))

    def swap(a: Any, b: Any) -> Any:
        a[0] = b[1]
        return a + b

    for make in (
        lambda: (z := tg.asarray(np.arange(9, dtype=np.float32).reshape(3, 3)), z),
        lambda: (x.copy(), y),
    ):
        one, two = make(), make()
        jitted = tg.jit(swap)
        for _ in range(3):
            equal(await values(jitted(*one)), await values(swap(*two)))
            equal(await values(list(one)), await values(list(two)))


async def test_constants_ranges_and_host_arrays_as_arguments() -> None:
    def f(x: Any) -> Any:
        return x * 2 + x[::-1]

    await same(f, (tg.ones(4),), (tg.arange(4),), (tg.arange(4.0) + 1,), (tg.zeros((4,)),))
    host = f32(4)
    jitted = tg.jit(f)
    for k in range(3):
        np.testing.assert_allclose(
            await soon(jitted(host + k).numpy()), (host + k) * 2 + (host + k)[::-1], rtol=1e-6
        )
    assert jitted.traces == 1
    await same(f, (tg.zeros((0,)),), (tg.ones((1,)),))


W = None


async def test_arrays_from_outside() -> None:
    global W
    W = tg.asarray(f32(3, 3))
    inner = tg.asarray(f32(3))

    def f(x: Any) -> Any:
        return x @ W + inner

    jitted = tg.jit(f)
    x = tg.asarray(f32(2, 3))
    for step in range(6):
        equal(await values(jitted(x)), await values(f(x)))
        if step == 1:
            W[...] = W * 2
        elif step == 2:
            W[1] = 7.0
        elif step == 3:
            W = W - 1
        elif step == 4:
            inner = inner * 3
    W = tg.asarray(f32(3, 4))
    inner = tg.asarray(f32(4))
    equal(await values(jitted(x)), await values(f(x)))
    W = None


async def test_a_global_that_is_shared_with_a_container_is_not_mistaken() -> None:
    kept = [tg.asarray(f32(3))]
    w = kept[0]

    def f(x: Any) -> Any:
        return x * w + kept[0]

    jitted = tg.jit(f)
    x = tg.asarray(f32(3))
    for _ in range(3):
        equal(await values(jitted(x)), await values(f(x)))
        w = w + 1


async def test_containers_and_objects_from_outside() -> None:
    class Model:
        def __init__(self) -> None:
            self.w, self.deep = tg.asarray(f32(3)), {"b": [tg.asarray(f32(3)), 2.0]}

        def __call__(self, x: Any) -> Any:
            return x * self.w + self.deep["b"][0] * self.deep["b"][1]

    model, table = Model(), {"k": tg.asarray(f32(3)), "n": 1.0}

    def f(x: Any) -> Any:
        return model(x) + table["k"] * table["n"]

    jitted, called = tg.jit(f), tg.jit(model)
    passed = tg.jit(lambda m, x: m(x))
    x = tg.asarray(f32(3))

    async def check() -> None:
        equal(await values(jitted(x)), await values(f(x)))
        equal(await values(called(x)), await values(model(x)))
        equal(await values(passed(model, x)), await values(model(x)))

    for _ in range(3):
        await check()
        model.w = model.w * 2
        await check()
        model.deep["b"][0] = tg.asarray(f32(3))
        await check()
        model.deep["b"][1] = model.deep["b"][1] + 1
        await check()
        table["k"] = table["k"] - 1
        await check()
        table["n"] = -1.0
        table["new"] = 3
        await check()
        model.deep = {"b": (tg.asarray(f32(3)), 4.0)}
        await check()
        model.deep = {"b": [tg.asarray(f32(3)), 4.0]}


async def test_changing_a_given_container_is_refused() -> None:
    def f(p: Any) -> Any:
        p["w"] = p["w"] * 2
        return p["w"]

    def g(xs: Any) -> None:
        xs.append(xs[0] + 1)

    p, xs = {"w": tg.asarray(f32(3))}, [tg.asarray(f32(3))]
    for _ in range(2):
        with pytest.raises(TypeError, match=r"changes a dict.*return"):
            tg.jit(f)(p)
        with pytest.raises(TypeError, match=r"changes a list"):
            tg.jit(g)(xs)
    assert len(xs) == 1


SCALE = 1.0


async def test_numbers_from_outside() -> None:
    global SCALE
    flag = True

    def helper(x: Any) -> Any:
        return x * SCALE

    def f(x: Any) -> Any:
        return helper(x) if flag else -x

    jitted = tg.jit(f)
    x = tg.asarray(f32(3))
    for SCALE in (1.0, 2.0, 0.0, -0.0, 1.0):
        equal(await values(jitted(x)), await values(f(x)))
    flag = False
    equal(await values(jitted(x)), await values(f(x)))
    SCALE = 1.0


async def test_pending_arguments_and_results_in_fused_work() -> None:
    f = tg.jit(lambda x, y: tg.sin(x) + y)
    x, y = tg.asarray(f32(7)), tg.asarray(f32(7))
    a, b = x, x
    for _ in range(5):
        a = f(a * 2 + 1, y) - 1
        b = tg.sin(b * 2 + 1) + y - 1
        a, b = a * 0.1, b * 0.1
    equal(await values(a), await values(b))


async def test_results_that_are_arguments_views_or_constants() -> None:
    x = tg.asarray(f32(3, 4))
    f = tg.jit(lambda x, y: (x, x.T, y, x[1], tg.zeros(3), tg.arange(4), x + 1, (x + 1).T, 5))
    for _ in range(2):
        got = f(x, 2.5)
        assert got[0] is x and got[2] == 2.5 and got[8] == 5
        want = (x, x.T, 2.5, x[1], tg.zeros(3), tg.arange(4), x + 1, (x + 1).T, 5)
        equal(await values(got), await values(want))
        got[1][0, 0] = 9.0  # a view of the caller's array
        assert await soon(x.item(0, 0)) == 9.0
        got[4][0] = 3.0  # its own
        got[6][0] = 1.0
    row = x[1:]
    g = tg.jit(lambda v: (v, v[0]))
    for _ in range(2):
        same_one, first = g(row)
        assert same_one is row
        first[0] = 4.0
        assert await soon(x.item(1, 0)) == 4.0


async def test_assignment_inside() -> None:
    def local(x: Any) -> Any:
        out = tg.zeros((4,))
        for k in range(4):
            out[k] = x[k] * k
        out += 1
        return out

    await same(local, (tg.asarray(f32(4)),), (tg.asarray(f32(4)),), traces=1)

    def step(state: Any, g: Any, lr: Any) -> None:
        state["w"] -= lr * g
        state["m"][1:] = g[1:] * 0.5

    w, m = f32(4), f32(4)
    mine, theirs = ({"w": tg.asarray(w), "m": tg.asarray(m)} for _ in range(2))
    jitted, g = tg.jit(step), tg.asarray(f32(4))
    seen = mine["w"][1:]
    for k in range(4):
        assert jitted(mine, g, 0.1 * (k + 1)) is None
        step(theirs, g, 0.1 * (k + 1))
        equal(await values(mine), await values(theirs))
        equal(await values(seen), await values(theirs["w"][1:]))
    assert jitted.traces == 1
    base, other = tg.asarray(f32(6)), tg.asarray(f32(6))

    def fill(part: Any) -> Any:
        part[...] = 2.0
        return part

    part = tg.jit(fill)
    for k in (0, 2, 1):
        part(base[k : k + 2])
    fill(other[0:4])
    np.testing.assert_array_equal((await soon(base.numpy()))[:4], (await soon(other.numpy()))[:4])
    before = base * 1
    keep = await soon(before.numpy())
    part(base[4:])
    np.testing.assert_array_equal(await soon(before.numpy()), keep)


async def test_assignment_to_arrays_from_outside() -> None:
    total = tg.asarray(np.zeros(3, np.float32))
    alias = total[1:]

    def add(x: Any) -> Any:
        total[...] = total + x
        total[0] = x[0]
        return total

    jitted = tg.jit(add)
    want = np.zeros(3, np.float32)
    for k in range(4):
        x = f32(3)
        got = jitted(tg.asarray(x))
        want = want + x
        want[0] = x[0]
        np.testing.assert_allclose(await soon(got.numpy()), want, rtol=1e-6)
        np.testing.assert_allclose(await soon(total.numpy()), want, rtol=1e-6)
        np.testing.assert_allclose(await soon(alias.numpy()), want[1:], rtol=1e-6)
        assert k == 0 or jitted.cache_info().hits == k


async def test_nested() -> None:
    inner = tg.jit(lambda x, s: tg.cos(x) * s)

    @tg.jit
    def outer(x: Any, s: Any) -> Any:
        return inner(x, s) + inner(x * 2, s + 1)

    x = tg.asarray(f32(5))
    for s in (1.0, 2.0):
        equal(await values(outer(x, s)), await values(outer.function(x, s)))
    assert outer.traces == 1 and inner.traces == 1  # called by itself, by outer.function


async def test_methods() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @tg.jit
        def __call__(self, x: Any) -> Any:
            return x * self.scale

    x = tg.asarray(f32(3))
    for model in (Model(2.0), Model(3.0)):
        np.testing.assert_allclose(
            await soon(model(x).numpy()), await soon((x * model.scale).numpy()), rtol=1e-6
        )


async def test_reads_inside_are_refused() -> None:
    x = tg.asarray(f32(4))
    for f in (
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x * float(x[0]),
        lambda x: x[x > 0],
        lambda x: np.asarray(x),
        lambda x: tg.nonzero(x),
        lambda x: tg.unique(x),
        lambda x: x.tolist().send(None),
    ):
        jitted = tg.jit(f)
        for _ in range(2):
            with pytest.raises(TypeError, match="traced"):
                jitted(x)
        with pytest.raises(TracingError):
            jitted(x)
        assert jitted.cache_info().size == 0
    np.testing.assert_allclose(await soon((x + 1).numpy()), await soon(x.numpy()) + 1)
    await same(lambda x: tg.nonzero(x > 0, size=3), (x,), traces=1)


async def test_an_exception_inside_leaves_nothing_behind() -> None:
    outside = tg.asarray(f32(3))
    kept = await soon(outside.numpy())

    def f(x: Any, fail: bool) -> Any:
        y = x + 1
        x[0] = 5.0
        outside[1] = 9.0
        if fail:
            raise KeyError("mine")
        return y @ x

    jitted = tg.jit(f)
    x = tg.asarray(f32(3))
    host = await soon(x.numpy())
    before = tg.memory()["live_bytes"]
    for _ in range(3):
        with pytest.raises(KeyError, match="mine"):
            jitted(x, True)
    np.testing.assert_array_equal(await soon(x.numpy()), host)
    np.testing.assert_array_equal(await soon(outside.numpy()), kept)
    assert tg.memory()["live_bytes"] == before
    await soon(jitted(x, False).numpy())
    assert await soon(x.item(0)) == 5.0 and await soon(outside.item(1)) == 9.0
    with pytest.raises(ValueError, match="shapes"):
        tg.jit(lambda a, b: a + b)(tg.asarray(f32(3)), tg.asarray(f32(4)))


async def test_arrays_that_escape_a_trace_say_so() -> None:
    caught = []

    @tg.jit
    def f(x: Any) -> Any:
        caught.append(x * 2)
        caught.append(x)
        return x + 1

    x = tg.asarray(f32(3))
    y = f(x)
    np.testing.assert_allclose(await soon(y.numpy()), await soon(x.numpy()) + 1)
    for leaked in caught:
        for use in (lambda a: a, lambda a: a + 1, lambda a: (a + 1).sum()):
            for _ in range(3):
                with pytest.raises(TypeError, match="traced"):
                    await soon(use(leaked).numpy())
    np.testing.assert_allclose(await soon((x + 3).numpy()), await soon(x.numpy()) + 3)


async def test_side_effects_happen_once_a_trace() -> None:
    calls = []
    f = tg.jit(lambda x: calls.append(x.shape) or x + 1)
    for n in (3, 3, 4, 3, 4):
        await soon(f(tg.asarray(f32(n))).numpy())
    assert calls == [(3,), (4,)]
    assert f.cache_info() == (3, 2, 2, 64)
    f.clear()
    assert f.cache_info().size == 0
    await soon(f(tg.asarray(f32(3))).numpy())
    assert len(calls) == 3 and f.traces == 3


async def test_traces_are_bounded() -> None:
    f = tg.jit(lambda x, n: x[: n % 3] * n if n else x)
    x = tg.asarray(f32(4))
    for n in range(100):
        f(x, n)
    assert f.cache_info().size <= 64
    equal(await values(f(x, 5)), await values(f.function(x, 5)))


async def test_device_conditions_raise_at_the_read() -> None:
    f = tg.jit(lambda x, k: (x[k] * 2, x + 1))
    x = tg.asarray(f32(5))
    good, bad = tg.asarray(np.array([0, 4], np.int32)), tg.asarray(np.array([0, 9], np.int32))
    for k, fails in ((good, False), (bad, True), (good, False)):
        picked, other = f(x, k)
        later = picked + 1
        if fails:
            for _ in range(2):
                with pytest.raises(IndexError, match="9 is out of bounds"):
                    await soon(later.numpy())
        else:
            np.testing.assert_allclose(await soon(picked.numpy()), (await soon(x.numpy()))[[0, 4]] * 2)
        np.testing.assert_allclose(await soon(other.numpy()), await soon(x.numpy()) + 1)
    assert f.traces == 1
    broken = x[bad]
    g = tg.jit(lambda a, b: (a + 1, b + 1))
    spoilt, fine = g(broken, x)
    with pytest.raises(IndexError):
        await soon(spoilt.numpy())
    np.testing.assert_allclose(await soon(fine.numpy()), await soon(x.numpy()) + 1)


async def test_temporaries_are_pooled_and_results_are_not_shared() -> None:
    def f(x: Any) -> Any:
        for _ in range(6):
            x = tg.cumsum(x) * 0.5
        return x

    jitted = tg.jit(f)
    x = tg.asarray(f32(5000))
    first = jitted(x)
    want = await soon(first.numpy())
    live = tg.memory()["live_bytes"]
    kept = [jitted(x) for _ in range(4)]
    assert tg.memory()["live_bytes"] - live <= 4 * 5000 * 4 * 1.2, "only results stay"
    for y in (first, *kept):
        np.testing.assert_array_equal(await soon(y.numpy()), want)
    del kept
    tg.trim()
    assert tg.memory()["pooled_bytes"] == 0
    np.testing.assert_array_equal(await soon(jitted(x).numpy()), want)


async def test_uploads_between_calls_do_not_overtake_them() -> None:
    f = tg.jit(lambda x: x * 1)
    for k in range(20):
        x = tg.asarray(np.full(64, k, np.float32))
        y = f(x)
        del x  # its memory may be written by the next upload
        z = tg.asarray(np.full(64, -1, np.float32))
        assert (await soon(y.numpy()) == k).all() and (await soon(z.numpy()) == -1).all()
        f(z)


async def test_without_fusion_and_with_little_memory(restored: None) -> None:
    def f(x: Any) -> Any:
        for k in range(200):
            x = x + k
        return x.sum(), x

    await soon(tg.init(fuse=False))
    x = tg.asarray(f32(100))
    jitted = await same(f, (x,), traces=1)
    before = counters()
    await soon(jitted(x)[1].numpy())
    assert (counters() - before)[0] == 201
    await soon(tg.init(memory_limit=1 << 20))
    jitted = tg.jit(lambda x: [x + k for k in range(1000)])
    x = tg.asarray(f32(1000))
    with pytest.raises(tg.OutOfMemoryError):
        jitted(x)
    np.testing.assert_allclose(await soon((x + 1).numpy()), await soon(x.numpy()) + 1)


async def test_another_device_drops_traces(restored: None) -> None:
    w = tg.asarray(f32(3))
    f, g = tg.jit(lambda x: x * 2), tg.jit(lambda x: x * w)
    x = tg.asarray(f32(3))
    await values((f(x), g(x)))
    await soon(tg.init())
    with pytest.raises(DeviceLostError):
        await values(f(x))
    y = tg.asarray(f32(3))
    np.testing.assert_allclose(await soon(f(y).numpy()), await soon(y.numpy()) * 2)
    assert f.cache_info().size == 1
    with pytest.raises(DeviceLostError):
        await values(g(y))


async def test_refused_functions() -> None:
    async def f(x: Any) -> Any:
        return x

    with pytest.raises(TypeError, match="coroutine"):
        tg.jit(f)
    with pytest.raises(TypeError, match="int is no function"):
        tg.jit(3)


async def test_long_chains() -> None:
    def f(x: Any, n: Any) -> Any:
        for k in range(n):
            x = x + (k % 3)
        return x

    x = tg.asarray(f32(4))
    jitted = tg.jit(f, static_argnums=1)
    want = await soon(x.numpy())
    for n in (3000, 3000):
        np.testing.assert_allclose(
            await soon(jitted(x, n).numpy()), want + sum(k % 3 for k in range(n)), rtol=1e-4
        )
    with pytest.raises(TypeError, match="traced"):
        tg.jit(lambda x: float(f(x, 3000)[0]))(x)


BINARY = ("add", "subtract", "multiply", "minimum", "maximum")
UNARY = ("negative", "absolute", "square", "sin", "tanh")


def random_function(seed: int) -> Callable[..., Any]:
    """A program over three arrays and two numbers; the same for every call."""

    def f(a: Any, b: Any, c: Any, s: Any, n: Any) -> Any:
        rng = np.random.default_rng(seed)
        pool = [a, b, c]
        for _ in range(int(rng.integers(4, 14))):
            what = rng.integers(0, 9)
            x, y = (pool[int(rng.integers(len(pool)))] for _ in range(2))
            if what < 3:
                pool.append(getattr(tg, str(rng.choice(BINARY)))(x, y if x.shape == y.shape else s))
            elif what == 3:
                pool.append(getattr(tg, str(rng.choice(UNARY)))(x))
            elif what == 4:
                pool.append(x * s + n)
            elif what == 5:
                pool.append(x.T)
            elif what == 6:
                pool.append(tg.broadcast_to(x.max(axis=0, keepdims=True), x.shape) * 0.5)
            elif what == 7 and x.shape[0] == x.shape[1]:
                pool.append(tg.tanh(x @ x))
            elif what == 8:
                x[int(rng.integers(x.shape[0]))] = s
        return pool

    return f


@pytest.mark.limits
@pytest.mark.parametrize("seed", range(24))
async def test_random_functions(seed: int) -> None:
    f = random_function(seed)
    jitted = tg.jit(f)
    n = int(np.random.default_rng(seed).choice([1, 3, 8]))
    for k, (s, m) in enumerate([(0.5, 1), (-1.25, 2), (2.0, -3)]):
        hosts = [f32(n, n) for _ in range(3)]
        ours, theirs = ([tg.asarray(h) for h in hosts] for _ in range(2))
        equal(await values(jitted(*ours, s, m)), await values(f(*theirs, s, m)))
        equal(await values(ours), await values(theirs))
        assert k == 0 or jitted.traces <= k + 1


async def holds(got: Any, want: list[float]) -> None:
    assert (await got.numpy()).tolist() == want


async def test_a_number_that_nothing_uses() -> None:
    f = tg.jit(lambda x, s, u: (x * s, x * u)[0])
    for k in range(4):
        await holds(f(tg.asarray([1.0, 2.0]), 2.0 + k, 3.0), [2.0 + k, 4.0 + 2 * k])


async def test_assigning_to_an_element_of_an_argument_spares_who_shares_its_memory() -> None:
    def f(x: Any) -> None:
        x[0] = 9.0

    j = tg.jit(f)
    for _ in range(4):
        x = tg.asarray([1.0, 2.0, 3.0, 4.0])
        pending, copied = x * 2, x.copy()
        j(x)
        await holds(x, [9, 2, 3, 4])
        await holds(pending, [2, 4, 6, 8])
        await holds(copied, [1, 2, 3, 4])


async def test_a_view_after_whole_arrays_is_still_a_view() -> None:
    def put(x: Any) -> None:
        x[0] = 9.0

    j = tg.jit(put)
    j(tg.asarray([1.0, 2.0, 3.0]))
    b = tg.asarray([0.0, 1.0, 2.0, 3.0])
    j(b[1:])
    await holds(b, [0, 9, 2, 3])
    g = tg.jit(lambda x: x.reshape(3))
    g(tg.asarray([1.0, 2.0, 3.0]))
    v = g(b[1:])
    v[0] = 7.0
    await holds(b, [0, 7, 2, 3])

    def both(x: Any, y: Any) -> Any:
        x += 1
        return y * 1

    h = tg.jit(both)
    h(tg.asarray([1.0, 2.0, 3.0]), tg.asarray([1.0, 2.0, 3.0]))
    a = tg.asarray([1.0, 2.0, 3.0])
    await holds(h(a, a[::-1]), [4, 3, 2])


async def test_a_captured_array_rebound_to_one_that_is_assigned() -> None:
    a, b = tg.asarray([1.0, 2.0]), tg.asarray([10.0, 20.0])

    def f(x: Any) -> Any:
        a[...] = x
        return x + b

    j = tg.jit(f)
    for _ in range(2):
        await holds(j(tg.asarray([5.0, 6.0])), [15, 26])
    b = a
    await holds(j(tg.asarray([7.0, 8.0])), [14, 16])


async def test_an_array_as_argument_and_from_outside() -> None:
    w = tg.asarray([1.0, 2.0])

    def outside(x: Any) -> Any:
        w[0] = 9.0
        return x * 1

    def inside(x: Any) -> Any:
        x[0] = 5.0
        return w * 1

    for f, want in ((outside, 9.0), (inside, 5.0)):
        j = tg.jit(f)
        j(tg.asarray([0.0, 0.0]))
        for _ in range(3):
            w[0] = 1.0
            await holds(j(w), [want, 2])
        await holds(w, [want, 2])


async def test_static_values_that_are_equal_but_not_the_same() -> None:
    f = tg.jit(lambda x, s: x * (1 if type(s[0]) is int else 100), static_argnums=1)
    one = tg.asarray([1.0])
    await holds(f(one, (1,)), [1])
    await holds(f(one, (1.0,)), [100])
    g = tg.jit(lambda x, s: x / s[0], static_argnums=1)
    await holds(g(one, (0.0,)), [np.inf])
    await holds(g(one, (-0.0,)), [-np.inf])


async def test_views_go_the_shortest_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reshaped and transposed arrays are replayed as quickly as whole ones, and only as what they are."""
    from tabgpu.jit import Jitted

    host = np.arange(12, dtype=np.float32)
    other = host[::-1].copy()
    f = tg.jit(lambda x, s: x * s + x.shape[0])
    views = {
        "reshaped": lambda h: h.reshape(3, 4),
        "reshaped again": lambda h: h.reshape(4, 3),
        "transposed": lambda h: h.reshape(4, 3).T,
        "whole": lambda h: h,
        "reshaped to what it is": lambda h: h.reshape(12),
    }
    slow = 0
    usual = Jitted._call

    def counted(self: Any, args: Any, options: Any) -> Any:
        nonlocal slow
        slow += 1
        return usual(self, args, options)

    monkeypatch.setattr(Jitted, "_call", counted)
    for view in views.values():
        x, y = tg.asarray(host), tg.asarray(other)
        f(view(x), 2.0)
        slow = 0
        for h, a in ((host, x), (other, y), (host, x)):
            equal(await values(f(view(a), 3.0)), view(h) * 3 + view(h).shape[0])
        assert slow == 0
    for view in views.values():  # each time another kind than the time before
        equal(await values(f(view(tg.asarray(host)), 2.0)), view(host) * 2 + view(host).shape[0])
    x = tg.asarray(host)
    equal(await values(f(x[::-1], 2.0)), host[::-1] * 2 + 12)
    equal(await values(f(x[4:], 2.0)), host[4:] * 2 + 8)
    equal(await values(f(tg.broadcast_to(x[:1], (4, 3)), 2.0)), np.full((4, 3), 4, np.float32))
