"""Fusion decisions, counted in launches: what joins one kernel, what is stored, what is cut; scalars change nothing.

Values are right too: each graph is also computed, on the emulator, and compared with NumPy."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulator import read

import tabgpu as tg
from tabgpu import engine, region
from tabgpu.launch import Launch
from tabgpu.plan import MAX_WEIGHT

RNG = np.random.default_rng(1)
Open = Callable[..., Any]


def host(*shape: int) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(np.float32)


def launches(*arrays: tg.Array) -> list[Launch]:
    """What reading the arrays together would launch; nothing is run."""
    gpu = engine.device()
    ops = [a._cell.op for a in arrays]
    return [x for _, some in engine.prepare(gpu, ops, merge=True) for x in some if x.kernel.access]


def check(n: int, *pairs: tuple[tg.Array, Any]) -> None:
    """That many launches, and the right values."""
    labels = [x.kernel.label for x in launches(*[a for a, _ in pairs])]
    assert len(labels) == n, labels
    before = engine.device().counters.launches
    got = read(*[a for a, _ in pairs])
    assert engine.device().counters.launches - before == n
    for g, (_, want) in zip([got] if len(pairs) == 1 else got, pairs, strict=True):
        np.testing.assert_allclose(g, want, rtol=2e-5, atol=1e-5)


X, Y, Z = host(6, 8), host(6, 8), host(8)


@pytest.fixture
def abc(gpu: Any) -> tuple[tg.Array, tg.Array, tg.Array]:
    return tg.asarray(X), tg.asarray(Y), tg.asarray(Z)


# --- what becomes one launch ------------------------------------------------------------------------------------------


def test_a_chain(abc: Any) -> None:
    a, b, c = abc
    check(1, (tg.tanh(a * b + c) * 0.5 - 1, np.tanh(X * Y + Z) * 0.5 - 1))


def test_a_value_used_twice(abc: Any) -> None:
    a, _, _ = abc
    t = tg.exp(a * 0.1)
    u = t * t + t
    del t
    e = np.exp(X * np.float32(0.1))
    check(1, (u, e * e + e))


def test_a_value_used_twice_is_computed_once(abc: Any) -> None:
    a, _, _ = abc
    t = tg.exp(a)
    code = launches(t * t + t)[0].kernel.code
    assert code.count("(exp_f32(") == 1 or code.count("exp_f32(a0.x)") == 1


def test_a_live_intermediate_is_one_more_output(abc: Any) -> None:
    a, b, _ = abc
    t = a * b
    u = tg.sin(t) + 1
    plan = launches(u)
    assert len(plan) == 1 and len(plan[0].writes) == 2
    check(1, (u, np.sin(X * Y) + 1))
    check(0, (t, X * Y))  # it is there already


def test_a_dead_intermediate_is_not_stored(abc: Any) -> None:
    a, b, _ = abc
    assert len(launches(tg.sin(a * b) + 1)[0].writes) == 1


def test_a_diamond(abc: Any) -> None:
    a, b, _ = abc
    t = a + b
    u, v = tg.sin(t), tg.cos(t)
    w = u * v
    del t, u, v
    check(1, (w, np.sin(X + Y) * np.cos(X + Y)))


def test_two_results_of_one_input_come_from_one_launch(abc: Any) -> None:
    a, _, _ = abc
    u, v = tg.sin(a), tg.cos(a)
    plan = launches(u, v)
    assert len(plan) == 1 and len(plan[0].reads) == 1 and len(plan[0].writes) == 2
    check(1, (u, np.sin(X)), (v, np.cos(X)))


def test_results_of_different_dtypes_come_from_one_launch(abc: Any) -> None:
    a, b, _ = abc
    t = a + b
    u, v = t > 0, t.astype("int32")
    del t
    check(1, (u, X + Y > 0), (v, (X + Y).astype(np.int32)))


def test_the_same_array_as_both_operands_is_bound_once(abc: Any) -> None:
    a, _, _ = abc
    u = a * a
    assert len(launches(u)[0].reads) == 1
    check(1, (u, X * X))


def test_an_array_and_its_transpose_are_bound_once(gpu: Any) -> None:
    x = host(5, 5)
    a = tg.asarray(x)
    u = a + a.T
    assert len(launches(u)[0].reads) == 1
    check(1, (u, x + x.T))


def test_constants_and_ranges_take_no_buffer(gpu: Any) -> None:
    u = tg.arange(12).reshape((3, 4)) + tg.full((4,), 5)
    plan = launches(u)
    assert len(plan) == 1 and not plan[0].reads
    check(1, (u, np.arange(12).reshape(3, 4) + 5))


def test_views_between_operations(abc: Any) -> None:
    a, b, _ = abc
    u = (a.T * 2)[::2, ::-1] + 1
    check(1, (u, (X.T * 2)[::2, ::-1] + 1))
    del u
    v = tg.flip(a - b, axis=1).reshape((8, 6)) * 3
    assert len(launches(v)) <= 2
    np.testing.assert_array_equal(read(v), np.flip(X - Y, 1).reshape(8, 6) * 3)


# --- reductions -------------------------------------------------------------------------------------------------------


def test_what_is_before_and_behind_a_reduction_joins_it(abc: Any) -> None:
    a, b, c = abc
    u = tg.sqrt((a * b + c).max(axis=-1) + 200) * 2
    check(1, (u, np.sqrt((X * Y + Z).max(axis=-1) + 200) * 2))


def test_a_reduction_of_strided_and_broadcast_operands(gpu: Any) -> None:
    x, y = host(14, 9), host(9)
    a, b = tg.asarray(x)[::2, ::-1], tg.asarray(y)
    u = (tg.tanh(a * b + 1) * 0.5).sum(axis=-1)
    check(1, (u, (np.tanh(x[::2, ::-1] * y + 1) * 0.5).sum(axis=-1)))


@pytest.mark.parametrize("axis", [0, 1, (0, 2), None, (2, 1)])
def test_reductions_over_any_axes_are_one_launch(gpu: Any, axis: Any) -> None:
    x = host(4, 5, 6)
    check(1, (tg.asarray(x).sum(axis=axis), x.sum(axis=axis)))


def test_a_long_row_takes_two_passes(gpu: Any) -> None:
    x = host(40000)
    check(2, ((tg.asarray(x) * 2).sum(), (x * 2).sum()))
    check(2, (tg.argmax(tg.asarray(x[::-1].copy())), x[::-1].argmax()))


def test_many_long_rows_stay_one_launch_until_very_long(gpu: Any) -> None:
    def rows(n: int) -> tg.Array:
        return (tg.ones((600, n)) * tg.ones(())).sum(axis=1)

    assert len(launches(rows(20000))) == 1
    assert len(launches(rows(300000))) == 2


def test_a_column_sum_of_a_tall_matrix_is_cut(gpu: Any) -> None:
    x = host(30000, 20)
    check(2, (tg.asarray(x).sum(axis=0), x.sum(axis=0)))


def test_softmax(gpu: Any) -> None:
    x = host(7, 33)
    a = tg.asarray(x)
    e = tg.exp(a - a.max(axis=-1, keepdims=True))
    s = e / e.sum(axis=-1, keepdims=True)
    del e
    want = np.exp(x - x.max(axis=-1, keepdims=True))
    check(4, (s, want / want.sum(axis=-1, keepdims=True)))


def test_mean_and_variance(gpu: Any) -> None:
    x = host(5, 64)
    a = tg.asarray(x)
    d = a - a.mean(axis=1, keepdims=True)
    v = (d * d).mean(axis=1)
    del d
    check(2, (v, x.var(axis=1)))


def test_a_reduction_of_a_live_value_stores_it_first(abc: Any) -> None:
    a, b, _ = abc
    t = a * b
    u = t.sum(axis=1)
    assert sum(len(x.writes) for x in launches(u)) == 2
    np.testing.assert_allclose(read(u), (X * Y).sum(axis=1))
    check(0, (t, X * Y))


# --- products ---------------------------------------------------------------------------------------------------------


def test_what_follows_a_product_joins_it(gpu: Any) -> None:
    x, y, z = host(20, 30), host(30, 10), host(10)
    a, b, c = tg.asarray(x), tg.asarray(y), tg.asarray(z)
    u = tg.maximum(2 * (a @ b) + c, 0)
    check(1, (u, np.maximum(2 * (x @ y) + z, 0)))


def test_operands_of_a_product_are_read_in_place(gpu: Any) -> None:
    x, y = host(20, 30), host(20, 12)
    u = tg.asarray(x).T[::2] @ tg.asarray(y)[:, ::-1]
    check(1, (u, x.T[::2] @ y[:, ::-1]))


def test_a_batch_broadcasts_in_place(gpu: Any) -> None:
    x, y = host(3, 1, 4, 5), host(2, 5, 6)
    check(1, (tg.asarray(x) @ tg.asarray(y), x @ y))


# --- what is not fused ------------------------------------------------------------------------------------------------


def test_a_costly_value_is_not_computed_again_for_each_repetition(gpu: Any) -> None:
    x, y = host(50), host(60)
    a, b = tg.exp(tg.asarray(x) * 0.1), tg.exp(tg.asarray(y) * 0.1)
    u = a[:, None] - b[None, :]
    del a, b
    before = engine.device().counters.evaluated
    check(3, (u, np.exp(x * np.float32(0.1))[:, None] - np.exp(y * np.float32(0.1))))
    assert engine.device().counters.evaluated - before <= 50 * 60 + 2 * (50 + 60)


def test_a_cheap_value_is(gpu: Any) -> None:
    x, y = host(50), host(60)
    u = (tg.asarray(x) + 1)[:, None] - tg.asarray(y)
    check(1, (u, (x + 1)[:, None] - y))


def test_a_value_read_in_two_ways_is_stored(gpu: Any) -> None:
    x = host(5, 5)
    t = tg.exp(tg.asarray(x) * 0.1)
    u = t + t.T
    del t
    e = np.exp(x * np.float32(0.1))
    check(2, (u, e + e.T))


@pytest.mark.parametrize("budget", [3, 4, 5, 8])
def test_more_inputs_than_buffers_are_cut(open_gpu: Open, budget: int) -> None:
    open_gpu(fused=budget)
    values = [host(7, 3) for _ in range(12)]
    arrays = [tg.asarray(v) for v in values]
    total = arrays[0]
    for a in arrays[1:]:
        total = total + a
    plan = launches(total)
    assert all(len(x.reads) + len(x.writes) <= budget for x in plan)
    assert len(plan) == -(-11 // (budget - 2))
    check(len(plan), (total, sum(values)))


def test_the_budget_holds_before_and_behind_a_reduction(open_gpu: Open) -> None:
    open_gpu(fused=4)
    values = [host(6, 8) for _ in range(6)]
    a = [tg.asarray(v) for v in values]
    rows = [tg.asarray(host(6)) for _ in range(4)]
    u = (a[0] * a[1] + a[2] * a[3] + a[4] * a[5]).sum(axis=1)
    for r in rows:
        u = u + r
    assert all(len(x.reads) + len(x.writes) <= 4 for x in launches(u))
    read(u)


def test_very_long_chains_are_cut(gpu: Any) -> None:
    t, want = tg.asarray(X), X
    for _ in range(MAX_WEIGHT // 2 + 10):
        t, want = t * 0.5 + 1, want * np.float32(0.5) + 1
    plan = launches(t)
    assert len(plan) == 2
    assert all(x.kernel.code.count("let n") <= MAX_WEIGHT for x in plan)
    check(len(plan), (t, want))


def test_unfused(open_gpu: Open) -> None:
    open_gpu(fuse=False)
    a, b = tg.asarray(X), tg.asarray(Y)
    check(4, ((tg.tanh(a * b) + 1).sum(axis=1), (np.tanh(X * Y) + 1).sum(axis=1)))


def test_long_graphs_are_computed_on_the_way(gpu: Any) -> None:
    t = tg.asarray(host(4))
    for _ in range(20000):
        t = t + 1
    assert gpu.counters.submits >= 20000 // engine.MAX_DEPTH
    del t


def test_an_empty_result_launches_nothing(gpu: Any) -> None:
    u = tg.asarray(np.empty((0, 3), np.float32)) * 2 + 1
    check(0, (u, np.empty((0, 3))))


# --- order ------------------------------------------------------------------------------------------------------------


def graph() -> tuple[tg.Array, ...]:
    a, b = tg.asarray(X), tg.asarray(Y)
    t = tg.exp(a * 0.1) + b
    u = t.sum(axis=1)
    v = tg.sin(t)[:, ::-1] * u[:, None]
    return v @ a.T, u, tg.argmin(v, axis=0), (v > 0) & (a < b)


def test_the_same_graph_gives_the_same_launches(open_gpu: Open) -> None:
    seen = []
    for _ in range(3):
        open_gpu()
        arrays = graph()
        seen.append([(x.kernel, x.grid, x.words, len(x.reads), len(x.writes)) for x in launches(*arrays)])
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]) > 3


def test_the_order_of_roots_does_not_matter(gpu: Any) -> None:
    arrays = graph()
    first = [x.kernel.label for x in launches(*arrays)]
    assert [x.kernel.label for x in launches(*arrays[::-1])] == first


def test_launches_come_after_what_they_read(gpu: Any) -> None:
    arrays = graph()
    done: set[Any] = set()
    for x in launches(*arrays):
        assert all(op.buffer is not None or op in done for op in x.reads)
        done.update(x.writes)


def test_planning_has_no_effect(gpu: Any) -> None:
    arrays = graph()
    before = gpu.counters.as_dict()
    for _ in range(3):
        launches(*arrays)
    assert gpu.counters.as_dict() == before
    read(*arrays)


def test_a_chain_of_stored_steps_uses_two_buffers(open_gpu: Open) -> None:
    gpu = open_gpu(fuse=False)
    t = tg.asarray(host(64, 64))
    for _ in range(60):
        t = t + 1
    read(t)
    assert len(gpu.js.buffers) <= 3


# --- variants ---------------------------------------------------------------------------------------------------------

EXPRESSIONS: dict[str, tuple[int, Callable[..., tg.Array]]] = {
    # Name: (most kernels over any shapes and layouts, expression). Elementwise: all contiguous, all one element; rows
    # by collapsed rank 1 to 3, of whole vec4s or not, and tiles with a batch axis or none, whole or not, by how each
    # operand is read (3 ways in rows, 5 in tiles). Reductions: contiguous or (kept rank, reduced rank), times 1, 8, 32
    # or 256 threads an output, along or across rows, in one or two passes. Products: 5 ways to read times 6 tiles,
    # and copies.
    "chain": (40, lambda a, b: tg.tanh(a * b + 1) * 0.5),
    "unary": (14, lambda a, b: tg.exp(a)),
    "row sum": (40, lambda a, b: (a * b).sum(axis=-1)),
    "whole sum": (40, lambda a, b: (a + b).sum()),
    "argmax": (40, lambda a, b: tg.argmax(a, axis=0)),
    "cast": (40, lambda a, b: (a > b).astype("int32")),
    "product": (80, lambda a, b: (a.reshape((-1, a.shape[-1])) @ b.reshape((-1, b.shape[-1])).T) + 1),
}


def layouts_of(x: np.ndarray, k: int) -> tg.Array:
    """x through one of several views."""
    if k == 0:
        return tg.asarray(x)
    if k == 1:
        return tg.asarray(np.ascontiguousarray(x.T)).T
    if k == 2:
        return tg.asarray(np.ascontiguousarray(x[..., ::-1]))[..., ::-1]
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), np.float32)
    wide[..., 1::2] = x
    return tg.asarray(wide)[..., 1::2]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_shapes_and_layouts_make_a_bounded_number_of_kernels(gpu: Any, name: str) -> None:
    most, expression = EXPRESSIONS[name]
    random = np.random.default_rng(3)
    kernels, ranks = set(), set()
    for _ in range(500):
        rank = int(random.integers(1, 4))
        shape = tuple(int(n) for n in random.choice([1, 2, 3, 5, 8, 16, 17, 64, 100, 300, 3000], rank))
        if np.prod(shape) > 1 << 12:
            shape = shape[:1]
        x = np.broadcast_to(np.float32(1), shape)
        a, b = (layouts_of(x, int(random.integers(4))) for _ in "ab")
        plan = launches(expression(a, b))
        kernels.update(id(k.kernel) for k in plan)
        ranks.add(rank)
    assert ranks == {1, 2, 3}
    assert len(kernels) <= most, f"{len(kernels)} kernels"


def test_scalars_make_no_kernel(gpu: Any) -> None:
    a = tg.asarray(X)
    kernels = {id(launches(a * float(k) + k / 7)[0].kernel) for k in range(1000)}
    assert len(kernels) == 1


def test_signatures_say_everything(gpu: Any) -> None:
    """No two signatures of what was made so far share a text but differ in bindings, and labels are valid names."""
    graph_arrays = graph()
    launches(*graph_arrays)
    for kernel in region.kernels.values():
        assert kernel.label.replace("_", "a").isalnum()
        assert kernel.code.count("@compute") == 1


# --- lifetimes --------------------------------------------------------------------------------------------------------

LIVES: dict[str, Callable[[tg.Array], tg.Array]] = {
    "elementwise": lambda a: tg.sin(a * 2 + 1),
    "views": lambda a: (a.T * 2)[::2, ::-1] + 1,
    "product": lambda a: a @ a.T + 1,
    "reduction": lambda a: (a * 2).sum(axis=0) + 1,
    "two passes": lambda a: tg.broadcast_to(a[0, :1], (20000,)).sum() + a[0, 0],
    "softmax": lambda a: tg.exp(a - a.max(axis=0)) / tg.exp(a).sum(axis=0),
}


@pytest.mark.parametrize("name", LIVES)
def test_memory_is_free_as_soon_as_nobody_names_it(gpu: Any, name: str) -> None:
    """Without the help of the garbage collector: no cycle holds an operation or a buffer."""
    gc.collect()
    gc.disable()
    try:
        a = tg.asarray(X)
        u = LIVES[name](a)
        read(u)
        held = gpu.live_bytes
        del a
        assert gpu.live_bytes < held, "the operand is still held"
        del u
        assert gpu.live_bytes == 0
        u = LIVES[name](tg.asarray(X))
        del u  # never computed
        engine.pending.clear()
        assert gpu.live_bytes == 0
    finally:
        gc.enable()


def test_functions_that_compile_slowly_count_for_many(abc: Any) -> None:
    """Sixteen sines in one kernel take a CPU adapter's compiler 16 s, four less than one."""
    a, _, _ = abc
    x, y = a, X
    for _ in range(16):
        x, y = tg.sin(x * 0.5), np.sin(y * np.float32(0.5))
    plan = launches(x)
    assert [launch.kernel.code.count("= vec4f(sin_f32(") for launch in plan] == [4, 4, 4, 4]
    check(4, (x, y))
