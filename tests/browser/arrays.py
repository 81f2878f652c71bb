"""Arrays in every dtype and layout, on the host and on the GPU, and how to compare them. No tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tabgpu as tg

DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64",
)  # fmt: skip
NUMBERS = DTYPES[1:]


def host_dtype(dtype: str) -> Any:
    """What NumPy has of a dtype: for bfloat16 float32."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def numbered(shape: tuple[int, ...], dtype: str = "int32", start: int = 0) -> Any:
    """Every element another value, as far as the dtype has them; all are exact in it."""
    k = np.arange(start, start + int(np.prod(shape)), dtype=np.int64).reshape(shape)
    if dtype == "bool":
        return (k * 7) % 5 < 2
    if dtype == "complex64":
        return (k % 251 - 100 + 1j * (k % 13)).astype(np.complex64)
    if dtype == "bfloat16":
        return (k % 251 - 100).astype(np.float32)
    if dtype[0] == "u":
        return (k * 3 + 1).astype(dtype)
    return ((k * 3) % 251 - 100).astype(dtype)


def on_gpu(x: Any, dtype: str) -> tg.Array:
    made = tg.asarray(x)
    return made.astype(tg.bfloat16) if dtype == "bfloat16" else made


def small(rng: Any, shape: tuple[int, ...], dtype: str, most: int = 4) -> Any:
    """Small whole numbers, whose products and sums are exact in every dtype."""
    x = rng.integers(0 if dtype[0] == "u" else -most, most + 1, shape)
    if dtype == "complex64":
        return (x + 1j * rng.integers(-most, most + 1, shape)).astype(np.complex64)
    return x.astype(host_dtype(dtype)) if dtype != "bool" else x > 0


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda x: x,
    "reversed": lambda x: x[::-1],
    "strided": lambda x: x[..., 1::2] if x.ndim else x,
    "transposed": lambda x: x.T,
    "flipped": lambda x: x[..., ::-1].T,
}


def layouts(shape: tuple[int, ...], dtype: str, start: int = 0) -> Iterator[tuple[str, Any, tg.Array]]:
    """(name, host array, GPU array) of one array seen through each layout."""
    x = numbered(shape, dtype, start)
    g = on_gpu(x, dtype)
    for name, see in LAYOUTS.items():
        yield name, see(x), see(g)


async def same(made: Any, wanted: Any, labels: Any = None, tolerance: float = 0.0) -> None:
    """All results equal NumPy's: shapes, values (NaN for NaN), dtypes of 32 bits and less."""
    made = list(made)
    got = await tg.fetch(*made)
    for k, (g, array, want) in enumerate(zip(got, made, wanted, strict=True)):
        want = np.asarray(want)
        label = k if labels is None else labels[k]
        assert g.shape == want.shape, f"{label}: {g.shape}, NumPy {want.shape}"
        if want.dtype.itemsize <= 4 or want.dtype == np.complex64:
            expected = "bfloat16" if array.dtype is tg.bfloat16 else want.dtype.name
            assert array.dtype.name == expected, f"{label}: {array.dtype.name}, NumPy {want.dtype}"
        if tolerance:
            fine = np.allclose(g, want, rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            fine = np.array_equal(g, want, equal_nan=want.dtype.kind in "fc")
        assert fine, f"{label}: {g}, NumPy {want}"


class NumPy:
    """numpy, with what its versions before 2.2 do not have yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("own_"):  # there is none: looking for own_own_.. would not end
            raise AttributeError(name)
        return getattr(np, name, None) or getattr(self, f"own_{name}")

    def own_matvec(self, a: Any, b: Any) -> Any:
        return (a @ b[..., None])[..., 0]

    def own_vecmat(self, a: Any, b: Any) -> Any:
        return ((np.conj(a) if a.dtype.kind == "c" else a)[..., None, :] @ b)[..., 0, :]

    def own_unstack(self, x: Any, axis: int = 0) -> Any:
        return tuple(np.moveaxis(x, axis, 0))


NUMPY = NumPy()


def launches() -> int:
    return int(tg.memory()["launches"])
