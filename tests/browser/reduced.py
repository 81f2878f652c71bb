"""What tests of reductions share: operands, NumPy's answers in float64, bounds, cases in one fetch."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

import tabgpu as tg

EPS = 2.0**-24
NUMPY = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32}
VALUES = ("sum", "prod", "min", "max", "mean", "any", "all")
POSITIONS = ("argmin", "argmax")
LENGTHS = (
    *range(1, 70),
    127,
    128,
    129,
    255,
    256,
    257,
    1000,
    1023,
    1024,
    1025,
    4095,
    4096,
    4097,
    16383,
    16384,
    16385,
)


def draw(kind: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape, 77])
    if kind == "b":
        return rng.random(shape) < 0.7
    if kind == "f":  # of all signs, and such that no product over- or underflows
        return (2.0 ** rng.uniform(-0.7, 0.7, shape) * rng.choice([-1, 1], shape)).astype(np.float32)
    low, high = (-(2**31), 2**31) if kind == "i" else (0, 2**32)
    return rng.integers(low, high, shape).astype(NUMPY[kind])


def host(name: str, x: Any, **options: Any) -> Any:
    """NumPy's answer in our dtype: floats in float64, integers wrapping in their own type."""
    f = getattr(np, name)
    with np.errstate(all="ignore"):
        if name in POSITIONS:
            return np.asarray(f(x, **options)).astype(np.int32)
        if x.dtype == np.float32 or name == "mean":
            return np.asarray(f(x.astype(np.float64), **options))
        if name in ("sum", "prod"):
            return np.asarray(f(x, dtype=np.int32 if x.dtype == bool else x.dtype, **options))
        return np.asarray(f(x, **options))


def depth(x: Any, want: Any) -> float:
    """Roundings on the way of one element through a tree: 16 in a run, then a tree over threads and chunks."""
    n = max(x.size // max(want.size, 1), 1)
    return min(n, 4 + math.log2(n)) + 16 * (n > 64)


def check(label: str, name: str, got: Any, x: Any, **options: Any) -> None:
    want = host(name, x, **options)
    assert got.shape == want.shape, f"{label}: shape {got.shape}, NumPy {want.shape}"
    if name not in ("sum", "prod", "mean") or got.dtype != np.float32:
        expected = np.float32 if x.dtype == np.float32 and want.dtype == np.float64 else want.dtype
        assert got.dtype == expected, f"{label}: {got.dtype}, expected {expected}"
        assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), f"{label}: {got}, NumPy {want}"
        return
    with np.errstate(all="ignore"):
        wide = np.abs(x.astype(np.float64))
        if name == "prod":
            bound = (depth(x, want) + 30) * EPS * np.abs(want) + 1e-45
        else:
            bound = (depth(x, want) + 2) * EPS * getattr(np, name)(wide, **options) + 1e-45
        ok = np.abs(got - want) <= bound
        ok |= (got == want.astype(np.float32)) | (np.isnan(got) & np.isnan(want))
    assert np.all(ok), (
        f"{label}: {got} is not {want}, off by {np.abs(got - want).max()}, bound {np.max(bound)}"
    )


def every_axis(rank: int) -> list[Any]:
    """None, each axis (also counted from the end), all subsets as tuples, in either order, and ()."""
    axes: list[Any] = [None, ()]
    axes += [*range(rank), *range(-rank, 0)]
    for n in range(1, rank + 1):
        for found in itertools.combinations(range(rank), n):
            axes += [found, tuple(k - rank for k in reversed(found))]
    return axes


async def run(cases: list[tuple[str, str, Any, Any, dict[str, Any]]]) -> None:
    """(label, name, host array, GPU array, options) each."""
    results = [getattr(tg, name)(g, **options) for _, name, _, g, options in cases]
    for (label, name, x, _, options), got in zip(cases, await tg.fetch(*results), strict=True):
        check(f"{name} {label} {options}", name, np.asarray(got), x, **options)
