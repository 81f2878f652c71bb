"""What the examples of web/examples/science must give, in float64 by NumPy and SciPy. Knows nothing of tabgpu."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage, signal, stats
from scipy.io import wavfile

import pictures

ROOT = Path(__file__).resolve().parents[1]
SCIENCE = ROOT / "web" / "examples" / "science"
DATA = ROOT / "web" / "examples" / "data"


def digits() -> tuple[np.ndarray, np.ndarray]:
    """(images, labels)."""
    text = gzip.decompress((DATA / "digits.csv.gz").read_bytes()).decode()
    table = np.array([line.split(",") for line in text.split()], np.int64)
    return table[:, :64].astype(np.float64), table[:, 64]


def components(x: np.ndarray) -> dict[str, np.ndarray]:
    """By the singular value decomposition (the example: by the covariance matrix)."""
    mean = x.mean(axis=0)
    _, s, axes = np.linalg.svd(x - mean, full_matrices=False)
    axes *= np.where(axes.max(axis=1) < -axes.min(axis=1), -1, 1)[:, None]
    return {"mean": mean, "axes": axes, "variance": s**2 / (len(x) - 1), "scores": (x - mean) @ axes.T}


def restored(found: dict[str, np.ndarray], k: int) -> np.ndarray:
    return found["mean"] + found["scores"][:, :k] @ found["axes"][:k]


def photo() -> np.ndarray:
    """0 to 1."""
    return pictures.decode((DATA / "flower.png").read_bytes()) / 255


def psnr(clean: np.ndarray, picture: np.ndarray) -> float:
    return 10 * math.log10(1 / np.mean((np.clip(picture, 0, 1) - clean) ** 2))


def gaussian(picture: np.ndarray) -> np.ndarray:
    return ndimage.gaussian_filter(picture.astype(np.float64), (1.2, 1.2, 0))


def median(picture: np.ndarray) -> np.ndarray:
    return ndimage.median_filter(picture, (3, 3, 1))


def wiener(picture: np.ndarray, sigma: float, size: int = 16, weight: float = 3.0) -> np.ndarray:
    """Window by window."""
    half, (height, width, _) = size // 2, picture.shape
    fade = np.sin(np.pi * (np.arange(size) + 0.5) / size)
    fade = np.outer(fade, fade)[..., None]
    edge = [(half, half + -n % half) for n in (height, width)]
    padded = np.pad(picture.astype(np.float64), (*edge, (0, 0)), mode="reflect")
    total = np.zeros_like(padded)
    for i in range(0, padded.shape[0] - size + 1, half):
        for j in range(0, padded.shape[1] - size + 1, half):
            here = slice(i, i + size), slice(j, j + size)
            mean = (padded[here] * fade**2).sum(axis=(0, 1)) / (fade**2).sum()
            spectrum = np.fft.fft2((padded[here] - mean) * fade, axes=(0, 1))
            power, noise = np.abs(spectrum) ** 2, weight * sigma**2 * (fade**2).sum()
            kept = np.fft.ifft2(spectrum * np.maximum(1 - noise / power, 0), axes=(0, 1)).real
            total[here] += (kept + mean * fade) * fade
    return total[half : half + height, half : half + width]


def guitar() -> tuple[int, np.ndarray]:
    rate, samples = wavfile.read(DATA / "guitar.wav")
    return rate, samples / 32768


def decibels(samples: np.ndarray, rate: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    frequencies, times, power = signal.spectrogram(samples, rate, "hann", 2048, 2048 - 512)
    return frequencies, times, 10 * np.log10(np.maximum(power / power.max(), 1e-8))


def futures(call: dict[str, float], z: np.ndarray) -> np.ndarray:
    """What the option is worth in each pair of futures."""
    s, k, r, v, t = (call[name] for name in ("spot", "strike", "rate", "volatility", "years"))
    ends = s * np.exp((r - v * v / 2) * t + v * math.sqrt(t) * np.stack([z, -z]))
    return math.exp(-r * t) * np.maximum(ends - k, 0).mean(axis=0)


def confidence(x: np.ndarray) -> tuple[float, float]:
    """(mean, half of the width of the 95 % interval)."""
    return x.mean(), stats.norm.ppf(0.975) * x.std(ddof=1) / math.sqrt(len(x))


def formula(call: dict[str, Any]) -> float:
    """The mean of what the option pays, by quadrature over the price's lognormal distribution."""
    s, k, r, v, t = (call[name] for name in ("spot", "strike", "rate", "volatility", "years"))
    price = stats.lognorm(v * math.sqrt(t), scale=s * math.exp((r - v * v / 2) * t))
    return math.exp(-r * t) * price.expect(lambda x: x - k, lb=k, ub=np.inf)
