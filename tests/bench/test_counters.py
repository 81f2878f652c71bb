"""What the planner, the pool and the bridge promise, as counters of the real device; times are in test_overhead."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pyodide.ffi import run_sync

import tabgpu as tg


def host(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(np.float32)


@contextmanager
def counted() -> Iterator[Any]:
    """An object that holds, after the block, how far each counter went in it."""
    before, found = tg.memory(), SimpleNamespace()
    yield found
    after = tg.memory()
    vars(found).update({k: after[k] - before[k] for k in after})


def read(a: tg.Array) -> np.ndarray:
    return run_sync(a.numpy())


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Nothing of an earlier test is pending or in flight."""
    gc.collect()
    run_sync(tg.synchronize())


def expression(a: tg.Array, b: tg.Array, c: tg.Array) -> tg.Array:
    return (tg.tanh(a * b + c) * 0.5).sum(axis=-1)


def expected(a: Any, b: Any, c: Any) -> Any:
    return (np.tanh(a.astype(np.float64) * b + c) * 0.5).sum(axis=-1)


def views(rows: int, columns: int) -> tuple[list[tg.Array], list[np.ndarray]]:
    """A strided, a reversed and a broadcast operand."""
    x, y, z = host(2 * rows, columns), host(columns, rows), host(columns)
    x, y, z = x * 0.1, y * 0.1, z * 0.1
    return [tg.asarray(x)[::2], tg.asarray(y).T[:, ::-1], tg.asarray(z)], [x[::2], y.T[:, ::-1], z]


def test_a_fused_reduction_is_one_launch_and_one_crossing() -> None:
    ours, theirs = views(50, 70)
    np.testing.assert_allclose(read(expression(*ours)), expected(*theirs), rtol=1e-4, atol=1e-4)  # compiles
    with counted() as n:
        u = expression(*ours)
        run_sync(tg.synchronize())
    assert (n.launches, n.submits, n.reads, n.bytes_read, n.pipelines) == (1, 1, 0, 0, 0)
    assert n.crossings == 2  # the submit, and the wait itself
    with counted() as n:
        read(u)
    assert (n.launches, n.submits, n.reads, n.crossings) == (0, 0, 1, 1)


def test_a_row_too_long_for_a_workgroup_is_two_launches_in_one_submit() -> None:
    ours, theirs = views(2, 40000)
    u = expression(*ours)
    with counted() as n:
        np.testing.assert_allclose(read(u), expected(*theirs), rtol=1e-3, atol=0.1)
    assert (n.launches, n.submits, n.reads) == (2, 1, 1)


def test_a_second_shape_compiles_nothing() -> None:
    read(expression(*views(50, 70)[0]))
    with counted() as n:
        for shape in [(51, 70), (49, 90), (64, 64), (200, 77), (33, 99)]:
            read(expression(*views(*shape)[0]))
    assert n.pipelines == 0


def test_a_thousand_scalars_compile_nothing() -> None:
    a = tg.asarray(host(300))
    run_sync((a * 0.5 + 1.5).numpy())
    run_sync(tg.fetch(*[a * 0.5 + 1.5 for _ in range(2)]))
    with counted() as n:
        for k in range(1000):
            u = a * (k / 7) + float(k)
        got = read(u)
    np.testing.assert_allclose(
        got, host(300) * np.float32(999 / 7) + 999, rtol=1e-5, atol=1e-4
    )  # fma: one element cancels
    assert n.pipelines <= 1  # several live results at a flush may share a launch
    with counted() as n:
        for k in range(1000):
            u = a * (k / 3) - float(-k)
            if k % 50 == 0:
                read(u)
    assert n.pipelines <= 1


def test_shared_work_is_evaluated_once_over_many_reads() -> None:
    a = tg.asarray(host(1000))
    t = tg.exp(a * 0.1)
    with counted() as n:
        for k in range(100):
            read(t + k)
    assert n.evaluated == 1000 * (2 + 100)
    assert n.launches == 100


def test_a_value_used_twice_is_one_launch() -> None:
    t = tg.exp(tg.asarray(host(1000)) * 0.1)
    u = t * t + t
    with counted() as n:
        read(u)
    assert n.launches == 1
    with counted() as n:
        read(t)
    assert n.launches == 0  # t came out of the same launch


def test_a_costly_outer_operand_is_not_recomputed() -> None:
    n_rows, n_columns = 300, 400
    a, b = tg.asarray(host(n_rows)), tg.asarray(host(n_columns))
    u = tg.log(tg.absolute(a) + 1)[:, None] - tg.exp(b * 0.1)[None, :]
    with counted() as n:
        read(u)
    assert n.evaluated <= n_rows * n_columns + 3 * (n_rows + n_columns)


def test_memory_stays_flat_over_2000_changing_shapes() -> None:
    limit = 8 << 20
    run_sync(tg.init(pool_bytes=limit))
    try:
        x = tg.asarray(host(64))
        low, seen = tg.memory()["live_bytes"], []
        for k in range(2000):
            n = 64 + (k * 37) % 5000
            x = (tg.broadcast_to(x[:1], (n,)) * 0.5 + 1).reshape((n, 1))[:, 0]
            if k % 100 == 99:
                read(x[:1])
                seen.append(tg.memory())
        assert all(m["pooled_bytes"] <= limit for m in seen)
        assert max(m["live_bytes"] for m in seen) <= low + 3 * (4 * 5064 * 2)
        del x
        gc.collect()
        assert tg.memory()["live_bytes"] == 0
        tg.trim()
        assert tg.memory()["pooled_bytes"] == 0
    finally:
        run_sync(tg.init())


def test_memory_may_be_given_back_by_the_submit_that_used_it_last() -> None:
    run_sync(tg.init(pool_bytes=0))
    try:
        a, b = tg.asarray(host(300) * 0.1), tg.asarray(host(200) * 0.1)
        u = tg.exp(a)[:, None] - tg.exp(b)[None, :]
        del a, b
        want = np.exp(host(300) * np.float32(0.1))[:, None] - np.exp(host(200) * np.float32(0.1))
        np.testing.assert_allclose(read(u), want, rtol=1e-5, atol=1e-5)
    finally:
        run_sync(tg.init())


def test_an_exception_in_the_middle_of_a_graph_leaks_nothing() -> None:
    a = tg.asarray(host(100, 100))
    read(a + 1)
    gc.collect()
    before = tg.memory()["live_bytes"]
    for _ in range(20):
        with pytest.raises(ValueError, match="inner sizes"):
            t = tg.sin(a) + 1
            u = t @ t
            u @ tg.asarray(host(3, 3))
        t = u = None
    gc.collect()
    run_sync(tg.synchronize())
    assert tg.memory()["live_bytes"] == before


def test_a_view_s_read_moves_only_its_bytes() -> None:
    a = tg.asarray(host(1000, 100))
    run_sync(tg.synchronize())
    with counted() as n:
        got = read(a[17])
    np.testing.assert_array_equal(got, host(1000, 100)[17])
    assert n.bytes_read == 400 and n.launches == 0
    with counted() as n:
        read(a[17, 3])
    assert n.bytes_read == 4
    with counted() as n:
        got = read(a[:, 5])
    np.testing.assert_array_equal(got, host(1000, 100)[:, 5])
    assert n.bytes_read == 4000 and n.launches == 1
    flags = tg.asarray(host(1001) > 0)
    with counted() as n:
        got = read(flags[3:8])
    np.testing.assert_array_equal(got, (host(1001) > 0)[3:8])
    assert n.bytes_read <= 8


def test_several_arrays_are_read_in_one_submit() -> None:
    a, b = tg.asarray(host(100)), tg.asarray(host(7, 9))
    u, v, w = tg.sin(a), b.T * 2, b.sum()
    with counted() as n:
        got = run_sync(tg.fetch(u, v, w))
    assert (n.submits, n.reads) == (1, 1)
    np.testing.assert_allclose(got[1], host(7, 9).T * 2)


def test_uploads_and_views_launch_nothing() -> None:
    x = host(20, 30)
    with counted() as n:
        a = tg.asarray(x)
        b = tg.flip(a.T[::2], axis=1).reshape((15, 4, 5))[..., None]
    assert (n.launches, n.submits, n.reads) == (0, 0, 0)
    assert n.crossings == 1 and n.bytes_uploaded == x.nbytes
    assert b.shape == (15, 4, 5, 1)


# The most pipelines each expression may need over all shapes, strides and scalars (tests/unit/test_plan.py says why).
BOUNDS = {"chain": 40, "row sum": 45, "argmax": 45, "cast": 40}
EXPRESSIONS = {
    "chain": lambda a, b: tg.tanh(a * b + 1) * 0.5,
    "row sum": lambda a, b: (a * b).sum(axis=-1),
    "argmax": lambda a, b: tg.argmax(a, axis=0),
    "cast": lambda a, b: (a > b).astype("int32"),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_500_shapes_stay_within_the_listed_variants(name: str) -> None:
    random = np.random.default_rng(5)
    with counted() as n:
        for k in range(500):
            shape = tuple(
                int(d) for d in random.choice([1, 2, 3, 5, 8, 16, 17, 64, 100], int(random.integers(1, 4)))
            )
            a, b = tg.full(shape, 1.0) + k, tg.full(shape[::-1], 2.0) + k
            if random.integers(2):
                a = tg.flip(a, axis=0)
            u = EXPRESSIONS[name](a, b.T)
            if k % 20 == 19:
                run_sync(tg.fetch(u, a, b))
    assert n.pipelines <= BOUNDS[name] + 6  # and the filling of a and b


@pytest.mark.parametrize("count", [20000])
def test_a_chain_of_20000_survives(count: int) -> None:
    x = tg.asarray(np.zeros(5, np.float32))
    for _ in range(count):
        x = x + 1
    assert read(x).tolist() == [count] * 5
    for _ in range(count):
        x = x * 1
    del x
    gc.collect()
