"""linear, embedding, one_hot, distances and what is random in tabgpu.nn, against NumPy. Runs in the tab."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import tabgpu as tg
from tabgpu import nn

R = np.random.default_rng(31)
K = tg.random.key(17)


def f32(*shape: int) -> Any:
    return R.standard_normal(shape).astype(np.float32)


def close(got: Any, want: Any, eps: float = 2e-6) -> None:
    want = np.asarray(want, np.float64)
    assert got.shape == want.shape, (got.shape, want.shape)
    np.testing.assert_allclose(got, want, rtol=eps, atol=eps * max(np.abs(want).max(initial=0), 1e-3))


# --- products --------------------------------------------------------------------------------------------------------


@pytest.mark.limits
async def test_linear() -> None:
    cases = [
        ((5, 7), (3, 7)),
        ((7,), (3, 7)),
        ((2, 3, 7), (4, 7)),
        ((5, 0), (3, 0)),
        ((0, 7), (3, 7)),
        ((65, 33), (70, 33)),
    ]
    for a, b in cases:
        x, w, bias = f32(*a), f32(*b), f32(b[0])
        got = await tg.fetch(
            nn.linear(x, w), nn.linear(tg.asarray(x), tg.asarray(w), bias), nn.linear(x, w[0])
        )
        want = x.astype(np.float64) @ w.T
        close(got[0], want)
        close(got[1], want + bias)
        close(got[2], want[..., 0])
    half = await nn.linear(
        tg.asarray(f32(9, 40)).astype("float16"), tg.asarray(f32(5, 40)).astype("float16")
    ).numpy()
    assert half.dtype == np.float16 and half.shape == (9, 5)
    x, w, b = (tg.asarray(f32(*s)) for s in ((50, 40), (30, 40), (30,)))
    await nn.linear(x, w, b).numpy()
    before = tg.memory()["launches"]
    await nn.relu(nn.linear(x, w, b)).numpy()
    assert tg.memory()["launches"] - before == 1  # bias and activation in the product's launch
    for bad in (((5, 7), (3, 6)), ((5, 7), (2, 3, 7)), ((), (7,))):
        with pytest.raises(ValueError, match="linear: input"):
            nn.linear(f32(*bad[0]), f32(*bad[1]))
    with pytest.raises(ValueError, match="bias"):
        nn.linear(f32(5, 7), f32(3, 7), f32(4))


async def test_bilinear() -> None:
    for lead in ((), (5,), (2, 3)):
        a, b, w, bias = f32(*lead, 4), f32(*lead, 6), f32(3, 4, 6), f32(3)
        got = await nn.bilinear(a, b, w, bias).numpy()
        close(got, np.einsum("...i,oij,...j->...o", *[v.astype(np.float64) for v in (a, w, b)]) + bias, 4e-6)
    with pytest.raises(ValueError, match="bilinear: input1"):
        nn.bilinear(f32(5, 4), f32(5, 6), f32(3, 6, 4))


# --- look-ups --------------------------------------------------------------------------------------------------------


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int8", "uint16"])
async def test_ox_37_gather_rows(dtype: str) -> None:
    """OX-37 gather(rows x cols, indices): the listed rows, of 1, 3, 4 and 65 columns; repeated, none, out of order."""
    for rows, cols in ((1, 1), (9, 3), (100, 4), (33, 65)):
        w = f32(rows, cols)
        for n in (0, 1, 7, 200):
            ids = R.integers(0, rows, n).astype(dtype)
            got = await nn.embedding(tg.asarray(ids), w).numpy()
            assert got.dtype == np.float32 and (got == w[ids]).all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
async def test_hz_60_index_select(axis: int) -> None:
    """HZ-60 index_select(dim): source (left, dim, right) by u32 numbers; rows of a table are an embedding."""
    x, ids = f32(4, 5, 6), R.integers(0, 4, 9).astype(np.uint32)
    got = await tg.fetch(
        tg.take(tg.asarray(x), tg.asarray(ids), axis=axis),
        tg.take(tg.asarray(x)[:, ::-1].transpose(1, 0, 2), tg.asarray(ids), axis=axis),
        nn.embedding(ids.reshape(3, 3), x[:, 1]),
        nn.embedding(tg.asarray(ids), tg.asarray(x).transpose(0, 2, 1)[:, ::2, 1]),
    )
    want = [
        np.take(x, ids, axis),
        np.take(x[:, ::-1].transpose(1, 0, 2), ids, axis),
        x[:, 1][ids.reshape(3, 3)],
    ]
    want += [x.transpose(0, 2, 1)[:, ::2, 1][ids]]
    assert all((g == w).all() for g, w in zip(got, want, strict=True))


async def test_embedding_of_other_dtypes_and_errors() -> None:
    w = f32(6, 5)
    for name in ("float16", "bfloat16", "int8"):
        table = tg.asarray(w).astype(name)
        a, b = await tg.fetch(nn.embedding([[5, -1], [0, -6]], table), table)
        assert a.dtype == b.dtype and (a == b[[[5, -1], [0, -6]]]).all()
    with pytest.raises(IndexError, match="6 rows"):
        nn.embedding([0, 6], w)
    with pytest.raises(IndexError, match="6"):
        await nn.embedding(tg.asarray([0, 6]), w).numpy()
    with pytest.raises(IndexError):
        await nn.embedding(tg.asarray([-7]), w).numpy()
    with pytest.raises(TypeError, match="integers"):
        nn.embedding(tg.asarray([0.5]), w)
    with pytest.raises(TypeError, match="embedding: padding_idx must be an int"):
        nn.embedding([0], w, padding_idx="x")
    with pytest.raises(ValueError, match="padding_idx"):
        nn.embedding([0], w, 6)
    with pytest.raises(ValueError, match="weight"):
        nn.embedding([0], w[0])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
async def test_embedding_bag(mode: str) -> None:
    w, ids, offsets = f32(8, 5), R.integers(0, 8, 17), np.array([0, 3, 3, 11])
    fold = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]

    def bags(parts: list[Any]) -> Any:
        return np.array([fold(w[p].astype(np.float64), axis=0) if len(p) else np.zeros(5) for p in parts])

    parts = [ids[a:b] for a, b in zip(offsets, [*offsets[1:], 17], strict=True)]
    got = await tg.fetch(
        nn.embedding_bag(ids[:15].reshape(5, 3), w, mode=mode),
        nn.embedding_bag(tg.asarray(ids), w, tg.asarray(offsets), mode=mode),
        nn.embedding_bag(ids, w, offsets, mode=mode, padding_idx=int(ids[0])),
        nn.embedding_bag(ids, w, [*offsets, 17], mode=mode, include_last_offset=True),
        nn.embedding_bag(np.zeros((3, 0), np.int32), w, mode=mode),
    )
    close(got[0], bags(list(ids[:15].reshape(5, 3))))
    close(got[1], bags(parts))
    close(got[2], bags([p[p != ids[0]] for p in parts]))
    close(got[3], bags(parts))
    assert (got[4] == np.zeros((3, 5))).all()
    for options in ({"offsets": offsets}, {"mode": "min"}, {"per_sample_weights": f32(2)}):
        with pytest.raises(ValueError, match="embedding_bag"):
            nn.embedding_bag([[1], [2]], w, **options)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
async def test_embedding_bag_of_narrow_floats(name: str) -> None:
    """Added up in float32: the sum is beyond float16 where the mean is not."""
    w = tg.asarray(f32(6, 5) + 20_000).astype(name)
    ids, offsets = R.integers(0, 6, 120), np.array([0, 50, 50])
    a, b, c, rows = await tg.fetch(
        nn.embedding_bag(ids.reshape(2, 60), w),
        nn.embedding_bag(ids, w, offsets),
        nn.embedding_bag(ids, w, offsets, mode="max"),
        w.astype(tg.float32),
    )
    step = float(tg.finfo(name).eps)
    assert np.allclose(a, rows[ids.reshape(2, 60)].mean(1), rtol=step)
    assert np.allclose(b, [rows[ids[:50]].mean(0), rows[0] * 0, rows[ids[50:]].mean(0)], rtol=step)
    assert np.array_equal(c, [rows[ids[:50]].max(0), rows[0] * 0, rows[ids[50:]].max(0)])


async def test_one_hot() -> None:
    ids = R.integers(0, 5, (3, 4))
    want = np.eye(7, dtype=np.int32)[ids]
    a, b, c = await tg.fetch(
        nn.one_hot(tg.asarray(ids), 7), nn.one_hot(ids, 7), nn.one_hot(tg.zeros((0, 2), dtype="int32"), 3)
    )
    assert a.dtype == np.int32 and (a == want).all() and (b == want).all() and c.shape == (0, 2, 3)
    most = int(ids.max()) + 1
    assert (await nn.one_hot(ids).numpy() == want[..., :most]).all()
    assert (await (await tg.aio.one_hot(tg.asarray(ids))).numpy() == want[..., :most]).all()
    reads = tg.memory()["reads"]
    nn.one_hot(tg.asarray(ids), 7)
    assert tg.memory()["reads"] == reads
    for bad in ([0, 5], [-1, 2]):
        with pytest.raises(ValueError):
            nn.one_hot(bad, 5)
        with pytest.raises(ValueError):
            await nn.one_hot(tg.asarray(bad), 5).numpy()
    with pytest.raises(TypeError):
        nn.one_hot([0.5], 2)


async def test_pad() -> None:
    """From the last axis on; negative widths crop; modes under torch's names."""
    x = f32(2, 4, 5)
    there = tg.asarray(x)
    cases: list[tuple[tuple[int, ...], str, Any]] = [
        ((1, 2), "constant", np.pad(x, ((0, 0), (0, 0), (1, 2)))),
        ((-1, 2, 1, -2), "constant", np.pad(x[:, :2, 1:], ((0, 0), (1, 0), (0, 2)))),
        ((2, 1, 3, 0), "reflect", np.pad(x, ((0, 0), (3, 0), (2, 1)), mode="reflect")),
        ((3, -3), "reflect", np.pad(x, ((0, 0), (0, 0), (3, 0)), mode="reflect")[..., :5]),
        ((7, 1, 0, 6), "replicate", np.pad(x, ((0, 0), (0, 6), (7, 1)), mode="edge")),
        ((5, 2, 1, 4), "circular", np.pad(x, ((0, 0), (1, 4), (5, 2)), mode="wrap")),
        ((0, 0, 1, 0, 0, 2), "constant", np.pad(x, ((0, 2), (1, 0), (0, 0)))),
        ((), "constant", x),
    ]
    got = await tg.fetch(*[nn.pad(there, pad, mode) for pad, mode, _ in cases])
    for one, (pad, mode, want) in zip(got, cases, strict=True):
        assert one.shape == want.shape and (one == want).all(), (pad, mode)
    five, text = await tg.fetch(
        nn.pad(there, (1, 1), value=5.0), nn.pad(tg.asarray([True, False]), (1, 0), value=True)
    )
    assert (five[..., 0] == 5).all() and text.dtype == bool and text.tolist() == [True, True, False]
    bad: list[tuple[tuple[int, ...], str]] = [
        ((5, 0), "reflect"),
        ((6, 0), "circular"),
        ((-3, -3), "constant"),
    ]
    for pad, mode in [*bad, ((1,), "constant"), ((1, 1), "edge")]:
        with pytest.raises(ValueError, match="pad:"):
            nn.pad(there, pad, mode)
    with pytest.raises(ValueError, match="value"):
        nn.pad(there, (1, 1), "reflect", 1.0)


# --- distances -------------------------------------------------------------------------------------------------------


async def test_distances() -> None:
    a, b = f32(4, 6), f32(4, 6)
    x, y = a.astype(np.float64), b.astype(np.float64)
    lengths = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    apart = np.abs(x - y + 1e-6)
    pairs = np.array([np.sqrt(((x[i] - x[j]) ** 2).sum()) for i in range(4) for j in range(i + 1, 4)])
    got = await tg.fetch(
        nn.cosine_similarity(a, b), nn.cosine_similarity(tg.asarray(a)[:, None], tg.asarray(b)[None], -1),
        nn.cosine_similarity(a * 0, b), nn.cosine_similarity(tg.asarray(a).astype("float16"), b.astype(np.float16)),
        nn.pairwise_distance(a, b), nn.pairwise_distance(a, b, 1.0, keepdim=True), nn.pairwise_distance(a, b, np.inf),
        nn.pdist(a), nn.pdist(a[:1]), nn.pdist(np.repeat(a[:1], 3, 0)),
    )  # fmt: skip
    close(got[0], (x * y).sum(1) / lengths)
    close(got[1], (x @ y.T) / np.sqrt((x**2).sum(1)[:, None] * (y**2).sum(1)))
    assert (got[2] == 0).all() and got[3].dtype == np.float16
    close(got[3].astype(np.float64), (x * y).sum(1) / lengths, 3e-3)
    close(got[4], np.sqrt((apart**2).sum(1)))
    close(got[5], apart.sum(1)[:, None])
    close(got[6], apart.max(1))
    close(got[7], pairs)
    assert got[8].shape == (0,) and (got[9] == 0).all()
    with pytest.raises(ValueError, match="pdist"):
        nn.pdist(a[0])
    with pytest.raises(ValueError, match="cosine_similarity"):
        nn.cosine_similarity(a, f32(3, 6))


# --- what is random --------------------------------------------------------------------------------------------------


async def test_dropout() -> None:
    """Elements stay by the words of their positions, are divided by 1 - p, and one launch does it."""
    x = f32(37, 29)
    for p in (0.1, 0.5, 0.75):
        keep = await tg.random.bernoulli(K, 1 - p, x.shape).numpy()
        got = await tg.fetch(nn.dropout(x, p, key=K), nn.dropout(tg.asarray(x), p, key=K) * 2 + 1)
        close(got[0], np.where(keep, x.astype(np.float64) / (1 - p), 0), 3e-7)
        close(got[1], np.where(keep, x.astype(np.float64) / (1 - p), 0) * 2 + 1)
        assert abs(keep.mean() - (1 - p)) < 0.06
    there = tg.asarray(x)
    assert nn.dropout(there, 0.5, False) is there and nn.dropout(there, 0.0) is there
    other, ones = await tg.fetch(
        nn.dropout(x, 0.5, key=tg.random.key(18)), nn.dropout(np.full(3, np.nan, "f4"), 1.0, key=K)
    )
    assert ((other == 0) != ~keep).any() and (ones == 0).all()
    await nn.dropout(there, 0.3, key=K).numpy()
    before = tg.memory()
    await nn.dropout(there, 0.4, key=tg.random.key(5)).numpy()
    after = tg.memory()
    assert after["launches"] - before["launches"] == 1 and after["pipelines"] == before["pipelines"]
    half = await nn.dropout(tg.asarray(x).astype("float16"), 0.5, key=K).numpy()
    assert half.dtype == np.float16
    with pytest.raises(TypeError, match="key"):
        nn.dropout(x)
    for bad in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="probability"):
            nn.dropout(x, bad, key=K)


CHANNELS = [
    ("dropout1d", (40, 5), 1), ("dropout1d", (8, 9, 5), 2), ("dropout2d", (8, 9, 4, 3), 2),
    ("dropout2d", (8, 9, 4), 2), ("dropout3d", (30, 2, 3, 2), 1), ("dropout3d", (8, 9, 2, 3, 2), 2),
    ("feature_alpha_dropout", (8, 9, 4), 2),
]  # fmt: skip


@pytest.mark.parametrize("name,shape,channels", CHANNELS)
async def test_dropout_of_channels(name: str, shape: tuple[int, ...], channels: int) -> None:
    x = f32(*shape) + 10
    got = await getattr(nn, name)(x, 0.5, True, key=K).numpy()
    lines = got.reshape(int(np.prod(shape[:channels])), -1)
    dropped = (lines == lines[:, :1]).all(axis=1)
    keep = await tg.random.bernoulli(K, 0.5, shape[:channels]).numpy()
    assert (dropped == ~keep.reshape(-1)).all() and 0.2 < dropped.mean() < 0.8
    if name != "feature_alpha_dropout":
        close(lines[~dropped], x.reshape(lines.shape)[~dropped] * 2.0)
    with pytest.raises(ValueError, match=name):
        getattr(nn, name)(f32(3), 0.5, True, key=K)


async def test_alpha_dropout() -> None:
    """Dropped elements take selu's lowest value before all are scaled and moved; mean and variance stay."""
    x, p, alpha = f32(300, 200), 0.3, 1.7580993408473766
    keep = await tg.random.bernoulli(K, 1 - p, x.shape).numpy()
    a = 1 / np.sqrt((1 - p) * (1 + p * alpha**2))
    got = await nn.alpha_dropout(x, p, True, key=K).numpy()
    close(got, a * np.where(keep, x.astype(np.float64), -alpha) + a * alpha * p)
    assert abs(got.mean()) < 0.02 and abs(got.var() - 1) < 0.03
    none, all_gone = await tg.fetch(nn.alpha_dropout(x), nn.alpha_dropout(x, 1.0, True, key=K))
    assert (none == x).all() and (all_gone == 0).all()


async def test_gumbel_softmax() -> None:
    x = np.tile(np.float32([0.0, 1.0, 2.0]), (5000, 1))
    soft, hard, across, same = await tg.fetch(
        nn.gumbel_softmax(x, 0.7, key=K), nn.gumbel_softmax(x, 0.7, True, key=K),
        nn.gumbel_softmax(tg.asarray(x).T, 0.7, True, dim=0, key=K), nn.gumbel_softmax(x, 0.7, key=K),
    )  # fmt: skip
    assert (soft == same).all() and np.isfinite(soft).all()
    np.testing.assert_allclose(soft.sum(axis=1), 1, rtol=1e-6)
    assert (hard == np.eye(3)[soft.argmax(axis=1)]).all() and (across.sum(axis=0) == 1).all()
    share = hard.mean(axis=0)
    assert np.abs(share - sp.softmax([0.0, 1.0, 2.0])).max() < 0.04
    with pytest.raises(TypeError, match="key"):
        nn.gumbel_softmax(x)


async def test_rrelu_and_softmin() -> None:
    x = f32(2000, 3)
    fixed, drawn, low, soft = await tg.fetch(
        nn.rrelu(x), nn.rrelu(x, 0.1, 0.3, True, key=K), tg.random.uniform(K, x.shape, low=0.1, high=0.3),
        nn.softmin(x, 1),
    )  # fmt: skip
    close(fixed, np.where(x < 0, x * ((1 / 8 + 1 / 3) / 2), x), 3e-7)
    close(drawn, np.where(x < 0, x.astype(np.float64) * low, x), 3e-7)
    close(soft, sp.softmax(-x.astype(np.float64), axis=1))
    with pytest.raises(ValueError, match="rrelu"):
        nn.rrelu(x, 0.5, 0.1)


async def test_random_functions_under_jit() -> None:
    """A key that is an array changes the mask; nothing is traced again."""
    traced = []

    @tg.jit
    def step(x: Any, key: Any) -> Any:
        traced.append(1)
        return nn.dropout(x, 0.5, key=key)

    x = tg.ones((50, 20))
    for seed in range(4):
        key = tg.random.key(seed)
        a = await step(x, tg.asarray(key, dtype=tg.uint32)).numpy()
        assert (a == 2 * await tg.random.bernoulli(key, 0.5, (50, 20)).numpy()).all()
    assert len(traced) == 1


@pytest.mark.slow
async def test_many_shapes_few_pipelines() -> None:
    """500 shapes of linear, embedding, dropout and distances leave the number of pipelines bounded."""

    def some(n: int, m: int, d: int) -> list[Any]:
        w, x = tg.ones((m, d)) * 2, tg.ones((n, d)) * 3
        ids = tg.zeros((n,), dtype="int32") + 0
        return [
            nn.linear(x, w), nn.embedding(ids, w), nn.dropout(x, 0.5, key=tg.random.key(n)), nn.cosine_similarity(x, x),
            nn.one_hot(ids, m),
        ]  # fmt: skip

    sizes = [(1 + 37 * k % 101, 1 + 53 * k % 97, 1 + 29 * k % 130) for k in range(100)]
    for size in sizes[:25]:
        await tg.fetch(*some(*size))
    before = tg.memory()["pipelines"]
    for size in sizes[25:]:
        await tg.fetch(*some(*size))
    assert tg.memory()["pipelines"] - before <= 40
