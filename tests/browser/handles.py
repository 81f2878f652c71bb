"""A backend and handles with arrays in them, for the tests of tg.backend. No tests."""

from __future__ import annotations

from typing import Any

import numpy as np

import tabgpu as tg

B = tg.backend
RNG = np.random.default_rng(5)


async def ready() -> Any:
    backend = B.Backend()
    await backend.init()
    return backend


def numbers(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


def put(backend: Any, values: Any, spare: int = 0) -> int:
    """A handle with an array, and `spare` more elements of 99."""
    values = np.ascontiguousarray(values)
    filled = np.concatenate([values.reshape(-1), np.full(spare, 99, values.dtype)])
    handle = backend.alloc(max(4, filled.nbytes))
    backend.copy_htod(handle, filled)
    return int(handle)


async def get(backend: Any, handle: int, shape: Any, dtype: str = "float32") -> Any:
    out = np.empty(shape, dtype)
    return await backend.copy_dtoh(out, handle)
