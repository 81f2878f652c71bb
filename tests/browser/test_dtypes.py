"""Narrow dtypes: every row against NumPy (all 65,536 values of 16-bit types natively), storage, host values."""

from __future__ import annotations

import itertools
import sys
import zlib
from typing import Any

import numpy as np
import pytest
from oracle import ROWS, check, rounded

import tabgpu as tg
from tabgpu import nn, special
from tabgpu.nn import activations
from tabgpu.ops.rows import Row

TAB = sys.platform == "emscripten"
NARROW = ["int8", "uint8", "int16", "uint16", "float16", "bfloat16"]
ALL = ["bool", *NARROW, "int32", "uint32", "float32", "complex64"]
KIND = {n: "f" if "float" in n else n[0] for n in NARROW}
inf, nan = np.inf, np.nan


def host(name: str) -> Any:
    return np.dtype("float32" if name == "bfloat16" else name)


def upload(x: Any, name: str) -> tg.Array:
    return tg.asarray(x, dtype=name)


def every(name: str) -> Any:
    """All values of a narrow dtype; in the tab a sample of those of 16 bits, with both ends of each exponent."""
    if host(name).itemsize == 1:
        return np.arange(256, dtype=np.uint8).view(name)
    bits = np.arange(65536, dtype=np.uint32)
    if TAB:
        low = bits & (0x3FF if name == "float16" else 0x7F)
        ends = (low == 0) | (low == 1) | (low == (0x3FF if name == "float16" else 0x7F))
        bits = bits[ends | (bits % 61 == 0)]
    if name == "bfloat16":
        return (bits << 16).view(np.float32)
    return bits.astype(np.uint16).view(name)


def pairs(name: str) -> tuple[Any, Any]:
    """All pairs of 8-bit values, or of the extremes of 16-bit ones and many others."""
    if host(name).itemsize == 1:
        v = every(name)
        return np.repeat(v, 256), np.tile(v, 256)
    n = 3000 if TAB else 40_000
    rng = np.random.default_rng(3)
    if KIND[name] == "f":
        some = np.float32(
            [0, -0.0, 1, -1, 0.5, 1.5, 3, -7, 6e-8, -6e-5, 65504, -300, inf, -inf, nan, 1e-3, 2048, 3e4]
        )
        some = rounded(some, name)
        far = rng.choice(every(name).astype(np.float32), (2, n))
        near = rounded(rng.standard_normal((2, n)).astype(np.float32) * 4, name)
        x, y = (np.concatenate([a, b]) for a, b in zip(far, near, strict=True))
    else:
        info = np.iinfo(name)
        some = np.unique(
            [info.min, info.min + 1, 0, 1, 2, 3, 7, 15, 16, 17, 255, 256, info.max - 1, info.max]
        )
        if KIND[name] == "i":
            some = np.concatenate([some, -some[some > 0]])
        x, y = rng.integers(info.min, info.max, (2, 2 * n), endpoint=True) >> rng.integers(0, 16, (2, 2 * n))
    some = np.asarray(some)
    grid = np.repeat(some, some.size), np.tile(some, some.size)
    return tuple(np.concatenate([g, v]).astype(host(name)) for g, v in zip(grid, (x, y), strict=True))  # type: ignore


def operands(row: Row, name: str) -> list[Any]:
    if row.nin == 1:
        return [every(name)]
    x, y = pairs(name)
    if row.name == "lerp":  # differences overflow, and must not cancel
        x, y = (np.abs(np.clip(np.nan_to_num(v.astype(np.float32)), -1, 1)).astype(v.dtype) for v in (x, y))
    if row.name in ("power", "float_power") and KIND[name] == "i":
        y = np.where(y < 0, np.where(x == 0, 1, y), y).astype(
            y.dtype
        )  # 0 to a negative power: see test_differences
    return [x, y] if row.nin == 2 else [x, y, np.roll(x, 7)]


def sampled(cases: list[tuple[str, str]], part: int) -> list[Any]:
    """One case in `part`, spread over names and dtypes, is always run; the others are marked slow."""
    chosen = [zlib.crc32(f"{name} {n}".encode()) % part == 0 for name, n in cases]
    return [
        pytest.param(*case, id="-".join(case), marks=() if c else pytest.mark.slow)
        for case, c in zip(cases, chosen, strict=True)
    ]


NARROW_ROWS = [
    (name, n) for name in sorted(ROWS) for n in NARROW if not ROWS[name].operand_kinds and KIND[n] in ROWS[name].exprs
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), sampled(NARROW_ROWS, 15))
async def test_rows_on_narrow_types(name: str, dtype: str) -> None:
    """Integers wrap exactly, floats are float32's rounded: contiguous, and through a view that is neither."""
    row, hosts = ROWS[name], operands(ROWS[name], dtype)
    flat, odd = await tg.fetch(
        row(*[upload(x, dtype) for x in hosts]), row(*[upload(x[:301], dtype)[::-3] for x in hosts])
    )
    half = dtype if KIND[dtype] == "f" else ""
    wide = [x.astype(np.float32) for x in hosts] if half else hosts
    check(row, flat, wide, dtype, half)
    check(row, odd, [x[:301][::-3] for x in wide], f"{dtype} strided", half)


FLOAT_ROWS = {
    r.name: r
    for module in (special, activations)
    for r in vars(module).values()
    if isinstance(r, Row) and r.name not in ROWS and "f" in r.exprs and "i" not in (r.operand_kinds or "")
}


@pytest.mark.parametrize(
    ("name", "n"), sampled(list(itertools.product(FLOAT_ROWS, ["float16", "bfloat16"])), 15)
)
async def test_special_functions_and_activations_in_16_bits(name: str, n: str) -> None:
    """What they give in float32 (tested elsewhere), rounded."""
    row = FLOAT_ROWS[name]
    hosts = [every(n)[:: 1 if row.nin == 1 else 7].astype(np.float32)]
    hosts += [np.roll(hosts[0], 11), rounded(np.abs(np.roll(hosts[0], 5)), n)][: row.nin - 1]
    made = row(*[upload(x, n) for x in hosts])
    assert made.dtype.name == n
    got, full = await tg.fetch(made, row(*hosts))
    with np.errstate(all="ignore"):
        low, high = rounded(np.nextafter(full, -inf), n), rounded(np.nextafter(full, inf), n)
        wide = got.astype(np.float32)
        tiny = (np.abs(full) < 2.0**-126) & (np.abs(wide) < 2.0**-126)
        ok = ((wide >= low) & (wide <= high)) | (np.isnan(wide) & np.isnan(full)) | tiny
    k = np.argmin(ok)
    assert ok.all(), f"{n}: {[x[k] for x in hosts]} got {got[k]}, want {full[k]} rounded"


async def test_activations_made_of_several_rows_keep_16_bits() -> None:
    x = np.float32([-3, -0.5, 0, 0.25, 2, 40]).repeat(2)
    for n in ("float16", "bfloat16"):
        g = upload(x, n)
        calls = [
            nn.gelu,
            nn.silu,
            nn.softplus,
            nn.hardtanh,
            nn.glu,
            lambda a: nn.leaky_relu(a, 0.1),
            nn.elu,
            tg.sinc,
            tg.clip,
        ]
        made = [f(g) for f in calls]
        assert all(a.dtype.name == n for a in made)
        for a, b in zip(
            await tg.fetch(*made), await tg.fetch(*[f(tg.asarray(x)) for f in calls]), strict=True
        ):
            np.testing.assert_allclose(
                a.astype(np.float32), b, rtol=2.0 ** (-10 if n == "float16" else -7), atol=1e-7
            )


# --- storage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bool", *NARROW])
async def test_I08_packed_elements_come_back_and_leave_their_neighbours(name: str) -> None:
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65, 257):
        if name == "bool":
            x = np.arange(n) * 7 % 3 == 0
        else:
            x = np.resize(every(name)[:: max(1, len(every(name)) // n)], n)
            if name in ("int8", "int16"):
                x[: min(n, 3)] = np.array([-1, np.iinfo(name).min, np.iinfo(name).max], name)[:n]
        g = upload(x, name)
        moved = tg.where(tg.full((), True), g, g)
        got = await tg.fetch(g, moved, g[::-1], g[1:], moved[::2], tg.asarray(g, copy=True))
        for a, b in zip(got, [x, x, x[::-1], x[1:], x[::2], x], strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == host(name)
        mask = np.arange(n) % 3 == 1
        other = x[::-1].copy()
        np.testing.assert_array_equal(
            await tg.where(mask, upload(other, name), g).numpy(), np.where(mask, other, x)
        )


async def test_signs_extend() -> None:
    for n in ("int8", "int16"):
        x = np.array([-1, np.iinfo(n).min, np.iinfo(n).max, 0], n)
        g = tg.asarray(x)
        got = await tg.fetch(
            g.astype(tg.int32),
            g < 0,
            g // 2,
            g >> 1,
            g.astype(tg.float32),
            g.astype("u" + n),
            abs(g),
            -g,
            g - 1,
        )
        want = [
            x.astype("i4"),
            x < 0,
            x // 2,
            x >> 1,
            x.astype("f4"),
            x.astype("u" + n),
            abs(x),
            -x,
            x - np.array(1, n),
        ]
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype


async def test_results_wrap_and_round_within_one_kernel() -> None:
    """A chain in one launch gives what its steps would give one by one."""
    a, b = np.array([100, -100, 127, -128], np.int8), np.array([100, 100, 2, -1], np.int8)
    u = np.array([250, 3, 255, 0], np.uint8)
    h = np.array([2048, 0.1, 60000, 1e-7], np.float16)
    g, k, v, f = (tg.asarray(x) for x in (a, b, u, h))
    got = await tg.fetch(
        (g + k) // 3, (g * k) >> 1, (v + 10) // 7, (v - 1) % 16, (f + 1) - f, (f * 2) / 2, (f / 3) * 3
    )
    one, two, three = np.float16(1), np.float16(2), np.float16(3)
    with np.errstate(all="ignore"):
        want = [(a + b) // np.int8(3), (a * b) >> np.int8(1), (u + np.uint8(10)) // np.uint8(7)]
        want += [(u - np.uint8(1)) % np.uint8(16), (h + one) - h, (h * two) / two, (h / three) * three]
    for x, y in zip(got, want, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


async def test_functions_of_several_rows_on_narrow_types() -> None:
    i, u = np.array([100, -128, 127, 25, -25], np.int8), np.array([255, 0, 15, 250, 251], np.uint8)
    g, v = tg.asarray(i), tg.asarray(u)
    h = np.array([1.25, -2.5, 0.45, nan, inf, 1000], np.float16)
    f = tg.asarray(h)
    got = await tg.fetch(
        tg.isclose(g, -g, rtol=1), tg.isclose(v, u[::-1].copy(), rtol=0.02), tg.isclose(g, g, rtol=0, atol=0),
        tg.isclose(i > 0, i > 100), tg.round(g, -1), tg.round(v, -1), tg.round(g, 2), tg.round(f), tg.round(f, 1),
        tg.nan_to_num(f), tg.nan_to_num(g), tg.isclose(f, f + np.float16(0.001), rtol=0.002, equal_nan=True),
        *tg.divmod(g, 7), *tg.modf(f), tg.clip(g, -5, 100),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        want = [
            np.isclose(i, -i, rtol=1), np.isclose(u, u[::-1], rtol=0.02), np.isclose(i, i, rtol=0, atol=0),
            np.isclose(i > 0, i > 100), np.round(i, -1), np.round(u, -1), i, np.round(h), np.round(h, 1),
            np.nan_to_num(h), i, np.isclose(h, h + np.float16(0.001), rtol=0.002, equal_nan=True),
            *np.divmod(i, np.int8(7)), *np.modf(h), np.clip(i, -5, 100),
        ]  # fmt: skip
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.dtype == b.dtype, k
        np.testing.assert_array_equal(a, b, err_msg=str(k))


# --- casts and promotion ------------------------------------------------------------------------------------------


async def test_I01_I02_floats_to_narrow_integers_saturate() -> None:
    ends = [32767.5, 32768, -32769, 65535.9, 65536, 1e10, -1e10, inf, -inf, nan]
    x = np.float32([0, -0.9, 0.9, 1.5, -1.5, 127.9, 128, -128.9, -129, 255.5, 256, -1, *ends])
    for source in ("float32", "float16", "bfloat16"):
        values = x if source == "float32" else rounded(x, source)
        g = upload(values, source)
        for n in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
            info = np.iinfo(n)
            wide = np.clip(
                np.trunc(np.nan_to_num(values.astype(np.float64), posinf=1e30, neginf=-1e30)),
                info.min,
                info.max,
            )
            np.testing.assert_array_equal(
                await g.astype(n).numpy(), wide.astype(np.int64).astype(n), err_msg=f"{source} {n}"
            )


async def test_I10_casts_of_narrow_types_to_and_from_bool() -> None:
    b = np.array([True, False, True])
    for n in NARROW:
        x = np.array([0, 1, 2, 3]).astype(host(n))
        if KIND[n] == "f":
            x = np.float32([0.5, -1, nan, 0, -0.0, 6e-8]).astype(host(n))
        elif KIND[n] == "i":
            x = np.array([-1, 0, np.iinfo(n).min, 64], n)
        got = await tg.fetch(
            upload(x, n).astype(tg.bool_), tg.asarray(b).astype(n), tg.asarray(b) * upload(x[:1], n)
        )
        np.testing.assert_array_equal(got[0], x != 0)
        np.testing.assert_array_equal(got[1], b.astype(host(n)))
        np.testing.assert_array_equal(got[2], b * x[:1])
        assert got[1].dtype == got[2].dtype == host(n)


def expected(a: str, b: str) -> str | None:
    """NumPy's promotion with 32 bits in place of 64; None: TypeError."""
    if a == b:
        return a
    if "bfloat16" in (a, b):
        other = a if b == "bfloat16" else b
        return (
            "bfloat16"
            if other in ("bool", "int8", "uint8")
            else "complex64"
            if other == "complex64"
            else "float32"
        )
    found = np.promote_types(a, b).name
    return {"float64": "float32", "complex128": "complex64", "int64": None}.get(found, found)


async def test_operations_of_every_pair_of_dtypes() -> None:
    """Result dtypes and values of x + y, x * y and x == y for all 121 pairs (in the tab a fifth)."""
    values = {n: np.array([0, 1, 3], host(n)) for n in ALL}
    for n in ("int8", "int16", "int32", "float16", "bfloat16", "float32"):
        values[n] = np.array([-2, 1, 5], host(n))
    values["complex64"] = np.array([1 - 2j, 0.5, 3j], np.complex64)
    made: list[Any] = []
    wanted: list[Any] = []
    for a, b in list(itertools.product(ALL, repeat=2))[:: 5 if TAB else 1]:
        x, y = upload(values[a], a), upload(values[b], b)
        name = expected(a, b)
        if name is None:
            with pytest.raises(TypeError, match="astype"):
                tg.add(x, y)
            continue
        assert tg.result_type(x, y).name == (x + y).dtype.name == (x * y).dtype.name == name, (a, b)
        made += [x + y, x * y, x == y]
        p, q = values[a].astype(host(name)), values[b].astype(host(name))
        wanted += [p + q, p * q, p == q]
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


async def test_python_scalars_are_weak() -> None:
    for n in ALL:
        g = tg.ones(3, dtype=n)
        for scalar, kind in [(True, "b"), (2, "i"), (1.5, "f"), (1j, "c")]:
            rank = "bifc".index(kind)
            have = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}[g.dtype.kind]
            want = n if rank <= have else {"i": "int32", "f": "float32", "c": "complex64"}[kind]
            for made in (g * scalar, scalar * g):
                assert made.dtype.name == want, (n, scalar)
            if n != "bool" or kind != "b":
                value = await (scalar + g).numpy()
                np.testing.assert_array_equal(value, np.full(3, scalar + 1).astype(value.dtype))
        low = {"int8": (-129, 128), "uint8": (-1, 256), "int16": (-32769, 32768), "uint16": (-1, 65536)}.get(
            n, ()
        )
        for bad in low:
            with pytest.raises(OverflowError, match=n):
                g + bad


async def test_I16_reflected_operators_of_narrow_types() -> None:
    for n in ("int8", "uint8", "int16", "uint16", "float16"):
        x = np.array([1, 2, 3, 5], n)
        g = tg.asarray(x)
        scalar = np.dtype(n).type(2)
        made = [2 - g, scalar * g, x * g, 7 - g, scalar - g, x - g]
        want = [2 - x, scalar * x, x * x, 7 - x, scalar - x, x - x]
        if n[0] != "f":
            made += [7 // g, 7 % g, 2**g, 1 << g, 5 & g]
            want += [7 // x, 7 % x, 2**x, 1 << x, 5 & x]
        for a, b in zip(await tg.fetch(*made), want, strict=True):
            assert a.dtype == b.dtype == n
            np.testing.assert_array_equal(a, b)


# --- host values --------------------------------------------------------------------------------------------------

HOSTS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
WIDE = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


@pytest.mark.parametrize("order", ["<", ">"])
async def test_host_arrays_of_every_dtype_and_byte_order(order: str) -> None:
    made, wanted = [], []
    for code in HOSTS:
        x = np.array([[0, 1, 2], [3, 5, 100]]).astype(np.dtype(code).newbyteorder(order))
        if x.dtype.kind in "ifc":
            x[1, 1] = -7
        for view in (x, x.T, x[:, ::-1], x[1:, :0], x[1, 2]):
            name = np.dtype(code).name
            made.append(tg.asarray(view))
            wanted.append(np.asarray(view).astype(WIDE.get(name, name)))
    for got, want in zip(await tg.fetch(*made), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


async def test_I14_64_bit_values_into_narrow_dtypes() -> None:
    for n in ("int8", "uint8", "int16", "uint16"):
        info = np.iinfo(n)
        fits = np.array([info.min, info.max, 1])
        np.testing.assert_array_equal(await tg.asarray(fits, dtype=n).numpy(), fits)
        for bad in (info.min - 1, info.max + 1, 2**40):
            for given in (bad, [0, bad], np.array([bad], np.int64)):
                with pytest.raises(OverflowError, match=str(bad)):
                    tg.asarray(given, dtype=n)
    with pytest.raises(OverflowError, match="5000000000"):
        tg.asarray(np.array([5_000_000_000], np.int64), dtype=tg.int16)


async def test_floats_become_16_bits_rounded_once() -> None:
    """Directly from float64, and for bfloat16 on the host as on the GPU."""
    x = np.array(
        [
            1 + 2.0**-11 + 2.0**-30,
            65519.99,
            65520,
            1e-8,
            2.0**-25,
            2.0**-25 * 1.01,
            -0.0,
            inf,
            nan,
            0.1,
            1e300,
        ]
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(await tg.asarray(x, dtype=tg.float16).numpy(), x.astype(np.float16))
        y = x.astype(np.float32)
    made = [
        tg.asarray(y, dtype=tg.bfloat16),
        tg.asarray(y).astype(tg.bfloat16),
        tg.asarray(y).astype(tg.float16),
    ]
    got = await tg.fetch(*made)
    np.testing.assert_array_equal(got[0], rounded(y, "bfloat16"))
    np.testing.assert_array_equal(got[1], got[0])
    np.testing.assert_array_equal(got[2], rounded(y, "float16"))
    full = tg.full(3, 0.1, dtype=tg.bfloat16)
    assert (await full.numpy()).tolist() == [0.10009765625] * 3 and full.nbytes == 6


async def test_wider_floats_of_the_host() -> None:
    for name, want in (("longdouble", np.float32), ("clongdouble", np.complex64)):
        x = np.array([1.25, -3, 1e10], name)
        got = await tg.asarray(x).numpy()
        assert got.dtype == want
        np.testing.assert_array_equal(got, x.astype(want))


async def test_bfloat16_of_ml_dtypes() -> None:
    ml = pytest.importorskip("ml_dtypes")
    x = np.array([1.5, -2.25, 3e38, 1e-40, inf], ml.bfloat16)
    g = tg.asarray(x)
    assert g.dtype is tg.bfloat16
    np.testing.assert_array_equal(await g.numpy(), x.astype(np.float32))
    assert tg.asarray([1, 2], dtype=ml.bfloat16).dtype is tg.bfloat16


async def test_creation_in_bfloat16() -> None:
    b = tg.bfloat16
    thirds, whole = np.linspace(0, 1, 4, dtype="f4"), np.arange(250, 262, dtype="f4")
    cases = [
        (tg.zeros(3, dtype=b), np.zeros(3)), (tg.ones((), dtype="bfloat16"), np.ones(())),
        (tg.eye(2, dtype=b), np.eye(2)), (tg.asarray([True, 7], dtype=b), np.array([1, 7])),
        (tg.arange(5, dtype=b), np.arange(5)), (tg.arange(250, 262, dtype=b), rounded(whole, "bfloat16")),
        (tg.linspace(0, 1, 4, dtype=b), rounded(thirds, "bfloat16")),
        (tg.full_like(tg.ones((0, 2), dtype=b), 3), np.ones((0, 2))),
    ]  # fmt: skip
    for (made, want), got in zip(cases, await tg.fetch(*[m for m, _ in cases]), strict=True):
        assert made.dtype is b and got.dtype == np.float32 and got.shape == want.shape
        np.testing.assert_array_equal(got, want)
