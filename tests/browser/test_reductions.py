"""Reductions in the tab against NumPy in float64: axes, dtypes, layouts, lengths, nothing to reduce."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from reduced import LENGTHS, NUMPY, POSITIONS, VALUES, draw, every_axis, host, run

import tabgpu as tg

pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice")

# --- axes, dtypes, layouts ----------------------------------------------------------------------------------


async def check_axes(kind: str, shape: tuple[int, ...], names: Any) -> None:
    x = draw(kind, shape)
    g = tg.asarray(x)
    cases = []
    for name, keep in itertools.product(names, (False, True)):
        rank = len(shape)
        axes = every_axis(rank) if name in VALUES else [None, *range(-rank, rank)]
        if not rank and name != "mean":
            axes += [0, -1]  # as NumPy
        cases += [(f"{kind} {shape}", name, x, g, {"axis": axis, "keepdims": keep}) for axis in axes]
    await run(cases)


@pytest.mark.parametrize("kind", "fiub")
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (1, 1)], ids=str)
async def test_every_reduction(kind: str, shape: tuple[int, ...]) -> None:
    await check_axes(kind, shape, (*VALUES, *POSITIONS))


@pytest.mark.parametrize("shape", [(2, 3, 5), (4, 1, 3), (2, 3, 2, 4), (2, 1, 3, 1, 2)], ids=str)
async def test_every_subset_of_axes(shape: tuple[int, ...]) -> None:
    await check_axes("f", shape, ("sum", "argmax"))


VIEWS = {
    "reversed": lambda a, xp: a[::-1],
    "all reversed": lambda a, xp: a[::-1, ::-1],
    "strided": lambda a, xp: a[1::2, 2::3],
    "transposed": lambda a, xp: a.T,
    "row": lambda a, xp: a[3],
    "column": lambda a, xp: a[:, 2],
    "broadcast": lambda a, xp: xp.broadcast_to(a[:, None, :5], (a.shape[0], 3, 5)),
    "one value": lambda a, xp: xp.broadcast_to(a[1:2, 1:2], (9, 70)),
    "reshaped": lambda a, xp: a.reshape(5, -1),
    "diagonal block": lambda a, xp: a[2:9, 2:9].T[::-1],
}


@pytest.mark.parametrize("kind", "fiub")
@pytest.mark.parametrize("how", VIEWS)
async def test_layouts(how: str, kind: str) -> None:
    x = draw(kind, (65, 40))
    g = tg.asarray(x)
    a, b = VIEWS[how](x, np), VIEWS[how](g, tg)
    names = {"f": ("sum", "max", "argmin"), "i": ("prod", "argmax"), "u": ("min",), "b": ("any", "sum")}[kind]
    await run(
        [(f"{kind} {how}", name, a, b, {"axis": axis}) for axis in [None, *range(a.ndim)] for name in names]
    )


async def test_reversed_rows() -> None:
    """R11: arange(1, 131).reshape(2, 65)[::-1]."""
    x = np.arange(1, 131, dtype=np.float32).reshape(2, 65)[::-1]
    g = tg.arange(1, 131).astype(tg.float32).reshape(2, 65)[::-1]
    await run([("R11", name, x, g, {"axis": -1}) for name in ("sum", "max", "mean", "min", "argmax")])
    assert await g.sum(axis=-1).tolist() == [6370.0, 2145.0]


@pytest.mark.parametrize("kind", "fi")
@pytest.mark.limits
async def test_lengths(kind: str) -> None:
    """Rows, columns and whole arrays of each length, so that each number of threads an output has its edges."""
    base = draw(kind, (3, 16390))
    tall = draw(kind, (16390, 3))
    g, h = tg.asarray(base), tg.asarray(tall)
    names = ("sum", "argmin") if kind == "f" else ("max",)
    cases = []
    for n in LENGTHS:
        cases += [(f"row {n}", name, base[:, :n], g[:, :n], {"axis": 1}) for name in names]
        cases += [(f"column {n}", name, tall[:n], h[:n], {"axis": 0}) for name in names[:1]]
        cases.append((f"whole {n}", names[0], base[0, 3 : 3 + n], g[0, 3 : 3 + n], {}))
    for k in range(0, len(cases), 96):
        await run(cases[k : k + 96])


@pytest.mark.parametrize(
    "shape,axis",
    [((300_001,), 0), ((2, 150_001), 1), ((150_001, 2), 0), ((600, 1000), 1), ((1000, 600), 0), ((7, 999, 65), 1),
     ((70_000, 3), 1), ((3, 70_000), 0), ((3, 5, 40_000), (0, 2)), ((40_000, 5, 3), (0, 2)), ((65_537, 1), 1),
     ((513, 20_000), 1)],
    ids=str,
)  # fmt: skip
@pytest.mark.limits
async def test_long_and_wide(shape: tuple[int, ...], axis: Any) -> None:
    x = draw("f", shape)
    names = ("sum", "max", "mean") if isinstance(axis, tuple) else ("sum", "max", "argmin")
    await run([("f", name, x, tg.asarray(x), {"axis": axis}) for name in names])


# --- empty and small ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", "fiub")
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0), (3, 0, 2), (0, 0), (1, 0, 1)], ids=str)
async def test_empty(shape: tuple[int, ...], kind: str) -> None:
    """R01: an identity where there is one, ValueError where NumPy has it, empty results elsewhere."""
    x = np.empty(shape, NUMPY[kind])
    g = tg.asarray(x)
    cases = []
    for name in (*VALUES, *POSITIONS):
        axes = every_axis(len(shape)) if name in VALUES else [None, *range(len(shape))]
        for axis, keep in itertools.product(axes, (False, True)):
            options = {"axis": axis, "keepdims": keep}
            try:
                host(name, x, **options)
            except ValueError:
                with pytest.raises(ValueError, match=name):
                    getattr(tg, name)(g, **options)
                continue
            cases.append((f"{kind} {shape}", name, x, g, options))
    await run(cases)


async def test_identities() -> None:
    got = await tg.fetch(*[getattr(tg, f)(tg.zeros(0)) for f in ("sum", "prod", "mean", "any", "all")])
    assert [got[0].item(), got[1].item(), got[3].item(), got[4].item()] == [0.0, 1.0, False, True]
    assert np.isnan(got[2]) and not np.signbit(got[0])
