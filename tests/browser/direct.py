"""Matrices for tests of direct methods, backward errors in units of n eps, and a textbook LU. No tests here."""

from __future__ import annotations

from typing import Any

import numpy as np

EPS = 2.0**-24  # of one rounding of float32


def matrix(rng: Any, shape: tuple[int, ...], kind: str = "f") -> Any:
    """Normal random numbers that float32 (complex64) has, as float64 (complex128)."""
    x = rng.standard_normal(shape)
    if kind == "c":
        return (x + 1j * rng.standard_normal(shape)).astype(np.complex64).astype(np.complex128)
    return x.astype(np.float32).astype(np.float64)


def narrow(x: Any) -> Any:
    return x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)


def wide(x: Any) -> Any:
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def positive(rng: Any, shape: tuple[int, ...], kind: str = "f", least: float = 1e-2) -> Any:
    """Positive definite matrices of condition number 1 / least and norm about 1."""
    n = shape[-1]
    q, _ = np.linalg.qr(matrix(rng, shape, kind))
    values = np.geomspace(1, least, n) if n > 1 else np.ones(n)
    x = narrow((q * values) @ adjoint(q))
    return wide((x + adjoint(x)) / 2)


def conditioned(rng: Any, n: int, least: float, kind: str = "f") -> Any:
    """A general matrix with singular values from 1 down to `least`."""
    u, v = (np.linalg.qr(matrix(rng, (n, n), kind))[0] for _ in range(2))
    return wide(narrow((u * np.geomspace(1, least, n)) @ v))


def norm(x: Any) -> Any:
    """The 1-norm of each matrix."""
    return np.abs(x).sum(axis=-2).max(axis=-1)


def off(product: Any, a: Any) -> float:
    """The greatest error of a factorisation a = product, relative to the norm, in units of n eps."""
    n = max(a.shape[-2:])
    return float(np.max(norm(product - a) / np.maximum(norm(a), 1e-300)) / (n * EPS))


def residual(a: Any, x: Any, b: Any) -> float:
    """The normwise backward error of a solution (Rigal and Gaches), the worst column, in units of n eps."""
    size = norm(np.swapaxes(a, -1, -2))[..., None]
    lost = np.abs(a @ x - b).max(axis=-2)
    return float(
        np.max(lost / (size * np.abs(x).max(axis=-2) + np.abs(b).max(axis=-2))) / (a.shape[-1] * EPS)
    )


def textbook(a: Any) -> tuple[Any, list[int]]:
    """(L and U in one, exchanges) in float64: the first of the greatest elements is the pivot, as in LAPACK."""
    a, pivots = wide(a).copy(), []
    for k in range(min(a.shape)):
        size = np.abs(a[k:, k].real) + np.abs(a[k:, k].imag)
        p = k + int(np.argmax(size))
        pivots.append(p)
        a[[k, p]] = a[[p, k]]
        if a[k, k]:
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, pivots
