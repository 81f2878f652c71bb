"""What the page asks for: each example on its data, all of its results in one read, and what that cost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import denoise
import numpy as np
import option_price
import pca
import spectrogram

import tabgpu as tg

DATA = Path(__file__).parent.parent / "data"
RANKS = (2, 8, 16, 32)  # how many scores a digit is restored from
SHOWN = 3  # which digit that is
SIGMA = 0.1  # of the noise on the photograph
HIGHEST = 6000  # Hz
FUTURES = 1 << 18  # pairs of them
COUNTED = "launches", "reads", "bytes_read", "pipelines"


def digits(_: Any) -> dict[str, Any]:
    images, labels = pca.load((DATA / "digits.csv.gz").read_bytes())
    x = tg.asarray(images)
    found = pca.fit(x)
    return {
        "labels": labels, "mean": found.mean, "axes": found.axes[:11], "scores": found.scores[:, :2].T,
        "explained": pca.explained(found), "original": images[SHOWN], "ranks": RANKS,
        "restored": tg.stack([pca.restored(found, k)[SHOWN] for k in RANKS]),
        "errors": tg.stack([pca.error(x, found, k) for k in RANKS]),
    }  # fmt: skip


def photo(image: Any) -> dict[str, Any]:
    """image: an ImageData of JavaScript."""
    pixels = np.frombuffer(image.data.to_bytes(), np.uint8).reshape(image.height, image.width, 4)
    clean = tg.asarray(pixels[..., :3]) / 255
    noisy = denoise.noisy(clean, SIGMA)
    pictures = {
        "noisy": noisy,
        "gaussian": denoise.gaussian(noisy),
        "median": denoise.median(noisy),
        "wiener": denoise.wiener(noisy, SIGMA),
    }
    return {
        "width": image.width,
        "height": image.height,
        "psnr": tg.stack([denoise.psnr(clean, p) for p in pictures.values()]),
        **{name: denoise.as_bytes(p) for name, p in pictures.items()},
    }


def sound(_: Any) -> dict[str, Any]:
    rate, samples = spectrogram.load((DATA / "guitar.wav").read_bytes())
    x = tg.asarray(samples)
    frequencies, times, level = spectrogram.decibels(x, rate)
    shown = HIGHEST * spectrogram.WINDOW // rate
    low, high = spectrogram.envelope(x, 800)
    return {
        "seconds": len(samples) / rate, "hop": spectrogram.HOP / rate, "step": rate / spectrogram.WINDOW,
        "floor": spectrogram.FLOOR, "times": times, "level": level[:shown], "low": low, "high": high,
        "loudest": spectrogram.loudest(frequencies, level),
    }  # fmt: skip


def option(_: Any) -> dict[str, Any]:
    call = option_price.Call()
    values = option_price.values(call, tg.random.default_rng(0).standard_normal(FUTURES))
    price, half = option_price.estimate(values)
    mean, band = option_price.running(values, 256)
    return {
        "call": call._asdict(), "futures": 2 * FUTURES, "formula": option_price.formula(call), "price": price,
        "half": half, "mean": mean, "band": band, "paths": option_price.paths(call, 40, 64),
    }  # fmt: skip


EXAMPLES = {"digits": digits, "photo": photo, "sound": sound, "option": option}
results: dict[str, dict[str, Any]] = {}  # of the last runs, for the console


async def run(name: str, given: Any = None) -> dict[str, Any]:
    """An example's results, NumPy arrays and numbers, and under "spent" what they cost."""
    before, began = tg.memory(), time.perf_counter()
    made = EXAMPLES[name](given)
    arrays = {key: value for key, value in made.items() if isinstance(value, tg.Array)}
    made.update(zip(arrays, await tg.fetch(*arrays.values()), strict=True))
    spent = {"ms": 1000 * (time.perf_counter() - began)}
    after = tg.memory()
    spent.update((key, after[key] - before[key]) for key in COUNTED)
    results[name] = made
    return {**{key: _plain(value) for key, value in made.items()}, "spent": spent}


def _plain(value: Any) -> Any:
    """What is easily handed to JavaScript: pictures as one run of bytes, 0-d arrays as numbers."""
    if not isinstance(value, np.ndarray):
        return value
    return value.ravel() if value.ndim == 3 else value if value.ndim else value.item()
