"""Max pools whose windows lie at random places (fractional max pooling), by the kernel of the other pools."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack, unpack
from typing import Any

from .. import random
from ..dtypes import float32
from ..ops import reductions as rd
from ..ops.creation import astype
from ..ops.routine import stored
from .pooling import comparable, launched
from .spatial import per_axis, prepared

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _fractional(
    rank: int, x: Any, kernel_size: Any, output_size: Any, output_ratio: Any, indices: bool, samples: Any, key: Any
) -> Any:  # fmt: skip
    label = f"fractional_max_pool{rank}d"
    x = comparable(prepared(x, rank, label), label)
    sizes = x.shape[-rank:]
    kernel = per_axis(kernel_size, rank, label, "kernel_size", 1)
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{label}: give output_size or output_ratio, one of them")
    if output_size is None:
        ratios = tuple(output_ratio) if isinstance(output_ratio, Sequence) else (output_ratio,) * rank
        if len(ratios) != rank or not all(0 < r < 1 for r in ratios):
            raise ValueError(
                f"{label}: output_ratio must be a number between 0 and 1 or {rank} of them, not {output_ratio!r}"
            )
        output_size = [int(n * r) for n, r in zip(sizes, ratios, strict=True)]
    outs = per_axis(output_size, rank, label, "output_size", 1)
    if any(o + k - 1 > n for o, k, n in zip(outs, kernel, sizes, strict=True)):
        raise ValueError(f"{label}: {outs} windows of {kernel} do not fit {sizes} at places of their own")
    if 0 in x.shape[x.ndim - rank - 1 :]:
        raise ValueError(f"{label}: channels and spatial axes must not be empty, the shape is {x.shape}")
    wanted = (*((1,) * (rank + 2 - x.ndim)), *x.shape[:-rank], rank)
    if samples is None:
        if key is None:
            raise TypeError(f"{label}: it needs key=tg.random.key(seed), another one for each call")
        samples = random.uniform(key, wanted)
    samples = rd.prepared(samples, label)
    if samples.shape != wanted or samples.dtype.kind != "f":
        raise ValueError(f"{label}: _random_samples must be floats of shape {wanted}, not {samples.shape}")
    axes = []
    for n, o, k in zip(sizes, outs, kernel, strict=True):
        step = unpack("<I", pack("<f", (n - k) / (o - 1) if o > 1 else 0.0))[0]
        axes.append((k, step, 0, 1, n))
    numbers = stored(astype(samples, float32, copy=False))
    name = "argmax" if indices else "max"
    return launched(name, x, outs, axes, (False, False, 0.0, 1.0, ()), numbers)


def fractional_max_pool2d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None, *, key: Any = None,
) -> Any:  # fmt: skip
    """The greatest elements of output_size windows of (N, C, H, W) or (C, H, W), at random places that key decides.

    output_ratio: the result's size by x's, instead of output_size. _random_samples: numbers from 0 to 1 of shape
    (N, C, 2) instead of key. return_indices and dtypes as max_pool2d. TypeError without a key, ValueError for windows
    that do not fit.
    """
    return _fractional(2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples, key)


def fractional_max_pool3d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None, *, key: Any = None,
) -> Any:  # fmt: skip
    """fractional_max_pool2d over the three last axes of (N, C, D, H, W) or (C, D, H, W)."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples, key)
