"""Each row of the elementwise table against NumPy: every kind, layouts, scalars, special values. Runs in the tab."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from oracle import ROWS, TINY, check

import tabgpu as tg
from tabgpu.ops import elementwise
from tabgpu.ops.rows import Row

NUMPY = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32, "c": np.complex64}
SCALARS = {"b": True, "i": 3, "u": 3, "f": 1.5, "c": 1.5 - 0.5j}

SPECIAL = {
    "f": np.array(
        [0, 1e-45, 1e-40, TINY, 1e-8, 0.3, 0.5, 1, 1.5, 2, 2.5, 3, 10, 88.7, 89, 127, 128, 149.5, 8388609]
        + [16777215, 3e9, 1e20, 3.4028235e38, np.inf, np.nan],
        np.float32,
    ),
    "i": np.array([0, 1, 2, 3, 7, 31, 32, 33, 40, 255, 65536, 46341, 2**30, 2**31 - 1], np.int32),
    "u": np.array([0, 1, 2, 3, 7, 31, 32, 33, 255, 65537, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1], np.uint32),
    "b": np.array([False, True]),
}
SPECIAL["f"] = np.concatenate([SPECIAL["f"], -SPECIAL["f"]])
SPECIAL["i"] = np.concatenate([SPECIAL["i"], -SPECIAL["i"], np.array([-(2**31)], np.int32)])
PARTS = np.array([0, 1, -1, 0.5, -2, 3.25, -1e-20, 1e10, 40, -0.0, 1e-3], np.float32)
SPECIAL["c"] = (
    (PARTS[:, None] + 1j * PARTS).reshape(-1).astype(np.complex64)
)  # not finite ones: test_complex.py
CHEAP = (
    "add",
    "subtract",
    "multiply",
    "negative",
    "conjugate",
    "absolute",
    "equal",
    "where",
    "real",
    "isnan",
)
# Random operands are such that nothing cancels; special values would.
NO_SPECIALS = {"lerp"}


def draw(row: Row, kind: str, shape: tuple[int, ...], salt: int) -> Any:
    """Random operands: integers of all sizes, floats from the row's domain."""
    rng = np.random.default_rng(zlib.crc32(f"{row.name} {kind} {shape} {salt}".encode()))
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind == "f":
        lo, hi = row.domain or (-30.0, 30.0)
        return rng.uniform(lo, hi, shape).astype(np.float32)
    if kind == "c":
        return (rng.standard_normal((*shape, 2)) * 3).astype(np.float32).view(np.complex64)[..., 0]
    lo, hi = (-(2**31), 2**31) if kind == "i" else (0, 2**32)
    whole = rng.integers(lo, hi, shape) >> rng.integers(0, 32, shape)
    return whole.astype(NUMPY[kind])


def kinds_of(row: Row, kind: str) -> str:
    pattern = row.operand_kinds or "*" * row.nin
    return "".join(kind if p == "*" else p for p in pattern)


def special_operands(row: Row, kinds: str) -> list[Any]:
    """All pairs of special values; for three operands a fixed sample of all triples."""
    grids = np.meshgrid(*[SPECIAL[k] for k in kinds], indexing="ij")
    flat = [g.reshape(-1) for g in grids]
    if flat[0].size > 4096:
        pick = np.random.default_rng(7).integers(0, flat[0].size, 4096)
        flat = [f[pick] for f in flat]
    return flat


def layouts(row: Row, kinds: str) -> list[tuple[str, list[Any], list[Any]]]:
    """(label, host arrays, GPU arrays) for each layout, the GPU's made by the same view of the uploaded base."""
    views: dict[str, tuple[list[tuple[int, ...]], Any]] = {
        "random": ([(1021,)] * 3, lambda a: a),
        "strided": ([(24, 9)] * 3, lambda a: a[1::2, ::3]),
        "reversed": ([(130,)] * 3, lambda a: a[::-1]),
        "transposed": ([(5, 7), (7, 5), (5, 7)], lambda a: a.T if a.shape == (5, 7) else a),
        "broadcast": ([(5, 1), (6,), (2, 1, 1)], lambda a: a),
        "0-d": ([()] * 3, lambda a: a),
        "empty": ([(0, 3)] * 3, lambda a: a),
    }
    out = []
    for label, (shapes, view) in views.items():
        hosts = [draw(row, k, shapes[j], j) for j, k in enumerate(kinds)]
        out.append((label, [view(h) for h in hosts], [view(tg.asarray(h)) for h in hosts]))
    if row.nin == 1:
        host = draw(row, kinds, (1, 6), 5)
        out.append(("repeated", [np.broadcast_to(host, (4, 6))], [tg.broadcast_to(tg.asarray(host), (4, 6))]))
    if row.name not in NO_SPECIALS or kinds[-1] != "f":
        hosts = special_operands(row, kinds)
        out.append(("special", hosts, [tg.asarray(h) for h in hosts]))
    return out


def scalars(row: Row, kinds: str) -> list[tuple[str, list[Any], list[Any]]]:
    """A Python scalar in each place, with an array in another."""
    out = []
    for j in range(row.nin if row.nin > 1 else 0):
        k = (j + 1) % row.nin
        if row.operand_kinds and row.operand_kinds[j] == "b":
            continue  # a Python bool as the condition of where is tested by hand
        hosts = [draw(row, kind, (33,), 9) for kind in kinds]
        hosts[j] = np.asarray(SCALARS[kinds[j]], NUMPY[kinds[j]])
        given = [SCALARS[kinds[i]] if i == j else tg.asarray(h) for i, h in enumerate(hosts)]
        out.append((f"scalar {j} with array {k}", hosts, given))
    return out


@pytest.mark.parametrize("name", sorted(ROWS))
async def test_row(name: str) -> None:
    row = ROWS[name]
    cases = []
    for kind in set(row.exprs) & set(NUMPY):
        kinds = kinds_of(row, kind)
        found = layouts(row, kinds) + scalars(row, kinds)
        if "c" in kinds:  # large kernels; test_complex.py has other layouts
            found = [case for case in found if case[0] in ("random", "special") or row.name in CHEAP]
        cases += [(f"{kinds} {label}", hosts, given) for label, hosts, given in found]
    results = [row(*given) for _, _, given in cases]
    for (label, hosts, _), got in zip(cases, await tg.fetch(*results), strict=True):
        check(row, np.asarray(got), hosts, label)


@pytest.mark.parametrize("name", sorted(n for n, r in ROWS.items() if not r.operand_kinds))
async def test_other_kinds_are_promoted_or_refused(name: str) -> None:
    row = ROWS[name]
    for kind in "biu":
        if kind in row.exprs:
            continue
        hosts = [draw(row, kind, (37,), j) for j in range(row.nin)]
        target = {"float": "f", "int": "i" if kind == "b" else None}.get(row.promoted or "")
        if target is None:
            with pytest.raises(TypeError, match=name):
                row(*hosts)
            continue
        check(
            row,
            await row(*hosts).numpy(),
            [h.astype(NUMPY[target]) for h in hosts],
            f"{kind} promoted to {target}",
        )
    if "f" not in row.exprs:
        with pytest.raises(TypeError, match="float32"):
            row(*[np.ones(3, np.float32)] * row.nin)


async def test_mixed_kinds() -> None:
    b, i, f = (
        np.array([True, False, True]),
        np.array([1, -7, 2**24 + 1], np.int32),
        np.float32([0.5, -1.5, 2.0]),
    )
    u = np.array([1, 2**31, 3], np.uint32)
    pairs = [
        (tg.add(b, i), b + i), (tg.multiply(i, f), i.astype(np.float32) * f), (tg.add(u, f), u.astype(np.float32) + f),
        (tg.maximum(b, u), np.maximum(b, u)), (tg.less(b, f), b < f), (tg.divide(i, b), None),
        (tg.where(b, i, f), np.where(b, i.astype(np.float32), f)), (tg.where(f, 1, 0), np.where(f, 1, 0)),
        (tg.where(True, tg.asarray(f), 0.0), f),
        (tg.where(tg.asarray(i), 2.5, tg.asarray(i)), np.full(3, 2.5, np.float32)),
    ]  # fmt: skip
    got = await tg.fetch(*[a for a, _ in pairs])
    for a, (_, want) in zip(got, pairs, strict=True):
        if want is not None:
            np.testing.assert_array_equal(a, want)
    with pytest.raises(TypeError, match="int32 with uint32|uint32 with int32"):
        tg.add(i, u)


async def test_functions_of_several_rows() -> None:
    x = np.float32([2.5, -3.75, 0.0, -0.0, 1e-45, 7.0, np.inf, np.nan])
    y = np.float32([1.0, 2.0, 3.0, -2.0, 1.0, -2.0, 5.0, 5.0])
    g, h = tg.asarray(x), tg.asarray(y)
    with np.errstate(all="ignore"):
        for ours, theirs in [
            (tg.divmod(g[:6], h[:6]), np.divmod(x[:6], y[:6])),
            (tg.divmod(g[7:], h[7:]), np.divmod(x[7:], y[7:])),  # not inf: see floor_divide in oracle.py
            (tg.modf(g), np.modf(x)),
            (tg.frexp(g[:6]), np.frexp(x[:6])),
        ]:
            for a, b in zip(await tg.fetch(*ours), theirs, strict=True):
                np.testing.assert_array_equal(a, b)
                assert a.dtype == b.dtype
    e = await tg.frexp(g)[1].numpy()
    assert e.dtype == np.int32


async def test_clip_forms() -> None:
    x = np.float32([-3, -0.5, 0.5, 3, np.nan])
    g = tg.asarray(x)
    got = await tg.fetch(
        tg.clip(g, -1, 1), tg.clip(g, None, 1), tg.clip(g, min=0.25), tg.clip(g), tg.clip(g, 2, 1)
    )
    want = [np.clip(x, -1, 1), np.minimum(x, 1), np.maximum(x, np.float32(0.25)), x, np.clip(x, 2, 1)]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


async def test_round_decimals() -> None:
    f = np.float32([0.125, 1.25, -2.675, 1234.5, -0.5, 2.5, 1e-7])
    i = np.array([15, 25, -15, -25, 149, 150, -(2**31), 2**31 - 1], np.int32)
    g, k = tg.asarray(f), tg.asarray(i)
    got = await tg.fetch(
        tg.round(g), tg.round(g, 1), tg.round(g, -2), tg.round(k, -1), tg.round(k, 3), tg.round(k, -12)
    )
    for a, b in zip(got[:3], [np.round(f), np.round(f, 1), np.round(f, -2)], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-7)
    tens = np.round(i.astype(np.float64), -1)
    np.testing.assert_array_equal(got[3], tens.astype(np.int64).astype(np.int32))
    np.testing.assert_array_equal(got[4], i)
    np.testing.assert_array_equal(got[5], 0 * i)


async def test_power_with_python_exponents() -> None:
    f, i = np.float32([-2.0, 0.0, 1.1, 3.3]), np.array([-3, 0, 5], np.int32)
    g, k = tg.asarray(f), tg.asarray(i)
    got = await tg.fetch(g**2, k**2, 2 ** k[2:], tg.power(g, 3), k**0)
    for a, b in zip(got, [f * f, i * i, np.array([32], np.int32), f**3, i**0], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-7)
        assert a.dtype == b.dtype
    with pytest.raises(ValueError, match="negative"):
        k**-1


async def test_isclose() -> None:
    x = np.float32([1, 1, np.inf, np.inf, np.nan, 0, 1e10])
    y = np.float32([1.000001, 1.1, np.inf, -np.inf, np.nan, 1e-9, 1.00001e10])
    got = await tg.fetch(tg.isclose(x, y), tg.isclose(x, y, equal_nan=True), tg.isclose(x, y, rtol=0.2))
    for a, b in zip(
        got, [np.isclose(x, y), np.isclose(x, y, equal_nan=True), np.isclose(x, y, rtol=0.2)], strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_operands_are_counted() -> None:
    with pytest.raises(TypeError, match="2 operands"):
        elementwise.add(tg.zeros(3))
    with pytest.raises(ValueError, match="add"):
        elementwise.add(tg.zeros(3), tg.zeros(4))
