"""Labels of connected components against a flood in Python, and measurements over labels. Runs in the tab."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imaged import draw

import tabgpu as tg
from tabgpu import engine, image


def labelled(x: Any, s: Any) -> tuple[Any, int]:
    """Components numbered by their first elements."""
    out, count = np.zeros(x.shape, np.int32), 0
    steps = np.argwhere(s) - 1
    for at in np.argwhere(x):
        if out[tuple(at)]:
            continue
        count += 1
        todo = [tuple(at)]
        out[todo[0]] = count
        while todo:
            here = todo.pop()
            for d in steps:
                there = tuple(int(v) for v in np.add(here, d))
                if (
                    all(0 <= a < n for a, n in zip(there, x.shape, strict=True))
                    and x[there]
                    and not out[there]
                ):
                    out[there] = count
                    todo.append(there)
    return out, count


def serpent(n: int) -> Any:
    """One line that fills a square."""
    x = np.zeros((n, n), bool)
    x[::2] = True
    for k, r in enumerate(range(1, n - 1, 2)):
        x[r, -1 if k % 2 == 0 else 0] = True
    return x


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(70,), (1, 1), (19, 45), (5, 6, 7), (3, 4, 2, 5), (0, 4)])
async def test_label(shape: Any) -> None:
    """Every connectivity of one to four axes."""
    for k in range(len(shape)):
        s = image.generate_binary_structure(len(shape), k + 1)
        for level in (-0.6, 0.1):
            x = draw(shape, k) > level
            labels, number = image.label(tg.asarray(x), s)
            assert labels.dtype is tg.int32 and number.shape == ()
            got, count = await tg.fetch(labels, number)
            want, n = labelled(x, s)
            assert np.array_equal(got, want) and count == n


async def test_long_and_wide_components() -> None:
    """A serpent, a comb, a full and an empty square, a chessboard."""
    n = 65
    comb = np.zeros((n, n), bool)
    comb[:, ::2] = True
    comb[-1] = True
    board = np.indices((n, n)).sum(0) % 2 == 0
    full = np.ones((3, 3), bool)
    for x, s in (
        (serpent(n), None), (serpent(n).T, None), (comb, None), (np.ones((n, n), bool), None),
        (np.zeros((n, n), bool), None), (board, None), (board, full), (comb[::-1], full),
    ):  # fmt: skip
        got, count = await tg.fetch(*image.label(tg.asarray(x), s))
        want, k = labelled(x, image.generate_binary_structure(2, 1) if s is None else s)
        assert np.array_equal(got, want) and count == k


async def test_label_reads_nothing_and_launches_a_fixed_number() -> None:
    gpu = engine.device()
    counts = set()
    for x in (serpent(40), np.ones((40, 40), bool), draw((40, 40)) > 0):
        g = tg.asarray(x)
        await tg.synchronize()
        launches, reads = gpu.counters.launches, gpu.counters.reads
        labels, _ = image.label(g)
        await tg.synchronize()
        assert gpu.counters.reads == reads
        await labels.numpy()
        counts.add(gpu.counters.launches - launches)
    assert len(counts) == 1 and counts.pop() <= 9


async def test_output_and_structures() -> None:
    x = draw((6, 9)) > 0
    g = tg.asarray(x.astype(np.float32))
    want, n = labelled(x, image.generate_binary_structure(2, 1))
    out = tg.zeros(x.shape, dtype="int16")
    number = image.label(g, output=out)
    assert np.array_equal(await out.numpy(), want) and await number.item() == n
    made, _ = image.label(g.T, output="float32")
    assert made.dtype is tg.float32
    assert np.array_equal(await made.numpy(), labelled(x.T, image.generate_binary_structure(2, 1))[0])
    rows, _ = image.label(g, [[0, 0, 0], [1, 1, 1], [0, 0, 0]])
    assert np.array_equal(await rows.numpy(), labelled(x, np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0]]))[0])
    for bad, said in (([[1, 1, 0], [0, 1, 0], [0, 0, 0]], "symmetric"), (np.ones((5, 5)), "(5, 5)")):
        with pytest.raises(ValueError) as caught:
            image.label(g, bad)
        assert said in str(caught.value)


def groups(x: Any, marks: Any, index: Any) -> Any:
    """The elements with each label asked for."""
    return [x[marks == k] for k in np.ravel(index)]


@pytest.mark.parametrize("kind", ["float32", "int32", "uint8"])
async def test_measurements(kind: str) -> None:
    """Each label's numbers, of one label, of all above 0, of lists in any order with labels that are missing."""
    rng = np.random.default_rng(3)
    x = (draw((13, 17), 4) * 30 + 100).astype(kind)
    marks = rng.integers(0, 6, x.shape).astype(np.int32)
    g, m = tg.asarray(x), tg.asarray(marks)
    wide = x.astype(np.float64)
    for index in ([1, 2, 3], [5, 9, 2, 2], np.array([[1, 5], [0, 4]])):
        parts = groups(wide, marks, index)
        shape = np.shape(index)
        made = await tg.fetch(
            image.sum_labels(g, m, index), image.mean(g, m, index), image.variance(g, m, index),
            image.minimum(g, m, index), image.maximum(g, m, index), image.median(g, m, index),
            image.standard_deviation(g, m, tg.asarray(index)), image.center_of_mass(g, m, index),
            image.minimum_position(g, m, index), image.histogram(g, 40, 160, 7, m, index),
        )  # fmt: skip
        some = lambda f: [f(p) if p.size else np.nan for p in parts]
        kept = lambda f: [f(p) if p.size else 0 for p in parts]
        wants = [
            [p.sum() for p in parts], some(np.mean), some(np.var), kept(np.min), kept(np.max), some(np.median),
            some(np.std),
        ]  # fmt: skip
        for got, want in zip(made[:7], wants, strict=True):
            assert np.allclose(got, np.reshape(want, shape), rtol=2e-5, equal_nan=True)
        assert made[3].dtype == x.dtype and made[7].shape == (*shape, 2) and made[9].dtype == np.int32
        for k, label in enumerate(np.ravel(index)):
            at = np.argwhere(marks == label)
            if len(at):
                weights = wide[marks == label][:, None]
                assert np.allclose(
                    made[7].reshape(-1, 2)[k], (at * weights).sum(0) / weights.sum(), rtol=2e-5
                )
                assert tuple(made[8].reshape(-1, 2)[k]) == tuple(at[np.argmin(wide[marks == label])])
            counts = np.histogram(parts[k], np.linspace(40, 160, 8))[0]
            assert np.array_equal(made[9].reshape(-1, 7)[k], counts)
    for labels, index, part in ((None, None, wide), (m, 3, wide[marks == 3]), (m, None, wide[marks > 0])):
        made = await tg.fetch(
            image.sum_labels(g, labels, index), image.mean(g, labels, index), image.maximum(g, labels, index),
            image.median(g, labels, index),
        )  # fmt: skip
        assert all(a.shape == () for a in made)
        assert np.allclose(made, [part.sum(), part.mean(), part.max(), np.median(part)], rtol=2e-5)
    low, high, first, last = await tg.fetch(*image.extrema(g, m, 2))
    assert (low, high) == (wide[marks == 2].min(), wide[marks == 2].max())
    assert x[tuple(first)] == low and x[tuple(last)] == high


async def test_labels_of_other_kinds_and_complex_sums() -> None:
    x = draw((6, 7), 5)
    marks = (np.arange(42).reshape(6, 7) % 3 - 1).astype(np.float32) + 0.5
    got = await image.sum_labels(tg.asarray(x), tg.asarray(marks), [1.5, -0.5, 7.0]).numpy()
    assert np.allclose(got, [x[marks == k].sum() for k in (1.5, -0.5, 7.0)], rtol=1e-5)
    z = (x + 2j * x).astype(np.complex64)
    got = await image.sum_labels(tg.asarray(z), tg.asarray(marks), [0.5, 1.5]).numpy()
    assert np.allclose(got, [z[marks == k].sum() for k in (0.5, 1.5)], rtol=1e-5)
    rows = await image.mean(tg.asarray(x), tg.asarray(np.arange(7, dtype=np.int32)), np.arange(7)).numpy()
    assert np.allclose(rows, x.mean(0), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError):
        image.histogram(tg.asarray(x), 1.0, 0.0, 3)


async def test_find_objects() -> None:
    """Boxes by the awaited form, which reads; labels that are missing have none."""
    labels = np.array([[0, 1, 1, 0], [3, 0, 1, 0], [3, 3, 0, 0]], np.int32)
    want = [(slice(0, 2), slice(1, 3)), None, (slice(1, 3), slice(0, 2))]
    assert await tg.aio.find_objects(tg.asarray(labels)) == want
    assert await tg.aio.find_objects(tg.asarray(labels), 1) == want[:1]
    assert await tg.aio.find_objects(tg.asarray(labels), 4) == [*want, None]
    assert await tg.aio.find_objects(tg.zeros((0, 3), dtype="int32"), 2) == [None, None]
    with pytest.raises(TypeError, match="float32"):
        await tg.aio.find_objects(tg.zeros((2, 2)))
