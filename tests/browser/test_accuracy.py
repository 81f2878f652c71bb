"""The stated greatest error of each float32 row, measured over the whole range of float32. Runs in the tab.

Run with -s to see the measured errors (docs/numerics.md lists them).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import CANCELS, ROWS, TINY, check, oracle, ulps

import tabgpu as tg

STEP = 4099  # prime, so that all low bits occur
FLOATS = sorted(
    n
    for n, r in ROWS.items()
    if r.exprs.get("f")
    and (r.out in (None, "f") or isinstance(r.out, dict))
    and set(r.operand_kinds or "*") == {"*"}
)
UNARY = [n for n in FLOATS if ROWS[n].nin == 1]
BINARY = [n for n in FLOATS if ROWS[n].nin == 2]


def patterns(start: int) -> Any:
    """Every STEP-th bit pattern: all exponents, both signs, denormals, infinities and NaN."""
    return np.arange(start, 2**32, STEP, dtype=np.uint64).astype(np.uint32).view(np.float32)


def pairs(name: str) -> tuple[Any, Any]:
    """Any pattern with any pattern, middling with middling, and for power exponents that stay in range."""
    rng = np.random.default_rng(len(name))
    n = 50_000
    x = rng.integers(0, 2**32, 4 * n, dtype=np.uint32).view(np.float32)
    y = rng.integers(0, 2**32, 4 * n, dtype=np.uint32).view(np.float32)
    x[n : 2 * n] = rng.normal(size=n) * 10
    y[n:] = rng.normal(size=3 * n) * 3
    if name in ("power", "float_power"):
        with np.errstate(all="ignore"):
            y[2 * n :] = rng.uniform(-150, 150, 2 * n) / np.log2(
                np.abs(x[2 * n :].astype(np.float64)) + 1e-300
            )
    return x, y


def report(name: str, got: Any, arrays: list[Any]) -> None:
    want = oracle(ROWS[name], arrays)
    usual = np.abs(want) > TINY
    for a in arrays:
        usual &= np.abs(a) > TINY
    if name not in CANCELS:
        print(f"\naccuracy: {name} {int(ulps(got, want)[usual].max(initial=0))}", end="")


@pytest.mark.parametrize("name", UNARY)
async def test_unary_over_all_of_float32(name: str) -> None:
    x = patterns(len(name))
    got = await ROWS[name](tg.asarray(x)).numpy()
    report(name, got, [x])
    check(ROWS[name], got, [x], "whole range")


@pytest.mark.parametrize("name", BINARY)
async def test_binary_over_pairs(name: str) -> None:
    x, y = pairs(name)
    got = await ROWS[name](tg.asarray(x), tg.asarray(y)).numpy()
    report(name, got, [x, y])
    check(ROWS[name], got, [x, y], "pairs")


@pytest.mark.parametrize(
    "name", ["exp", "exp2", "log", "log2", "log10", "tanh", "sin", "cos", "sqrt", "rint"]
)
async def test_ordinary_arguments(name: str) -> None:
    """Where most data lie: a dense sample of [-20, 20]."""
    x = np.linspace(-20, 20, 400_001, dtype=np.float32)
    check(ROWS[name], await ROWS[name](tg.asarray(x)).numpy(), [x], "[-20, 20]")


async def test_quotients_and_powers_of_small_integers_are_exact() -> None:
    i, j = (m.ravel().astype(np.float32) for m in np.meshgrid(np.arange(1, 300), np.arange(1, 300)))
    a, b = np.arange(1, 40, dtype=np.float32), np.arange(0, 9, dtype=np.float32)
    x, y = (m.ravel() for m in np.meshgrid(a, b))
    got = await tg.fetch(
        tg.divide(i * j, j), tg.power(x, y), tg.sqrt(i * i), tg.log2(tg.exp2(np.float32(range(-126, 128))))
    )
    whole = np.power(x.astype(np.float64), y)
    exact = whole <= 2**24
    np.testing.assert_array_equal(got[0], i)
    np.testing.assert_array_equal(got[1][exact], whole[exact])
    np.testing.assert_array_equal(got[2], i)
    np.testing.assert_array_equal(got[3], np.arange(-126, 128))
