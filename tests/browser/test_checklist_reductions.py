"""The hanzo checklist's products, softmax, rms_norm, reductions and casts (HZ-01, 02, 11, 12, 51 to 59), by id."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import nn


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 51]).standard_normal(shape) * 3).astype(np.float32)


# --- HZ-51 to HZ-55: hanzo reduced the last axis only, a thread a row ---
SHAPES = [(1,), (5, 1), (3, 33), (7, 257), (2, 3000), (300, 2), (2, 3, 65), (0, 4), (4, 3, 2, 5)]
VIEWS: dict[str, Any] = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[..., ::-1],
    "strided": lambda x: x[::2, ..., 1::3] if x.ndim > 1 else x,
    "broadcast": lambda x: (np if isinstance(x, np.ndarray) else tg).broadcast_to(x[None], (3, *x.shape)),
}
REDUCTIONS: dict[str, Any] = {
    "HZ-51 sum": "sum", "HZ-52 max": "max", "HZ-53 min": "min", "HZ-54 argmin": "argmin", "HZ-55 argmax": "argmax",
}  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("row", REDUCTIONS)
async def test_reduction(row: str) -> None:
    """HZ-51 to HZ-55: any axis of any layout, of floats and of uint32 as integers, not as the bits of floats."""
    name = REDUCTIONS[row]
    cases: list[tuple[str, tg.Array, Any, Any]] = []
    for shape in SHAPES:
        x = draw(shape)
        u = (np.abs(x) * 2e8).astype(np.uint32)
        for how, see in VIEWS.items():
            for host in (x, u) if how in ("plain", "strided") else (x,):
                view = see(host)
                for axis in {0, -1, view.ndim - 1, view.ndim // 2}:
                    if not view.shape[axis] and name != "sum":
                        continue
                    label = f"{row} {shape} {how} {axis} {host.dtype}"
                    cases.append((label, getattr(tg, name)(see(tg.asarray(host)), axis=axis), view, axis))
    for (label, _, view, axis), got in zip(cases, await tg.fetch(*[c[1] for c in cases]), strict=True):
        if name != "sum":
            np.testing.assert_array_equal(got, getattr(np, name)(view, axis=axis), err_msg=label)
        elif view.dtype == np.uint32:
            np.testing.assert_array_equal(got, view.sum(axis=axis, dtype=np.uint32), err_msg=label)
        else:
            wide, n = view.astype(np.float64), max(view.shape[axis], 1)
            bound = (np.log2(n) + 20) * 2.0**-24 * np.abs(wide).sum(axis=axis)
            assert (np.abs(got - wide.sum(axis=axis)) <= bound).all(), label
        assert got.dtype == (np.int32 if "arg" in name else view.dtype)


async def test_hz_51_to_hz_55_special_values() -> None:
    """HZ-52 to HZ-55: NaN wins, the first of equals; all -inf is -inf: no made-up identity; 0-d; empty."""
    nan, inf = np.nan, np.inf
    rows = np.float32(
        [[1, nan, 3, nan], [-inf] * 4, [inf] * 4, [2, 5, 5, 2], [-0.0, 0.0, -0.0, 0.0], [-3e38] * 4]
    )
    for name in ("max", "min", "argmax", "argmin"):
        f, g = getattr(tg, name), getattr(np, name)
        got, whole = await tg.fetch(
            f(tg.asarray(rows), axis=-1), f(tg.asarray(rows[1:2].repeat(700, 1)), axis=1)
        )
        np.testing.assert_array_equal(got, g(rows, axis=-1))
        np.testing.assert_array_equal(whole, g(rows[1:2].repeat(700, 1), axis=1))
        assert await f(tg.asarray(np.float32(7))).item() == (0 if "arg" in name else 7)
        with pytest.raises(ValueError):
            f(tg.zeros((3, 0)), axis=-1)
        assert (await f(tg.zeros((0, 3)), axis=-1).numpy()).shape == (0,)
    assert (await tg.sum(tg.zeros((3, 0)), axis=-1).tolist()) == [0, 0, 0]
    assert await tg.sum(tg.asarray(np.float32(7))).item() == 7


# --- HZ-56 to HZ-59 ---
FLOATS = np.float32(
    [-1, -0.5, 0, 0.5, 0.999, 1.5, 255.9, 256, 65535.5, 16777217, 2147483648, 3e9, 4294967040, 4.3e9, -5e9]
)


async def test_hz_56_float32_to_uint32() -> None:
    """HZ-56: truncates, negatives give 0, too large ones 2^32 - 1, NaN 0; any layout."""
    x = np.concatenate([FLOATS, np.float32([np.inf, -np.inf, np.nan])])
    want = np.clip(np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0)), 0, 2**32 - 1).astype(np.uint32)
    g = tg.asarray(x)
    a, b, c = await tg.fetch(g.astype("uint32"), g[::-2].astype("uint32"), g[:0].astype("uint32"))
    assert (
        a.dtype == np.uint32 and np.array_equal(a, want) and np.array_equal(b, want[::-2]) and c.shape == (0,)
    )


async def test_hz_57_uint32_to_float32() -> None:
    """HZ-57: rounds half to even; small integers are not mistaken for denormal floats, as hanzo does."""
    u = np.array([0, 1, 2, 3, 255, 2**24 + 1, 2**24 + 3, 2**31, 2**32 - 1, 2**32 - 128], np.uint32)
    g = tg.asarray(u)
    a, b = await tg.fetch(g.astype("float32"), tg.broadcast_to(g[::-1], (3, 10)).T.astype("float32"))
    assert np.array_equal(a, u.astype(np.float32)) and np.array_equal(
        b, np.broadcast_to(u[::-1], (3, 10)).T.astype(np.float32)
    )


NAMES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32")


async def test_hz_58_same_dtype_is_a_copy() -> None:
    """HZ-58: astype to the same dtype packs the layout, in every dtype, bits as they are."""
    bits = np.array([[1, 2, 0x7FC12345], [0x80000000, 7, 0xFFFFFFFF]], np.uint32)
    for host in (bits, bits.view(np.float32), bits.astype(np.uint8), (bits % 2000).astype(np.float16)):
        g = tg.asarray(host)
        made, flat = await tg.fetch(g.T.astype(host.dtype.name), g[:, ::-2].astype(host.dtype.name))
        assert made.dtype == host.dtype
        assert np.array_equal(made.view(f"u{host.itemsize}"), host.T.copy().view(f"u{host.itemsize}"))
        assert np.array_equal(flat, host[:, ::-2], equal_nan=host.dtype.kind == "f")


@pytest.mark.limits
@pytest.mark.parametrize("source", NAMES)
async def test_hz_59_any_other_pair(source: str) -> None:
    """HZ-59: every pair on the GPU, without a read; 16-bit targets stay 16 bits. Hanzo used the CPU."""
    x = (draw((5, 7)) * 20).astype(source)
    g, before = tg.asarray(x), int(tg.memory()["reads"])
    made = [view.astype(target) for target in NAMES for view in (g, g.T[::2])]
    assert int(tg.memory()["reads"]) == before
    results = iter(await tg.fetch(*made))
    for target in NAMES:
        for view in (x, x.T[::2]):
            got = next(results)
            wide = view.astype(np.float64)
            if np.dtype(target).kind in "iu" and np.dtype(source).kind == "f":  # saturates
                wide = np.clip(np.trunc(wide), np.iinfo(target).min, np.iinfo(target).max)
            with np.errstate(over="ignore"):
                want = wide.astype(target) if np.dtype(source).kind == "f" else view.astype(target)
            assert got.dtype == target
            np.testing.assert_array_equal(got, want, err_msg=f"{source} to {target}")


# --- HZ-01, HZ-02 ---
def near_product(got: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    a, b = a.astype(np.float64), b.astype(np.float64)
    bound = (a.shape[-1] + 8) * 2.0**-24 * (np.abs(a) @ np.abs(b)) + 1e-30
    assert got.shape == (a @ b).shape and (np.abs(got - a @ b) <= bound).all()


@pytest.mark.limits
@pytest.mark.parametrize(
    "size", [(64, 64, 64), (128, 256, 64), (96, 128, 80), (17, 33, 19), (1, 5, 7), (3, 4, 0)], ids=str
)
async def test_hz_01_matmul(size: tuple[int, int, int]) -> None:
    """HZ-01: (b, m, k) @ (b, k, n), hanzo's sizes and k = 0; operands turned, strided, repeated, empty."""
    m, n, k = size
    a, b = draw((3, m, k), 1), draw((3, k, n), 2)
    g, h = tg.asarray(a), tg.asarray(b)
    wide_a, wide_b = draw((3, 2 * m, k + 3), 3), draw((1, n, k), 4)
    cases = [
        (g @ h, a, b), (tg.matmul(g[0], h[2]), a[0], b[2]), (g[:0] @ h[:0], a[:0], b[:0]),
        (tg.asarray(wide_a)[:, ::2, 3:] @ h[::-1], wide_a[:, ::2, 3:], b[::-1]),
        (g @ tg.asarray(wide_b).mT, a, np.broadcast_to(wide_b.swapaxes(1, 2), (3, k, n))),
        (tg.asarray(a.swapaxes(1, 2).copy()).mT[..., ::-1] @ h[:, ::-1], a[..., ::-1], b[:, ::-1]),
    ]  # fmt: skip
    for got, (_, x, y) in zip(await tg.fetch(*[c[0] for c in cases]), cases, strict=True):
        near_product(got, x, y)


async def test_hz_02_matmul_nt() -> None:
    """HZ-02: x @ W.T reads W as it lies, one launch and no copy, in 2-D and in 3-D with W (1, n, k)."""
    x, w = draw((33, 40), 1), draw((50, 40), 2)
    wide = draw((3, 33, 40), 3)
    g, h, t = tg.asarray(x), tg.asarray(w), tg.asarray(wide)
    await tg.synchronize()
    for make, a in ((lambda: g @ h.T, x), (lambda: t @ h[None].mT, wide)):
        before = int(tg.memory()["launches"])
        got = await make().numpy()
        assert int(tg.memory()["launches"]) == before + 1
        near_product(got, a, w.T)
    near_product(await (g[:, 4:] @ h[::2, 4:].T).numpy(), x[:, 4:], w[::2, 4:].T)


# --- HZ-11, HZ-12 ---
@pytest.mark.limits
@pytest.mark.parametrize("shape", [(1,), (4, 7), (3, 129), (2, 3, 1024), (2, 5000), (0, 5)], ids=str)
async def test_hz_11_softmax_last_dim(shape: Any) -> None:
    """HZ-11: the last axis of any layout, large values without overflow; nothing for no rows."""
    x = draw(shape) * 30
    x.ravel()[:1] = 1e30
    given = [(x, tg.asarray(x)), (x[..., ::-1], tg.asarray(x)[..., ::-1])]
    if len(shape) > 1:
        given += [
            (x.T, tg.asarray(x).T),
            (x[..., :1].repeat(9, -1), tg.broadcast_to(tg.asarray(x)[..., :1], (*shape[:-1], 9))),
        ]
    for (host, _), got in zip(given, await tg.fetch(*[nn.softmax(g, -1) for _, g in given]), strict=True):
        assert got.shape == host.shape
        if host.size:
            e = np.exp(host.astype(np.float64) - host.max(-1, keepdims=True))
            np.testing.assert_allclose(got, e / e.sum(-1, keepdims=True), rtol=3e-5, atol=2e-38)


@pytest.mark.parametrize("n", (1, 127, 128, 129, 4096))
async def test_hz_11_softmax_of_minus_infinity(n: int) -> None:
    """HZ-11, F01: NaN for a row of -inf alone, whatever its length; one number besides takes all."""
    rows = np.full((2, n), -np.inf, np.float32)
    rows[1, n // 2] = -400
    got = await nn.softmax(tg.asarray(rows), -1).numpy()
    assert np.isnan(got[0]).all()
    assert got[1].tolist() == [float(k == n // 2) for k in range(n)]


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(5,), (4, 7), (3, 129), (2, 3, 1024), (2, 4097), (0, 5)], ids=str)
@pytest.mark.parametrize("eps", (1e-5, 0.1, 0.0))
async def test_hz_12_rms_norm(shape: Any, eps: float) -> None:
    """HZ-12: x / sqrt(mean(x^2) + eps) * alpha over the last axis, eps inside the root, any layout."""
    x, alpha = draw(shape), draw(shape[-1:], 1)
    given = [
        (x, alpha, tg.asarray(x), tg.asarray(alpha)),
        (x[..., ::-1], alpha[::-1], tg.asarray(x)[..., ::-1], tg.asarray(alpha)[::-1]),
    ]
    made = await tg.fetch(*[nn.rms_norm(g, shape[-1], w, eps) for *_, g, w in given])
    for (host, weight, *_), got in zip(given, made, strict=True):
        wide = host.astype(np.float64)
        want = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + eps) * weight
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-7)


async def test_hz_12_rms_norm_checks_alpha_and_stays_finite() -> None:
    """HZ-12, F13: an alpha of another length is an error, which hanzo did not check; 1e20 does not overflow."""
    with pytest.raises(ValueError, match=r"\(3,\)|3"):
        nn.rms_norm(tg.ones((2, 4)), 4, tg.ones(3))
    got = await nn.rms_norm(tg.full((2, 700), 1e20), 700, tg.ones(700)).numpy()
    np.testing.assert_allclose(got, 1, rtol=1e-6)
