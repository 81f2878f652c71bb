"""Noise on a photograph, three ways to take it off, and how well each does. Pictures are (height, width, 3), 0 to 1."""

from __future__ import annotations

from typing import Any

import numpy as np

import tabgpu as tg

BLOCK = 16  # pixels; windows of BLOCK x BLOCK lie half of it apart


def noisy(photo: Any, sigma: float, seed: int = 0) -> Any:
    """The photograph with normal noise of a standard deviation; a seed gives the same noise on every GPU."""
    return photo + tg.random.default_rng(seed).normal(0, sigma, photo.shape)


def gaussian(picture: Any, sigma: float = 1.2) -> Any:
    """A blur: means of neighbours."""
    return tg.image.gaussian_filter(picture, (sigma, sigma, 0))


def median(picture: Any, size: int = 3) -> Any:
    """The median of each pixel's neighbours, which keeps edges."""
    return tg.image.median_filter(picture, (size, size, 1))


def wiener(picture: Any, sigma: float, weight: float = 3.0) -> Any:
    """Wiener's filter among the frequencies of overlapping windows.

    Noise spreads evenly over a window's frequencies, what a photograph shows gathers in few of them. A frequency of
    power p keeps the share max(p - n, 0) / p of itself. n is `weight` times the power that the noise has on average:
    by chance it has more here and there. The window's mean stays as it is. A window is faded towards its edges before
    and after, by sines whose squares add up to 1 over all windows.
    """
    half, (height, width, _) = BLOCK // 2, picture.shape
    edge = [(half, half + -n % half) for n in (height, width)]
    padded = tg.pad(picture, (*edge, (0, 0)), mode="reflect").transpose(2, 0, 1)
    sine = np.sin(np.pi * (np.arange(BLOCK) + 0.5) / BLOCK).astype(np.float32)
    fade = (sine[:, None] * sine)[..., None]
    columns = tg.nn.unfold(padded, BLOCK, stride=half)  # one for each window, its pixels below one another
    windows = columns.reshape((3, BLOCK, BLOCK, -1))
    mean = (windows * (fade**2 / (fade**2).sum())).sum(axis=(1, 2), keepdims=True)
    spectra = tg.fft.rfftn((windows - mean) * fade, axes=(1, 2))
    power = tg.real(spectra) ** 2 + tg.imag(spectra) ** 2
    noise = weight * sigma**2 * float((fade**2).sum())
    kept = spectra * (tg.maximum(power - noise, 0) / tg.maximum(power, noise))
    made = (tg.fft.irfftn(kept, (BLOCK, BLOCK), axes=(1, 2)) + mean * fade) * fade
    whole = tg.nn.fold(made.reshape(columns.shape), padded.shape[1:], BLOCK, stride=half)
    return whole.transpose(1, 2, 0)[half : half + height, half : half + width]


def psnr(photo: Any, picture: Any) -> Any:
    """How near a picture comes to the photograph, in decibels: 10 more for a tenth of the mean squared difference."""
    return -10 * tg.log10(((tg.clip(picture, 0, 1) - photo) ** 2).mean())


def as_bytes(picture: Any) -> Any:
    """What a canvas shows: uint8, a quarter of the bytes to read."""
    return tg.astype(tg.round(tg.clip(picture, 0, 1) * 255), tg.uint8)
