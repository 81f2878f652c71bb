"""What a profile says that launches do: bytes and operations, counted by hand here; nothing is run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import engine
from tabgpu.device import Device
from tabgpu.work import work

Open = Callable[..., Device]


def stored(*shape: int, dtype: str = "float32") -> tg.Array:
    return tg.asarray(np.ones(shape, dtype))


def done(*arrays: tg.Array) -> list[tuple[int, int]]:
    """(bytes, operations) of each launch that computing the arrays takes."""
    lowered = engine.prepare(engine.device(), [a._cell.op for a in arrays])
    return [counted for group, launches in lowered for counted in work(group, launches)]


def total(*arrays: tg.Array) -> tuple[int, int]:
    each = done(*arrays)
    return sum(n for n, _ in each), sum(n for _, n in each)


def test_elementwise(gpu: Device) -> None:
    a, b = stored(100), stored(100)
    assert done(a + b) == [(1200, 100)]
    assert done(a + a) == [(800, 100)]
    counted = done(tg.sin(a) * b + 1)  # pytest would keep what is between, in an assert
    assert counted == [(1200, 300)]
    counted = done(tg.full((100,), 2.0) * a)
    assert counted[0][0] == 800
    counted = done(tg.arange(100) + 1)
    assert counted[0][0] == 400 and counted[0][1] >= 100


def test_narrow_types(gpu: Device) -> None:
    a = stored(100, dtype="int8")
    assert done(a + a)[0][0] == 200
    b = stored(100, dtype="float16")
    assert done(b * b)[0][0] == 400


@pytest.mark.parametrize(
    ("view", "reached"),
    [
        (lambda m: m[::2], 30 * 20),
        (lambda m: m[:, ::-1], 60 * 20),
        (lambda m: m.T, 60 * 20),
        (lambda m: tg.broadcast_to(m[3], (60, 20)), 20),
        (lambda m: tg.broadcast_to(m[3, 4], (60, 20)), 1),
    ],
    ids=["every second row", "reversed", "transposed", "a row for all", "one element for all"],
)
def test_views(gpu: Device, view: Callable[[tg.Array], tg.Array], reached: int) -> None:
    seen = view(stored(60, 20))
    assert done(seen + 1) == [(4 * (reached + seen.size), seen.size)]


def test_several_outputs(gpu: Device) -> None:
    a = stored(100)
    b = a * 2
    c = b + 1
    assert total(b, c) == (1200, 200)


def test_reductions(gpu: Device) -> None:
    m = stored(60, 20)
    assert done(m.sum(axis=1)) == [(4 * (1200 + 60), 1200)]
    counted = done(tg.exp(m).sum(axis=1) * 2)
    assert counted == [(4 * (1200 + 60), 2 * 1200 + 60)]
    assert done(m[:, ::2].sum(axis=0)) == [(4 * (600 + 10), 600)]


def test_a_long_reduction_counts_its_partials(gpu: Device) -> None:
    n = 1 << 20
    first, *rest = done(stored(n).sum())
    assert first[1] == n and 4 * n < first[0] < 4.1 * n
    assert rest and sum(size for size, _ in rest) < 0.1 * n


@pytest.mark.parametrize("batch", [(), (3,)])
def test_products(gpu: Device, batch: tuple[int, ...]) -> None:
    a, b = stored(*batch, 40, 50), stored(50, 60)
    times = 3 if batch else 1
    size, operations = total(a @ b + 1)
    assert operations == times * (2 * 40 * 60 * 50 + 40 * 60)
    assert size == 4 * (times * 40 * 50 + 50 * 60 + times * 40 * 60)


def test_indexed(gpu: Device) -> None:
    table, where = stored(1000), tg.asarray(np.array([1, 5, 7], np.int32))
    assert done(table[where])[-1] == (4 * (3 + 3 + 3), 0)
    table[10:20] = 1
    assert done(table)[-1] == (4 * 10, 0)
    table[10:20] = stored(10)
    assert done(table)[-1] == (4 * 20, 0)


def test_windows_count_what_they_hold(open_gpu: Open) -> None:
    gpu = open_gpu(maxStorageBufferBindingSize=1 << 16)
    n = 100_000
    a, b = stored(n), stored(n)
    each = done(a + b)
    assert len(each) > 4
    assert 12 * n <= sum(size for size, _ in each) <= 12 * n + len(each) * 3 * 512
    assert sum(operations for _, operations in each) == pytest.approx(n, abs=len(each))
    del gpu


def test_every_launch_does_something(gpu: Device) -> None:
    m, v = stored(30, 40), stored(5000)
    many = [
        tg.cumsum(v),
        tg.sort(v),
        tg.concatenate([v, v]),
        tg.pad(v, 3),
        tg.argmax(m, axis=1),
        tg.roll(v, 3),
        m @ m.T,
    ]
    for a in many:
        for size, operations in done(a):
            assert size > 0 and operations >= 0
    assert done(tg.zeros((0, 3)) + 1) == [(0, 0)]
