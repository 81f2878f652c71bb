"""tg.backend: products, convolutions, attention and softmax over handles (OX-01 to OX-05, OX-36, OX-39 to OX-41)."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from arrays import launches
from handles import B, get, numbers, put, ready

import tabgpu as tg

# --- products -------------------------------------------------------------------------------------------------------


def stored(op: Any, ld: int) -> Any:
    """A matrix as it lies in memory: rows ld apart, the last one not padded."""
    wide = np.full((op.shape[0], ld), 7, op.dtype)
    wide[:, : op.shape[1]] = op
    return wide.reshape(-1)[: (op.shape[0] - 1) * ld + op.shape[1]]


async def check_gemm(
    backend: Any, ta: str, tb: str, m: int, n: int, k: int, pad: int, alpha: float, beta: float
) -> None:
    a, b, c = numbers(m, k), numbers(k, n), numbers(m, n)
    sa, sb = (a if ta == "N" else a.T), (b if tb == "N" else b.T)
    lda, ldb, ldc = sa.shape[1] + pad, sb.shape[1] + pad, n + pad
    ha, hb = put(backend, stored(sa, lda)), put(backend, stored(sb, ldb))
    before = stored(c if beta else np.full_like(c, np.nan), ldc)
    hc = put(backend, before, 3)
    backend.gemm(ta, tb, m, n, k, alpha, ha, lda, hb, ldb, beta, hc, ldc)
    want = np.concatenate([before, np.full(3, 99, "float32")])
    inside = (np.arange(m)[:, None] * ldc + np.arange(n)).reshape(-1)
    scale = (np.abs(a).astype(float) @ np.abs(b)).max(initial=1) * abs(alpha) + abs(beta)
    want[inside] = (alpha * (a.astype(float) @ b) + (beta * c if beta else 0)).reshape(-1)
    got = await get(backend, hc, want.size)
    outside = np.setdiff1d(np.arange(want.size), inside)
    assert np.array_equal(got[outside], want[outside], equal_nan=True), "memory beside the result"
    assert np.abs(got[inside] - want[inside]).max(initial=0) <= 1e-5 * scale
    for handle in (ha, hb, hc):
        backend.free(handle)


@pytest.mark.limits
async def test_ox_01_gemm() -> None:
    """OX-01: four transposes, padded leading dimensions, alpha, beta, k = 0; beta = 0 does not read c."""
    backend = await ready()
    for ta, tb in (("N", "N"), ("N", "T"), ("T", "N"), ("T", "T"), ("C", "N"), ("N", "C")):
        await check_gemm(backend, ta, tb, 3, 5, 4, 0, 1.0, 0.0)
        await check_gemm(backend, ta, tb, 17, 23, 13, 3, -2.0, 0.5)
    await check_gemm(backend, "N", "N", 5, 6, 0, 2, 1.0, 3.0)  # beta * c
    await check_gemm(backend, "T", "N", 5, 6, 0, 0, 1.0, 0.0)  # zeros
    await check_gemm(backend, "N", "T", 1, 1, 70, 1, 2.0, 1.0)


async def test_ox_01_known_values_and_nothing_to_do() -> None:
    """OX-01: 58 64 139 154; alpha = 2, beta = 3; m or n = 0 leaves c alone."""
    backend = await ready()
    a, b = put(backend, np.arange(1, 7, dtype="float32")), put(backend, np.arange(7, 13, dtype="float32"))
    c = put(backend, np.zeros(4, "float32"))
    backend.gemm(0, 0, 2, 2, 3, 1.0, a, 3, b, 2, 0.0, c, 2)
    assert (await get(backend, c, 4)).tolist() == [58, 64, 139, 154]
    eye, one = put(backend, np.eye(2, dtype="float32")), put(backend, np.ones(4, "float32"))
    backend.gemm("N", "N", 2, 2, 2, 2.0, eye, 2, eye, 2, 3.0, one, 2)
    assert (await get(backend, one, 4)).tolist() == [5, 3, 3, 5]
    for m, n in ((0, 2), (2, 0)):
        backend.gemm("N", "N", m, n, 2, 1.0, eye, 2, eye, 2, 0.0, one, 2)
    assert (await get(backend, one, 4)).tolist() == [5, 3, 3, 5]


async def test_ox_01_a_product_into_all_of_its_buffer_is_one_launch() -> None:
    """OX-01: alpha, beta and what is written are one launch; into a part of a buffer one more writes the part."""
    backend = await ready()
    a, b, c = put(backend, numbers(6, 5)), put(backend, numbers(5, 7)), put(backend, numbers(6, 7))
    wide = put(backend, numbers(6, 9))
    await backend.synchronize()
    for out, ldc, beta, count in ((c, 7, 0.0, 1), (c, 7, 0.5, 1), (wide, 9, 0.0, 2)):
        before = launches()
        backend.gemm("N", "N", 6, 7, 5, 2.0, a, 5, b, 7, beta, out, ldc)
        await backend.synchronize()
        assert launches() - before == count, (ldc, beta)


async def test_ox_01_chained_products_wait_for_nothing() -> None:
    """OX-01: 30 gemms on the same handles with another alpha each, one read; nothing new is compiled for an alpha."""
    backend = await ready()
    a = put(backend, np.full((8, 8), 0.25, "float32"))
    x, y = put(backend, np.ones((8, 8), "float32")), put(backend, np.zeros((8, 8), "float32"))
    for k in range(2):
        backend.gemm("N", "N", 8, 8, 8, 1.0 + k, a, 8, x, 8, 0.0, y, 8)
    await get(backend, y, 4)
    before = tg.memory()
    for k in range(30):
        backend.gemm("N", "N", 8, 8, 8, 1.0 / (k + 1), a, 8, x, 8, 0.0, y, 8)
        backend.gemm("N", "N", 8, 8, 8, 0.5, y, 8, a, 8, 0.5, x, 8)
    host = np.ones((8, 8))
    for k in range(30):
        host = 0.5 * ((np.full((8, 8), 0.25) @ host) / (k + 1)) @ np.full((8, 8), 0.25) + 0.5 * host
    assert np.allclose(await get(backend, x, (8, 8)), host, rtol=1e-5)
    after = tg.memory()
    assert after["reads"] == before["reads"] + 1
    assert after["pipelines"] - before["pipelines"] <= 2


@pytest.mark.limits
async def test_ox_02_batched_gemm() -> None:
    """OX-02: strides between batches, padded; stride 0 repeats an operand; more than 65,535 batches; batch 0."""
    backend = await ready()
    m, n, k, batch = 3, 4, 5, 6
    for stride_a, stride_b, pad_c in ((m * k + 2, k * n, 0), (0, k * n + 1, 3), (m * k, 0, 0)):
        a, b = numbers(max(1, batch) * (m * k + 2)), numbers(batch * (k * n + 1))
        c = numbers(batch * (m * n + pad_c))
        ha, hb, hc = put(backend, a), put(backend, b), put(backend, c)
        backend.batched_gemm(
            "N", "T", m, n, k, 1.5, ha, k, stride_a, hb, k, stride_b, -1.0, hc, n, m * n + pad_c, batch
        )
        want = c.copy()
        for q in range(batch):
            left = a[q * stride_a :][: m * k].reshape(m, k)
            right = b[q * stride_b :][: k * n].reshape(n, k).T
            at = slice(q * (m * n + pad_c), q * (m * n + pad_c) + m * n)
            want[at] = (1.5 * left.astype(float) @ right - c[at].reshape(m, n)).reshape(-1)
        assert np.allclose(await get(backend, hc, c.size), want, atol=1e-5)
    many = 70_000
    ha, hb, hc = (
        put(backend, np.arange(many, dtype="float32")),
        put(backend, np.float32([2])),
        backend.alloc(4 * many),
    )
    backend.batched_gemm("N", "N", 1, 1, 1, 1.0, ha, 1, 1, hb, 1, 0, 0.0, hc, 1, 1, many)
    assert np.array_equal(await get(backend, hc, many), 2 * np.arange(many, dtype="float32"))
    backend.batched_gemm("N", "N", 1, 1, 1, 1.0, ha, 1, 1, hb, 1, 0, 0.0, hc, 1, 1, 0)
    with pytest.raises(B.InvalidArgument, match=r"stride_c = 5: results of 2 x 4 with ldc 4 overlap"):
        backend.batched_gemm("N", "N", 2, 4, 1, 1.0, ha, 1, 2, hb, 4, 0, 0.0, hc, 4, 5, 2)


async def test_ox_03_gemm_f16() -> None:
    """OX-03: float16 in and out, summed in float32 and rounded once; odd sizes; transposes and leading dimensions."""
    backend = await ready()
    for ta, tb, pad in (("N", "N", 0), ("T", "N", 1), ("N", "T", 3), ("C", "T", 0)):
        m, n, k = 5, 7, 33
        a, b, c = (numbers(*s).astype("float16") for s in ((m, k), (k, n), (m, n)))
        sa, sb = (a if ta == "N" else a.T), (b if tb == "N" else b.T)
        lda, ldb, ldc = sa.shape[1] + pad, sb.shape[1] + pad, n + pad
        ha, hb, hc = (
            put(backend, stored(sa, lda)),
            put(backend, stored(sb, ldb)),
            put(backend, stored(c, ldc), 1),
        )
        backend.gemm_f16(ta, tb, m, n, k, 0.5, ha, lda, hb, ldb, 2.0, hc, ldc)
        got = await get(backend, hc, (m - 1) * ldc + n + 1, "float16")
        want = 0.5 * (a.astype(float) @ b) + 2 * c.astype(float)
        inside = np.arange(m)[:, None] * ldc + np.arange(n)
        assert np.abs(got[inside] - want).max() < 2e-2 and got[-1] == 99
    assert backend.supports_f16() and not B.Backend().supports_f16()


async def test_ox_39_gemm_mixed_precision() -> None:
    """OX-39: float16 and bfloat16 operands, stored so or rounded to nearest even on the way; float32 result."""
    backend = await ready()
    m, n, k = 6, 5, 40
    a, b = numbers(m, k), numbers(k, n)
    c = backend.alloc(4 * m * n)
    for precision in ("float16", "bfloat16"):
        dtype = getattr(tg, precision)
        ra, rb = tg.asarray(a).astype(dtype), tg.asarray(b).astype(dtype)
        want = (await ra.numpy()).astype(float) @ (await rb.numpy()).astype(float)
        ha, hb = backend.from_array(ra), backend.from_array(rb)
        backend.gemm_mixed_precision("N", "N", m, n, k, 1.0, ha, k, hb, n, 0.0, c, n, precision=precision)
        assert np.abs(await get(backend, c, (m, n)) - want).max() < 1e-4
        fa, fb = put(backend, a), put(backend, b.T)
        backend.gemm_mixed_precision(
            "N", "T", m, n, k, 1.0, fa, k, fb, k, 0.0, c, n, precision=precision, stored=False
        )
        assert np.abs(await get(backend, c, (m, n)) - want).max() < 1e-4
    with pytest.raises(B.InvalidArgument, match="precision 'int8'"):
        backend.gemm_mixed_precision("N", "N", m, n, k, 1.0, fa, k, fb, n, 0.0, c, n, precision="int8")


# --- networks -------------------------------------------------------------------------------------------------------


def convolved(x: Any, w: Any, stride: Any, pads: Any) -> Any:
    """Cross-correlation in float64, tap by tap."""
    x = np.pad(x.astype(float), ((0, 0), (0, 0), (pads[0],) * 2, (pads[1],) * 2))
    oh, ow = ((x.shape[d] - w.shape[d]) // stride[d - 2] + 1 for d in (2, 3))
    out = np.zeros((x.shape[0], w.shape[0], oh, ow))
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            part = x[:, :, i : i + stride[0] * oh : stride[0], j : j + stride[1] * ow : stride[1]][
                :, :, :oh, :ow
            ]
            out += np.einsum("ncij,kc->nkij", part, w[:, :, i, j])
    return out


CONVOLUTIONS = (
    ((1, 1, 3, 3), (1, 1, 1, 1), (1, 1), (0, 0)),
    ((2, 3, 7, 6), (4, 3, 3, 2), (1, 1), (1, 0)),
    ((1, 2, 22, 22), (3, 2, 3, 3), (2, 1), (1, 1)),
    ((2, 1, 9, 5), (2, 1, 5, 5), (3, 2), (2, 2)),
)


@pytest.mark.limits
async def test_ox_04_conv2d_forward() -> None:
    """OX-04: NCHW times KCRS, stride and padding of their own an axis; known values 45 and 54."""
    backend = await ready()
    for xs, ws, stride, pads in CONVOLUTIONS:
        x, w = numbers(*xs), numbers(*ws)
        want = convolved(x, w, stride, pads)
        hx, hw, ho = put(backend, x), put(backend, w), put(backend, np.full(want.size, 5, "float32"), 2)
        backend.conv2d_forward(hx, xs, hw, ws, ho, want.shape, stride, pads)
        got = await get(backend, ho, want.size + 2)
        assert np.allclose(got[:-2].reshape(want.shape), want, atol=1e-3) and got[-2:].tolist() == [99, 99]
        backend.conv2d_forward(hx, xs, hw, ws, ho, want.shape, stride, pads)  # does not accumulate
        assert np.allclose((await get(backend, ho, want.size)).reshape(want.shape), want, atol=1e-3)
    hx, hw, ho = (
        put(backend, np.arange(16, dtype="float32")),
        put(backend, np.ones(9, "float32")),
        backend.alloc(16),
    )
    backend.conv2d_forward(hx, (1, 1, 4, 4), hw, (1, 1, 3, 3), ho, (1, 1, 2, 2), (1, 1), (0, 0))
    assert (await get(backend, ho, 4)).tolist() == [45, 54, 81, 90]


async def test_ox_40_conv2d_backward_data() -> None:
    """OX-40: the adjoint of conv2d_forward in its input, of every size that the stride leaves open."""
    backend = await ready()
    for xs, ws, stride, pads in CONVOLUTIONS:
        w = numbers(*ws)
        out = convolved(np.zeros(xs), w, stride, pads).shape
        g = numbers(*out)
        hg, hw, hx = put(backend, g), put(backend, w), backend.alloc(4 * prod(xs))
        backend.conv2d_backward_data(hg, out, hw, ws, hx, xs, stride, pads)
        got = await get(backend, hx, xs)
        for _ in range(3):  # <conv(x), g> == <x, adjoint(g)>
            x = numbers(*xs)
            assert abs((convolved(x, w, stride, pads) * g).sum() - (x.astype(float) * got).sum()) < 1e-2


async def test_ox_41_conv2d_backward_filter() -> None:
    """OX-41: the adjoint of conv2d_forward in its filter."""
    backend = await ready()
    for xs, ws, stride, pads in CONVOLUTIONS:
        x = numbers(*xs)
        out = convolved(x, np.zeros(ws), stride, pads).shape
        g = numbers(*out)
        hg, hx, hw = put(backend, g), put(backend, x), backend.alloc(4 * prod(ws))
        backend.conv2d_backward_filter(hx, xs, hg, out, hw, ws, stride, pads)
        got = await get(backend, hw, ws)
        for _ in range(3):
            w = numbers(*ws)
            assert abs((convolved(x, w, stride, pads) * g).sum() - (w.astype(float) * got).sum()) < 1e-2


@pytest.mark.limits
async def test_ox_05_attention() -> None:
    """OX-05: scores times scale, causal top-left, other lengths of keys; 80 rows; a used output does not accumulate."""
    backend = await ready()
    for batch, heads, sq, skv, d, causal in ((2, 3, 5, 7, 4, True), (1, 2, 80, 33, 16, False)):
        q, k, v = (
            numbers(batch * heads, sq, d),
            numbers(batch * heads, skv, d),
            numbers(batch * heads, skv, d),
        )
        scores = 0.3 * np.einsum("bqd,bkd->bqk", q.astype(float), k)
        if causal:
            scores = np.where(np.arange(skv) <= np.arange(sq)[:, None], scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        want = weights / weights.sum(axis=-1, keepdims=True) @ v
        hq, hk, hv, ho = put(backend, q), put(backend, k), put(backend, v), put(backend, np.ones_like(q), 1)
        for _ in range(2):
            backend.attention(hq, hk, hv, ho, batch, heads, sq, skv, d, 0.3, causal)
        got = await get(backend, ho, q.size + 1)
        assert np.abs(got[:-1].reshape(want.shape) - want).max() < 1e-5 and got[-1] == 99
    for scale in (0.0, -1.0, float("nan"), float("inf"), True):
        with pytest.raises(B.InvalidArgument, match="scale is a positive finite number"):
            backend.attention(hq, hk, hv, ho, 1, 1, 7, 5, 8, scale)
    with pytest.raises(B.InvalidArgument, match="seq_kv 0"):
        backend.attention(hq, hk, hv, ho, 1, 1, 7, 0, 8, 1.0)
    with pytest.raises(B.UndersizedBuffer, match="attention: k"):
        backend.attention(hq, hk, hv, ho, 1, 1, 7, 500, 8, 1.0)


async def test_ox_36_softmax() -> None:
    """OX-36: any axis of a row-major shape, large values, -inf."""
    backend = await ready()
    x = numbers(3, 4, 5)
    x[0, 0, :] += 1e4
    x[1, 2, 3] = -np.inf
    for axis in range(3):
        hx, ho = put(backend, x), put(backend, np.zeros_like(x), 1)
        backend.softmax(hx, ho, (3, 4, 5), axis)
        e = np.exp(x.astype(float) - x.max(axis=axis, keepdims=True))
        got = await get(backend, ho, 61)
        assert (
            np.abs(got[:60].reshape(3, 4, 5) - e / e.sum(axis=axis, keepdims=True)).max() < 1e-5
            and got[60] == 99
        )
    with pytest.raises(B.InvalidArgument, match="axis 3 of a shape"):
        backend.softmax(hx, ho, (3, 4, 5), 3)
