"""Convolutions, transposes, gradients against float64: arguments, layouts, dtypes, special values, forms, launches."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import convolved as ref
import numpy as np
import pytest
from forms import taking

import tabgpu as tg
from tabgpu import engine, nn, region

EPS = 2.0**-24
CONV = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
TRANSPOSE = {1: nn.conv_transpose1d, 2: nn.conv_transpose2d, 3: nn.conv_transpose3d}
TO_INPUT = {1: nn.grad.conv1d_input, 2: nn.grad.conv2d_input, 3: nn.grad.conv3d_input}
TO_WEIGHT = {1: nn.grad.conv1d_weight, 2: nn.grad.conv2d_weight, 3: nn.grad.conv3d_weight}


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def near(got: Any, want: Any, size: Any, terms: int, label: Any = "") -> None:
    """Within 2 (terms + 2) roundings of the sum of the terms' sizes."""
    assert got.shape == want.shape and got.dtype == np.float32, (
        f"{label}: {got.dtype} {got.shape}, {want.shape}"
    )
    bound = 2 * (terms + 2) * EPS * size + 1e-37
    assert (np.abs(got - want) <= bound).all(), (
        f"{label}: {float((np.abs(got - want) / bound).max())} bounds off"
    )


async def forward(x: Any, w: Any, bias: Any = None, *how: Any, **named: Any) -> None:
    rank = x.ndim - 2
    g = tg.asarray(x), tg.asarray(w), None if bias is None else tg.asarray(bias)
    got = await CONV[rank](*g, *how, **named).numpy()
    size = ref.conv(abs(x), abs(w), None if bias is None else abs(bias), *how, **named)
    near(got, ref.conv(x, w, bias, *how, **named), size, w[0].size, (x.shape, w.shape, how, named))


async def transposed(x: Any, w: Any, bias: Any = None, *how: Any, **named: Any) -> None:
    rank = x.ndim - 2
    g = tg.asarray(x), tg.asarray(w), None if bias is None else tg.asarray(bias)
    got = await TRANSPOSE[rank](*g, *how, **named).numpy()
    size = ref.transpose(abs(x), abs(w), None if bias is None else abs(bias), *how, **named)
    near(
        got,
        ref.transpose(x, w, bias, *how, **named),
        size,
        len(w) * w[0, 0].size,
        (x.shape, w.shape, how, named),
    )


async def backward(x: Any, w: Any, *how: Any) -> None:
    """Both gradients of one convolution."""
    rank = x.ndim - 2
    g = draw(*ref.conv(x, w, None, *how).shape, seed=3)
    ours = tg.asarray(x), tg.asarray(w), tg.asarray(g)
    got = await tg.fetch(
        TO_INPUT[rank](x.shape, ours[1], ours[2], *how), TO_WEIGHT[rank](ours[0], w.shape, ours[2], *how)
    )
    size = ref.to_input(x.shape, abs(w), abs(g), *how)
    near(
        got[0],
        ref.to_input(x.shape, w, g, *how),
        size,
        len(w) * w[0, 0].size,
        ("input", x.shape, w.shape, how),
    )
    size = ref.to_weight(abs(x), w.shape, abs(g), *how)
    near(
        got[1], ref.to_weight(x, w.shape, g, *how), size, g.size // len(w), ("weight", x.shape, w.shape, how)
    )


# --- rows of the checklists ------------------------------------------------------------------------------------------


@pytest.mark.limits
async def test_ox_04_conv2d_forward() -> None:
    """OX-04: NCHW with KCRS, [sh, sw], symmetric [ph, pw], cross-correlation: the sums of its own tests, others."""
    line = tg.asarray(np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3))
    ones = tg.ones((1, 1, 3, 3))
    assert (await nn.conv2d(line, ones).item()) == 45
    assert (await nn.conv2d(line + 1.0, ones).item()) == 54
    assert (await nn.conv2d(tg.ones((1, 1, 2, 5)), tg.ones((1, 1, 2, 5))).item()) == 10
    ramp = np.zeros((1, 1, 3, 3), np.float32)
    ramp[0, 0, 0, 2] = 1  # no flip: the tap is found above and right
    got = await nn.conv2d(line, tg.asarray(ramp), padding=[1, 1]).numpy()
    assert got[0, 0].tolist() == [[0, 0, 0], [2, 3, 0], [5, 6, 0]]
    for x, w, stride, padding in (
        ((1, 3, 5, 5), (2, 3, 1, 1), [1, 1], [0, 0]), ((2, 3, 6, 7), (4, 3, 3, 3), [1, 1], [0, 0]),
        ((1, 2, 22, 22), (3, 2, 3, 3), [1, 1], [0, 0]), ((1, 1, 8, 8), (1, 1, 3, 3), [2, 2], [1, 1]),
        ((2, 4, 9, 11), (5, 4, 3, 2), [2, 3], [2, 1]), ((1, 16, 13, 13), (32, 16, 3, 3), [1, 1], [1, 1]),
    ):  # fmt: skip
        await forward(draw(*x), draw(*w, seed=1), None, stride, padding)
    with pytest.raises(ValueError, match="4 axes"):
        nn.conv2d(tg.ones((3,)), tg.ones((1, 1, 1, 1)))


HOWS = [(1, 0), (2, 1), (1, (0, 2)), (3, 2), ((2, 1), ((1, 0), (2, 3)))]


@pytest.mark.parametrize("how", HOWS)
async def test_ox_40_ox_41_conv2d_backward(how: Any) -> None:
    """OX-40 and OX-41: the gradients of data and filter for strides and paddings, multi-channel and batched."""
    await backward(draw(2, 3, 8, 9), draw(5, 3, 3, 2, seed=1), *how)
    await backward(draw(1, 1, 6, 6), draw(1, 1, 1, 1, seed=1), *how)


async def test_hz_77_conv1d_and_v02_lengths() -> None:
    """HZ-77, issue bank V02: every argument of conv1d, with exact lengths."""
    x, w, b = draw(2, 6, 17), draw(4, 3, 4, seed=1), draw(4, seed=2)
    for stride, padding, dilation in itertools.product((1, 2, 3), (0, 1, [(3, 1)]), (1, 2)):
        await forward(x, w, b, stride, padding, dilation, 2)
    assert nn.conv1d(tg.asarray(x), tg.ones((1, 6, 5)), stride=4, padding=(2,)).shape == (2, 1, 5)
    await backward(x, draw(6, 1, 3, seed=1), 2, 1, 2, 6)


async def test_hz_78_conv_transpose1d_and_v02_lengths() -> None:
    """HZ-78, issue bank V02: every argument of conv_transpose1d; with output_padding no row is missing."""
    x, w, b = draw(2, 4, 7), draw(4, 3, 5, seed=1), draw(6, seed=2)
    for stride, padding, dilation in itertools.product((1, 2, 3), (0, 2), (1, 2, 3)):
        for extra in range(max(stride, dilation)):
            await transposed(x, w, b, stride, padding, extra, 2, dilation)
    assert nn.conv_transpose1d(tg.asarray(x), tg.asarray(w), None, 3, 1, 2, 2, 2).shape == (2, 6, 27)


async def test_hz_79_conv2d() -> None:
    """HZ-79: conv2d of torch: bias, dilation, groups, one image alone."""
    x, w, b = draw(2, 6, 9, 8), draw(12, 2, 3, 2, seed=1), draw(12, seed=2)
    for stride, padding, dilation in ((1, 0, 1), ((2, 1), (1, 2), 1), (1, 2, (2, 3)), (2, 3, 2)):
        await forward(x, w, b, stride, padding, dilation, 3)
    one = await nn.conv2d(tg.asarray(x[0]), tg.asarray(w), tg.asarray(b), groups=3).numpy()
    assert np.array_equal(
        one, (await nn.conv2d(tg.asarray(x), tg.asarray(w), tg.asarray(b), groups=3).numpy())[0]
    )


async def test_hz_80_conv_transpose2d() -> None:
    """HZ-80: conv_transpose2d of torch; strides that share factors with dilation leave positions without taps."""
    x, w, b = draw(2, 4, 5, 6), draw(4, 3, 3, 2, seed=1), draw(6, seed=2)
    for how in (
        (1, 0, 0, 2, 1), (2, 1, 1, 2, 1), ((2, 3), (0, 1), (1, 2), 2, (1, 2)), (4, 1, 3, 2, 2), (2, 0, 0, 2, 4),
        (2, ((0, 1), (2, 0)), 0, 2, 1), (5, 0, 0, 2, 1),
    ):  # fmt: skip
        await transposed(x, w, b, *how)
    one = await nn.conv_transpose2d(tg.asarray(x[1]), tg.asarray(w), None, 2, groups=2).numpy()
    assert np.array_equal(
        one, (await nn.conv_transpose2d(tg.asarray(x), tg.asarray(w), None, 2, groups=2).numpy())[1]
    )


async def test_three_axes() -> None:
    x, w, b = draw(2, 4, 4, 5, 6), draw(6, 2, 2, 3, 2, seed=1), draw(6, seed=2)
    await forward(x, w, b, (1, 2, 1), (1, 0, 1), (2, 1, 1), 2)
    await backward(x, w, 2, 1, 1, 2)
    await transposed(x, draw(4, 3, 2, 3, 2, seed=1), b, (2, 1, 3), (1, 0, 1), (1, 0, 2), 2)


# --- the issue bank --------------------------------------------------------------------------------------------------


async def test_v01_same_padding_with_strides() -> None:
    """Issue bank V01: SAME_UPPER and SAME_LOWER for sizes 5 to 8, 2 to 5 taps, strides 1 to 3."""
    for n in range(5, 9):
        x = draw(1, 2, n, n + 1)
        for taps, stride in itertools.product(range(2, 6), (1, 2, 3)):
            w = draw(3, 2, taps, taps, seed=1)
            for lower, word in ((False, "same_upper"), (True, "same_lower")):
                pads = ref.same(x.shape[2:], w.shape[2:], stride, 1, lower)
                got = nn.conv2d(tg.asarray(x), tg.asarray(w), stride=stride, padding=word)
                assert got.shape[2:] == (-(-n // stride), -(-(n + 1) // stride))
                if taps > 3 or stride == 2:
                    want, size = (ref.conv(f(x), f(w), None, stride, pads) for f in (np.array, abs))
                    near(await got.numpy(), want, size, w[0].size, (n, taps, stride, word))
    x, w = tg.asarray(draw(1, 2, 7, 6)), tg.asarray(draw(3, 2, 4, 3))
    assert nn.conv2d(x, w, padding="same", dilation=2).shape == (1, 3, 7, 6)
    a, b = await tg.fetch(nn.conv2d(x, w, padding="same"), nn.conv2d(x, w, padding="same_upper"))
    assert np.array_equal(a, b)
    assert nn.conv2d(x, w, padding="valid").shape == (1, 3, 4, 4)
    with pytest.raises(ValueError, match="same_upper"):
        nn.conv2d(x, w, stride=2, padding="same")


async def test_v04_chained_with_few_channels() -> None:
    """Issue bank V04: 1 to 9 channels in and out, two convolutions with leaky_relu between them."""
    for c in range(1, 10):
        k = 10 - c
        x, w, v = draw(1, c, 7, 6), draw(k, c, 3, 3, seed=1), draw(c, k, 3, 3, seed=2)
        y = nn.leaky_relu(nn.conv2d(tg.asarray(x), tg.asarray(w), padding=1), 0.2)
        got = await nn.conv2d(y, tg.asarray(v), padding=1).numpy()
        mid = ref.conv(x, w, None, 1, 1)
        want = ref.conv(np.where(mid > 0, mid, 0.2 * mid), v, None, 1, 1)
        assert np.allclose(got, want, rtol=1e-4, atol=2e-4), c


async def test_v05_small_odd_sizes_and_groups() -> None:
    """Issue bank V05: sizes 1 to 7, groups 1, 2 and all, in every direction."""
    for n, groups in itertools.product((1, 3, 5, 7), (1, 2, 4)):
        x, w = draw(2, 4, n, 8 - n), draw(8, 4 // groups, 3, 3, seed=1)
        await forward(x, w, None, 1, 1, 1, groups)
    await backward(draw(2, 4, 5, 3), draw(8, 1, 3, 3, seed=1), 2, 1, 1, 4)
    await backward(draw(2, 4, 5, 3), draw(8, 2, 3, 3, seed=1), 1, 1, 1, 2)


@pytest.mark.limits
async def test_v07_many_positions() -> None:
    """Issue bank V07: 70,000 positions along one axis and over images; what has no address is an error."""
    x, w = draw(1, 1, 70_002), draw(2, 1, 3, seed=1)
    await forward(x, w)
    await forward(draw(70_000, 1, 2), draw(1, 1, 2, seed=1))
    big = tg.broadcast_to(tg.ones((1, 1, 1, 1)), (1, 1, 60_000, 60_000))
    with pytest.raises(OverflowError, match="addressable"):
        nn.conv2d(big, tg.ones((2, 1, 1, 1)))


async def test_e04_leaky_relu_and_clip() -> None:
    """Issue bank E04: a small convolution, then leaky_relu and clip, in one launch."""
    x, w = draw(1, 3, 6, 8), draw(8, 3, 3, 3, seed=1)
    got = tg.clip(nn.leaky_relu(nn.conv2d(tg.asarray(x), tg.asarray(w), padding=1), 0.1), -0.25, 2.0)
    want = ref.conv(x, w, None, 1, 1)
    want = np.clip(np.where(want > 0, want, 0.1 * want), -0.25, 2.0)
    assert np.allclose(await got.numpy(), want, atol=1e-5)


async def test_i11_masks_into_a_convolution() -> None:
    """Issue bank I11: a comparison is bool, and its values survive the way through float32."""
    x = draw(1, 2, 5, 5)
    mask = tg.asarray(x) > 0
    assert mask.dtype is tg.bool
    got = await nn.conv2d(mask.astype(tg.float32), tg.ones((1, 2, 3, 3))).numpy()
    assert np.array_equal(got, ref.conv((x > 0).astype(np.float32), np.ones((1, 2, 3, 3))).astype(np.float32))
    with pytest.raises(TypeError, match="bool"):
        nn.conv2d(mask, tg.ones((1, 2, 3, 3)))


async def test_n23_beyond_float32() -> None:
    """Issue bank N23: float64 above float32's range is inf on upload, and inf * 0 is NaN only where IEEE says so."""
    with np.errstate(over="ignore"):
        x = tg.asarray(np.array([1.6e40, -1e40, 1e-50, 1.0]).astype(np.float32))
    assert (await x.numpy()).tolist() == [np.inf, -np.inf, 0, 1]
    got = await nn.conv1d(x[None], tg.asarray(np.array([[[1.0]], [[0.0]], [[2.0]]], np.float32))).numpy()
    want = np.array([[np.inf, -np.inf, 0, 1], [np.nan, np.nan, 0, 0], [np.inf, -np.inf, 0, 2]])
    assert np.array_equal(got, want, equal_nan=True)


# --- special values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["own", "gpu"])
async def test_padding_is_no_term(form: str) -> None:
    """NaN and infinite weights reach only what they meet; NaN of the input only the positions that see it."""
    with taking("portable") if form == "gpu" else nullcontext():
        for k, c in ((12, 3),) if form == "gpu" else ((1, 1), (12, 3)):
            x, w = draw(1, c, 5, 6), draw(k, c, 3, 3, seed=1)
            w[:, 0, 0, 0] = np.nan  # meets nothing in the first row and column
            w[0, 0, 2, 2] = np.inf
            got = await nn.conv2d(tg.asarray(x), tg.asarray(w), padding=1).numpy()
            lost = np.zeros((5, 6), bool)
            lost[1:, 1:] = True
            assert (np.isnan(got[0]) == lost).all()
            bare = np.where(np.isfinite(w), w, 0)
            edge = ref.conv(x, bare, None, 1, 1)
            ok = ~lost & (np.arange(5)[:, None] == 4)
            assert np.allclose(got[0][:, ok], edge[0][:, ok], atol=1e-5)
            assert np.isposinf(got[0, 0, 0, :5]).sum() + np.isneginf(got[0, 0, 0, :5]).sum() == 5
            y = x.copy()
            y[0, 0, 2, 2] = np.nan
            got = await nn.conv2d(tg.asarray(y), tg.asarray(bare), padding=1).numpy()
            seen = np.zeros((5, 6), bool)
            seen[1:4, 1:4] = True
            assert (np.isnan(got[0]) == seen).all()
            g = draw(1, k, 5, 6, seed=2)
            g[0, :, 0, :] = np.nan  # the taps of the first row above it meet nothing there
            got = await nn.grad.conv2d_weight(tg.asarray(x), w.shape, tg.asarray(g), padding=1).numpy()
            assert np.isfinite(got[:, :, 0]).all() and np.isnan(got[:, :, 1:]).all()
            back = await nn.grad.conv2d_input(
                x.shape, tg.asarray(w), tg.asarray(draw(1, k, 5, 6)), padding=1
            ).numpy()
            assert (np.isnan(back[0, 0]) == (np.arange(5)[:, None] < 4) & (np.arange(6) < 5)).all()


# --- dtypes, layouts, errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
async def test_half_floats_are_summed_in_float32(name: str) -> None:
    """One rounding at the end: within half a step of the dtype beyond float32's error."""
    for n in (8, 7):
        x, w, b = draw(2, 16, n, n), draw(8, 16, 3, 3, seed=1), draw(8, seed=2)
        gx, gw, gb = (tg.asarray(a).astype(name) for a in (x, w, b))
        x, w, b = [np.asarray(a, np.float64) for a in await tg.fetch(gx, gw, gb)]
        out = nn.conv2d(gx, gw, gb, 1, 1)
        assert out.dtype.name == name
        want, size = ref.conv(x, w, b, 1, 1), ref.conv(abs(x), abs(w), abs(b), 1, 1)
        step = 2.0 ** (-11 if name == "float16" else -8)
        assert (
            abs(np.asarray(await out.numpy(), np.float64) - want) <= step * abs(want) + 300 * EPS * size
        ).all()
        back = nn.grad.conv2d_input(x.shape, gw, out, padding=1)
        assert back.dtype.name == name and back.shape == x.shape
        g = np.asarray(await out.numpy(), np.float64)
        want, size = ref.to_input(x.shape, w, g, 1, 1), ref.to_input(x.shape, abs(w), abs(g), 1, 1)
        assert (
            abs(np.asarray(await back.numpy(), np.float64) - want) <= step * abs(want) + 300 * EPS * size
        ).all()
    mixed = nn.conv2d(gx, tg.asarray(w.astype(np.float32)))
    assert mixed.dtype is tg.float32


@pytest.mark.parametrize("name", ["int32", "uint32", "int8", "uint16"])
async def test_integers_wrap(name: str) -> None:
    info = np.iinfo(name)
    rng = np.random.default_rng(5)
    x, w = (rng.integers(info.min, info.max, s, dtype=name) for s in ((1, 3, 6, 7), (4, 3, 2, 3)))
    wide = np.zeros((1, 4, 5, 5), np.int64)
    for tap, met in ref.taps(x.astype(np.int64), (2, 3), 1, 0, 1):
        wide += np.einsum("nchw,kc->nkhw", met, w[(slice(None), slice(None), *tap)].astype(np.int64))
    got = nn.conv2d(tg.asarray(x), tg.asarray(w))
    assert got.dtype.name == name and np.array_equal(await got.numpy(), wide.astype(name))


VIEWS = {
    "channels last": lambda a: a.transpose(0, 3, 1, 2),
    "reversed": lambda a: a[:, ::-1, :, ::-1].transpose(0, 3, 1, 2),
    "sliced": lambda a: a[:, 1:6, 1::2].transpose(0, 3, 2, 1),
}


@pytest.mark.parametrize("how", VIEWS)
async def test_views_are_read_in_place(how: str) -> None:
    whole, w = draw(2, 7, 8, 5), draw(6, 5, 3, 3, seed=1)
    x, gx = VIEWS[how](whole), VIEWS[how](tg.asarray(whole))
    before = tg.device().counters.launches
    got = await nn.conv2d(gx, tg.asarray(w), padding=1).numpy()
    assert tg.device().counters.launches == before + 1
    near(got, ref.conv(x, w, None, 1, 1), ref.conv(abs(x), abs(w), None, 1, 1), 45)
    turned = np.ascontiguousarray(w.transpose(3, 2, 1, 0))
    got = await nn.conv2d(gx, tg.asarray(turned).T, padding=1).numpy()
    near(got, ref.conv(x, w, None, 1, 1), ref.conv(abs(x), abs(w), None, 1, 1), 45)
    ones = await nn.conv2d(gx, tg.asarray(draw(4, 5, 1, 1))).numpy()
    near(ones, ref.conv(x, draw(4, 5, 1, 1)), ref.conv(abs(x), abs(draw(4, 5, 1, 1))), 5)
    g = draw(*got.shape, seed=4)
    got = await nn.grad.conv2d_weight(gx, w.shape, tg.asarray(g), padding=1).numpy()
    near(got, ref.to_weight(x, w.shape, g, 1, 1), ref.to_weight(abs(x), w.shape, abs(g), 1, 1), g.size // 6)


async def test_broadcast_and_pending_operands() -> None:
    x = draw(1, 3, 6, 6)
    wide = tg.broadcast_to(tg.asarray(x), (4, 3, 6, 6))
    w = draw(2, 3, 3, 3, seed=1)
    got = await nn.conv2d(wide * 2.0, tg.asarray(w) + 1.0).numpy()
    want = ref.conv(np.broadcast_to(2 * x, (4, 3, 6, 6)), w + 1)
    assert np.allclose(got, want, atol=1e-4)
    assert np.allclose(
        await nn.conv2d(wide, tg.asarray(w)).numpy(), ref.conv(np.repeat(x, 4, 0), w), atol=1e-4
    )
    assert await nn.conv2d(tg.ones((1, 2, 3, 3)), tg.ones((1, 2, 3, 3))).item() == 18
    assert (await nn.conv1d(tg.arange(5)[None], tg.ones((1, 1, 2), dtype=tg.int32)).tolist()) == [
        [1, 3, 5, 7]
    ]


async def test_empty() -> None:
    """No images, no channels in or out: the shapes of torch, zeros or the bias where nothing is added."""
    w, b = tg.ones((4, 3, 2, 2)), tg.asarray(np.arange(4, dtype=np.float32))
    assert (await nn.conv2d(tg.zeros((0, 3, 5, 5)), w, b).numpy()).shape == (0, 4, 4, 4)
    got = await nn.conv2d(tg.zeros((2, 0, 5, 5)), tg.zeros((4, 0, 2, 2)), b).numpy()
    assert got.shape == (2, 4, 4, 4) and (got == np.arange(4).reshape(4, 1, 1)).all()
    assert nn.conv2d(tg.zeros((2, 3, 5, 5)), tg.zeros((0, 3, 2, 2))).shape == (2, 0, 4, 4)
    assert nn.conv_transpose2d(tg.zeros((0, 3, 5, 5)), tg.zeros((3, 4, 2, 2))).shape == (0, 4, 6, 6)
    assert (await nn.grad.conv2d_input((0, 3, 5, 5), w, tg.zeros((0, 4, 4, 4))).numpy()).shape == (0, 3, 5, 5)
    got = await nn.grad.conv2d_weight(tg.zeros((0, 3, 5, 5)), (4, 3, 2, 2), tg.zeros((0, 4, 4, 4))).numpy()
    assert got.shape == (4, 3, 2, 2) and not got.any()


def test_errors() -> None:
    x, w = tg.ones((1, 3, 8, 8)), tg.ones((4, 2, 3, 3))
    with pytest.raises(
        ValueError, match=r"conv2d: input \(1, 3, 8, 8\) and weight \(4, 2, 3, 3\): 3 channels"
    ):
        nn.conv2d(x, w)
    w = tg.ones((4, 3, 3, 3))
    for match, call in (
        ("bias of shape", lambda: nn.conv2d(x, w, tg.ones((3,)))),
        ("groups", lambda: nn.conv2d(x, tg.ones((4, 1, 3, 3)), groups=3)),
        ("stride", lambda: nn.conv2d(x, w, stride=0)),
        ("dilation", lambda: nn.conv2d(x, w, dilation=(1, 2, 3))),
        ("padding", lambda: nn.conv2d(x, w, padding=-1)),
        ("2 pairs", lambda: nn.conv2d(x, w, padding=[(1, 1)])),
        ("'full'", lambda: nn.conv2d(x, w, padding="full")),
        ("smaller than weight", lambda: nn.conv2d(x, tg.ones((4, 3, 9, 1)))),
        ("no taps", lambda: nn.conv2d(x, tg.ones((4, 3, 0, 1)))),
        ("4 axes each", lambda: nn.conv2d(tg.ones((8, 8)), w)),
        ("output_padding", lambda: nn.conv_transpose2d(x, tg.ones((3, 4, 3, 3)), stride=2, output_padding=2)),
        ("channels in", lambda: nn.conv_transpose2d(x, tg.ones((4, 4, 3, 3)))),
        ("give numbers", lambda: nn.conv_transpose2d(x, tg.ones((3, 4, 3, 3)), padding="same")),
        ("give positions", lambda: nn.conv_transpose2d(x, tg.ones((3, 4, 1, 1)), padding=4)),
        ("grad_output of shape", lambda: nn.grad.conv2d_input((1, 3, 8, 8), w, tg.ones((1, 4, 5, 6)))),
        ("grad_output of shape", lambda: nn.grad.conv2d_weight(x, (4, 3, 3, 3), tg.ones((2, 4, 6, 6)))),
        ("4 sizes", lambda: nn.grad.conv2d_input((3, 8, 8), w, tg.ones((1, 4, 6, 6)))),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    for call in (
        lambda: nn.conv2d(x.astype(tg.complex64), w),
        lambda: nn.conv2d(x, w, stride=1.5),
        lambda: nn.conv2d(x.astype(tg.int32), w.astype(tg.int32), tg.ones((4,))),
    ):
        with pytest.raises(TypeError, match="conv2d"):
            call()


async def test_too_large_for_a_binding() -> None:
    """An operand or result beyond a binding is refused with both sizes; what follows on wide operands is not."""
    gpu = engine.device()
    facts = engine.facts_of(gpu)
    gpu.facts, gpu.programs = replace(facts, binding=1 << 16), None
    try:
        x, w = tg.asarray(draw(1, 1, 20_000)), tg.ones((1, 1, 3))
        for y in (nn.conv1d(x, w), nn.conv1d(x[..., :9000], tg.ones((3, 1, 3)), stride=1)):
            with pytest.raises(tg.errors.LimitError, match=r"80,000 bytes.*65,536|107,976 bytes.*65,536"):
                await y.numpy()
        y = nn.conv1d(x[..., :9000].copy(), w) + tg.asarray(draw(1, 4, 8998))[:, 1:2]
        want = ref.conv(draw(1, 1, 20_000)[..., :9000], np.ones((1, 1, 3))) + draw(1, 4, 8998)[:, 1:2]
        assert np.allclose(await y.numpy(), want, atol=1e-5)
    finally:
        gpu.facts, gpu.programs = facts, None


# --- forms, launches, pipelines --------------------------------------------------------------------------------------


SIZES = [
    ((1, 16, 12, 13), (24, 16, 3, 3), (1, 1, 1, 1)), ((2, 8, 9, 9), (40, 4, 3, 3), (2, 1, 1, 2)),
    ((1, 3, 30, 31), (70, 3, 5, 5), (1, 2, 1, 1)), ((2, 12, 8, 8), (12, 1, 3, 3), (1, 1, 1, 12)),
    ((1, 130, 4, 5), (20, 130, 3, 3), (1, (1, 0), (1, 1), 1)),
]  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("form", ["own", "serial", "portable"])
async def test_forms(form: str) -> None:
    """The kernels of a GPU and of a CPU adapter; those of the other take long to compile, so few here."""
    if form == "own":
        for x, w, how in SIZES:
            await forward(draw(*x), draw(*w, seed=1), None, *how)
            await backward(draw(*x), draw(*w, seed=1), *how)
        return
    with taking(form):
        await forward(draw(1, 5, 9, 9), draw(16, 5, 3, 3, seed=1), None, 1, 1)
        await backward(draw(1, 2, 5, 5), draw(3, 2, 2, 2, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["serial", "portable"])
async def test_more_of_the_other_forms(form: str) -> None:
    with taking(form):
        for x, w, how in SIZES:
            await forward(draw(*x), draw(*w, seed=1), None, *how)
            await backward(draw(*x), draw(*w, seed=1), *how)
        await transposed(draw(1, 20, 6, 5), draw(20, 16, 3, 3, seed=1), None, 2, 1, 1)


TILES = "t128x128 t64x128w t64x64 t64x64s2 t32x64s4 t32x32s4 t16x32s8 t32x32 t16x64 t64x16 t16x16 t32x32/3".split()


@pytest.mark.slow
@pytest.mark.parametrize("name", TILES)
async def test_tiles(name: str) -> None:
    """Each tile of the products, forced, for all directions and both kinds of elements."""
    from tabgpu.kernels import gemm_tiles

    x, w = draw(1, 32, 12, 20), draw(144, 32, 3, 3, seed=1)
    saved = dict(gemm_tiles.overrides)
    with taking("portable"):
        try:
            for sizes in ((144, 240, 288, 1), (32, 240, 1296, 1), (144, 288, 240, 1)):
                gemm_tiles.overrides[(False, *gemm_tiles.size_class(*sizes))] = name
                gemm_tiles.overrides[(True, *gemm_tiles.size_class(*sizes))] = name
            region.recipes.clear()
            await forward(x, w, None, 1, 1)
            await backward(x, w, 1, 1)
            half = nn.conv2d(tg.asarray(x).astype(tg.float16), tg.asarray(w).astype(tg.float16), padding=1)
            assert np.allclose((await half.numpy()).astype(np.float32), ref.conv(x, w, None, 1, 1), atol=0.3)
        finally:
            gemm_tiles.overrides.clear()
            gemm_tiles.overrides.update(saved)
            region.recipes.clear()


@pytest.mark.parametrize("form", ["serial", "portable"])
async def test_what_follows_joins_the_launch(form: str) -> None:
    """Bias and activation, also of 16-bit results with rows of whole vec4s; 1x1 convolutions are products."""
    try:
        with taking(form):
            await _joins([(tg.float16, False)])
    except pytest.skip.Exception:  # the adapter's own form
        await _joins([(tg.float32, False), (tg.float16, False), (tg.float32, True)])


async def _joins(cases: Any) -> None:
    x, w, b = tg.asarray(draw(1, 16, 8, 8)), tg.asarray(draw(12, 16, 3, 3)), tg.asarray(draw(12))
    count = tg.device().counters
    for dtype, point in cases:
        gx, gw, gb = (a.astype(dtype) for a in (x, w[:, :, :1, :1] if point else w, b))
        await tg.fetch(gx, gw, gb)
        before = count.launches
        y = await nn.relu(nn.conv2d(gx, gw, gb, padding=0 if point else 1)).numpy()
        assert count.launches == before + 1 and y.min() == 0 < y.max()


async def test_in_a_jitted_function() -> None:
    f = tg.jit(lambda x, w, b: nn.relu(nn.conv2d(x, w, b, 2, 1)))
    for n in (8, 8, 10):
        x, w, b = draw(1, 4, n, n), draw(6, 4, 3, 3, seed=1), draw(6, seed=2)
        got = await f(*(tg.asarray(a) for a in (x, w, b))).numpy()
        assert np.allclose(got, np.maximum(ref.conv(x, w, b, 2, 1), 0), atol=1e-4)


async def test_many_shapes_few_pipelines() -> None:
    """500 shapes, planned for a GPU and a CPU adapter: as many kernels as switches, not as shapes."""
    rng = np.random.default_rng(1)
    gpu = engine.device()
    kept = []
    for form in ("serial", "portable"):
        try:
            with taking(form):
                kept.append(planned(rng, gpu))
        except pytest.skip.Exception:
            kept.append(planned(rng, gpu))
    assert max(kept) <= 90, kept


def planned(rng: Any, gpu: Any) -> int:
    """How many kernels 250 random convolutions of one rank make, in three directions."""
    labels = set()
    for _ in range(85):
        c, k, groups = (int(rng.integers(1, 40)) for _ in range(3))
        groups = groups % 3 + 1
        r, s, stride, pad = (int(n) for n in rng.integers(1, 5, 4))
        x = tg.zeros((int(rng.integers(1, 4)), c * groups, *(int(n) for n in rng.integers(9, 40, 2)))) + 1.0
        w = tg.zeros((k * groups, c, r, s)) + 1.0
        y = nn.conv2d(x, w, None, stride, pad, 1, groups)
        for out in (y, nn.grad.conv2d_input(x.shape, w, y, stride, pad, 1, groups),
                    nn.grad.conv2d_weight(x, w.shape, y, stride, pad, 1, groups)):  # fmt: skip
            for _, some in engine.prepare(gpu, [out._cell.op]):
                labels |= {x.kernel for x in some if x.kernel.label.startswith("conv")}
    return len(labels)
