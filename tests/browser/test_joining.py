"""concat, stack and their kin, split and its kin, append, insert, delete, block: against NumPy, in every dtype."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, NUMPY, launches, layouts, numbered, on_gpu, same

import tabgpu as tg


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.limits
async def test_concat_of_every_layout(dtype: str) -> None:
    """Odd sizes, so that packed words are shared between pieces; along each axis, with empty pieces among them."""
    made, wanted, labels = [], [], []
    first, second = list(layouts((4, 5, 6), dtype)), list(layouts((4, 5, 6), dtype, 500))
    for axis in (0, 1, -1):
        for (name, x, g), (other, y, h) in zip(first, second[1:] + second[:1], strict=True):
            if x.ndim != y.ndim or [n for k, n in enumerate(x.shape) if k != axis % 3] != [
                n for k, n in enumerate(y.shape) if k != axis % 3
            ]:
                y, h, other = x, g, name
            empty = (slice(None),) * (axis % 3) + (slice(0, 0),)
            made.append(tg.concat([g, h[empty], h, g], axis=axis))
            wanted.append(np.concatenate([x, y[empty], y, x], axis=axis))
            labels.append(f"{name} {other} {axis}")
    await same(made, wanted, labels)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex64"])
async def test_many_pieces(dtype: str) -> None:
    """More arrays than a launch binds, of sizes 0 to 4: launches share words of packed dtypes."""
    rng = np.random.default_rng(3)
    parts = [numbered((int(rng.integers(0, 5)), 3), dtype, 10 * k) for k in range(40)]
    gpu = [on_gpu(p, dtype) for p in parts]
    columns = [numbered((3, int(rng.integers(0, 5))), dtype, 10 * k) for k in range(20)]
    made = [tg.concat(gpu), tg.concat([on_gpu(p, dtype) for p in columns], axis=1)]
    await same(made, [np.concatenate(parts), np.concatenate(columns, axis=1)])
    x = numbered((300,), dtype)
    g = on_gpu(x, dtype)
    order = [int(k) for k in rng.permutation(300)]
    await same([tg.concat([g[k : k + 1] for k in order])], [np.concatenate([x[k : k + 1] for k in order])])


async def test_lengths_of_packed_arrays() -> None:
    """I08: every pair of lengths from 0 to 9 of bytes and pairs of bytes, no neighbour is lost."""
    for dtype in ("int8", "uint16"):
        x = numbered((20,), dtype)
        g = on_gpu(x, dtype)
        pairs = list(itertools.product(range(10), repeat=2))
        made = [tg.concat([g[:a], g[10 - b : 10]]) for a, b in pairs]
        await same(made, [np.concatenate([x[:a], x[10 - b : 10]]) for a, b in pairs], pairs)


async def test_how_many_launches() -> None:
    """Seven arrays of any strides are one launch; slices of one array are one buffer; constants take none."""
    g = tg.asarray(numbered((8, 8)))
    others = [tg.asarray(numbered((8, 8), start=k)) for k in range(6)]
    await tg.fetch(g, *others)
    cases = [
        (lambda: tg.concat([g, *others]), 1), (lambda: tg.concat([g.T, *[x[::-1] for x in others]], axis=1), 1),
        (lambda: tg.concat([g[k % 8 : k % 8 + 1, ::-1] for k in range(60)]), 1),
        (lambda: tg.concat([tg.zeros((2, 8), dtype=tg.int32), g, tg.full((1, 8), 7)]), 1),
        (lambda: tg.stack([g, *others], axis=1), 1), (lambda: tg.concat([*others, g, g + 1, g + 2]), 4),
        (lambda: tg.delete(g, [1, 3, 5], axis=1), 1), (lambda: tg.insert(g, [1, 3, 5], 9, axis=1), 1),
    ]  # fmt: skip
    for k, (f, most) in enumerate(cases):
        out = f()
        before = launches()
        await out.numpy()
        assert launches() - before <= most, f"case {k}: {launches() - before} launches, at most {most}"


CASES = [
    lambda xp, x, y: xp.concatenate([x, y]), lambda xp, x, y: xp.concatenate((x, y, x), axis=1),
    lambda xp, x, y: xp.concatenate([x, y], axis=None), lambda xp, x, y: xp.concat([x, y], axis=-1),
    lambda xp, x, y: xp.stack([x, y]), lambda xp, x, y: xp.stack([x, y], axis=1),
    lambda xp, x, y: xp.stack([x, y], axis=-1), lambda xp, x, y: xp.stack([x, y], -2), lambda xp, x, y: xp.stack([x]),
    lambda xp, x, y: xp.hstack([x, y]), lambda xp, x, y: xp.vstack([x, y]), lambda xp, x, y: xp.dstack([x, y]),
    lambda xp, x, y: xp.column_stack([x, y]), lambda xp, x, y: xp.hstack([x[0], y[1]]),
    lambda xp, x, y: xp.vstack([x[0], y]), lambda xp, x, y: xp.dstack([x[0], y[1]]),
    lambda xp, x, y: xp.column_stack([x[0], y[1]]), lambda xp, x, y: xp.hstack([x[0, 0], y[1, 1]]),
    lambda xp, x, y: xp.stack(x), lambda xp, x, y: xp.vstack(x), lambda xp, x, y: xp.concatenate(x),
    lambda xp, x, y: xp.append(x, y), lambda xp, x, y: xp.append(x, y, axis=0), lambda xp, x, y: xp.append(x, y, 1),
    lambda xp, x, y: xp.block([[x, y], [y, x]]), lambda xp, x, y: xp.block([x[0], y[0], 3]),
    lambda xp, x, y: xp.block([[x[:1]], [y]]), lambda xp, x, y: xp.block(x),
    lambda xp, x, y: xp.block([[[x]], [[y]]]),
    lambda xp, x, y: xp.block([x, y[0]]) if y.shape[0] == 1 else xp.block([[x, y]]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
async def test_each_function(dtype: str) -> None:
    x, y = numbered((3, 3), dtype), numbered((3, 3), dtype, 100)
    g, h = on_gpu(x, dtype), on_gpu(y, dtype)
    cases = CASES if dtype != "bool" else [f for k, f in enumerate(CASES) if k != 25]
    await same([f(tg, g, h) for f in cases], [f(np, x, y) for f in cases])


async def test_dtypes_promote() -> None:
    pairs = [
        (a, b) for a in DTYPES for b in DTYPES
        if "bfloat16" not in (a, b) and np.result_type(a, b).itemsize <= (8 if "complex64" in (a, b) else 4)
    ]  # fmt: skip
    made = [tg.concat([on_gpu(numbered((3,), a), a), on_gpu(numbered((2,), b), b)]) for a, b in pairs]
    await same(made, [np.concatenate([numbered((3,), a), numbered((2,), b)]) for a, b in pairs], pairs)
    with pytest.raises(TypeError, match="astype"):
        tg.concat([tg.ones(2, dtype=tg.int32), tg.ones(2, dtype=tg.uint32)])


async def test_dtype_and_out() -> None:
    x, y = numbered((2, 3)), numbered((2, 3), "float32")
    g, h = tg.asarray(x), tg.asarray(y)
    out = tg.zeros((4, 3))
    assert tg.concatenate([g, h], out=out) is out
    await same(
        [out, tg.concat([g, g], dtype="int8"), tg.stack([g, h], dtype=tg.complex64)],
        [
            np.concatenate([x, y]).astype(np.float32), np.concatenate([x, x], dtype="int8"),
            np.stack([x, y], dtype=np.complex64),
        ],
    )  # fmt: skip
    with pytest.raises(ValueError, match="shape"):
        tg.concatenate([g, h], out=tg.zeros((3, 3)))
    with pytest.raises(TypeError, match="cast"):
        tg.concatenate([g, h], out=tg.zeros((4, 3), dtype=tg.int32))
    with pytest.raises(TypeError, match="cast"):
        tg.concatenate([g, h], dtype="int32", casting="safe")
    with pytest.raises(TypeError, match="not both"):
        tg.concatenate([g, h], out=out, dtype="float32")


async def test_pieces_of_pending_values_and_of_themselves() -> None:
    x = numbered((3, 4), "float32")
    g = tg.asarray(x)
    twice = tg.concat([g * 2, tg.sin(g * 0), g.sum(axis=0, keepdims=True)])
    nested = tg.concat([twice, tg.concat([twice[1:2], g])]) + 1
    first = np.concatenate([x * 2, np.zeros_like(x), x.sum(0, keepdims=True)])
    await same([twice, nested], [first, np.concatenate([first, first[1:2], x]) + 1])
    g[...] = tg.concat([g[1:], g[:1]])
    await same([g], [np.roll(x, -1, 0)])


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
async def test_insert_and_delete(dtype: str) -> None:
    x = numbered((3, 4), dtype)
    g = on_gpu(x, dtype)
    where = [1, -1, [1], [0, 2, 2], slice(0, 3, 2), slice(3, 0, -1), np.array([2, 0]), [3, 1, 0]]
    cases: list[Any] = [
        lambda a, xp, o=o: xp.delete(a, o, axis=1) for o in [*where, [True, False, True, False], []]
    ]
    cases += [lambda a, xp, o=o: xp.delete(a, o) for o in where]
    cases += [lambda a, xp, o=o: xp.insert(a, o, 9) for o in where]
    cases += [lambda a, xp, o=o: xp.insert(a, o, [[5]], axis=1) for o in [*where, 4, [4, 0]]]
    cases += [
        lambda a, xp: xp.insert(a, 2, [1, 2, 3], axis=1), lambda a, xp: xp.insert(a, [2], [[1], [2], [3]], axis=1),
        lambda a, xp: xp.insert(a, 3, a[0], axis=0),
        lambda a, xp: xp.insert(a, [1, 2], [[1, 2], [3, 4], [5, 6]], axis=1),
        lambda a, xp: xp.insert(a, 2, [[1, 2, 3], [4, 5, 6]], axis=1),
        lambda a, xp: xp.delete(a, slice(2, 1), axis=0),
    ]  # fmt: skip
    await same([f(g, tg) for f in cases], [f(x, np) for f in cases])


async def test_insert_and_delete_in_many_places() -> None:
    x = numbered((2, 500), "int16")
    g = tg.asarray(x)
    rng = np.random.default_rng(4)
    gone, at = rng.choice(500, 250, replace=False), rng.integers(0, 501, 300)
    made = [
        tg.delete(g, gone, axis=1),
        tg.insert(g, at, numbered((300,)), axis=1),
        tg.delete(g, slice(None, None, 2), axis=1),
    ]
    wanted = [
        np.delete(x, gone, axis=1),
        np.insert(x, at, numbered((300,)), axis=1),
        np.delete(x, slice(None, None, 2), axis=1),
    ]
    await same(made, wanted)


async def test_split() -> None:
    x = numbered((4, 6, 5), "int16")
    g = on_gpu(x, "int16")
    before = launches()
    cases: list[Any] = [
        lambda a, xp: xp.split(a, 2), lambda a, xp: xp.split(a, 3, axis=1),
        lambda a, xp: xp.split(a, [1, 3], axis=-1),
        lambda a, xp: xp.split(a, 5, axis=-1), lambda a, xp: xp.array_split(a, 3),
        lambda a, xp: xp.array_split(a, 4, 1),
        lambda a, xp: xp.array_split(a, 7, axis=0), lambda a, xp: xp.array_split(a, [2, 9, 1], axis=1),
        lambda a, xp: xp.array_split(a, np.array([-1]), axis=1), lambda a, xp: xp.hsplit(a, 2),
        lambda a, xp: xp.vsplit(a, [3]), lambda a, xp: xp.dsplit(a, 5), lambda a, xp: xp.hsplit(a[0, 0], 5),
        lambda a, xp: xp.unstack(a), lambda a, xp: xp.unstack(a, axis=-1),
        lambda a, xp: xp.split(a[:, :0], 3, axis=1),
    ]  # fmt: skip
    parts = [f(g, tg) for f in cases]
    assert launches() == before and all(p._cell is g._cell for some in parts for p in some)  # views
    await same([p for some in parts for p in some], [p for f in cases for p in f(x, NUMPY)])


async def test_wrong_arguments() -> None:
    """B08, S17: before any GPU work, NumPy's classes, naming shapes."""
    g = tg.ones((2, 3))
    h = tg.ones((2, 4))
    before = launches()
    for f, message in [
        (lambda: tg.concat([g, h]), r"\(2, 4\)"), (lambda: tg.concat([g, g[0]], axis=0), r"\(3,\)"),
        (lambda: tg.concat([]), "at least one"), (lambda: tg.stack([g, h]), "one shape"),
        (lambda: tg.concat([tg.ones(()), tg.ones(())]), "zero-dimensional"),
        (lambda: tg.split(g, 2, axis=1), "divide"),
        (lambda: tg.array_split(g, 0), "positive"), (lambda: tg.vsplit(g[0], 1), "2 axes"),
        (lambda: tg.block([[], []]), "empty"),
        (lambda: tg.block([[g], g]), "depth"), (lambda: tg.delete(g, [True], axis=1), "mask"),
        (lambda: tg.unstack(tg.ones(())), "axis"),
        (lambda: tg.concat([g, g], casting="maybe"), "casting"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            f()
    for f in (
        lambda: tg.concat([g, g], axis=2), lambda: tg.stack([g, g], axis=-4), lambda: tg.split(g, 1, axis=2),
        lambda: tg.unstack(g, axis=-3), lambda: tg.delete(g, 0, axis=2), lambda: tg.insert(g, 0, 1, axis=-3),
    ):  # fmt: skip
        with pytest.raises(tg.AxisError):
            f()
    for f in (
        lambda: tg.delete(g, 3, axis=1),
        lambda: tg.delete(g, [0, -4], axis=1),
        lambda: tg.insert(g, 4, 1, axis=1),
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            f()
    for f in (
        lambda: tg.concat(3),
        lambda: tg.block((g, g)),
        lambda: tg.concat(tg.ones(())),
        lambda: tg.delete(g, tg.asarray([0])),
    ):
        with pytest.raises(TypeError):
            f()
    wide = tg.broadcast_to(g[0, 0], (60000, 60000))
    with pytest.raises(OverflowError, match="7,200,000,000"):
        tg.concat([wide, wide])
    assert launches() == before
