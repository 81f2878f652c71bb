"""Views and shapes in the tab against NumPy: each function, random views of views, shared memory."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

DTYPES = (np.float32, np.int32, np.bool_)


def numbered(shape: tuple[int, ...], dtype: Any = np.int32) -> Any:
    """Every element another value (as far as bools allow)."""
    x = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    return x % 3 == 1 if dtype is np.bool_ else x.astype(dtype)


async def same(made: list[Any], wanted: list[Any], labels: Any = None) -> None:
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        label = k if labels is None else labels[k]
        assert got.dtype == want.dtype and got.shape == want.shape, (
            f"{label}: {got.shape}, NumPy {want.shape}"
        )
        assert np.array_equal(got, want), f"{label}: {got}, NumPy {want}"


async def both(cases: Any, x: Any) -> None:
    """f(array, module) for NumPy and for tabgpu."""
    g = tg.asarray(x)
    await same([f(g, tg) for f in cases], [np.asarray(f(x, np)) for f in cases])


# --- each function ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
async def test_axes(dtype: Any) -> None:
    x = numbered((2, 3, 4, 5), dtype)
    cases = [lambda a, xp, p=p: xp.permute_dims(a, p) for p in itertools.permutations(range(4))]
    cases += [lambda a, xp, p=p: a.transpose(p) for p in [(3, 1, 0, 2), (-1, 0, -2, 1)]]
    cases += [lambda a, xp, i=i, j=j: xp.swapaxes(a, i, j) for i in range(-4, 4) for j in (0, 2, -1)]
    cases += [lambda a, xp, i=i, j=j: xp.moveaxis(a, i, j) for i in (0, 1, -1) for j in (0, 2, -1, -4)]
    cases += [
        lambda a, xp: xp.moveaxis(a, (0, 1), (-1, -2)), lambda a, xp: xp.moveaxis(a, [2, 0], [0, 1]),
        lambda a, xp: a.T,
        lambda a, xp: a.mT, lambda a, xp: xp.matrix_transpose(a), lambda a, xp: xp.transpose(a),
        lambda a, xp: a.transpose(),
        lambda a, xp: a.transpose(2, 0, 1, 3), lambda a, xp: a.transpose(None), lambda a, xp: a.swapaxes(0, -1),
        lambda a, xp: xp.transpose(a, (1, 0, 3, 2)), lambda a, xp: xp.transpose(a[0, 0, 0]),
        lambda a, xp: a[0, 0, 0, 0].T,
    ]  # fmt: skip
    await both(cases, x)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
async def test_flips_and_size_one_axes(dtype: Any) -> None:
    x = numbered((3, 1, 4, 1), dtype)
    cases = [
        lambda a, xp, k=k: xp.flip(a, axis=k) for k in (None, 0, 1, 2, -1, (0, 2), (-1, 0), (0, 1, 2, 3), ())
    ]
    cases += [
        lambda a, xp: xp.fliplr(a),
        lambda a, xp: xp.flipud(a),
        lambda a, xp: xp.flip(xp.flip(a, axis=2), axis=2),
    ]
    cases += [
        lambda a, xp, k=k: xp.expand_dims(a, axis=k)
        for k in (0, 2, 4, -1, -5, (0, 1), (0, -1), (2, 5), (3, 1))
    ]
    cases += [lambda a, xp, k=k: xp.squeeze(a, axis=k) for k in (None, 1, 3, -1, (1, 3), (-1, 1), ())]
    cases += [
        lambda a, xp: a.squeeze(),
        lambda a, xp: a.squeeze(axis=1),
        lambda a, xp: xp.squeeze(a[:1, :, :1]),
    ]
    cases += [
        lambda a, xp: xp.atleast_1d(a[0, 0, 0, 0]),
        lambda a, xp: xp.atleast_1d(a),
        lambda a, xp: xp.flip(a[:0]),
    ]
    await both(cases, x)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
async def test_reshape_and_ravel(dtype: Any) -> None:
    x = numbered((4, 6, 5), dtype)
    views = [
        lambda a: a, lambda a: a.T, lambda a: a[::2], lambda a: a[:, ::-1], lambda a: a[1:3, 2:5, ::2],
        lambda a: a[..., 2],
        lambda a: a.swapaxes(0, 1), lambda a: a[:, :1], lambda a: a[:, None, 3:5],
    ]  # fmt: skip
    shapes = [(-1,), (2, -1), (-1, 1), (1, -1, 1), None]
    cases = []
    for view, shape, order in itertools.product(views, shapes, "CF"):
        if shape is None:
            cases.append(lambda a, xp, v=view, o=order: xp.ravel(v(a), order=o))
            cases.append(lambda a, xp, v=view, o=order: v(a).flatten(o))
        elif shape[0] != 2 or view(x).size % 2 == 0:
            cases.append(lambda a, xp, v=view, s=shape, o=order: xp.reshape(v(a), s, order=o))
    cases += [
        lambda a, xp: a.reshape(24, 5), lambda a, xp: a.reshape((2, 2, 3, 2, 5)), lambda a, xp: a.reshape([8, 15]),
        lambda a, xp: a.T.reshape(5, 2, 3, 4), lambda a, xp: a.reshape(-1)[7:19].reshape(3, 4),
        lambda a, xp: a.reshape(120),
        lambda a, xp: a.reshape(np.int64(12), -1), lambda a, xp: a[:0].reshape(0, 7),
        lambda a, xp: a[:0].reshape(-1, 5),
        lambda a, xp: a[1, 2, 3].reshape(1, 1), lambda a, xp: a[1, 2, 3].reshape(-1),
        lambda a, xp: a[1:2, 2, 3].reshape(()),
        lambda a, xp: a.reshape(4, 30, order="F"), lambda a, xp: xp.reshape(a,
        (30, 4), order="F", **({"copy": True} if xp is tg else {})),
    ]  # fmt: skip
    await both(cases, x)


async def test_broadcasting() -> None:
    x = numbered((3, 1, 4))
    cases = [
        lambda a, xp: xp.broadcast_to(a, (3, 5, 4)), lambda a, xp: xp.broadcast_to(a, (2, 3, 1, 4)),
        lambda a, xp: xp.broadcast_to(a, a.shape),
        lambda a, xp: xp.broadcast_to(a[0, 0, 0], (2, 3)),
        lambda a, xp: xp.broadcast_to(a[:1], (0, 1, 4)), lambda a, xp: xp.broadcast_to(a[:1, :, 1:2], (7, 3, 2)),
        lambda a, xp: xp.broadcast_to(a[0, 0, 0], 6), lambda a, xp: xp.broadcast_arrays(a, a[0, 0])[1],
        lambda a, xp: xp.broadcast_arrays(a[:, 0, :1], a[0])[0],
        lambda a, xp: xp.broadcast_to(a, (3, 5, 4))[::-1, 1:3, ::2].T,
        lambda a, xp: xp.broadcast_to(a, (3, 5, 4)).reshape(15, 4),
        lambda a, xp: xp.broadcast_to(a, (3, 5, 4)).reshape(3, 20),
        lambda a, xp: a + xp.broadcast_to(a, (2, 3, 5, 4))[0, :, ::2],
    ]  # fmt: skip
    await both(cases, x)
    assert tg.broadcast_shapes((2, 1), (3,), (), 1) == np.broadcast_shapes((2, 1), (3,), (), 1) == (2, 3)
    assert tg.broadcast_shapes((0, 1), (1, 5)) == (0, 5)


async def test_empty_broadcasts() -> None:
    """B01, B02: (2, 0) with (2, 1), and all size-1 combinations of where."""
    pairs = [
        ((2, 0), (2, 1)),
        ((0,), (1,)),
        ((3, 1), (1, 0)),
        ((0, 1), (1, 0)),
        ((0,), ()),
        ((2, 0), (1, 1)),
        ((1,), (1,)),
    ]
    binary = (tg.add, tg.multiply, tg.power, tg.equal, tg.maximum, tg.arctan2, tg.floor_divide)
    made = [f(tg.ones(a), tg.ones(b)) for a, b in pairs for f in binary]
    wanted = [np.broadcast_shapes(a, b) for a, b in pairs for f in binary]
    assert [m.shape for m in made] == wanted
    assert [g.shape for g in await tg.fetch(*made)] == wanted
    for sizes in itertools.product((1, 2), repeat=3):
        mask, x, y = (np.arange(n) + k for k, n in enumerate(sizes))
        got = await tg.where(
            tg.asarray(mask % 2 == 0), tg.asarray(x.astype("f")), tg.asarray(y.astype("f"))
        ).numpy()
        assert np.array_equal(got, np.where(mask % 2 == 0, x, y).astype("f"))


# --- indexing -----------------------------------------------------------------------------------------------


async def test_slices() -> None:
    """S13, S14: empty slices, negative steps with missing and negative bounds."""
    x = numbered((7, 6))
    bounds = [None, 0, 1, 3, 6, 7, 9, -1, -3, -7, -9]
    keys: list[Any] = [
        slice(a, b, s) for a in bounds for b in bounds for s in (None, 1, 2, 3, -1, -2, -7, 10)
    ]
    g = tg.asarray(x)
    shapes = [(g[k].shape, x[k].shape) for k in keys]
    assert all(a == b for a, b in shapes)
    chosen = keys[::7]
    await same([g[k] for k in chosen], [x[k] for k in chosen], chosen)
    whole = [
        (slice(None, None, -1), 2), (..., slice(5, 1, -2)), (3,), (-1, -1), (slice(3, 1), slice(None)),
        (slice(5, None), None, 1),
        (None, ..., None), (slice(0, 0),), (..., 0, None), (None,),
        (), ..., (slice(2, 4), ..., slice(1, None, 3)), 4, -7,
        np.int64(3), (np.int32(-2), slice(np.int64(1), np.int64(4))),
    ]  # fmt: skip
    await same([g[k] for k in whole], [np.asarray(x[k]) for k in whole], whole)


def test_indices_that_are_none() -> None:
    g = tg.ones((3, 4))
    for key in (3, -4, (0, 4), (0, 0, 0), (..., ...), (0, -5)):
        with pytest.raises(IndexError):
            g[key]
    for key in (1.0, "a", (0, 1.5), None.__class__):
        with pytest.raises((IndexError, TypeError)):
            g[key]
    for key in (slice(None, None, 0), (slice(None), slice(1, 2, 0))):
        with pytest.raises(ValueError, match="zero"):
            g[key]
    with pytest.raises(IndexError):
        tg.ones(())[0]
    assert tg.ones(())[()].shape == () and tg.ones(())[...].shape == () and tg.ones(())[None].shape == (1,)


async def test_iteration_and_unpacking() -> None:
    x = numbered((3, 4))
    rows = list(tg.asarray(x))
    assert len(rows) == 3
    await same(rows, list(x))
    a, b, c = tg.asarray(np.float32([1, 2, 3]))
    assert [await v.item() for v in (a, b, c)] == [1, 2, 3]
    assert list(tg.ones((0, 3))) == []


# --- random views of views ----------------------------------------------------------------------------------


class Walk:
    """A random chain of views of one array, applied to NumPy's and ours alike."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        rank = int(self.rng.integers(1, 5))
        self.x = numbered(
            tuple(int(n) for n in self.rng.integers(1, 7, rank)), (np.int32, np.float32)[seed % 2]
        )
        self.g = tg.asarray(self.x)
        self.trace: list[str] = [str(self.x.shape)]

    def step(self) -> None:
        kind = self.rng.choice(
            ["slice", "permute", "flip", "expand", "squeeze", "broadcast", "reshape", "integer"]
        )
        rank = self.x.ndim
        if kind == "slice" and rank:
            key = []
            for n in self.x.shape:
                a, b = sorted(int(v) for v in self.rng.integers(0, n + 1, 2))
                step = int(self.rng.choice([1, 1, 2, 3]))
                key.append(
                    slice(a, max(b, min(a + 1, n)), step)
                    if self.rng.random() < 0.6
                    else slice(None, None, -step)
                )
            self.both(f"[{key}]", lambda a, xp: a[tuple(key)])
        elif kind == "permute":
            order = tuple(int(k) for k in self.rng.permutation(rank))
            self.both(f"permute {order}", lambda a, xp: xp.permute_dims(a, order))
        elif kind == "flip" and rank:
            k = int(self.rng.integers(rank))
            self.both(f"flip {k}", lambda a, xp: xp.flip(a, axis=k))
        elif kind == "expand" and rank < 6:
            k = int(self.rng.integers(-rank - 1, rank + 1))
            self.both(f"expand {k}", lambda a, xp: xp.expand_dims(a, axis=k))
        elif kind == "squeeze":
            self.both("squeeze", lambda a, xp: xp.squeeze(a))
        elif kind == "broadcast" and self.x.size < 2000:
            shape = tuple(
                int(self.rng.integers(2, 4)) if n == 1 and self.rng.random() < 0.5 else n
                for n in self.x.shape
            )
            shape = (2, *shape) if len(shape) < 5 and self.rng.random() < 0.4 else shape
            self.both(f"broadcast {shape}", lambda a, xp: xp.broadcast_to(a, shape))
        elif kind == "reshape" and self.x.size:
            factors = [n for n in range(1, self.x.size + 1) if self.x.size % n == 0]
            n = int(self.rng.choice(factors))
            shape = (n, -1) if self.rng.random() < 0.7 else (-1,)
            self.both(f"reshape {shape}", lambda a, xp: a.reshape(shape))
        elif kind == "integer" and rank > 2:
            k = int(self.rng.integers(self.x.shape[0])) if self.x.shape[0] else None
            if k is not None:
                self.both(f"[{k}]", lambda a, xp: a[k])

    def both(self, label: str, f: Any) -> None:
        self.trace.append(label)
        self.x, self.g = f(self.x, np), f(self.g, tg)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.limits
async def test_random_views_of_views(seed: int) -> None:
    """Read as they are, computed on, and reduced."""
    walks = [Walk(seed * 1000 + k) for k in range(60)]
    for w in walks:
        for _ in range(int(w.rng.integers(2, 9))):
            w.step()
    labels = [" ".join(w.trace) for w in walks]
    await same([w.g for w in walks], [np.asarray(w.x) for w in walks], labels)
    await same(
        [w.g * 2 for w in walks[:20]], [np.asarray(w.x * w.x.dtype.type(2)) for w in walks[:20]], labels
    )
    pairs = [(w.g + tg.flip(w.g), w.x + np.flip(w.x)) for w in walks[20:35] if w.x.ndim]
    await same([a for a, _ in pairs], [np.asarray(b) for _, b in pairs])
    sums = [
        (w.g.astype(tg.int32).sum(), np.asarray(w.x.astype(np.int32).sum(dtype=np.int32)))
        for w in walks[35:50]
    ]
    await same([a for a, _ in sums], [b for _, b in sums])


@pytest.mark.parametrize("seed", range(2))
async def test_views_of_pending_values(seed: int) -> None:
    """The base is not computed yet: the view's chain is folded into what reads it."""
    rng = np.random.default_rng(seed)
    made, wanted = [], []
    for k in range(25):
        w = Walk(5000 + seed * 100 + k)
        bias = int(rng.integers(1, 5))
        w.x, w.g = w.x * w.x.dtype.type(3) + w.x.dtype.type(bias), w.g * 3 + bias
        for _ in range(5):
            w.step()
        made.append(w.g - 1)
        wanted.append(np.asarray(w.x - w.x.dtype.type(1)))
    await same(made, wanted)


# --- memory -------------------------------------------------------------------------------------------------


async def test_views_share_memory() -> None:
    base = tg.asarray(np.zeros((512, 512), np.float32))
    await tg.synchronize()
    before = tg.memory()["live_bytes"]
    views = [
        base.T, base[::2, 1:], base[::-1], base.reshape(64, 64, 64), tg.broadcast_to(base, (50, 512, 512)),
        base[:, None],
        tg.swapaxes(base, 0, 1), tg.ravel(base), base.reshape(-1), tg.flip(base), tg.squeeze(base[None]), base[3],
        base[5, 7], base[::2].reshape(256, 16, 32), base.T.reshape(512, 8, 64), base[:, ::4].T[::-1],
    ]  # fmt: skip
    await tg.synchronize()
    assert tg.memory()["live_bytes"] == before and len(views) == 16
    base += 1
    assert all((v == 1).all() for v in await tg.fetch(*[v[:1] for v in views if v.ndim and v.shape[0] < 512]))


async def test_reshape_copies_only_where_strides_cannot_say_it() -> None:
    x = numbered((6, 8))
    g = tg.asarray(x)
    flat = g.T.reshape(-1)
    same_memory = g.reshape(48)
    g += 100
    assert np.array_equal(await flat.numpy(), x.T.reshape(-1))
    assert np.array_equal(await same_memory.numpy(), x.reshape(48) + 100)
    with pytest.raises(ValueError, match="copy"):
        tg.reshape(g.T, (48,), copy=False)
    assert np.array_equal(await tg.reshape(g, (4, 12), copy=False).numpy(), (x + 100).reshape(4, 12))


async def test_in_place_operators_reach_all_views() -> None:
    x = numbered((4, 5), np.float32)
    g = tg.asarray(x)
    views = [g[1:], g.T, g[::-1, 2], g.reshape(20)]
    old = g * 1.0
    g *= 2
    g -= 1
    now = x * 2 - 1
    await same(views, [now[1:], now.T, now[::-1, 2], now.reshape(20)])
    await same([old, g], [x, now])


# --- errors -------------------------------------------------------------------------------------------------


def test_wrong_arguments() -> None:
    """Before any GPU work, naming shapes."""
    g = tg.ones((2, 3, 4))
    before = tg.memory()["launches"]
    for f, message in [
        (lambda: g.reshape(5, 5), "24"), (lambda: g.reshape(-1, -1), "24"), (lambda: g.reshape(-1, 7), "24"),
        (lambda: tg.broadcast_to(g, (2, 3, 5)), r"\(2, 3, 4\)"), (lambda: tg.broadcast_to(g, (3, 4)), r"\(3, 4\)"),
        (lambda: g + tg.ones((2, 3)), r"\(2, 3\)"), (lambda: tg.squeeze(g, axis=1), "size"),
        (lambda: tg.permute_dims(g, (0, 1)), "axes"),
        (lambda: tg.permute_dims(g, (0, 1, 1)), "axes"), (lambda: tg.moveaxis(g, (0, 0), (1, 2)), "distinct"),
        (lambda: tg.moveaxis(g, (0, 1), 2), "distinct"), (lambda: tg.expand_dims(g, axis=(0, 0)), "duplicate"),
        (lambda: tg.matrix_transpose(tg.ones(3)), "2 axes"), (lambda: g.reshape(2, 12, order="K"), "order"),
        (lambda: tg.broadcast_shapes((2,), (3,)), r"\(2,\)"), (lambda: tg.flip(g, axis=(1, 1)), "duplicate"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            f()
    for f in (
        lambda: tg.swapaxes(g, 0, 3), lambda: tg.flip(g, axis=-4), lambda: tg.expand_dims(g, axis=5),
        lambda: tg.squeeze(g, axis=3),
        lambda: tg.moveaxis(g, 3, 0), lambda: tg.permute_dims(g, (0, 1, 3)), lambda: tg.fliplr(tg.ones(3)),
    ):  # fmt: skip
        with pytest.raises(tg.AxisError):
            f()
    for f in (
        lambda: tg.flip([1, 2]),
        lambda: tg.reshape(np.ones(3), (3,)),
        lambda: tg.broadcast_to(1.0, (2,)),
        lambda: tg.flip(g, axis=1.5),
    ):
        with pytest.raises(TypeError):
            f()
    assert tg.memory()["launches"] == before
