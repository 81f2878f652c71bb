"""What the tests of tg.signal beside SciPy share: draws, and results compared with those of float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tabgpu as tg

DOUBLE = {"f": np.float64, "F": np.complex128, "i": np.int64}


def draw(shape: Any, kind: str = "f", seed: int = 0) -> Any:
    """Numbers of float32, complex64 ("c") or int32 ("i")."""
    rng = np.random.default_rng([seed, *np.atleast_1d(shape)])
    if kind == "f":
        return rng.normal(size=shape).astype(np.float32)
    if kind == "c":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)
    return rng.integers(-9, 9, shape).astype(np.int32)


def wide(x: Any) -> Any:
    """The same numbers in 64 bits."""
    return x.astype(DOUBLE[x.dtype.char])


def outcome(call: Callable[[], Any]) -> Any:
    """A tuple of NumPy arrays, or the exception."""
    try:
        got = call()
    except Exception as error:
        return error
    return tuple([np.asarray(part) for part in (got if isinstance(got, tuple) else (got,))])


def same(
    tag: Any, ours: Callable[[], Any], theirs: Callable[[], Any], tol: float = 3e-6, absolute: float = 0.0
) -> None:
    """Errors relative to the largest number of each result; where SciPy raises, so do we, and the other way round."""
    want, got = outcome(theirs), outcome(ours)
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert isinstance(want, Exception) and isinstance(got, Exception), (tag, got, want)
        return
    assert len(got) == len(want), tag
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.shape == b.shape, (tag, k, a.shape, b.shape)
        assert np.iscomplexobj(a) == np.iscomplexobj(b), (tag, k, a.dtype, b.dtype)
        if b.size:
            worst = np.abs(a - b).max()
            assert worst <= tol * np.abs(b).max() + absolute, (tag, k, worst / max(np.abs(b).max(), 1e-30))


T = tg.asarray
