"""What results of orthogonal factorisations are held to: backward error and orthogonality of at most 20 n eps."""

from __future__ import annotations

from typing import Any

import numpy as np

EPS = 2.0**-24


def draw(shape: tuple[int, ...], kind: str = "f", seed: int = 0) -> np.ndarray:
    """Normal float32 or (kind "c") complex64."""
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape).astype(np.float32)
    return (x + 1j * rng.standard_normal(shape)).astype(np.complex64) if kind == "c" else x


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x.conj(), -1, -2)


def bound(shape: tuple[int, ...]) -> float:
    return 20 * max(*shape[-2:], 2) * EPS


def near(got: np.ndarray, want: np.ndarray, limit: float) -> None:
    """Within a limit relative to the norm of each wanted matrix."""
    assert got.shape == want.shape
    if not want.size:
        return
    size = np.linalg.norm(want, axis=(-2, -1), keepdims=True)
    error = np.linalg.norm(got - want, axis=(-2, -1), keepdims=True) / np.where(size == 0, 1, size)
    assert (error <= limit).all(), f"{error.max():.3g} > {limit:.3g}"


def orthonormal(q: np.ndarray, columns: bool = True) -> None:
    """q has orthonormal columns (or rows)."""
    q = wide(q) if columns else adjoint(wide(q))
    gram = adjoint(q) @ q
    near(gram, np.broadcast_to(np.eye(q.shape[-1]), gram.shape), bound(q.shape))


async def host(*arrays: Any) -> list[np.ndarray]:
    return [await a.numpy() for a in arrays]


def check_qr(a: np.ndarray, q: np.ndarray, r: np.ndarray) -> None:
    assert q.dtype == r.dtype == a.dtype
    orthonormal(q)
    near(wide(q) @ wide(r), wide(a), bound(a.shape))
    assert (np.tril(r, -1) == 0).all()


def check_eigh(a: np.ndarray, w: np.ndarray, v: np.ndarray) -> None:
    """a is Hermitian."""
    assert w.dtype == np.float32 and v.dtype == a.dtype
    assert (np.diff(w, axis=-1) >= 0).all()
    orthonormal(v)
    v64 = wide(v)
    near(v64 * w[..., None, :] @ adjoint(v64), wide(a), bound(a.shape))
    near(w[..., None], np.linalg.eigvalsh(wide(a))[..., None], bound(a.shape))


def check_svd(a: np.ndarray, u: np.ndarray, s: np.ndarray, vh: np.ndarray) -> None:
    k = min(a.shape[-2:])
    assert u.dtype == vh.dtype == a.dtype and s.dtype == np.float32 and s.shape == (*a.shape[:-2], k)
    assert (s >= 0).all() and (np.diff(s, axis=-1) <= 0).all()
    orthonormal(u)
    orthonormal(vh, columns=False)
    near(wide(u)[..., :k] * s[..., None, :] @ wide(vh)[..., :k, :], wide(a), bound(a.shape))
    near(s[..., None], np.linalg.svd(wide(a), compute_uv=False)[..., None], bound(a.shape))
