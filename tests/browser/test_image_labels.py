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
