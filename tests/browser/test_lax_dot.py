"""tg.lax.dot_general against NumPy's einsum in double precision: any axes, no elements, conjugates, launches."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import xla_reference as xla

import tabgpu as tg
from tabgpu import lax

EPS = 2.0**-24
RNG = np.random.default_rng(1)


def launches() -> int:
    return int(tg.memory()["launches"])


def draw(shape: tuple[int, ...], kind: str = "f") -> Any:
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape)).astype(np.complex64) if kind == "c" else x.astype(np.float32)


def random_dimensions(rng: Any) -> tuple[tuple[int, ...], tuple[int, ...], Any]:
    """Shapes of lhs and rhs, and dimension numbers in any order."""
    shared = [int(n) for n in rng.integers(1, 5, 6)]
    over, batch = (int(k) for k in rng.integers(0, 3, 2))
    free = [int(k) for k in rng.integers(0, 3, 2)]
    shapes, roles = [], []
    for side in range(2):
        rank = over + batch + free[side]
        order = [int(k) for k in rng.permutation(rank)]
        shape = [0] * rank
        for j in range(over + batch):
            shape[order[j]] = shared[j]
        for j in range(over + batch, rank):
            shape[order[j]] = int(rng.integers(1, 5))
        shapes.append(tuple(shape))
        roles.append((tuple(order[:over]), tuple(order[over : over + batch])))
    return shapes[0], shapes[1], ((roles[0][0], roles[1][0]), (roles[0][1], roles[1][1]))


def near(got: Any, want: Any, bound: Any) -> None:
    assert got.shape == want.shape, (got.shape, want.shape)
    assert np.all(np.abs(got - want) <= 32 * EPS * bound + 1e-30), np.abs(got - want).max()


def wide(x: Any) -> Any:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


@pytest.mark.limits
@pytest.mark.parametrize("kind", ["f", "c", "i"])
async def test_tf_01_dot_general(kind: str) -> None:
    """TF-01: any contracting and batch axes in any order, of float32, complex64 and int32; batch, lhs, rhs axes."""
    made, wanted = [], []
    rng = np.random.default_rng(2)
    for _ in range(15 if kind == "c" else 40):
        a, b, dims = random_dimensions(rng)
        if kind == "i":
            x, y = (rng.integers(-(2**31), 2**31, s).astype(np.int32) for s in (a, b))
        else:
            x, y = draw(a, kind), draw(b, kind)
        made.append(lax.dot_general(tg.asarray(x), tg.asarray(y), dims))
        wanted.append((x, y, dims))
    for got, (x, y, dims) in zip(await tg.fetch(*made), wanted, strict=True):
        if kind == "i":
            want = xla.dot_general(x.astype(np.int64), y.astype(np.int64), dims)
            assert np.array_equal(got, want.astype(np.int32)) and got.shape == want.shape
        else:
            near(
                got,
                xla.dot_general(wide(x), wide(y), dims),
                xla.dot_general(wide(np.abs(x)), wide(np.abs(y)), dims).real,
            )


async def test_tf_01_no_elements() -> None:
    """TF-01: contracting no elements gives zeros; a result of no elements has its shape."""
    dims = (((1,), (0,)), ((), ()))
    for dtype in ("float32", "int32", "complex64", "float16"):
        got = lax.dot_general(tg.zeros((3, 0), dtype=dtype), tg.zeros((0, 4), dtype=dtype), dims)
        assert got.dtype == dtype and np.array_equal(await got.numpy(), np.zeros((3, 4)))
    assert lax.dot_general(tg.zeros((0, 2)), tg.zeros((2, 4)), dims).shape == (0, 4)
    assert lax.dot_general(tg.zeros((5, 0, 2)), tg.zeros((5, 2, 3)), (((2,), (1,)), ((0,), (0,)))).shape == (
        5,
        0,
        3,
    )
    assert await lax.dot_general(tg.zeros(0), tg.zeros(0), (((0,), (0,)), ((), ()))).item() == 0
    assert await lax.dot_general(tg.asarray(2.0), tg.asarray(3.0), (((), ()), ((), ()))).item() == 6


async def test_tf_01_in_place_and_in_one_launch() -> None:
    """TF-01: transposes, slices, batch axes anywhere and what follows are one launch, without a copy."""
    x, y = tg.asarray(draw((6, 20, 5))), tg.asarray(draw((20, 6, 7)))
    await tg.fetch(x, y)
    before = launches()
    got = await (lax.dot_general(x, y, (((1,), (0,)), ((0,), (1,)))) * 2 + 1).numpy()
    assert launches() - before == 1
    want = np.einsum("bka,kbn->ban", wide(await x.numpy()), wide(await y.numpy())) * 2 + 1
    assert np.allclose(got, want, atol=1e-4)
    before = launches()
    await lax.dot_general(x[::2, 3:, 1], y[3:, ::2, ::-1], (((1,), (0,)), ((0,), (1,)))).numpy()
    await lax.dot_general(x, y, (((1, 0), (0, 1)), ((), ()))).numpy()
    assert launches() - before <= 4


async def test_tf_01_preferred_element_type() -> None:
    """TF-01: 16-bit operands into float32 without rounding, int8 into int32, and the other way round."""
    dims = (((1,), (0,)), ((), ()))
    for name in ("float16", "bfloat16"):
        for m, n in ((9, 8), (1, 8), (9, 1)):
            x, y = tg.asarray(draw((m, 50))).astype(name), tg.asarray(draw((50, n))).astype(name)
            a, b = (wide(v) for v in await tg.fetch(x.astype(tg.float32), y.astype(tg.float32)))
            got = lax.dot_general(x, y, dims, preferred_element_type="float32")
            assert got.dtype == "float32"
            near(await got.numpy(), a @ b, np.abs(a) @ np.abs(b))
            same = lax.dot_general(x, y, dims)
            assert same.dtype == name
            assert np.allclose(await same.astype(tg.float32).numpy(), a @ b, rtol=2.0**-7, atol=1e-4)
    p, q = (RNG.integers(-128, 128, s).astype(np.int8) for s in ((5, 40), (40, 6)))
    got = await lax.dot_general(tg.asarray(p), tg.asarray(q), dims, preferred_element_type="int32").numpy()
    assert np.array_equal(got, p.astype(np.int32) @ q.astype(np.int32))
    narrow = await lax.dot_general(tg.asarray(p), tg.asarray(q), dims).numpy()
    assert narrow.dtype == np.int8 and np.array_equal(narrow, got.astype(np.int8))
    z = await lax.dot_general(
        tg.asarray(draw((2, 3))), tg.asarray(draw((3, 2))), dims, preferred_element_type="complex64"
    ).numpy()
    assert z.dtype == np.complex64


@pytest.mark.parametrize("kinds", ["cc", "cf", "fc", "ff"])
async def test_tf_02_dot_general_with_conj(kinds: str) -> None:
    """TF-02: each side conjugated or not, without a pass of its own; ignored for real operands."""
    cases = [((4, 6), (6, 5), (((1,), (0,)), ((), ()))), ((3, 4, 6), (6, 3, 5), (((2,), (0,)), ((0,), (1,)))),
             ((7,), (7,), (((0,), (0,)), ((), ()))), ((1, 9), (9, 4), (((1,), (0,)), ((), ())))]  # fmt: skip
    for a, b, dims in cases:
        x, y = draw(a, kinds[0]), draw(b, kinds[1])
        p, q = tg.asarray(x), tg.asarray(y)
        await tg.fetch(p, q)
        counts = set()
        for left, right in itertools.product((False, True), (False, True)):
            before = launches()
            got = await lax.dot_general_with_conj(p, q, dims, left, right).numpy()
            counts.add(launches() - before)
            want = xla.dot_general(
                wide(x).conj() if left else wide(x), wide(y).conj() if right else wide(y), dims
            )
            near(got, want, 2 * xla.dot_general(wide(np.abs(x)), wide(np.abs(y)), dims))
        assert len(counts) == 1, counts  # conjugation adds no launch


async def test_refusals_name_shapes() -> None:
    x, y = tg.zeros((2, 3)), tg.zeros((4, 5))
    for dims, text in [
        ((((1,), (0,)), ((), ())), r"contracting axes \(1,\) of shape \(2, 3\) and \(0,\) of shape \(4, 5\)"),
        ((((1,), ()), ((), ())), "contracting axes"),
        ((((2,), (0,)), ((), ())), "not distinct axes of shape"),
        ((((1,), (0,)), ((1,), (1,))), "not distinct axes of shape"),
        ((((), ()), ((0,), (0,))), "batch axes"),
        (((1,), (0,)), "dimension_numbers are"),
    ]:
        with pytest.raises(ValueError, match=text):
            lax.dot_general(x, y, dims)
    with pytest.raises(TypeError, match="cannot hold a product of complex64"):
        lax.dot_general(
            x.astype("complex64"), y[:3], (((1,), (0,)), ((), ())), preferred_element_type="float32"
        )


async def test_dot_and_batch_matmul() -> None:
    m, v, w = draw((4, 6)), draw((6,)), draw((4,))
    near(await lax.dot(m, v).numpy(), wide(m) @ v, np.abs(m) @ np.abs(v))
    near(await lax.dot(w, m).numpy(), wide(w) @ m, np.abs(w) @ np.abs(m))
    near(await lax.dot(v, v).numpy(), wide(v) @ v, np.abs(v) @ np.abs(v))
    near(await lax.dot(m, m.T).numpy(), wide(m) @ m.T, np.abs(m) @ np.abs(m.T))
    a, b = draw((2, 3, 4, 5)), draw((2, 3, 5, 6))
    near(await lax.batch_matmul(a, b).numpy(), wide(a) @ b, np.abs(a) @ np.abs(b))
    with pytest.raises(ValueError, match="are not vectors or matrices of one inner size"):
        lax.dot(a, b)


async def test_l16_products_take_no_memory_beside_their_result() -> None:
    """Issue bank L16: (m, n, k) is never there: the peak of a large product is its operands and result."""
    x, y = tg.asarray(draw((300, 400))), tg.asarray(draw((400, 350)))
    await tg.fetch(x, y)
    tg.trim()
    for make in (lambda: lax.dot_general(x, y, (((1,), (0,)), ((), ()))), lambda: tg.einsum("ik,kj->ij", x, y),
                 lambda: lax.dot_general(x, y, (((1,), (0,)), ((), ()))).sum()):  # fmt: skip
        live = tg.memory()["live_bytes"]
        made = make()
        await made.numpy()
        pooled = tg.memory()["pooled_bytes"] + tg.memory()["live_bytes"] - live
        assert pooled <= 16 * 300 * 350 * 4, pooled  # partial sums of k in pieces, not m * n * k = 168 MB
        del made
        tg.trim()


async def test_many_shapes_few_pipelines() -> None:
    """500 products of random shapes and axes compile a bounded set of kernels."""
    rng = np.random.default_rng(3)
    line = tg.asarray(draw((3000,)))
    before = int(tg.memory()["pipelines"])
    for _ in range(10):
        made = []
        for _ in range(50):
            a, b, dims = random_dimensions(rng)
            x, y = (line[: int(np.prod(s))].reshape(s) for s in (a, b))
            made.append(lax.dot_general(x, y, dims))
        await tg.fetch(*made)
    assert int(tg.memory()["pipelines"]) - before <= 150
