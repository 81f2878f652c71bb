"""Principal components: the directions in which data vary most. Arrays in, arrays out; nothing here reads or waits."""

from __future__ import annotations

import gzip
import io
from typing import Any, NamedTuple

import numpy as np

import tabgpu as tg


def load(raw: bytes) -> tuple[np.ndarray, np.ndarray]:
    """data/digits.csv.gz as (images, digits): 1797 x 64 float32 with values 0 to 16, and what each shows."""
    if raw[:2] == b"\x1f\x8b":  # some web servers unpack a .gz on the way
        raw = gzip.decompress(raw)
    table = np.loadtxt(io.StringIO(raw.decode()), np.int32, delimiter=",")
    return table[:, :64].astype(np.float32), table[:, 64]


class Components(NamedTuple):
    """What `fit` finds in n rows of p numbers."""

    mean: Any  # (p,)
    axes: Any  # (p, p): a direction a row, the most important one first
    variance: Any  # (p,): of the rows along each direction
    scores: Any  # (n, p): where each row lies along each direction


def fit(x: Any) -> Components:
    """The principal components of the rows of x: the eigenvectors of its covariance matrix.

    A direction and its opposite are equally good: the one is taken whose greatest element is positive.
    """
    mean = x.mean(axis=0)
    centred = x - mean
    variance, columns = tg.linalg.eigh(centred.T @ centred / (x.shape[0] - 1))  # the least one first
    axes = columns[:, ::-1].T
    axes = tg.where(axes.max(axis=1) < -axes.min(axis=1), -1.0, 1.0)[:, None] * axes
    return Components(mean, axes, tg.maximum(variance[::-1], 0), centred @ axes.T)


def explained(c: Components) -> Any:
    """The share of all variance that the first 1, 2, 3 ... directions explain."""
    return tg.cumsum(c.variance) / c.variance.sum()


def restored(c: Components, k: int) -> Any:
    """The rows as their first k scores tell them."""
    return c.mean + c.scores[:, :k] @ c.axes[:k]


def error(x: Any, c: Components, k: int) -> Any:
    """The root of the mean squared difference between x and what k scores a row tell of it."""
    return tg.sqrt(((x - restored(c, k)) ** 2).mean())
