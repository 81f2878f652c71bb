"""Diagonals and triangles, grids of coordinates, ranges on other scales, choices: against NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, NUMBERS, launches, layouts, numbered, on_gpu, same

import tabgpu as tg

OFFSETS = (-4, -1, 0, 1, 2, 9)


async def both(cases: list[Any], *arrays: Any, tolerance: float = 0.0) -> None:
    """f(module, arrays..) for NumPy and for tabgpu; results may be lists of arrays. NumPy's 64 bits become 32."""
    made, wanted, labels = [], [], []
    for k, f in enumerate(cases):
        ours, theirs = f(tg, *[tg.asarray(x) for x in arrays]), f(np, *arrays)
        if not isinstance(theirs, (list, tuple)):
            ours, theirs = [ours], [theirs]
        assert len(ours) == len(theirs), k
        made += ours
        wanted += theirs
        labels += [k] * len(theirs)
    await same(made, wanted, labels, tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.limits
async def test_triangles_and_diagonals(dtype: str) -> None:
    """S16: any offset, also outside; views of every layout; batches."""
    made, wanted, labels = [], [], []
    for shape in ((3, 4), (2, 3, 5)):
        for name, x, g in layouts(shape, dtype):
            if dtype not in ("float32", "int8") and name not in ("plain", "flipped"):
                continue
            for k in OFFSETS:
                made += [
                    tg.tril(g, k=k),
                    tg.triu(g, k=k),
                    tg.diagonal(g, k),
                    tg.diag(g[0] if g.ndim == 2 else g[0, 0], k),
                ]
                wanted += [
                    np.tril(x, k),
                    np.triu(x, k),
                    np.diagonal(x, k),
                    np.diag(x[0] if x.ndim == 2 else x[0, 0], k),
                ]
                labels += [f"{name} {shape} {k} {what}" for what in ("tril", "triu", "diagonal", "diag")]
    x, g = numbered((2, 3), dtype), on_gpu(numbered((2, 3), dtype), dtype)
    made += [
        tg.diag(g, 1),
        tg.diagflat(g, -1),
        tg.diag(g[:0, 0], 2),
        tg.diagonal(g[None], -1, 2, 1),
        tg.tril(g[0]),
    ]
    wanted += [
        np.diag(x, 1),
        np.diagflat(x, -1),
        np.diag(x[:0, 0], 2),
        np.diagonal(x[None], -1, 2, 1),
        np.tril(x[0]),
    ]
    await same(made, wanted, [*labels, *range(5)])


@pytest.mark.parametrize("dtype", NUMBERS)
async def test_trace_and_vander(dtype: str) -> None:
    x = numbered((3, 4), dtype)
    if dtype != "complex64":
        x = (x % 10).astype(x.dtype)
    g = on_gpu(x, dtype)
    made = [tg.trace(g, k) for k in OFFSETS] + [g.trace(), tg.trace(g[None], 0, 1, 2)]
    wanted = [np.trace(x, k) for k in OFFSETS] + [np.trace(x), np.trace(x[None], 0, 1, 2)]
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        assert got.dtype.kind == want.dtype.kind and np.array_equal(got, want)
    small = (x[0] % 3).astype(x.dtype) if x.dtype.kind != "c" else x[0] / 100
    h = on_gpu(small, dtype)
    for got, want in zip(
        await tg.fetch(tg.vander(h), tg.vander(h, 3, increasing=True), tg.vander(h, 0)),
        [np.vander(small), np.vander(small, 3, increasing=True), np.vander(small, 0)], strict=True,
    ):  # fmt: skip
        assert got.shape == want.shape and np.allclose(got, want, rtol=1e-2 if x.itemsize == 2 else 1e-5)


async def test_diagonals_of_nothing() -> None:
    """S16: shapes as NumPy's."""
    offsets = range(-2, 3)
    made = [tg.diag(tg.zeros(0), k) for k in offsets] + [tg.diagonal(tg.zeros((2, 0)), k) for k in offsets]
    made += [tg.diagflat(tg.zeros((0, 3)), k) for k in offsets] + [
        tg.tril(tg.zeros((0, 2))),
        tg.triu(tg.zeros((2, 0))),
    ]
    made += [tg.trace(tg.zeros((0, 0))), tg.trace(tg.zeros((3, 0, 2)), axis1=0, axis2=2)]
    z = np.zeros(0, np.float32)
    wanted = [np.diag(z, k) for k in offsets] + [np.diagonal(z.reshape(2, 0), k) for k in offsets]
    wanted += [np.diagflat(z, k) for k in offsets] + [np.tril(z.reshape(0, 2)), np.triu(z.reshape(2, 0))]
    wanted += [np.trace(z.reshape(0, 0)), np.trace(z.reshape(3, 0, 2), axis1=0, axis2=2)]
    await same(made, wanted)


async def test_diagonals_are_views() -> None:
    x = numbered((4, 4))
    g = tg.asarray(x)
    before = launches()
    line = tg.diagonal(g, 1)
    assert line._cell is g._cell and tg.diag(g)._cell is g._cell and launches() == before
    line[...] = tg.asarray([7, 8, 9])
    x[[0, 1, 2], [1, 2, 3]] = [7, 8, 9]
    await same([g], [x])


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32"])
async def test_fill_diagonal(dtype: str) -> None:
    made, wanted = [], []
    for shape in ((4, 4), (3, 5), (7, 3), (3, 3, 3), (1, 1)):
        for wrap in (False, True):
            for value in (5, [1, 2], np.arange(9).astype(dtype)):
                x = numbered(shape, dtype)
                g = tg.asarray(x)
                x = x.copy()
                np.fill_diagonal(x, value, wrap=wrap)
                tg.fill_diagonal(g, value, wrap=wrap)
                made.append(g)
                wanted.append(x)
    await same(made, wanted)
    with pytest.raises(ValueError, match="one size"):
        tg.fill_diagonal(tg.ones((2, 3, 3)), 1)
    with pytest.raises(ValueError, match="2 axes"):
        tg.fill_diagonal(tg.ones(3), 1)


async def test_indices_of_triangles() -> None:
    cases: list[Any] = [
        lambda xp, k=k, m=m: xp.tril_indices(4, k, m) for k in (-5, -1, 0, 2, 5) for m in (3, 4, None)
    ]
    cases += [lambda xp, k=k, m=m: xp.triu_indices(3, k, m) for k in (-5, -1, 0, 2, 5) for m in (2, 6, None)]
    cases += [
        lambda xp: xp.diag_indices(4, 3),
        lambda xp: [xp.tri(3), xp.tri(3, 5, 1), xp.tri(4, 2, -1), xp.tri(0)][:0],
    ]
    await both(cases)
    x = numbered((4, 4))
    cases = [
        lambda xp, a: xp.tril_indices_from(a, 1), lambda xp, a: xp.triu_indices_from(a, -1),
        lambda xp, a: xp.diag_indices_from(a),
        lambda xp, a: a[xp.triu_indices(4, 1)],
    ]  # fmt: skip
    await both(cases, x)
    await same(
        [tg.tri(3), tg.tri(3, 5, 1, dtype=tg.int8), tg.tri(4, 2, -1, dtype=bool), tg.tri(0)],
        [
            np.tri(3, dtype="f4"),
            np.tri(3, 5, 1, dtype="i1"),
            np.tri(4, 2, -1, dtype=bool),
            np.tri(0, dtype="f4"),
        ],
    )


async def test_grids() -> None:
    x, y, z = np.arange(3, dtype=np.float32), np.arange(4, dtype=np.int32) * 2, np.array([True, False])
    cases: list[Any] = []
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            for copy in (False, True):
                cases += [
                    lambda xp, *a, i=indexing, s=sparse, c=copy: list(
                        xp.meshgrid(*a, indexing=i, sparse=s, copy=c)
                    ),
                    lambda xp, *a, i=indexing, s=sparse, c=copy: list(
                        xp.meshgrid(*a[:2], indexing=i, sparse=s, copy=c)
                    ),
                ]
    cases += [
        lambda xp, *a: list(xp.meshgrid(a[0])),
        lambda xp, *a: list(xp.meshgrid()),
        lambda xp, *a: list(xp.meshgrid(a[0][1], a[1])),
    ]
    cases += [lambda xp, *a: xp.meshgrid(a[0][:0], a[1])]
    await both(cases, x, y, z)
    cases = [
        lambda xp: xp.indices((3, 4)), lambda xp: xp.indices((3, 4), sparse=True),
        lambda xp: xp.indices((0, 4)), lambda xp: xp.indices((5,)),
        lambda xp: xp.ix_([1, 2], [0, 3, 4]), lambda xp: xp.ix_([True, False, True], [0, 3]),
        lambda xp: xp.ix_([], [1]),
        lambda xp: xp.mgrid[0:3, 1:9:3], lambda xp: xp.ogrid[0:3, 1:9:3], lambda xp: xp.mgrid[2:5],
        lambda xp: xp.mgrid[5:0:-2, 0:2],
        lambda xp: xp.fromfunction(lambda i, j: i * 10 + j, (3, 4)),
        lambda xp: xp.fromfunction(lambda i: i > 1, (4,), dtype=np.int32),
    ]  # fmt: skip
    await both(cases)
    cases = [
        lambda xp: xp.mgrid[-1:1:5j, 0:1:3j], lambda xp: xp.mgrid[0:1:0.25], lambda xp: xp.ogrid[-1:1:5j, 0:2],
        lambda xp: xp.mgrid[0:1:1j],
    ]  # fmt: skip
    await both(cases, tolerance=1e-6)


async def test_meshgrid_copies_are_new_arrays() -> None:
    g = tg.asarray(np.arange(3, dtype=np.int32))
    copies, views = tg.meshgrid(g, g), tg.meshgrid(g, g, copy=False)
    assert all(a._cell is not g._cell for a in copies) and all(a._cell is g._cell for a in views)
    with pytest.raises(ValueError, match="indexing"):
        tg.meshgrid(g, indexing="yx")
    with pytest.raises(ValueError, match="1-D"):
        tg.meshgrid(g[None])


async def test_ranges() -> None:
    cases: list[Any] = [
        lambda xp: xp.logspace(0, 3, 7), lambda xp: xp.logspace(1, 2, 5, endpoint=False, base=2),
        lambda xp: xp.geomspace(1, 1000, 4),
        lambda xp: xp.geomspace(-1000, -1, 5, endpoint=False), lambda xp: xp.geomspace(256, 1, 9),
        lambda xp: xp.geomspace(1e-20, 1e20, 11),
        lambda xp: xp.geomspace(3, 5, 1), lambda xp: xp.logspace(0, 1, 0),
    ]  # fmt: skip
    made, wanted = [f(tg) for f in cases], [f(np) for f in cases]
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        assert got.dtype == np.float32 and np.allclose(got, want, rtol=3e-5, atol=0), k
    ends = await tg.geomspace(3, 4000, 50).numpy()
    assert ends[0] == 3 and ends[-1] == 4000
    for wrong in (lambda: tg.geomspace(0, 1), lambda: tg.geomspace(-1, 1), lambda: tg.geomspace(1, 2, -1)):
        with pytest.raises(ValueError, match="geomspace"):
            wrong()


async def test_buffers_and_iterables() -> None:
    data = bytes(range(64))
    made, wanted = [], []
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32", "complex64"):
        for count, offset in ((-1, 0), (-1, 8), (2, 8), (0, 0)):
            made.append(tg.frombuffer(data, dtype=dtype, count=count, offset=offset))
            wanted.append(np.frombuffer(data, dtype=dtype, count=count, offset=offset))
    made += [
        tg.frombuffer(bytes([0, 1, 1, 0]), dtype=bool),
        tg.frombuffer(np.arange(5, dtype=np.float32)[1:]),
    ]
    wanted += [np.array([False, True, True, False]), np.arange(1, 5, dtype=np.float32)]
    made += [tg.fromiter((k * k for k in range(5)), dtype=d) for d in (tg.int32, "uint8", float)]
    wanted += [np.arange(5, dtype=d) ** 2 for d in ("int32", "uint8", "float32")]
    made += [tg.fromiter(iter([1.5, 2.5, 3.5]), dtype="float32", count=2), tg.fromiter([], dtype="int32")]
    wanted += [np.array([1.5, 2.5], np.float32), np.zeros(0, np.int32)]
    await same(made, wanted)
    for f in (lambda: tg.frombuffer(data[:7], "int32"), lambda: tg.frombuffer(data, "int32", 17),
    lambda: tg.frombuffer(data, "int32", 1, 65),
              lambda: tg.fromiter([1], "int32", 2)):  # fmt: skip
        with pytest.raises(ValueError, match="from"):
            f()


async def test_select_choose_piecewise() -> None:
    x = numbered((3, 4))
    f = x.astype(np.float32)
    cases: list[Any] = [
        lambda xp, a, b: xp.select([a < 0, a < 20], [a, a * 2], 99),
        lambda xp, a, b: xp.select([b < 0, b > 5], [b, -b]),
        lambda xp, a, b: xp.select([a[0] < 0, a > 20], [a, b], a[:, :1]),
        lambda xp, a, b: xp.choose(abs(a) % 3, [a, a * 2, -a]),
        lambda xp, a, b: xp.choose(a, [a, b[0], 7], mode="wrap"),
        lambda xp, a, b: xp.choose(a, [a, a * 2, -a], mode="clip"),
        lambda xp, a, b: (abs(a) % 2).choose([a, b]), lambda xp, a, b: xp.choose(a[0] > 0, [a, b]),
        lambda xp, a, b: xp.piecewise(b, [b < 0, b >= 0], [lambda v: -v, 5]),
        lambda xp, a, b: xp.piecewise(a, [a < 0, a > 10], [1, 2, 3]),
        lambda xp, a, b: xp.piecewise(b[0], b[0] < 0, [lambda v: -v, lambda v: v * 2]),
        lambda xp, a, b: xp.piecewise(a, [a < 0, a < 5], [1, 2]),
        lambda xp, a, b: xp.piecewise(b, [b > 0], [lambda v, k: v * k], 3),
    ]  # fmt: skip
    await both(cases, x, f)
    with pytest.raises(ValueError, match="choice array"):
        await tg.choose(tg.asarray([0, 2]), [[1, 2], [3, 4]]).numpy()
    assert (await tg.choose(tg.asarray([0, 1]), [[1, 2], [3, 4]]).tolist()) == [1, 4]
    for wrong in (lambda: tg.select([], []), lambda: tg.select([True], [1, 2]), lambda: tg.choose(0, []),
    lambda: tg.choose(0, [1], mode="x"),
                  lambda: tg.piecewise(tg.ones(2), [tg.ones(2) > 0], [1, 2, 3])):  # fmt: skip
        with pytest.raises(ValueError, match="select|choose|piecewise"):
            wrong()
    with pytest.raises(TypeError, match="bool"):
        tg.select([tg.ones(2)], [1])


async def test_apply_along() -> None:
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    cases: list[Any] = [
        lambda xp, a: xp.apply_along_axis(lambda v: v[::-1] * 2, 1, a),
        lambda xp, a: xp.apply_along_axis(xp.max, 0, a),
        lambda xp, a: xp.apply_along_axis(lambda v: xp.diag(v[:2]), 1, a),
        lambda xp, a: xp.apply_along_axis(lambda v, k: v[:k], -1, a, 2),
        lambda xp, a: xp.apply_over_axes(xp.max, a, [0, 2]), lambda xp, a: xp.apply_along_axis(xp.max, 0, a[0, 0]),
    ]  # fmt: skip
    await both(cases, x)
    with pytest.raises(tg.AxisError):
        tg.apply_along_axis(tg.max, 3, tg.asarray(x))
    with pytest.raises(ValueError, match="empty"):
        tg.apply_along_axis(tg.max, 1, tg.ones((0, 3)))


async def test_launches() -> None:
    g = tg.asarray(np.ones((40, 50), np.float32))
    await tg.fetch(g)
    for f, most in [
        (lambda: tg.tril(g * 2, k=1) + 1, 1), (lambda: tg.diag(g[0]), 1), (lambda: tg.diag(g[0], 3), 2),
        (lambda: tg.trace(g), 1),
        (lambda: tg.vander(g[0], 4), 1), (lambda: tg.select([g < 0, g > 1], [g, g * 2], 3.0), 1),
        (lambda: tg.tri(30, 20), 1),
        (lambda: tg.meshgrid(g[0], g[:, 0])[0] * 2, 1), (lambda: tg.geomspace(1, 100, 30), 1),
        (lambda: tg.choose(g > 0, [g, -g]), 1),
    ]:  # fmt: skip
        out = f()
        before = launches()
        await out.numpy()
        assert launches() - before <= most


def test_wrong_arguments() -> None:
    g = tg.ones((2, 3))
    before = launches()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f in (
            lambda: tg.tril(tg.ones(())), lambda: tg.diagonal(tg.ones(3)),
            lambda: tg.diagonal(g, 0, 1, 1), lambda: tg.diag(tg.ones((2, 2, 2))),
            lambda: tg.vander(g), lambda: tg.trace(tg.ones(3)), lambda: tg.tri(-1),
            lambda: tg.tril_indices_from(tg.ones(3)),
            lambda: tg.diag_indices_from(g), lambda: tg.ix_(g), lambda: tg.vander(g[0], -1),
            lambda: tg.indices((2, -1)),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=r"axes|both|negative|shape"):
                f()
        for f in (lambda: tg.diagonal(g, 0, 0, 2), lambda: tg.trace(g, 0, -3, 1)):
            with pytest.raises(tg.AxisError):  # B08
                f()
    for f in (
        lambda: tg.diag(tg.broadcast_to(g[0, 0], (2**17,))),
        lambda: tg.tri(2, k=1.5),
        lambda: tg.tril(g, k=0.5),
    ):
        with pytest.raises((OverflowError, TypeError)):  # S17
            f()
    assert launches() == before
