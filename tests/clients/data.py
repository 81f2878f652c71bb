"""Small inputs of known kinds, the same in each run. No tests."""

from __future__ import annotations

import numpy as np

RNG = np.random.default_rng(2026)
N = 40


def _noisy(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.where(RNG.random(labels.shape) < 0.7, labels, others).astype(np.int32)


CLASSES = RNG.integers(0, 3, N).astype(np.int32)
GUESSES = _noisy(CLASSES, RNG.integers(0, 3, N))
BINARY = (RNG.random(N) < 0.5).astype(np.int32)
BINARY_GUESSES = _noisy(BINARY, 1 - BINARY)
TAGS = (RNG.random((N, 4)) < 0.4).astype(np.int32)  # any number of labels a row
TAG_GUESSES = _noisy(TAGS, 1 - TAGS)
WEIGHTS = (RNG.random(N) + 0.1).astype(np.float32)
SCORES = RNG.random(N).astype(np.float32)
_shares = RNG.random((N, 3)) + 0.1
SHARES = (_shares / _shares.sum(1, keepdims=True)).astype(np.float32)  # a probability for each class
TARGET = RNG.standard_normal(N).astype(np.float32)
FORECAST = (TARGET + 0.2 * RNG.standard_normal(N)).astype(np.float32)
TARGETS = RNG.standard_normal((N, 3)).astype(np.float32)
FORECASTS = (TARGETS + 0.2 * RNG.standard_normal((N, 3))).astype(np.float32)
X = RNG.standard_normal((N, 4)).astype(np.float32)
Y = RNG.standard_normal((12, 4)).astype(np.float32)
HOLES = X.copy()
HOLES[3, 1] = HOLES[7, 2] = np.nan
REAL = (2 * RNG.standard_normal(24)).astype(np.float32)
OTHER = (REAL * 0.5 + RNG.standard_normal(24)).astype(np.float32)
POSITIVE = (RNG.random(24) * 4 + 0.05).astype(np.float32)
UNIT = (RNG.random(24) * 0.9 + 0.05).astype(np.float32)
COUNTS = RNG.integers(1, 8, 24).astype(np.int32)
GROUPS = REAL[:8], REAL[8:16], REAL[16:]
TABLE = (np.abs(RNG.standard_normal((20, 3))) + 0.1).astype(np.float32)
