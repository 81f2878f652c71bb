"""Fused results in the tab: random programs against NumPy in float64 with a propagated error; counters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.bridge import run_sync

U = 2.0**-24  # half an ULP of 1
TINY = 2.0**-125  # what flushing of denormals may cost
MOST = 4096  # elements of a value


class Value(NamedTuple):
    """The same value on the GPU and on the host; `error` bounds how far float32 may be off, element by element."""

    gpu: Any
    host: Any
    error: Any


def rounded(host: Any, error: Any, steps: float = 1.0) -> Any:
    return error + steps * U * np.abs(host) + TINY


class Program:
    """A random expression program of one kind: float32 with error bounds, or int32 and bool, exact and wrapping."""

    def __init__(self, seed: int, exact: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.exact = exact
        self.values: list[Value] = []
        self.lines: list[str] = []
        self.n = int(self.rng.choice([3, 4, 7, 16, 33]))

    def below(self, n: int) -> int:
        return int(self.rng.integers(n))

    def keep(self, line: str, gpu: Any, host: Any, error: Any) -> None:
        host = np.asarray(host)
        assert gpu.shape == host.shape, f"{line}: {gpu.shape}, NumPy {host.shape}"
        error = np.broadcast_to(error, host.shape)
        if not self.exact and host.size and np.abs(host).max() > 50:
            gpu, host, error = gpu * 0.015625, host * 0.015625, error * 0.015625
        self.lines.append(line)
        self.values.append(Value(gpu, host, error))

    def leaf(self) -> None:
        n = self.n
        shape = [(n,), (n, n), (1, n), (n, 1), (2, n, n), (), (2, 1, 1)][self.below(7)]
        if self.exact:
            x = self.rng.integers(-(2**31), 2**31, shape).astype(np.int32) >> np.int32(self.below(31))
            x = np.asarray(x, np.int32)
        else:
            x = np.asarray(self.rng.uniform(-3, 3, shape).astype(np.float32))
        self.keep(f"leaf {shape}", tg.asarray(x), x if self.exact else x.astype(np.float64), 0.0)

    def pick(self) -> Value:
        return self.values[max(self.below(len(self.values)), self.below(len(self.values)))]

    def partner(self, x: Value) -> Value:
        fits = []
        for v in self.values:
            try:
                shape = np.broadcast_shapes(v.host.shape, x.host.shape)
            except ValueError:
                continue
            if np.prod(shape, dtype=int) <= MOST:
                fits.append(v)
        return fits[self.below(len(fits))] if fits else x

    # --- steps ---

    def binary(self) -> None:
        x = self.pick()
        y = self.partner(x)
        name = ("add", "subtract", "multiply", "maximum", "minimum", "divide")[
            self.below(5 if self.exact else 6)
        ]
        if name == "divide":
            d = y.gpu * y.gpu + 1.0
            host_d = y.host * y.host + 1
            error_d = rounded(host_d, 2 * np.abs(y.host) * y.error + y.error**2, 3)
            host = x.host / host_d
            low = np.maximum(host_d - error_d, 0.5)
            self.keep(
                "x / (y * y + 1)", x.gpu / d, host, rounded(host, (x.error + np.abs(host) * error_d) / low, 2)
            )
            return
        with np.errstate(over="ignore"):
            host = getattr(np, name)(x.host, y.host)
        if name in ("maximum", "minimum"):
            error = np.maximum(x.error, y.error)
        elif name == "multiply":
            error = np.abs(x.host) * y.error + np.abs(y.host) * x.error + x.error * y.error
        else:
            error = x.error + y.error
        gpu = getattr(tg, name)(x.gpu, y.gpu)
        self.keep(
            f"{name} {x.host.shape} {y.host.shape}",
            gpu,
            host,
            rounded(host, error) if not self.exact else 0.0,
        )

    def unary(self) -> None:
        x = self.pick()
        if self.exact:
            name = ("negative", "absolute", "invert", "square")[self.below(4)]
            with np.errstate(over="ignore"):
                host = getattr(np, name)(x.host)
            self.keep(name, getattr(tg, "bitwise_not" if name == "invert" else name)(x.gpu), host, 0.0)
            return
        name = ("tanh", "sin", "exp", "sqrt", "negative", "absolute", "floor", "arctan")[self.below(8)]
        if name == "exp":  # of what is not above zero
            host = np.exp(-np.abs(x.host))
            self.keep("exp(-|x|)", tg.exp(-tg.absolute(x.gpu)), host, rounded(host, x.error, 6))
        elif name == "sqrt":
            host = np.sqrt(np.abs(x.host) + 1)
            self.keep("sqrt(|x| + 1)", tg.sqrt(tg.absolute(x.gpu) + 1.0), host, rounded(host, x.error, 4))
        elif name == "floor":
            host, unsure = np.floor(x.host), np.floor(x.host - x.error) != np.floor(x.host + x.error)
            self.keep("floor", tg.floor(x.gpu), host, np.where(unsure, np.ceil(x.error) + 1, 0.0))
        elif name in ("negative", "absolute"):
            self.keep(name, getattr(tg, name)(x.gpu), getattr(np, name)(x.host), x.error)
        else:
            host = getattr(np, name)(x.host)
            self.keep(name, getattr(tg, name)(x.gpu), host, rounded(host, x.error, 10))

    def scalar(self) -> None:
        x = self.pick()
        if self.exact:
            k = self.below(1000) - 500
            with np.errstate(over="ignore"):
                self.keep(f"x * {k} - 7", x.gpu * k - 7, x.host * np.int32(k) - np.int32(7), 0.0)
            return
        k = float(np.float32(self.rng.uniform(-2, 2)))
        host = x.host * k + 0.5
        self.keep(
            f"x * {k} + 0.5",
            x.gpu * k + 0.5,
            host,
            rounded(host, abs(k) * x.error + U * np.abs(x.host * k), 2),
        )

    def choose(self) -> None:
        x = self.pick()
        y, z = self.partner(x), self.partner(x)
        try:
            shape = np.broadcast_shapes(x.host.shape, y.host.shape, z.host.shape)
        except ValueError:
            return
        if np.prod(shape, dtype=int) > MOST:
            return
        host = np.where(x.host > y.host, x.host, z.host)
        unsure = np.abs(x.host - y.host) <= x.error + y.error if not self.exact else False
        error = np.maximum(x.error, z.error) + np.where(unsure, np.abs(x.host - z.host), 0.0)
        self.keep("where(x > y, x, z)", tg.where(x.gpu > y.gpu, x.gpu, z.gpu), host, error)

    def view(self) -> None:
        x = self.pick()
        rank = x.host.ndim
        kind = self.below(7)
        if rank == 0 or kind == 0:
            k = self.below(rank + 1)
            f: Any = lambda a, xp: xp.expand_dims(a, axis=k)
            line = f"expand {k}"
        elif kind == 1:
            order = tuple(int(k) for k in self.rng.permutation(rank))
            f, line = lambda a, xp: xp.permute_dims(a, order), f"permute {order}"
        elif kind == 2:
            axis = self.below(rank)
            f, line = lambda a, xp: xp.flip(a, axis=axis), f"flip {axis}"
        elif kind == 3:
            f, line = lambda a, xp: a.reshape(-1), "ravel"
        elif kind == 4 and x.host.size * 2 <= MOST and rank < 4:
            shape = (2, *x.host.shape)
            f, line = lambda a, xp: xp.broadcast_to(a, shape), f"broadcast {shape}"
        elif kind == 5:
            key = tuple(
                slice(self.below(2), None, 1 + self.below(2)) if n > 2 else slice(None) for n in x.host.shape
            )
            f, line = lambda a, xp: a[key], f"{key}"
        else:
            f, line = lambda a, xp: xp.squeeze(a), "squeeze"
        self.keep(
            line, f(x.gpu, tg), f(x.host, np), f(np.asarray(np.broadcast_to(x.error, x.host.shape)), np)
        )

    def reduce(self) -> None:
        x = self.pick()
        axis = None if x.host.ndim == 0 or self.below(4) == 0 else self.below(x.host.ndim)
        keep = bool(self.below(2))
        options: Any = {"axis": axis, "keepdims": keep}
        if self.exact:
            name = ("sum", "max", "min", "argmax", "prod", "any")[self.below(6)]
            extra = {"dtype": np.int32} if name in ("sum", "prod") else {}
            host = np.asarray(getattr(np, name)(x.host, **options, **extra)).astype(np.int32)
            gpu = getattr(tg, name)(x.gpu, **options)
            self.keep(f"{name} {options}", gpu.astype(tg.int32) if name == "any" else gpu, host, 0.0)
            return
        name = ("sum", "mean", "max", "min")[self.below(4)]
        host = getattr(np, name)(x.host, **options)
        if name in ("max", "min"):
            error = np.max(x.error, **options)
        else:
            f = getattr(np, name)
            error = rounded(host, f(x.error, **options) + 24 * U * f(np.abs(x.host) + x.error, **options))
        self.keep(f"{name} {options}", getattr(tg, name)(x.gpu, **options), host, error)

    def product(self) -> None:
        matrices = [v for v in self.values if v.host.ndim >= 1 and v.host.shape[-1] > 1]
        if not matrices:
            return
        x = matrices[self.below(len(matrices))]
        k = x.host.shape[-1]
        fits = [v for v in matrices if v.host.shape[-1 if v.host.ndim == 1 else -2] == k and v.host.ndim <= 2]
        if not fits:
            return
        y = fits[self.below(len(fits))]
        a, b = np.abs(x.host), np.abs(y.host)
        with np.errstate(over="ignore"):
            host = np.matmul(x.host, y.host)
        if np.size(host) > MOST:
            return
        error = 0.0
        if not self.exact:
            ea, eb = np.broadcast_to(x.error, a.shape), np.broadcast_to(y.error, b.shape)
            error = (
                np.matmul(a, eb) + np.matmul(ea, b) + np.matmul(ea, eb) + (k + 2) * U * np.matmul(a, b) + TINY
            )
        self.keep(f"{x.host.shape} @ {y.host.shape}", x.gpu @ y.gpu, host, error)

    def forget(self) -> None:
        """Drops a value that others may have been built on."""
        if len(self.values) > 4:
            self.values.pop(self.below(len(self.values) - 1))

    def build(self, length: int) -> list[Value]:
        """The values still held at the end."""
        for _ in range(3):
            self.leaf()
        steps = [self.binary] * 6 + [self.unary] * 4 + [self.scalar] * 2 + [self.view] * 3 + [self.reduce] * 2
        steps += [self.choose, self.product, self.product, self.leaf, self.forget, self.forget]
        while len(self.lines) < length:
            steps[self.below(len(steps))]()
        return self.values[-5:]


FLOAT_SEEDS = [(seed, 5 + seed * 56 // 20) for seed in range(21)]
EXACT_SEEDS = [(100 + seed, 5 + seed * 55 // 11) for seed in range(12)]


def check(program: Program, values: list[Value], results: Any) -> None:
    for value, got in zip(values, results, strict=True):
        if program.exact:
            ok = got == value.host
        else:
            ok = np.abs(got - value.host) <= value.error
        if not np.all(ok):
            text = "\n".join(program.lines)
            worst = np.argmax(np.where(ok, -1, np.abs(got.astype(np.float64) - value.host)))
            at = np.unravel_index(worst, got.shape)
            bound = np.broadcast_to(value.error, got.shape)[at]
            pytest.fail(f"{text}\nat {at} got {got[at]!r}, NumPy {value.host[at]!r}, bound {bound!r}")


async def run(seed: int, length: int, exact: bool) -> list[bytes]:
    program = Program(seed, exact)
    values = program.build(length)
    results = await tg.fetch(*[v.gpu for v in values])
    check(program, values, results)
    return [r.tobytes() for r in results]


@pytest.fixture(scope="module")
def unfused() -> Iterator[dict[int, list[bytes]]]:
    """The results of all programs on a device that puts every operation in a launch of its own (checked there too)."""

    async def everything() -> dict[int, list[bytes]]:
        await tg.init(fuse=False)
        try:
            found = {seed: await run(seed, length, False) for seed, length in FLOAT_SEEDS}
            return found | {seed: await run(seed, length, True) for seed, length in EXACT_SEEDS}
        finally:
            await tg.init()

    yield run_sync(everything())


@pytest.mark.parametrize("seed,length", EXACT_SEEDS)
async def test_integer_programs_agree_bitwise(
    seed: int, length: int, unfused: dict[int, list[bytes]]
) -> None:
    assert await run(seed, length, True) == unfused[seed]


@pytest.mark.parametrize("seed,length", FLOAT_SEEDS)
async def test_float_programs(seed: int, length: int, unfused: dict[int, list[bytes]]) -> None:
    fused = await run(seed, length, False)
    assert [len(a) for a in fused] == [len(a) for a in unfused[seed]]


async def test_error_bounds_are_tight_enough_to_fail() -> None:
    """The oracle itself: bounds stay far below the values, and a program with one wrong element is caught."""
    share = []
    for seed, length in FLOAT_SEEDS[:8]:
        program = Program(seed, False)
        values = program.build(length)
        share += [np.median(v.error / (np.abs(v.host) + 1e-3)) for v in values if v.host.size]
        spoiled = [v.host.astype(np.float32) for v in values]
        check(program, values, spoiled)
        spoiled[0] = spoiled[0] + np.float32(0.1 * (1 + np.abs(values[0].host).max()))
        with pytest.raises(pytest.fail.Exception):
            check(program, values, spoiled)
    assert np.median(share) < 1e-4


# --- counters -----------------------------------------------------------------------------------------------


def counted(*names: str) -> dict[str, int]:
    memory = tg.memory()
    return {name: memory[name] for name in names}


def draw(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


async def test_a_chain_is_one_launch_and_one_crossing() -> None:
    """(tanh(a * b + c) * 0.5).sum(-1) on strided and broadcast inputs; other shapes and scalars compile nothing."""
    x, y, z = draw((40, 64)), draw((64, 40), 1), draw((64,), 2)
    a, b, c = tg.asarray(x)[::2], tg.asarray(y).T[1::2], tg.asarray(z)

    def chain(k: float, rows: int) -> Any:
        return (tg.tanh(a[:rows] * b[:rows] + c) * k).sum(axis=-1)

    want = np.tanh(x[::2].astype(np.float64) * y.T[1::2] + z)
    assert np.abs(await chain(0.5, 20).numpy() - (want * 0.5).sum(axis=-1)).max() < 1e-5
    before = counted("launches", "pipelines", "submits", "reads")
    pending = chain(0.25, 20)
    await tg.synchronize()
    after = counted("launches", "pipelines", "submits", "reads")
    assert {k: after[k] - before[k] for k in before} == {
        "launches": 1,
        "pipelines": 0,
        "submits": 1,
        "reads": 0,
    }
    assert np.abs(await pending.numpy() - (want * 0.25).sum(axis=-1)).max() < 1e-5
    for rows in (19, 3, 12):
        assert np.abs(await chain(0.5, rows).numpy() - (want[:rows] * 0.5).sum(axis=-1)).max() < 1e-5
    many = await tg.fetch(*[chain(k / 1000, 20).sum() for k in range(1000)])
    assert np.abs(np.array(many) / (np.arange(1000) / 1000 * want.sum() + 1e-30) - 1)[1:].max() < 1e-4
    again = counted("pipelines")["pipelines"]
    await tg.fetch(*[chain(k / 1001, 20).sum() for k in range(50)])
    assert counted("pipelines")["pipelines"] == again


async def test_a_value_in_use_is_not_computed_again() -> None:
    x = draw((1000,))
    t = tg.exp(tg.asarray(x))
    before = tg.device().counters.evaluated
    for i in range(100):
        got = await (t + float(i)).numpy()
    work = tg.device().counters.evaluated - before
    assert np.abs(got - (np.exp(x.astype(np.float64)) + 99)).max() < 1e-4
    assert work <= 101 * 1000, "exp is evaluated once, t + i a hundred times"
    launches = tg.memory()["launches"]
    got = await (t * t + t).numpy()
    assert tg.memory()["launches"] - launches == 1
    e = np.exp(x.astype(np.float64))
    assert np.abs(got / (e * e + e) - 1).max() < 1e-6


async def test_costly_producers_are_not_repeated_by_a_broadcast() -> None:
    a, b = draw((300,)), draw((200,), 1)
    before = tg.device().counters.evaluated
    got = await (tg.exp(tg.asarray(a))[:, None] - tg.tanh(tg.asarray(b))[None, :]).numpy()
    assert tg.device().counters.evaluated - before == 300 + 200 + 300 * 200
    assert np.abs(got - (np.exp(a.astype(np.float64))[:, None] - np.tanh(b.astype(np.float64)))).max() < 2e-6


@pytest.mark.limits
async def test_more_inputs_than_buffers_split() -> None:
    xs = [draw((37, 5), k) for k in range(30)]
    total = tg.asarray(xs[0])
    for x in xs[1:]:
        total = total * 0.5 + tg.asarray(x)
    want = xs[0].astype(np.float64)
    for x in xs[1:]:
        want = want * 0.5 + x
    launches = tg.memory()["launches"]
    assert np.abs(await total.numpy() - want).max() < 1e-5
    most = tg.device().limits["maxFusedBuffers"]
    assert 30 // most <= tg.memory()["launches"] - launches <= -(-29 // (most - 2))


async def test_an_exception_in_the_middle_leaves_the_graph_usable() -> None:
    a = tg.asarray(draw((6, 7)))
    t = tg.exp(a)
    with pytest.raises(ValueError, match=r"\(6, 7\)"):
        t + tg.ones((5, 5))
    with pytest.raises(tg.AxisError):
        t.sum(axis=2)
    assert np.abs(await (t + 1.0).numpy() - (np.exp(draw((6, 7)).astype(np.float64)) + 1)).max() < 2e-6


async def test_assignment_between_pending_operations() -> None:
    """Work recorded before an assignment keeps the old value, whatever fuses."""
    x = draw((9,))
    a = tg.asarray(x)
    before = tg.tanh(a) + 1.0
    a += 5.0
    after = tg.tanh(a) + before
    a[...] = 0.0
    old, new, zero = await tg.fetch(before, after, a)
    w = np.tanh(x.astype(np.float64)) + 1
    assert np.abs(old - w).max() < 1e-6 and not zero.any()
    assert np.abs(new - (np.tanh(x.astype(np.float64) + 5) + w)).max() < 1e-6


@pytest.mark.parametrize("depth", [100, 255, 256, 257, 1000])
@pytest.mark.limits
async def test_long_chains(depth: int) -> None:
    a = tg.asarray(np.arange(5, dtype=np.int32))
    x = a
    for k in range(depth):
        x = x * 3 + k if k % 2 else x - k
    want = np.arange(5, dtype=np.int64)
    for k in range(depth):
        want = ((want * 3 + k if k % 2 else want - k) + 2**31) % 2**32 - 2**31
    assert np.array_equal(await x.numpy(), want)
