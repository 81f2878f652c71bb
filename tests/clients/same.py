"""A library's function on tabgpu arrays and on NumPy's, compared. No tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tabgpu as tg

TOL = 2e-5  # relative and absolute; float32 has 6e-8


def gpu(x: Any) -> Any:
    """NumPy arrays as tabgpu's."""
    return tg.asarray(x) if isinstance(x, np.ndarray) else x


def exact(x: Any) -> Any:
    """float32 arrays as float64: the oracle's errors do not count."""
    return x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x


def flat(result: Any) -> list[Any]:
    """The arrays and numbers of a result: tuples, lists, dicts, SciPy's result objects."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in flat(part)]
    if hasattr(result, "statistic"):
        return [result.statistic, result.pvalue]
    return [result]


def same(
    function: Callable[..., Any], *args: Any, tol: float = TOL, on_host: bool = False, **keywords: Any
) -> list[Any]:
    """What `function` gives for GPU arrays, after a comparison with what it gives for NumPy's in float64.

    tol: relative and absolute. Where NumPy's result is an array, ours has to be on the GPU (not with on_host=True).
    """
    # Copies: some functions assign to what they were given.
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    expected = flat(function(*map(exact, copies), **{k: exact(v) for k, v in keywords.items()}))
    found = flat(function(*[gpu(a) for a in args], **{k: gpu(v) for k, v in keywords.items()}))
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        if isinstance(want, np.ndarray) and want.ndim and not on_host:
            assert isinstance(got, tg.Array), type(got)
        elif want is None or isinstance(want, str):
            assert got == want
            continue
        ours, theirs = np.asarray(got), np.asarray(want)
        assert ours.shape == theirs.shape
        assert (ours.dtype.kind == "c") == (theirs.dtype.kind == "c")
        np.testing.assert_allclose(ours, theirs, rtol=tol, atol=tol)
    return found
