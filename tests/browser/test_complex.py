"""Complex functions: errors over the plane, branch cuts, special values, and what tells complex arrays from real ones.

Run with -s to see the measured errors (docs/numerics.md lists them).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from oracle import COMPLEX_ULP, ROWS, TINY, check, close_complex, exactly

import tabgpu as tg

POINTS = 2_000 if sys.platform == "emscripten" else 40_000
PI = np.pi
inf, nan = np.inf, np.nan
UNARY = [n for n in COMPLEX_ULP if ROWS[n].nin == 1]
# Compilers take seconds for these, and they are others with their parts exchanged or scaled.
TWINS = ("arcsinh", "arccosh", "log2", "log10", "exp2", "sinh", "tan") if sys.platform == "emscripten" else ()


def names(all_of_them: Any) -> Any:
    return [pytest.param(n, marks=pytest.mark.slow if n in TWINS else ()) for n in all_of_them]


def joined(real: Any, imag: Any) -> Any:
    """complex64 of parts, infinite and signed zero ones too."""
    out = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), np.complex64)
    out.real, out.imag = real, imag
    return out


def plane(seed: int) -> dict[str, Any]:
    """Points of the whole plane: any bits, middling exponents, near 0, +-1, +-i and the unit circle, and both axes."""
    rng = np.random.default_rng(seed)
    n = POINTS
    sign = rng.choice([-1, 1], (6, n))
    close = np.exp2(rng.uniform(-24, 0, (3, n)))
    angle = rng.uniform(-PI, PI, n)
    bits = rng.integers(0, 2**32, (2, n), dtype=np.uint32).view(np.float32)
    spread = np.exp2(rng.uniform(-30, 12, (2, n))) * sign[:2]
    one = sign[2] * (1 + sign[3] * close[0]) + 1j * sign[4] * close[1]
    circle = np.exp(1j * angle) * (1 + sign[5] * close[2])
    middle, wide = rng.standard_normal((2, n)) * 3, rng.uniform(-100, 100, (2, n))
    zero = sign[0] * 0.0
    return {
        "bits": joined(*bits), "exponents": joined(*spread), "middle": joined(*middle), "wide": joined(*wide),
        "near 1": one.astype(np.complex64), "near i": (1j * one).astype(np.complex64),
        "circle": circle.astype(np.complex64), "real": joined(middle[0], zero), "imaginary": joined(zero, middle[1]),
    }  # fmt: skip


def worst(name: str, got: Any, arrays: list[Any]) -> float:
    """The greatest error in ULP of the larger part."""
    want = exactly(ROWS[name], arrays)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(want.real), np.abs(want.imag))
        usual = np.isfinite(got) & (size < 3e38) & (np.abs(got.astype(np.complex128) - want) > 2 * TINY)
        unit = np.spacing(np.where(usual, np.maximum(size, TINY), 1).astype(np.float32)).astype(np.float64)
        return float(np.where(usual, np.abs(got.astype(np.complex128) - want) / unit, 0).max(initial=0))


@pytest.mark.parametrize("name", names(UNARY))
async def test_errors_over_the_plane(name: str) -> None:
    grids = plane(len(name))
    if name in HARDWARE:
        grids = {k: without_denormals(z) for k, z in grids.items()}
    results = await tg.fetch(*[ROWS[name](tg.asarray(z)) for z in grids.values()])
    usual = dict(zip(grids, results, strict=True))
    print(f"\naccuracy: {name} {max(worst(name, usual[k], [grids[k]]) for k in grids):.2f}", end="")
    for k, z in grids.items():
        check(ROWS[name], usual[k], [z], k)


HARDWARE = ("add", "subtract", "multiply", "square")  # which may read denormal parts as zeros


def without_denormals(z: Any) -> Any:
    return joined(*[np.where(np.abs(part) < TINY, 0, part) for part in (z.real, z.imag)])


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power"])
async def test_errors_of_pairs(name: str) -> None:
    first, second = ({k: without_denormals(z) for k, z in plane(seed).items()} for seed in (1, 2))
    pairs = [(a, b) for a in first for b in ("bits", "exponents", "middle", "near 1", "real")]
    results = await tg.fetch(*[ROWS[name](tg.asarray(first[a]), tg.asarray(second[b])) for a, b in pairs])
    measured = 0.0
    for (a, b), got in zip(pairs, results, strict=True):
        x, y = first[a], second[b]
        with np.errstate(all="ignore"):  # where a product of parts overflows, so may the sum
            size = np.abs(x.astype(np.complex128)) * np.abs(y.astype(np.complex128))
            fine = size < 1e38 if name == "multiply" else np.ones(x.shape, bool)
        assert (close_complex(ROWS[name], got, [x, y]) | ~fine).all(), f"{name} {a} {b}"
        if name != "power":
            measured = max(measured, worst(name, got[fine], [x[fine], y[fine]]))
    print(f"\naccuracy: {name} {measured:.2f}", end="")


async def test_quotients_neither_overflow_nor_vanish() -> None:
    big = [3e38, 1e38, 1e20, 1, 1e-20, 2e-38]
    x = np.array([complex(a, b) for a in big for b in big], np.complex64)
    got = await tg.fetch(tg.asarray(x) / tg.asarray(x), tg.asarray(x) / tg.asarray(x * 1j), tg.reciprocal(x))
    np.testing.assert_allclose(got[0], np.ones(36), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got[1], np.full(36, -1j), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got[2], 1 / x.astype(np.complex128), rtol=1e-6, atol=1e-6 * TINY + TINY)


# --- special values -----------------------------------------------------------------------------------------------

# C99, annex G (with TC3's corrections); the array API's for expm1, log1p and tanh (inf + 2i). p is pi, ~ before a
# number: any sign.
TABLE = """
sqrt    0 0 0 0 | -0 0 0 0 | 2 inf inf inf | -2 inf inf inf | nan inf inf inf | inf inf inf inf | -inf inf inf inf
sqrt    2 nan nan nan | -inf 3 0 inf | inf 3 inf 0 | -inf nan nan ~inf | inf nan inf nan | nan 3 nan nan
exp     0 0 1 0 | -0 0 1 0 | 2 inf nan nan | 2 nan nan nan | inf 0 inf 0 | -inf 1 0 0 | -inf 2 -0 0 | -inf 4 -0 -0
exp     inf 1 inf inf | inf 2 -inf inf | inf 4 -inf -inf | -inf inf ~0 ~0 | inf inf ~inf nan | -inf nan ~0 ~0
exp     inf nan ~inf nan | nan 0 nan 0 | nan 3 nan nan | nan nan nan nan | -200 nan nan nan
expm1   0 0 0 0 | -0 0 0 0 | 2 inf nan nan | 2 nan nan nan | inf 0 inf 0 | -inf 1 -1 0 | inf 1 inf inf | inf 2 -inf inf
expm1   -inf inf -1 ~0 | inf inf ~inf nan | -inf nan -1 ~0 | inf nan ~inf nan | nan 0 nan 0 | nan 3 nan nan
log     -0 0 -inf p | 0 0 -inf 0 | 2 inf inf p/2 | 2 nan nan nan | -inf 3 inf p | inf 3 inf 0 | -inf inf inf 3p/4
log     inf inf inf p/4 | inf nan inf nan | -inf nan inf nan | nan 3 nan nan | nan inf inf nan | nan nan nan nan
log1p   -1 0 -inf 0 | 2 inf inf p/2 | 2 nan nan nan | -inf 3 inf p | inf 3 inf 0 | -inf inf inf 3p/4
log1p   0 0 0 0 | -0 0 ~0 0 | inf inf inf p/4 | inf nan inf nan | -inf nan inf nan | nan 3 nan nan | nan inf inf nan
log2    0 0 -inf 0 | 2 nan nan nan | inf 3 inf 0 | inf nan inf nan | nan inf inf nan
log10   0 0 -inf 0 | 2 nan nan nan | inf 3 inf 0 | inf nan inf nan | nan inf inf nan
sinh    0 0 0 0 | 0 inf ~0 nan | 0 nan ~0 nan | 2 inf nan nan | 2 nan nan nan | inf 0 inf 0 | inf 1 inf inf
sinh    inf 2 -inf inf | inf inf ~inf nan | inf nan ~inf nan | nan 0 nan 0 | nan 3 nan nan | nan nan nan nan
cosh    0 0 1 0 | 0 inf nan ~0 | 0 nan nan ~0 | 2 inf nan nan | 2 nan nan nan | inf 0 inf 0 | inf 1 inf inf
cosh    inf 2 -inf inf | inf inf ~inf nan | inf nan inf nan | nan 0 nan ~0 | nan 3 nan nan | nan nan nan nan
tanh    0 0 0 0 | 2 inf nan nan | 0 inf 0 nan | 2 nan nan nan | 0 nan 0 nan | inf 1 1 0 | inf 2 1 0 | inf inf 1 ~0
tanh    inf nan 1 ~0 | nan 0 nan 0 | nan 3 nan nan | nan nan nan nan | 300 1 1 0 | 20 0 1 0
arccos  0 0 p/2 -0 | -0 0 p/2 -0 | 0 nan p/2 nan | 2 inf p/2 -inf | 2 nan nan nan | -inf 3 p -inf | inf 3 0 -inf
arccos  -inf inf 3p/4 -inf | inf inf p/4 -inf | inf nan nan ~inf | -inf nan nan ~inf | nan 3 nan nan | nan inf nan -inf
arccosh 0 0 0 p/2 | -0 0 0 p/2 | 2 inf inf p/2 | 0 nan nan ~p/2 | 2 nan nan nan | -inf 3 inf p | inf 3 inf 0
arccosh -inf inf inf 3p/4 | inf inf inf p/4 | inf nan inf nan | -inf nan inf nan | nan 3 nan nan | nan inf inf nan
arcsinh 0 0 0 0 | 2 inf inf p/2 | 2 nan nan nan | inf 3 inf 0 | inf inf inf p/4 | inf nan inf nan | nan 0 nan 0
arcsinh nan 3 nan nan | nan inf ~inf nan | nan nan nan nan
arctanh 0 0 0 0 | 0 nan 0 nan | 1 0 inf 0 | 2 inf 0 p/2 | 2 nan nan nan | inf 3 0 p/2 | inf inf 0 p/2 | inf nan 0 nan
arctanh nan 3 nan nan | nan inf ~0 p/2 | nan nan nan nan
"""
ODD = ("sinh", "tanh", "arcsinh", "arctanh")
TURNED = {
    "sin": "sinh",
    "tan": "tanh",
    "arcsin": "arcsinh",
    "arctan": "arctanh",
}  # f(z) = -i g(iz): parts exchanged


TABULATED = [*dict.fromkeys(line.split()[0] for line in TABLE.strip().split("\n")), *TURNED]


def number(text: str) -> float:
    text = text.removeprefix("~")
    return {"p": PI, "p/2": PI / 2, "3p/4": 3 * PI / 4, "p/4": PI / 4}.get(text) or float(text)


def entries(name: str) -> list[list[str]]:
    lines = [line.split(None, 1)[1] for line in TABLE.strip().split("\n") if line.split()[0] == name]
    return [entry.split() for line in lines for entry in line.split("|")]


def flipped(text: str) -> str:
    if text == "nan" or text[0] == "~":
        return text
    return text[1:] if text[0] == "-" else "-" + text


def minus(text: str) -> float:
    return -number(text[1:]) if text[0] == "-" else number(text)


def assert_part(got: float, want: str, label: str) -> None:
    value = minus(want)
    if np.isnan(value):
        assert np.isnan(got), label
    elif want[0] == "~":
        assert abs(got) == abs(np.float32(value)), label
    else:
        assert abs(got - value) <= 4e-7 * abs(value) or got == value, label
        assert np.signbit(got) == np.signbit(value), label


@pytest.mark.parametrize("name", names(TABULATED))
async def test_special_values_of_c99(name: str) -> None:
    """Each line of the table, with its mirror images: f(conj z) = conj f(z), and f(-z) = -f(z) of odd functions."""
    cases = entries(TURNED.get(name, name))
    if TURNED.get(name, name) in ODD:
        cases += [[flipped(t) if k != 1 and k != 3 else t for k, t in enumerate(c)] for c in cases]
    elif name == "cosh":
        cases += [[flipped(c[0]), c[1], c[2], flipped(c[3])] for c in cases]
    cases += [[c[0], flipped(c[1]), c[2], flipped(c[3])] for c in cases]
    if name in TURNED:
        cases = [[c[1], c[0], c[3], c[2]] for c in cases]
    z = joined([minus(c[0]) for c in cases], [minus(c[1]) for c in cases])
    got = await ROWS[name](tg.asarray(z)).numpy()
    for value, case in zip(got, cases, strict=True):
        label = f"{name}({case[0]} {case[1]}j): {value}, C99 {case[2]} {case[3]}"
        assert_part(value.real, case[2], label)
        assert_part(value.imag, case[3], label)


async def test_cosine_is_cosh_turned() -> None:
    parts = [0.0, -0.0, 1.0, -2.0, inf, -inf, nan]
    z = joined(np.repeat(parts, 7), np.tile(parts, 7))
    got, want = await tg.fetch(tg.cos(z), tg.cosh(joined(-z.imag, z.real)))
    np.testing.assert_array_equal(got, want)


CUTS = {  # points on each cut, and whether it lies on the imaginary axis
    "sqrt": ([-4, -1, -1e-20, -1e20], False), "log": ([-4, -1, -1e-20, -1e20], False),
    "log1p": ([-1.5, -9, -1e10], False), "arcsin": ([1.5, -1.5, 1e10, -1e10, 1, -1], False),
    "arccos": ([1.5, -1.5, 1e10, -1e10, 1, -1], False), "arctanh": ([1.5, -1.5, 1e10, -1e10], False),
    "arccosh": ([0.5, -0.5, -3, -1e10, 1, 2], False), "arcsinh": ([1.5, -1.5, 1e10, -1e10, 1, -1], True),
    "arctan": ([1.5, -1.5, 1e10, -1e10], True), "log2": ([-4], False), "log10": ([-4], False),
}  # fmt: skip


@pytest.mark.parametrize("name", names(CUTS))
async def test_signed_zeros_choose_the_side_of_a_cut(name: str) -> None:
    at, imaginary = CUTS[name]
    v = np.repeat(np.array(at, np.float32), 2)
    zeros = np.tile([0.0, -0.0], len(at))
    z = joined(zeros, v) if imaginary else joined(v, zeros)
    near = joined(np.copysign(1e-30, zeros), v) if imaginary else joined(v, np.copysign(1e-30, zeros))
    got, beside = await tg.fetch(ROWS[name](tg.asarray(z)), ROWS[name](tg.asarray(near)))
    check(ROWS[name], got, [z], "on the cut")
    np.testing.assert_allclose(got, beside, rtol=2e-7, atol=1e-14)  # continuous from its own side
    np.testing.assert_array_equal(np.signbit(got.imag), np.signbit(exactly(ROWS[name], [z]).imag))


async def test_divisions_by_real_imaginary_zero_and_infinite_numbers() -> None:
    """A real divisor divides the parts; finite / infinite is 0 and infinite / finite infinite, as in C99."""
    x = np.repeat(joined([1, inf, nan, 3, -7, 0], [2, 1, 5, nan, 49, -3]), 4)
    d = np.tile(np.float32([2.0, -4.0, 7.0, inf]), 6)
    with np.errstate(all="ignore"):
        want, turned = joined(x.real / d, x.imag / d), joined(x.imag / d, -x.real / d)
    zeros = joined([1, 0, -1, 2], [2, 0, 0, nan])
    above = np.concatenate(
        [x, x, zeros, joined([1] * 4, 2), joined([inf, -inf, inf], [3, 1, inf]), joined([inf], 1)]
    )
    below = np.concatenate([joined(d, 0), joined(0, d), np.zeros(4), joined([inf, -inf, inf, 3], [2, inf, -inf, inf]),
                            joined([1] * 3, 2), joined([inf], 1)])  # fmt: skip
    got = await (tg.asarray(above) / tg.asarray(below)).numpy()
    for a, b in (
        (got[:24], want),
        (got[24:48], turned),
        (got[48:52], joined([inf, nan, -inf, inf], [inf, nan, nan, nan])),
    ):
        np.testing.assert_array_equal(a.real, b.real)
        np.testing.assert_array_equal(a.imag, b.imag)
    assert (got[52:56] == 0).all() and np.isinf(got[56:59]).all() and np.isnan(got[59])
    assert (tg.asarray(x) / 2.0).dtype is (1 / tg.asarray(x)).dtype is tg.complex64


async def test_powers_with_names_of_their_own() -> None:
    """x**0 is 1 for every x, 0**y is 0 or NaN by y's real part, small whole exponents are products."""
    z = joined([0, -0.0, nan, inf, 2, 0, 0], [0, 0, 1, -inf, nan, 1, -1])
    k = np.arange(-8, 9)
    w = joined([1.5, -2, 3], [2, 0.25, -1])
    exponents = np.float32([2, 3, -1, 7, 0.5, 1 / 3])
    x = np.concatenate(
        [z, np.zeros(4), np.full(17, 1j), np.repeat(w, 6), joined([1e20, 1e-20], [1e20, 1e-20])]
    )
    y = np.concatenate(
        [np.zeros(7), joined([1, 0.5, -1, 0], [0, 3, 0, 1]), k, np.tile(exponents, 3), [-2, -2]]
    )
    got = await tg.power(x.astype(np.complex64), y.astype(np.complex64)).numpy()
    np.testing.assert_array_equal(got[:7], np.ones(7))
    np.testing.assert_array_equal(got[7:11], joined([0, 0, nan, nan], [0, 0, nan, nan]))
    np.testing.assert_array_equal(got[11:28], [1j**n for n in k.tolist()])
    wide = w.astype(np.complex128)
    np.testing.assert_allclose(got[28:46], (wide[:, None] ** exponents.astype(np.float64)).ravel(), rtol=9e-7)
    assert abs(got[46]) <= TINY and np.isinf(got[47])
    np.testing.assert_allclose(await (tg.asarray(w) ** 2).numpy(), wide**2, rtol=9e-7)
    for made in (
        2 ** tg.asarray(w),
        tg.asarray([1, 2, 3]) ** tg.asarray(w),
        tg.float_power(w, 0.5),
        tg.asarray(w) ** 3,
    ):
        assert made.dtype is tg.complex64


async def test_sign_is_a_direction() -> None:
    z = joined([3, 0, -0.0, inf, -2, nan, inf, 3e38, 1e-45], [-4, 0, -0.0, 1, -inf, 1, inf, 3e38, 0])
    got = await tg.sign(z).numpy()
    half = np.sqrt(0.5)
    want = joined([0.6, 0, 0, 1, 0, nan, nan, half, 1], [-0.8, 0, 0, 0, -1, nan, nan, half, 0])
    np.testing.assert_allclose(got.real, want.real, rtol=3e-7)
    np.testing.assert_allclose(got.imag, want.imag, rtol=3e-7)


# --- predicates and parts -----------------------------------------------------------------------------------------

PARTS = np.array([0, -0.0, 1, -2.5, 1e-40, inf, -inf, nan], np.float32)
Z = joined(np.repeat(PARTS, 8), np.tile(PARTS, 8))


async def test_N22_either_part_counts() -> None:
    g = tg.asarray(Z)
    names = ["isnan", "isinf", "isfinite", "logical_not", "isreal", "iscomplex"]
    for name, got in zip(names, await tg.fetch(*[getattr(tg, n)(g) for n in names]), strict=True):
        assert got.dtype == np.bool_
        np.testing.assert_array_equal(got, getattr(np, name)(Z), err_msg=name)
    w = Z[::-1].copy()
    for name in ("equal", "not_equal", "logical_and", "logical_or", "logical_xor"):
        got = await getattr(tg, name)(g, tg.asarray(w)).numpy()
        np.testing.assert_array_equal(got, getattr(np, name)(Z, w), err_msg=name)


async def test_parts_and_moves_keep_every_bit() -> None:
    g = tg.asarray(Z)
    got = await tg.fetch(
        g.real,
        g.imag,
        tg.conj(g),
        -g,
        +g,
        tg.where(tg.isnan(g), g, 0),
        tg.complex_of(g.real, g.imag),
        g.copy(),
        g.T[::-1],
    )
    want = [Z.real, Z.imag, np.conj(Z), -Z, Z, np.where(np.isnan(Z), Z, 0), Z, Z, Z[::-1]]
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
        for part in ("real", "imag"):
            known = ~np.isnan(getattr(b, part))
            signs = np.signbit(getattr(a, part)), np.signbit(getattr(b, part))
            np.testing.assert_array_equal(signs[0][known], signs[1][known])
    x = tg.asarray(np.float32([1, -2]))
    assert x.real is x and (await x.imag.numpy()).tolist() == [0, 0]
    for dtype in ("int8", "float16", "bool"):
        assert tg.ones(2, dtype=dtype).real.dtype.name == tg.ones(2, dtype=dtype).imag.dtype.name == dtype


async def test_angle() -> None:
    z = joined(*[np.where(np.abs(part) == np.float32(1e-40), 7, part) for part in (Z.real, Z.imag)])
    real = np.float32([3, 0, -0.0, -1, inf, -inf, nan])
    got = await tg.fetch(
        tg.angle(z), tg.angle(z, deg=True), tg.angle(real), tg.angle(np.int32([1, -1])), tg.angle(1j)
    )
    with np.errstate(all="ignore"):
        want = [np.angle(z), np.angle(z, deg=True), np.angle(real), np.angle(np.int32([1, -1])), np.angle(1j)]
    for a, b in zip(got, want, strict=True):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=6e-7)
    assert tg.angle(tg.ones(2, dtype=tg.float16)).dtype is tg.float16


def test_what_is_known_from_the_dtype() -> None:
    for x in (tg.ones(2, dtype=tg.complex64), 1j, [1, 2j], np.ones(2, np.complex128), np.complex64(1)):
        assert tg.iscomplexobj(x) and not tg.isrealobj(x)
    for x in (tg.ones(2), 3, [1.5], np.ones(2), np.int8(1)):
        assert tg.isrealobj(x) and not tg.iscomplexobj(x)


async def test_rounding_replacing_and_closeness() -> None:
    z = joined([1.25, -2.5, 1e10, nan, -0.4], [0.5, 3.75, -1.5, inf, -inf])
    g = tg.asarray(z)
    others = {"nan": 1.0, "posinf": 2.0, "neginf": 3.0}
    got = await tg.fetch(
        tg.rint(g), tg.round(g), tg.round(g, 1), tg.nan_to_num(g), tg.nan_to_num(g, **others)
    )
    want = [
        np.rint(z),
        np.round(z),
        np.round(z, 1),
        np.nan_to_num(z),
        np.nan_to_num(z, **others),
    ]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.real, b.real, rtol=3e-7)
        np.testing.assert_allclose(a.imag, b.imag, rtol=3e-7)
    w = joined([1.25, -2.5, 1e10, nan, -0.4], [0.5000001, 3.7, -1.5, inf, -inf])
    for options in ({}, {"equal_nan": True}, {"rtol": 0.1}, {"rtol": 0, "atol": 0}):
        np.testing.assert_array_equal(await tg.isclose(g, w, **options).numpy(), np.isclose(z, w, **options))


REAL_ONLY = [
    "floor", "ceil", "trunc", "floor_divide", "remainder", "fmod", "less", "less_equal", "greater", "greater_equal",
    "maximum", "minimum", "fmax", "fmin", "signbit", "fabs", "cbrt", "hypot", "arctan2", "copysign", "logaddexp",
    "heaviside", "nextafter", "spacing", "deg2rad", "bitwise_and", "bitwise_not", "left_shift", "gcd", "isposinf",
]  # fmt: skip


@pytest.mark.parametrize("name", REAL_ONLY)
def test_functions_that_complex_numbers_do_not_have(name: str) -> None:
    row = ROWS[name]
    with pytest.raises(TypeError, match=f"{name}: .*complex64"):
        row(*[tg.ones(2, dtype=tg.complex64)] * row.nin)


async def test_complex_and_real_operands_mix() -> None:
    z = joined([1, -2, 0.5], [2, 0.25, -3])
    g = tg.asarray(z)
    reals = [
        np.int8([1, 2, 3]),
        np.uint16([4, 5, 6]),
        np.int32([7, -8, 9]),
        np.float16([0.5, 2, -1]),
        np.array([True, False, True]),
    ]
    for x in [*reals, np.float32([1.5, -2, 4])]:
        wide = x.astype(np.complex64)
        for a, b in zip(await tg.fetch(g + x, x * g, x - g), [z + wide, wide * z, wide - z], strict=True):
            assert a.dtype == np.complex64
            np.testing.assert_allclose(a, b, rtol=4e-7)
    assert (g / tg.asarray(reals[0])).dtype is (tg.asarray(reals[3]) / g).dtype is tg.complex64
    for x in reals:
        got = await (tg.asarray(x) * (1 - 2j)).numpy()
        assert got.dtype == np.complex64
        np.testing.assert_array_equal(got, x.astype(np.complex64) * (1 - 2j))
    got = await tg.fetch(2j * g, g - 1.5, g / 2j, g == 1 + 2j, g != z, abs(g), g * np.complex128(1j))
    for a, b in zip(got, [2j * z, z - 1.5, z / 2j, z == 1 + 2j, z != z, abs(z), z * 1j], strict=True):
        np.testing.assert_allclose(a, b, rtol=4e-7)


async def test_chains_in_one_kernel_and_any_layout() -> None:
    rng = np.random.default_rng(5)
    z = joined(*rng.standard_normal((2, 6, 7)))
    g = tg.asarray(z)
    w = z.T[::-1, ::2]
    h = g.T[::-1, ::2]
    got = await tg.fetch(
        tg.exp(1j * h.real) * tg.conj(h) + h.imag,
        (h * tg.conj(h)).real,
        tg.sqrt(h[:, :1] - h[0]),
        tg.where(h.real > 0, h, -h),
    )
    wide = w.astype(np.complex128)
    want = [np.exp(1j * wide.real) * wide.conj() + wide.imag, (wide * wide.conj()).real, np.sqrt(wide[:, :1] - wide[0]),
            np.where(wide.real > 0, wide, -wide)]  # fmt: skip
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6)
