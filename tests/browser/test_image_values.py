"""Colours, fspecial kernels and values of images (tg.image) against float64. Runs in the tab."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imaged import correlated, draw

import tabgpu as tg
from tabgpu import engine, image

RGB_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
)
YUV = [[0.299, 0.587, 0.114], [-0.14714119, -0.28886916, 0.43601035], [0.61497538, -0.51496512, -0.10001026]]
YIQ = [[0.299, 0.587, 0.114], [0.59590059, -0.27455667, -0.32134392], [0.21153661, -0.52273617, 0.31119955]]
YCBCR = [[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]


def colours() -> Any:
    """Random ones, grays, corners of the cube, and some in its dark part."""
    rng = np.random.default_rng(1)
    corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1]), -1).reshape(-1, 3)
    grays = np.repeat(np.linspace(0, 1, 8)[:, None], 3, 1)
    return (
        np.concatenate([rng.random((40, 3)), corners, grays, rng.random((8, 3)) * 0.02])
        .astype(np.float32)
        .reshape(8, 8, 3)
    )


def to_xyz(c: Any) -> Any:
    return np.where(c > 0.04045, ((c + 0.055) / 1.055) ** 2.4, c / 12.92) @ RGB_XYZ.T


def to_lab(xyz: Any) -> Any:
    c = xyz / [0.95047, 1, 1.08883]
    f = np.where(c > 0.008856, np.cbrt(c), 7.787 * c + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def to_hsv(c: Any) -> Any:
    import colorsys

    return np.array([colorsys.rgb_to_hsv(*v) for v in c.reshape(-1, 3)]).reshape(c.shape)


async def test_colours() -> None:
    """Each conversion against its formula, and back again."""
    c = colours()
    wide = c.astype(np.float64)
    g = tg.asarray(c)
    xyz = to_xyz(wide)
    for name, want, tolerance in (
        ("rgb2xyz", xyz, 1e-6), ("rgb2lab", to_lab(xyz), 1e-3), ("rgb2hsv", to_hsv(wide), 1e-6),
        ("rgb2yuv", wide @ np.array(YUV).T, 1e-6), ("rgb2yiq", wide @ np.array(YIQ).T, 1e-6),
        ("rgb2ycbcr", wide @ np.array(YCBCR).T + [16, 128, 128], 1e-4),
    ):  # fmt: skip
        made = getattr(image, name)(g)
        back = getattr(image, f"{name[4:]}2rgb")(made)
        got, again = await tg.fetch(made, back)
        assert got.dtype == np.float32 and np.abs(got - want).max() <= tolerance, name
        assert np.abs(again - wide).max() <= 1e-5, name
        first = await getattr(image, name)(tg.moveaxis(g, -1, 0), channel_axis=0).numpy()
        assert np.array_equal(np.moveaxis(first, 0, -1), got)
    gray = await image.rgb2gray(g).numpy()
    assert np.abs(gray - wide @ [0.2125, 0.7154, 0.0721]).max() <= 1e-6
    lab = image.rgb2lab(g)
    lch = image.lab2lch(lab)
    made, again, polar, xyz_of = await tg.fetch(lab, image.lch2lab(lch), lch, image.lab2xyz(lab))
    assert np.abs(again - made).max() <= 1e-4 and (polar[..., 1:] >= 0).all()
    assert np.abs(xyz_of - xyz).max() <= 1e-5
    assert np.abs(await image.xyz2lab(tg.asarray(xyz)).numpy() - made).max() <= 1e-3


async def test_colours_of_other_kinds() -> None:
    bytes_ = np.random.default_rng(2).integers(0, 256, (4, 5, 3)).astype(np.uint8)
    got = await image.rgb2gray(tg.asarray(bytes_)).numpy()
    assert np.abs(got - bytes_ / 255 @ [0.2125, 0.7154, 0.0721]).max() <= 1e-6
    same = await image.gray2rgb(tg.asarray(bytes_[..., 0])).numpy()
    assert np.array_equal(same, np.repeat(bytes_[..., :1], 3, -1))
    rgba = np.random.default_rng(3).random((3, 4, 4)).astype(np.float32)
    flat = await image.rgba2rgb(tg.asarray(rgba), (0.2, 0.4, 0.6)).numpy()
    assert (
        np.abs(flat - (rgba[..., :3] * rgba[..., 3:] + (1 - rgba[..., 3:]) * [0.2, 0.4, 0.6])).max() <= 1e-6
    )
    with pytest.raises(ValueError, match="3 channels"):
        image.rgb2hsv(tg.zeros((4, 4)))
    with pytest.raises(TypeError, match="int32"):
        image.rgb2gray(tg.zeros((4, 3), dtype="int32"))


async def kernel(*given: Any) -> Any:
    made = image.fspecial(*given)
    assert made.dtype is tg.float32
    return await made.numpy()


async def test_fspecial_kernels() -> None:
    """fspecial: every kind of the seed, and disk, log and motion, against their definitions."""
    assert np.allclose(await kernel("average", (2, 5)), np.full((2, 5), 0.1))
    y, x = np.mgrid[-2:3, -1.5:2.5:1]
    bell = np.exp(-(x * x + y * y) / (2 * 0.8**2))
    bell /= bell.sum()
    assert np.allclose(await kernel("gaussian", (5, 4), 0.8), bell, atol=1e-7)
    bumps = bell * (x * x + y * y - 2 * 0.8**2) / 0.8**4
    assert np.allclose(await kernel("log", (5, 4), 0.8), bumps - bumps.mean(), atol=1e-6)
    assert np.allclose(await kernel("prewitt"), [[1, 1, 1], [0, 0, 0], [-1, -1, -1]])
    assert np.allclose(await kernel("sobel"), [[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
    corner, side = 0.5 / 1.5, 0.5 / 1.5
    cross = np.array([[corner, side, corner], [side, -4 / 1.5, side], [corner, side, corner]])
    assert np.allclose(await kernel("laplacian", 0.5), cross, atol=1e-7)
    assert np.allclose(await kernel("unsharp", 0.5), np.pad([[1]], 1) - cross, atol=1e-7)
    for radius in (0.3, 1, 2.7, 5):
        got = await kernel("disk", radius)
        n = got.shape[0]
        fine = (np.arange(n * 100) + 0.5) / 100 - n / 2
        inside = (fine[:, None] ** 2 + fine**2 <= radius**2).reshape(n, 100, n, 100).mean((1, 3))
        assert np.abs(got - inside / inside.sum()).max() < 2e-3 and np.allclose(got, got.T)
    assert np.allclose(await kernel("motion", 5, 0), np.full((1, 5), 0.2), atol=1e-6)
    assert np.allclose(await kernel("motion", 3, 90), np.full((3, 1), 1 / 3), atol=1e-6)
    slanted = await kernel("motion", 9, 45)
    assert (
        np.isclose(slanted.sum(), 1)
        and np.allclose(slanted, slanted[::-1, ::-1])
        and slanted[0, -1] > 10 * slanted[0, 0]
    )
    for given, error in (
        (("up",), ValueError),
        (("sobel", 3), TypeError),
        (("gaussian", 3, 0.0), ValueError),
    ):
        with pytest.raises(error):
            image.fspecial(*given)


@pytest.mark.parametrize("shape", [(4, 12, 20), (9, 13), (2, 3, 7, 5), (1, 1, 1)])
async def test_image_normalize(shape: Any) -> None:
    """image_normalize: the seed's gain, bias and gamma; not clipped unless asked; one value becomes 0."""
    x = (draw(shape, 6) * 3 + 10).astype(np.float32)
    wide = x.astype(np.float64)
    mean, var = wide.mean((-2, -1), keepdims=True), wide.var((-2, -1), keepdims=True)
    want = (wide - mean) / np.sqrt(var + 1e-4)
    g = tg.asarray(x)
    plain, full, clipped = await tg.fetch(
        image.image_normalize(g, eps=1e-4),
        image.image_normalize(g, eps=1e-4, gain=2.0, bias=0.5),
        image.image_normalize(g, eps=1e-4, gain=2.0, bias=0.5, gamma=1.5, clip=True),
    )
    assert np.abs(plain - want).max() <= 1e-4
    assert np.abs(full - (2 * want + 0.5)).max() <= 2e-4
    assert np.abs(clipped - np.maximum(2 * want + 0.5, 0) ** 1.5).max() <= 1e-3
    assert (await image.image_normalize(tg.full((2, 3, 3), 7.0), eps=0).numpy() == 0).all()
    with pytest.raises(ValueError, match="height"):
        image.image_normalize(tg.zeros((3,)))


async def test_normalising_is_one_launch() -> None:
    gpu = engine.device()
    g = tg.asarray(draw((8, 32, 32)))
    await tg.synchronize()
    before = gpu.counters.launches
    made = image.image_normalize(g)
    await made.numpy()
    assert gpu.counters.launches - before == 1


async def test_equalize_hist() -> None:
    x = draw((20, 23), 7) ** 2
    hist, edges = np.histogram(x.astype(np.float64), 64)
    centres, share = (edges[1:] + edges[:-1]) / 2, np.cumsum(hist) / x.size
    got = await image.equalize_hist(tg.asarray(x), 64).numpy()
    assert (
        np.abs(got - np.interp(x, centres, share)).max() <= 6e-3
    )  # an element on an edge may count in either bin
    keep = draw(x.shape, 8) > 0
    got = await image.equalize_hist(tg.asarray(x), 64, tg.asarray(keep)).numpy()
    hist, edges = np.histogram(x[keep].astype(np.float64), 64)
    want = np.interp(x, (edges[1:] + edges[:-1]) / 2, np.cumsum(hist) / keep.sum())
    assert np.abs(got - want).max() <= 1e-2
    levels = np.random.default_rng(9).integers(3, 90, (11, 13)).astype(np.uint8)
    got = await image.equalize_hist(tg.asarray(levels)).numpy()
    assert np.allclose(got, [[(levels <= v).mean() for v in row] for row in levels], atol=1e-6)
    assert np.isfinite(await image.equalize_hist(tg.ones((4, 4))).numpy()).all()


async def test_unsharp_mask() -> None:
    x = np.random.default_rng(10).random((12, 15, 3)).astype(np.float32)
    t = np.arange(-4, 5)
    bell = np.exp(-0.5 * t**2)
    bell /= bell.sum()
    blurred = np.stack([correlated(correlated(x[..., k], bell[:, None]), bell[None]) for k in range(3)], -1)
    g = tg.asarray(x)
    got = await image.unsharp_mask(g, 1.0, 1.5, channel_axis=-1).numpy()
    assert np.abs(got - np.clip(x + 1.5 * (x - blurred), 0, 1)).max() <= 2e-6
    free = await image.unsharp_mask(g * 9, 1.0, 1.5, True, channel_axis=-1).numpy()
    assert np.abs(free - 9 * (x + 1.5 * (x - blurred))).max() <= 2e-5
    signed = await image.unsharp_mask(g - 0.5, 1.0, 1.5, channel_axis=-1).numpy()
    assert signed.min() < 0 and np.abs(signed).max() <= 1


async def test_resize() -> None:
    x = np.random.default_rng(11).random((12, 16)).astype(np.float32)
    g = tg.asarray(x)
    up = await image.resize(g, (24, 32)).numpy()
    at = np.clip((np.arange(24) + 0.5) / 2 - 0.5, 0, 11)
    rows = np.stack([np.interp(at, np.arange(12), x[:, k]) for k in range(16)], 1)
    at = np.clip((np.arange(32) + 0.5) / 2 - 0.5, 0, 15)
    want = np.stack([np.interp(at, np.arange(16), r) for r in rows])
    assert np.abs(up[1:-1, 1:-1] - want[1:-1, 1:-1]).max() <= 1e-6  # mirror's borders differ
    edge = await image.resize(g, (24, 32), mode="edge").numpy()
    assert np.abs(edge - want).max() <= 1e-6
    half = await image.resize(g, (6, 8), anti_aliasing=False).numpy()
    assert np.abs(half - x.reshape(6, 2, 8, 2).mean((1, 3))).max() <= 1e-6
    smooth = await image.resize(g, (3, 4)).numpy()
    assert smooth.shape == (3, 4) and smooth.std() < 0.6 * x[::4, ::4].std()
    nearest = await image.resize(
        tg.asarray((x * 255).astype(np.uint8)), (6, 32), 0, preserve_range=True
    ).numpy()
    assert nearest.shape == (6, 32) and set(np.unique(nearest)) <= set(
        (x * 255).astype(np.uint8).ravel().tolist()
    )
    colour = await image.resize(tg.asarray(np.stack([x] * 3, -1)), (24, 32)).numpy()
    assert colour.shape == (24, 32, 3) and np.array_equal(colour[..., 0], up)
    cubic = await image.resize(g, (25, 30), 3).numpy()
    assert cubic.min() >= x.min() and cubic.max() <= x.max()
    with pytest.raises(ValueError, match="shape"):
        image.resize(g, (0, 3))
