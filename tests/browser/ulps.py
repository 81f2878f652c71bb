"""Rows against float64 oracles, measured in ULP: operands in many layouts, special values, a sweep over all exponents.

Used by the tests of special functions and activations. An oracle takes float64 arrays and is exact to well below half
an ULP of float32.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.ops.rows import Row

Oracle = Callable[..., Any]
TINY = 2.0**-126
HUGE = 3.4028234663852886e38

_VALUES = [
    0,
    1e-45,
    1e-40,
    1.17549435e-38,
    1e-30,
    1e-8,
    0.1,
    0.25,
    0.5,
    0.99999994,
    1,
    1.0000001,
    1.5,
    2,
    2.5,
    3,
    3.25,
    5,
]
_VALUES += [
    6,
    7,
    10,
    12.5,
    20,
    33,
    35,
    36,
    88,
    88.7,
    89,
    100,
    171,
    1000,
    8388608,
    1e9,
    1e20,
    3.4028235e38,
    np.inf,
]
SPECIAL = np.array([*_VALUES, *[-v for v in _VALUES], np.nan], np.float32)


def ulp_error(got: Any, want: Any) -> Any:
    """Error of float32 values against float64 ones, in spacings of the latter; inf where NaN or inf differ.

    A result that is denormal, or within some ULP of that, may be flushed to zero, and one within some ULP of overflow
    may go either way.
    """
    with np.errstate(all="ignore"):
        near = want.astype(np.float32)
        spacing = np.spacing(np.abs(np.where(np.isfinite(near), near, np.float32(1)))).astype(np.float64)
        error = np.abs(got.astype(np.float64) - want) / spacing
        unlike = (np.isnan(got) != np.isnan(want)) | ((np.isinf(got) | np.isinf(near)) & (got != near))
        edge = (
            (np.abs(want) > HUGE * (1 - 2e-6))
            & (np.abs(want) < HUGE * (1 + 2e-6))
            & (np.sign(got) == np.sign(want))
        )
        error = np.where(unlike & ~edge, np.inf, error)
        same = (np.isnan(got) & np.isnan(want)) | (got == near) | edge
        flushed = (np.abs(want) < TINY * (1 + 1e-6)) & (np.abs(got) <= TINY)
        return np.where(same | flushed, 0.0, error)


def flush(a: Any) -> Any:
    """Denormals to zero: an adapter may read operands so."""
    return np.where(np.abs(a) < TINY, np.copysign(np.float32(0), a), a)


def measure(oracle: Oracle, got: Any, operands: list[Any]) -> Any:
    """ULP errors of a result, for operands as given or with their denormals flushed, whichever is nearer."""
    with np.errstate(all="ignore"):
        errors = [
            ulp_error(got, np.asarray(oracle(*[a.astype(np.float64) for a in ops]), np.float64))
            for ops in (operands, [flush(a) for a in operands])
        ]
    return np.minimum(*errors)


def check(label: str, oracle: Oracle, bound: Any, got: Any, operands: list[Any]) -> None:
    """Fails with the worst operand if an error exceeds the bound (a number, or a function of float64 operands)."""
    operands = np.broadcast_arrays(*[np.asarray(a, np.float32) for a in operands])
    assert got.dtype == np.float32 and got.shape == operands[0].shape, f"{label}: {got.dtype} {got.shape}"
    if not got.size:
        return
    error = measure(oracle, got, operands)
    with np.errstate(all="ignore"):
        limit = bound(*[a.astype(np.float64) for a in operands]) if callable(bound) else bound
    excess = np.where(error > limit, error, -1.0)
    k = np.unravel_index(np.argmax(excess), excess.shape)
    if excess[k] >= 0:
        at = [a[k] for a in operands]
        with np.errstate(all="ignore"):
            want = np.asarray(oracle(*[a.astype(np.float64) for a in operands]))[k]
        text = f"{(error > limit).sum()} of {got.size} wrong, at {at} got {got[k]!r}, want {want!r}"
        pytest.fail(f"{label}: {text}, {error[k]} ULP")


def draw(row: Row, shape: tuple[int, ...], salt: int) -> Any:
    """Random operands from the row's domain."""
    rng = np.random.default_rng(zlib.crc32(f"{row.name} {shape} {salt}".encode()))
    lo, hi = row.domain or (-10.0, 10.0)
    return rng.uniform(lo, hi, shape).astype(np.float32)


def layouts(row: Row) -> list[tuple[str, list[Any], list[Any]]]:
    """(label, host operands, GPU operands) for each layout; the GPU's are the same view of the uploaded base."""
    views: dict[str, tuple[list[tuple[int, ...]], Any]] = {
        "random": ([(4096,)] * 3, lambda a: a),
        "odd length": ([(1021,)] * 3, lambda a: a),
        "strided": ([(24, 9)] * 3, lambda a: a[::-2, ::3]),
        "transposed": ([(5, 7), (7, 5), (5, 7)], lambda a: a.T if a.shape == (5, 7) else a),
        "broadcast": ([(5, 1), (6,), (2, 1, 1)], lambda a: a),
        "0-d": ([()] * 3, lambda a: a),
        "empty": ([(0, 3)] * 3, lambda a: a),
    }
    out = []
    for label, (shapes, view) in views.items():
        hosts = [draw(row, shapes[j], j) for j in range(row.nin)]
        out.append((label, [view(h) for h in hosts], [view(tg.asarray(h)) for h in hosts]))
    return out


def special(row: Row) -> list[Any]:
    """Special values: all pairs for two operands, a sample of all triples for three."""
    flat = [g.reshape(-1) for g in np.meshgrid(*[SPECIAL] * row.nin, indexing="ij")]
    if flat[0].size > 6000:
        pick = np.random.default_rng(7).integers(0, flat[0].size, 6000)
        flat = [f[pick] for f in flat]
    return flat


def sweep() -> Any:
    """65,536 float32 of every sign and exponent, infinities and NaN too."""
    bits = np.arange(65536, dtype=np.uint64) * 65536 + np.random.default_rng(5).integers(0, 65536, 65536)
    return bits.astype(np.uint32).view(np.float32)


async def check_row(row: Row, oracle: Oracle, bound: Any, whole: Any = None) -> None:
    """A row over all layouts, and, within `whole` (a bound; None: leave out), over special values and the sweep."""
    cases = layouts(row)
    bounds = [bound] * len(cases)
    if whole is not None:
        cases.append(("special", special(row), [tg.asarray(h) for h in special(row)]))
        bounds.append(whole)
        if row.nin == 1:
            cases.append(("sweep", [sweep()], [tg.asarray(sweep())]))
            bounds.append(whole)
    results = await tg.fetch(*[row(*given) for _, _, given in cases])
    for (label, hosts, _), limit, got in zip(cases, bounds, results, strict=True):
        check(f"{row.name} {label}", oracle, limit, np.asarray(got), hosts)
