"""Every form of the reduction kernels: along rows, across columns, by elements; alone, in trees, by subgroups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forms import form  # noqa: F401
from reduced import draw, run

import tabgpu as tg

SHAPES = [
    (1,), (8,), (5, 7), (4, 8), (33, 64), (64, 33), (300, 128), (3, 20_000), (20_000, 4), (10_001, 3), (5, 12, 16),
    (2, 300, 40), (3, 1000, 8), (131_072,), (50_001,), (600, 200),
]  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("shape", SHAPES, ids=str)
async def test_shapes(shape: tuple[int, ...], form: str) -> None:  # noqa: F811
    x, y = draw("f", shape), draw("i", shape)
    g, h = tg.asarray(x), tg.asarray(y)
    cases: list[Any] = []
    for axis in (None, *range(len(shape)), *([(0, len(shape) - 1)] if len(shape) > 2 else [])):
        options = {"axis": axis}
        cases += [("f", "sum", x, g, options), ("i", "sum", y, h, options), ("f", "max", x, g, options)]
        if not isinstance(axis, tuple):
            cases += [("i", "argmin", y, h, options), ("ties", "argmax", y >> 30, h >> 30, options)]
    await run(cases)


async def test_positions_come_with_values(form: str) -> None:  # noqa: F811
    for shape in ((33, 70), (3, 20_000), (20_000, 3), (300, 64)):
        x = np.floor(draw("f", shape) * 9)
        for axis in (None, 0, 1):
            value, at, low, low_at = await tg.fetch(
                *tg.max_with_index(tg.asarray(x), axis), *tg.min_with_index(tg.asarray(x), axis)
            )
            assert np.array_equal(value, x.max(axis)) and np.array_equal(at, x.argmax(axis))
            assert np.array_equal(low, x.min(axis)) and np.array_equal(low_at, x.argmin(axis))


@pytest.mark.parametrize("shape", [(40, 64), (64, 40), (7, 33), (1000, 12)], ids=str)
async def test_broadcast_operands_join(shape: tuple[int, ...], form: str) -> None:  # noqa: F811
    """A row, a column and positions beside a whole operand: one launch, whichever axis goes."""
    x, row, column = draw("f", shape), draw("f", shape[1:], 1), draw("f", (shape[0], 1), 2)
    g, r, c = tg.asarray(x), tg.asarray(row), tg.asarray(column)
    place = np.arange(shape[1], dtype=np.float32)
    wide = (x.astype(np.float64) * row + column) * place
    for axis in (0, 1, None, (0, 1)):
        before = tg.device().counters.launches
        got = await ((g * r + c) * tg.arange(shape[1]).astype(tg.float32)).sum(axis=axis).numpy()
        assert tg.device().counters.launches == before + 1
        bound = 40 * 2.0**-24 * np.abs(wide).sum(axis)
        assert (np.abs(got - wide.sum(axis)) <= bound).all()
    narrow = g.astype(tg.float16)
    halves = (await narrow.astype(tg.float32).numpy()).astype(np.float64)
    got = await tg.fetch(*[narrow.astype(tg.float32).sum(axis=axis) for axis in (0, 1, None)])
    for axis, one in zip((0, 1, None), got, strict=True):
        assert (np.abs(one - halves.sum(axis)) <= 40 * 2.0**-24 * np.abs(halves).sum(axis)).all()


async def test_views_of_quads_and_others(form: str) -> None:  # noqa: F811
    """Slices that keep vec4s whole and such that do not; transposed, reversed and repeated ones."""
    x = draw("f", (60, 64))
    g = tg.asarray(x)
    ways = [
        lambda a: a[:, 8:40], lambda a: a[:, 3:40], lambda a: a.T, lambda a: a[::-1], lambda a: a[:, ::-1],
        lambda a: a[4::2, :32].T, lambda a: a.reshape(5, 12, 64).transpose(2, 0, 1), lambda a: a[1:, 1:],
    ]  # fmt: skip
    for how in ways:
        a, b = how(x), how(g)
        axes = (None, *range(a.ndim))
        await run([("", name, a, b, {"axis": axis}) for axis in axes for name in ("sum", "argmax")])
