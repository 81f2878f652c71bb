"""What tests of the runmat checklist share: a matrix, and a comparison of several results with NumPy. No tests."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import tabgpu as tg

A = (np.random.default_rng(2012).normal(size=(5, 8)) * 2).astype(np.float32)


def wide(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


async def check(cases: list[Any], label: str) -> None:
    """(what tabgpu gives or a coroutine of it, what NumPy gives, relative tolerance) each; tuples part by part."""
    for k, case in enumerate(cases):
        got, want, *rest = case
        tolerance = rest[0] if rest else 2e-6
        if inspect.isawaitable(got):
            got = await got
        if isinstance(want, tuple):
            await check([(g, w, tolerance) for g, w in zip(got, want, strict=True)], f"{label} {k}")
            continue
        found = await got.numpy() if isinstance(got, tg.Array) else np.asarray(got)
        want = np.asarray(want)
        assert found.shape == want.shape, f"{label} {k}: shape {found.shape}, not {want.shape}"
        if found.dtype.kind in "fc":
            atol = tolerance * np.abs(want[np.isfinite(want)]).max(initial=0) if rest else 1e-37
            np.testing.assert_allclose(found, want, rtol=tolerance, atol=atol, err_msg=f"{label} {k}")
        else:
            np.testing.assert_array_equal(found, want, err_msg=f"{label} {k}")
