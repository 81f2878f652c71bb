"""dot, tensordot, inner, outer, kron, cross, vecdot and kin, in every dtype: against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, NUMPY, launches, on_gpu, same, small

import tabgpu as tg

CASES: list[Any] = [
    (lambda xp, a, b: xp.dot(a, b), (4,), (4,)), (lambda xp, a, b: xp.dot(a, b), (2, 4), (4, 3)),
    (lambda xp, a, b: xp.dot(a, b), (2, 3, 4), (3, 4, 2)), (lambda xp, a, b: xp.dot(a, b), (4,), (3, 4, 2)),
    (lambda xp, a, b: xp.dot(a, b), (2, 3, 4), (4,)), (lambda xp, a, b: xp.dot(a, b), (), (2, 3)),
    (lambda xp, a, b: a.dot(b), (2, 4), (4,)), (lambda xp, a, b: xp.inner(a, b), (2, 3, 4), (5, 4)),
    (lambda xp, a, b: xp.inner(a, b), (4,), (4,)), (lambda xp, a, b: xp.inner(a, b), (2, 4), ()),
    (lambda xp, a, b: xp.tensordot(a, b), (2, 3, 4), (3, 4, 2)), (lambda xp, a, b: xp.tensordot(a, b, axes=0),
    (2, 3), (3,)),
    (lambda xp, a, b: xp.tensordot(a, b, axes=1), (2, 3), (3, 4, 2)),
    (lambda xp, a, b: xp.tensordot(a, b, axes=([0, 2], [1, -1])), (2, 3, 4), (3, 2, 4)),
    (lambda xp, a, b: xp.tensordot(a, b, axes=([2, 0], [0, 2])), (2, 3, 4), (4, 3, 2)),
    (lambda xp, a, b: xp.tensordot(a, b, axes=(1, 1)), (2, 3), (4, 3)),
    (lambda xp, a, b: xp.tensordot(a, b, axes=3), (2, 3, 4), (2, 3, 4)),
    (lambda xp, a, b: xp.outer(a, b), (2, 3), (4,)), (lambda xp, a, b: xp.outer(a, b), (), (4,)),
    (lambda xp, a, b: xp.kron(a, b), (2, 3), (4, 2)), (lambda xp, a, b: xp.kron(a, b), (3,), (4, 2)),
    (lambda xp, a, b: xp.kron(a, b), (2, 3, 2), (4, 2)), (lambda xp, a, b: xp.kron(a, b), (), (4, 2)),
    (lambda xp, a, b: xp.vecdot(a, b), (2, 1, 4), (3, 4)), (lambda xp, a, b: xp.vecdot(a, b, axis=0), (4, 3), (4, 3)),
    (lambda xp, a, b: xp.vecdot(a, b, axis=-2), (2, 4, 3), (4, 1)), (lambda xp, a, b: xp.vdot(a, b), (2, 3), (3, 2)),
    (lambda xp, a, b: xp.matvec(a, b), (5, 2, 3), (3,)), (lambda xp, a, b: xp.matvec(a, b), (2, 3), (5, 3)),
    (lambda xp, a, b: xp.vecmat(a, b), (5, 2), (2, 3)), (lambda xp, a, b: xp.vecmat(a, b), (2,), (5, 2, 3)),
]  # fmt: skip
CROSS: list[Any] = [
    (lambda xp, a, b: xp.cross(a, b), (2, 3), (4, 1, 3)), (lambda xp, a, b: xp.cross(a, b, axis=0), (3, 4), (3, 4)),
    (lambda xp, a, b: xp.cross(a, b, axisa=0, axisb=1, axisc=0), (3, 4), (4, 3)),
    (lambda xp, a, b: xp.cross(a, b), (3,), (3,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.limits
async def test_each_function_and_layout(dtype: str) -> None:
    """Values whose sums are exact; plain, transposed and reversed operands."""
    rng = np.random.default_rng(7)
    made, wanted, labels = [], [], []
    at = DTYPES.index(dtype)
    for k, (f, *shapes) in enumerate(CASES + (CROSS if dtype != "bool" else [])):
        if dtype != "float32" and (k + at) % 3:
            continue  # the kernels differ in their casts only
        for flipped in (False, True) if dtype == "float32" else (k % 2 == 1,):
            hosts, gpus = [], []
            for shape in shapes:
                x = small(rng, shape[::-1] if flipped else shape, dtype)
                g = on_gpu(x, dtype)
                if flipped:
                    x, g = x.T, g.T
                    if shape:
                        x, g = x[::-1], g[::-1]
                hosts.append(x)
                gpus.append(g)
            made.append(f(tg, *gpus))
            wanted.append(np.asarray(f(NUMPY, *hosts)))
            labels.append(f"case {k}{' flipped' * flipped}")
    await same(made, wanted, labels)


async def test_empty_operands() -> None:
    """L04, B01: zero-length contractions are zeros, empty axes stay."""
    shapes = [((2, 0), (0, 3)), ((0, 4), (4, 3)), ((0,), (0,)), ((3, 0), (0,)), ((2, 3, 0), (2, 0, 4))]
    pairs = [(np.ones(a, np.float32), np.ones(b, np.float32)) for a, b in shapes]
    made = [tg.dot(tg.asarray(x), tg.asarray(y)) for x, y in pairs[:4]]
    wanted = [np.dot(x, y) for x, y in pairs[:4]]
    made += [tg.matmul(tg.asarray(x), tg.asarray(y)) for x, y in [pairs[4], pairs[0]]]
    wanted += [np.matmul(x, y) for x, y in [pairs[4], pairs[0]]]
    e, f = np.ones((0, 3), np.int32), np.ones((2, 0), np.int32)
    g, h = tg.asarray(e), tg.asarray(f)
    made += [
        tg.tensordot(g, g, axes=([0], [0])),
        tg.outer(g, h),
        tg.kron(g, h),
        tg.vecdot(h, h),
        tg.inner(h, h),
        tg.cross(g, g),
    ]
    wanted += [
        np.tensordot(e, e, axes=([0], [0])),
        np.outer(e, f),
        np.kron(e, f),
        np.vecdot(f, f),
        np.inner(f, f),
        np.cross(e, e),
    ]
    await same(made, wanted)


async def test_accuracy_and_conjugates() -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((3, 500)) + 1j * rng.standard_normal((3, 500))).astype(np.complex64)
    y = (rng.standard_normal((3, 500)) + 1j * rng.standard_normal((3, 500))).astype(np.complex64)
    g, h = tg.asarray(x), tg.asarray(y)
    made = [
        tg.vecdot(g, h),
        tg.vdot(g, h),
        tg.matvec(g, h[0]),
        tg.vecmat(g[:, 0], h),
        tg.inner(g, h),
        g @ h.T,
        g.real @ h.T,
        g @ h.imag.T,
    ]
    wide, other = x.astype(complex), y.astype(complex)
    wanted = [
        np.vecdot(wide, other), np.vdot(wide, other), NUMPY.matvec(wide, other[0]), NUMPY.vecmat(wide[:, 0], other),
        np.inner(wide, other), wide @ other.T, wide.real @ other.T, wide @ other.imag.T,
    ]  # fmt: skip
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        assert got.dtype == np.complex64 and np.abs(got - want).max() < 2e-6 * 500


async def test_narrow_floats_are_rounded_once() -> None:
    """float16 products are summed in float32: 2048 + 1 + 1 .. is not stuck; what is too large is inf."""
    x = np.ones(3000, np.float16)
    g = tg.asarray(x)
    many = tg.asarray(np.full((4, 40), 100, np.float16))
    b = tg.ones(3000, dtype=tg.bfloat16)
    got = await tg.fetch(tg.dot(g, g), g[None] @ g, many @ many.T, tg.tensordot(b, b, axes=1))
    assert got[0] == 3000 and got[1][0] == 3000 and got[0].dtype == np.float16
    assert np.isinf(got[2]).all() and got[3] == 3008  # the nearest bfloat16


async def test_integers_wrap() -> None:
    x = np.arange(-60, 60, dtype=np.int8).reshape(4, 30)
    g = tg.asarray(x)
    u = np.full((2, 3), 40000, np.uint16)
    await same(
        [g @ g.T, tg.vecdot(g, g), tg.outer(u, u), tg.kron(tg.asarray(u), tg.asarray(u))],
        [x @ x.T, np.vecdot(x, x), np.outer(u, u), np.kron(u, u)],
    )


async def test_launches() -> None:
    g = tg.asarray(np.ones((8, 9), np.float32))
    await tg.fetch(g)
    for f, most in [
        (lambda: tg.cross(g[:, :3], g[:, 3:6]), 1), (lambda: tg.kron(g, g[:2]), 1), (lambda: tg.vecdot(g, g) + 1, 1),
        (lambda: tg.outer(g[0], g[1]) * 2, 1), (lambda: tg.matvec(g, g[0]), 1),
        (lambda: tg.tensordot(g, g, axes=([0], [0])), 1),
        (lambda: tg.tensordot(g, g), 1), (lambda: tg.dot(g[0], g[1]), 1), (lambda: tg.inner(g, g), 1),
    ]:  # fmt: skip
        out = f()
        before = launches()
        await out.numpy()
        assert launches() - before <= most


async def test_out() -> None:
    g = tg.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = tg.zeros((2, 2))
    assert tg.dot(g, g.T, out=out) is out and tg.matmul(g, g.T, out) is out
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    await same([out, tg.matmul(g, g.T, dtype=tg.int8)], [x @ x.T, (x @ x.T).astype(np.int8)])
    with pytest.raises(ValueError, match="shape"):
        tg.matmul(g, g.T, out=tg.zeros((3, 2)))
    with pytest.raises(TypeError, match="cast"):
        tg.outer(g, g, out=tg.zeros((6, 6), dtype=tg.int32))


def test_wrong_arguments() -> None:
    g, h = tg.ones((2, 3)), tg.ones((4, 5))
    before = launches()
    for f in (
        lambda: tg.dot(g, h), lambda: tg.inner(g, h), lambda: tg.tensordot(g, h),
        lambda: tg.tensordot(g, h, axes=([0, 0], [0, 1])),
        lambda: tg.tensordot(g, h, axes=-1), lambda: tg.vecdot(g, h), lambda: tg.vdot(g, h), lambda: tg.matvec(g, h),
        lambda: tg.vecmat(g, h), lambda: tg.cross(g, h), lambda: tg.matvec(g[0], g), lambda: tg.vecmat(g[0], g[0]),
        lambda: tg.vecdot(tg.ones(()), g), lambda: tg.cross(g, tg.ones((3, 3))),
        lambda: tg.tensordot(g, h, axes=([0], [0], [0])),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"\(|axes"):
            f()
    for f in (
        lambda: tg.vecdot(g, g, axis=2),
        lambda: tg.cross(g, g, axis=-3),
        lambda: tg.tensordot(g, g, axes=([2], [0])),
    ):
        with pytest.raises(tg.AxisError):  # B08
            f()
    big = tg.broadcast_to(tg.ones(()), (2**17,))
    for f in (
        lambda: tg.outer(big, big),
        lambda: tg.kron(big, big),
        lambda: tg.matmul(big[:, None], big[None]),
    ):
        with pytest.raises(OverflowError, match="17,179,869,184"):  # S17
            f()
    assert launches() == before
