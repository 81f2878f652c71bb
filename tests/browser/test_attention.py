"""scaled_dot_product_attention against float64: shapes, masks, causal forms, shared heads, layouts, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attention_reference import attention, draw, form, near, operands, up  # noqa: F401  # form: a fixture
from forms import taking

import tabgpu as tg
from tabgpu.nn import scaled_dot_product_attention as sdpa


def launched() -> int:
    return tg.device().counters.launches


SHAPES = [
    ((), 1, 1, 1, 1), ((), 3, 5, 4, 2), ((2,), 70, 90, 32, 32), ((1, 2), 130, 67, 64, 64), ((2, 2), 17, 33, 20, 7),
    ((3,), 40, 50, 100, 33), ((1,), 33, 37, 200, 256), ((2,), 20, 70, 128, 96), ((2,), 5, 9, 300, 270),
    ((2, 1, 2), 1, 150, 64, 64), ((2,), 8, 290, 48, 20), ((1,), 2, 1500, 32, 32), ((1,), 20, 1100, 16, 16),
    ((3, 2), 3, 3, 3, 3), ((), 4, 200, 301, 300),  # the last: more rounds than Mesa's CPU driver gives a thread
]  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("shape", SHAPES, ids=str)
async def test_shapes(shape: Any, form: str) -> None:
    q, k, v = operands(*shape)
    near(await sdpa(*up(q, k, v)).numpy(), q, k, v)


async def test_forms_of_a_gpu() -> None:
    """A tile and few rows, keys cut in chunks, once each, with masks and lengths."""
    with taking("portable"):
        q, k, v = operands((2,), 20, 600, 40, 36)
        at, mask = np.array([512, 0], np.int32), draw((20, 600), 4) > -0.5
        got = await sdpa(*up(q, k, v, mask), kv_length=tg.asarray(at)).numpy()
        near(got, q, k, v, mask=mask, lengths=at)
        q, k, v = operands((2,), 1, 300, 16, 16)
        mask = np.where(draw((1, 300), 4) > 0, draw((1, 300), 5), -np.inf).astype(np.float32)
        near(await sdpa(*up(q, k, v, mask)).numpy(), q, k, v, mask=mask)


MASKS = [
    (5, 70), (1, 1, 5, 70), (2, 1, 5, 70), (2, 3, 5, 70), (2, 1, 1, 70), (1, 3, 1, 70), (2, 3, 5, 1), (1, 70), (70,),
    (3, 1, 1), (),
]  # fmt: skip


@pytest.mark.parametrize("shape", MASKS, ids=str)
async def test_masks_of_each_broadcast_shape(shape: Any, form: str) -> None:
    """F08: equal to the expanded mask, bools and floats, few rows and tiles of them."""
    for length in (5, 20):
        at = tuple(length if n == 5 else n for n in shape)
        q, k, v = operands((2, 3), length, 70, 32, 32)
        bools = np.asarray(draw(at, 4) > -0.5)
        floats = np.where(bools, draw(at, 5), -np.inf).astype(np.float32)
        for mask in (bools, floats):
            full = np.broadcast_to(mask, (2, 3, length, 70))
            near(await sdpa(*up(q, k, v, mask)).numpy(), q, k, v, mask=full)


async def test_masked_rows_are_zero(form: str) -> None:
    """F07: a row without visible keys is 0 and poisons nobody, bools and floats, few rows and tiles."""
    for length in (3, 40):
        q, k, v = operands((2,), length, 50, 16, 16)
        bools = np.ones((length, 50), bool)
        bools[1] = False
        for mask in (bools, np.where(bools, 0, -np.inf).astype(np.float32)):
            got = await sdpa(*up(q, k, v, mask)).numpy()
            assert not got[:, 1].any() and np.isfinite(got).all()
            near(got, q, k, v, mask=mask)
        assert not (await sdpa(*up(q, k, v, np.zeros((1, 1), bool))).numpy()).any()


async def test_lowest_floats_as_masks(form: str) -> None:
    """A row of the lowest float32 alone is the mean of the values, as adding it makes all scores equal."""
    q, k, v = operands((2,), 20, 33, 16, 16)
    mask = np.where(draw((20, 33), 4) > 0, 0, np.finfo(np.float32).min).astype(np.float32)
    mask[:, 5] = 0
    mask[3] = np.finfo(np.float32).min
    got = await sdpa(*up(q, k, v, mask)).numpy()
    want = attention(q, k, v, mask=mask)
    want[:, 3] = v.astype(np.float64).mean(-2)
    assert np.allclose(got, want, atol=2e-6)


@pytest.mark.parametrize(("length", "keys"), [(2, 3), (10, 15), (15, 10), (70, 130), (4, 400), (130, 70)])
async def test_ox_05_attention_top_left(length: int, keys: int, form: str) -> None:
    """OX-05: [B*H, Sq, D], scores multiplied by scale, causal: keys above the query's index are hidden."""
    q, k, v = operands((4,), length, keys, 24, 24)
    for scale in (0.125, 2.0):
        plain, masked, named = await tg.fetch(
            sdpa(*up(q, k, v), scale=scale),
            sdpa(*up(q, k, v), None, 0.0, True, scale),
            sdpa(*up(q, k, v), scale=scale, causal="top_left"),
        )
        near(plain, q, k, v, scale=scale)
        near(masked, q, k, v, scale=scale, causal="top_left")
        assert np.array_equal(masked, named)


async def test_ox_05_uniform_and_dominant_keys(form: str) -> None:
    q, k, v = np.zeros((1, 2, 4), np.float32), draw((1, 3, 4)), draw((1, 3, 4), 1)
    assert np.allclose(await sdpa(*up(q, k, v)).numpy(), v.mean(1, keepdims=True), atol=1e-6)
    q, k = np.full((1, 2, 4), 10, np.float32), np.zeros((1, 3, 4), np.float32)
    k[0, 1] = 10
    assert np.allclose(await sdpa(*up(q, k, v)).numpy(), v[:, 1:2], atol=1e-6)


@pytest.mark.parametrize(
    "shape",
    [(8, 16, 16, 128), (8, 1, 64, 128), (4, 7, 13, 64), (4, 4, 2, 64), (2, 70, 40, 256), (2, 40, 170, 32)],
    ids=str,
)  # fmt: skip
async def test_hz_10_flash_attn_bottom_right(shape: Any, form: str) -> None:
    """HZ-10: [BH, Lq, D] and [BH, Lk, D], key j visible if j <= i + Lk - Lq; rows without keys are 0; D to 256."""
    heads, length, keys, dims = shape
    q, k, v = operands((heads,), length, keys, dims, dims)
    for scale in (None, 0.3):
        got = await sdpa(*up(q, k, v), scale=scale, causal="bottom_right").numpy()
        near(got, q, k, v, scale=scale, causal="bottom_right")
        assert not got[:, : max(0, length - keys)].any()
    near(await sdpa(*up(q, k, v)).numpy(), q, k, v)


@pytest.mark.parametrize("length", [1, 3, 30])
@pytest.mark.parametrize("shared", [1, 2])
async def test_shared_heads(length: int, shared: int, form: str) -> None:
    """Keys and values of fewer heads are read in place: no launch expands them."""
    q, k, v = operands((2, 6), length, 70, 32, 24, (2, shared))
    mask = draw((2, 6, length, 70), 4) > -0.5
    g = up(q, k, v, mask)
    before = launched()
    got = await sdpa(*g, enable_gqa=True, causal="bottom_right").numpy()
    assert launched() == before + 1
    wide = [np.repeat(x, 6 // shared, 1) for x in (k, v)]
    near(got, q, *wide, mask=mask, causal="bottom_right")
    if shared == 1:
        near(await sdpa(*g[:3]).numpy(), q, *wide)


async def test_views_are_read_in_place(form: str) -> None:
    """Heads out of a packed projection, keys that lie along the sequence, reversed and broadcast ones: one launch; the
    heads of the result are joined without a copy."""
    packed = draw((2, 40, 3, 4, 32))
    g = tg.asarray(packed)
    q, k, v = (g[:, :, n].transpose(0, 2, 1, 3) for n in range(3))
    before = launched()
    joined = sdpa(q, k, v).transpose(0, 2, 1, 3).reshape(2, 40, 128)
    got = await joined.numpy()
    assert launched() == before + 1
    host = [packed[:, :, n].transpose(0, 2, 1, 3) for n in range(3)]
    near(got.reshape(2, 40, 4, 32).transpose(0, 2, 1, 3), *host)
    a, b, c = operands((2, 3), 30, 40, 32, 24)
    turned = np.ascontiguousarray(np.swapaxes(b, -1, -2))
    ga, gb, gc = up(a, turned, c)
    cases = [
        ((ga, gb.mT, gc), (a, b, c)),
        (
            (ga[:, :, ::-1, ::2], gb.mT[..., ::2], gc[..., ::-1]),
            (a[:, :, ::-1, ::2], b[..., ::2], c[..., ::-1]),
        ),
        ((ga[:1], gb.mT, gc[:, :, :, 3:20]), (a[:1], b, c[:, :, :, 3:20])),
        ((ga[:, :1], gb.mT[0], gc[1]), (a[:, :1], b[0], c[1])),
        ((ga[0, 0], gb.mT, gc), (a[0, 0], b, c)),
    ]
    for device, arrays in cases:
        before = launched()
        got = await sdpa(*device).numpy()
        assert launched() <= before + 2  # a result that is not in order is packed for the read
        near(got, *arrays)


async def test_many_leading_axes(form: str) -> None:
    """Broadcast leading axes that do not merge into four are copied first."""
    q, k, v = draw((2, 1, 2, 1, 2, 5, 8), 1), draw((2, 1, 2, 1, 9, 8), 2), draw((2, 1, 1, 1, 2, 2, 9, 8), 3)
    mask = draw((2, 1, 2, 2, 1, 1, 9), 4) > -0.5
    got = await sdpa(*up(q, k, v, mask)).numpy()
    near(got, q, k, v, mask=np.broadcast_to(mask, (2, 2, 2, 2, 2, 2, 5, 9)))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
async def test_narrow_floats(name: str, form: str) -> None:
    """Computed in float32, rounded once."""
    for shape in [((2,), 30, 70, 32, 32), ((2,), 3, 130, 20, 7)]:
        made = [x.astype(name) for x in up(*operands(*shape))]
        host = [(await x.astype(tg.float32).numpy()) for x in made]
        out = sdpa(*made, is_causal=True)
        assert out.dtype.name == name
        unit = 2.0**-8 if name == "bfloat16" else 2.0**-11
        near(await out.astype(tg.float32).numpy(), *host, unit=unit, causal="top_left")
        mask = draw((1, shape[2]), 4)
        got = sdpa(*made, tg.asarray(mask).astype(name))
        mask = await tg.asarray(mask).astype(name).astype(tg.float32).numpy()
        near(await got.astype(tg.float32).numpy(), *host, unit=unit, mask=mask)


@pytest.mark.parametrize("length", [1, 4, 20])
async def test_lengths(length: int, form: str) -> None:
    """A cache that is not full yet: an int, or lengths on the device; what lies behind them is never used."""
    q, k, v = operands((3, 2), length, 300, 32, 32)
    at = np.array([300, 41, 0], np.int32)
    for n in (0, 7, 300):
        for causal in ("", "bottom_right"):
            got = await sdpa(*up(q, k, v), kv_length=n, causal=causal or None).numpy()
            near(got, q, k[:, :, :n], v[:, :, :n], causal=causal) if n else None
            assert n or not got.any()
    for b, n in enumerate(at):
        k[b, :, n:] = 1e30
        v[b, :, n:] = 1e30
    for causal in ("", "bottom_right", "top_left"):
        got = await sdpa(*up(q, k, v), kv_length=tg.asarray(at), causal=causal or None).numpy()
        near(got, q, np.where(k > 1e29, 0, k), np.where(v > 1e29, 0, v), lengths=at, causal=causal)
    heads = np.array([[1, 2], [3, 4], [5, 300]], np.int32)
    k, v = operands((3, 2), length, 300, 32, 32)[1:]
    near(
        await sdpa(*up(q, k, v), kv_length=tg.asarray(heads.astype(np.int32))).numpy(),
        q,
        k,
        v,
        lengths=heads.astype(int),
    )


async def test_softcap(form: str) -> None:
    for length in (2, 30):
        q, k, v = operands((2,), length, 40, 16, 16)
        mask = draw((length, 40), 4) > -1
        for cap in (0.5, 30.0):
            got = await sdpa(*up(q * 5, k, v, mask), softcap=cap).numpy()
            near(got, q * 5, k, v, mask=mask, softcap=cap)


async def test_large_scores_and_scales(form: str) -> None:
    q, k, v = operands((2,), 20, 40, 16, 16)
    for factor in (30.0, 1e4):
        near(await sdpa(*up(q * np.float32(factor), k, v)).numpy(), q * np.float32(factor), k, v)
    for scale in (0.0, -1.5):
        near(await sdpa(*up(q, k, v), scale=scale).numpy(), q, k, v, scale=scale)


async def test_empty_operands_and_other_inputs() -> None:
    q, k, v = operands((2,), 3, 0, 4, 5)
    assert not (await sdpa(*up(q, k, v)).numpy()).any()
    assert sdpa(tg.zeros((0, 3, 4)), tg.zeros((0, 2, 4)), tg.zeros((0, 2, 4))).shape == (0, 3, 4)
    assert sdpa(tg.zeros((2, 0, 4)), tg.zeros((2, 2, 4)), tg.zeros((2, 2, 0))).shape == (2, 0, 0)
    mean = await sdpa(tg.zeros((2, 0)), tg.zeros((3, 0)), tg.asarray([[1.0], [2.0], [6.0]])).tolist()
    assert np.allclose(mean, [[3], [3]])
    q, k, v = operands((2,), 3, 4, 4, 5)
    near(await sdpa(q, k, v).numpy(), q, k, v)  # NumPy arrays
    ints = [np.arange(8).reshape(2, 4), np.arange(12).reshape(3, 4), np.arange(6).reshape(3, 2)]
    near(
        await sdpa(*[tg.asarray(x.astype(np.int32)) for x in ints]).numpy(),
        *[x.astype(np.float32) for x in ints],
    )
    near(await sdpa(*(g * 2 for g in up(q, k, v))).numpy(), q * 2, k * 2, v * 2)  # pending operands
    ones = await sdpa(tg.ones((2, 3, 4)), tg.ones((2, 3, 4)), tg.ones((2, 3, 4))).numpy()
    assert np.allclose(ones, 1)


async def test_jit() -> None:
    q, k, v = operands((2, 2), 20, 30, 16, 16)
    f = tg.jit(lambda q, k, v, n: sdpa(q, k, v, is_causal=True, kv_length=n))
    for n in (30, 7, 12):
        got = await f(*up(q, k, v), tg.asarray(np.array(n, np.int32))).numpy()
        near(got, q, k, v, causal="top_left", lengths=n)


def test_refusals() -> None:
    q = tg.zeros((2, 4, 5, 8))
    for error, words, call in [
        (ValueError, "2 axes", lambda: sdpa(q, q, tg.zeros(8))),
        (ValueError, "8 and 6 dimensions", lambda: sdpa(q, tg.zeros((2, 4, 5, 6)), q)),
        (ValueError, "5 keys and 3 values", lambda: sdpa(q, q, tg.zeros((2, 4, 3, 8)))),
        (ValueError, r"do not broadcast; enable_gqa=True", lambda: sdpa(q, *[tg.zeros((2, 2, 5, 8))] * 2)),
        (
            ValueError,
            "multiple of the heads",
            lambda: sdpa(q, *[tg.zeros((2, 3, 5, 8))] * 2, enable_gqa=True),
        ),
        (ValueError, r"attn_mask of shape \(5, 4\)", lambda: sdpa(q, q, q, tg.zeros((5, 4)))),
        (
            ValueError,
            r"attn_mask of shape \(1, 2, 4, 5, 5\)",
            lambda: sdpa(q, q, q, tg.zeros((1, 2, 4, 5, 5))),
        ),
        (TypeError, "int32", lambda: sdpa(q, q, q, tg.zeros((5, 5), dtype=tg.int32))),
        (TypeError, "float32, float16 and float32", lambda: sdpa(q, q.astype(tg.float16), q)),
        (TypeError, "complex64", lambda: sdpa(q.astype(tg.complex64), q, q)),
        (ValueError, "dropout_p=0.1", lambda: sdpa(q, q, q, None, 0.1)),
        (ValueError, "'top_left', 'bottom_right'", lambda: sdpa(q, q, q, causal="left")),
        (ValueError, "is_causal means", lambda: sdpa(q, q, q, is_causal=True, causal="bottom_right")),
        (ValueError, r"kv_length 6 is not in \[0, 5\]", lambda: sdpa(q, q, q, kv_length=6)),
        (
            ValueError,
            r"kv_length of shape \(3,\)",
            lambda: sdpa(q, q, q, kv_length=tg.zeros(3, dtype=tg.int32)),
        ),
        (TypeError, "kv_length is float32", lambda: sdpa(q, q, q, kv_length=tg.zeros(2))),
        (ValueError, "softcap", lambda: sdpa(q, q, q, softcap=-1.0)),
    ]:
        with pytest.raises(error, match=words):
            call()
