"""Distributions of vectors: multinomial and multivariate_hypergeometric by halving, dirichlet, multivariate_normal."""

from __future__ import annotations

import math
from typing import Any

from ..array import Array
from ..dtypes import float32, int32, uint32
from ..layout import as_shape, broadcast_shapes
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype, full
from ..ops.joining import stack
from ..ops.manipulation import broadcast_to, expand_dims, matrix_transpose, reshape
from ..ops.products import matmul
from .draws import draw
from .parameters import Parameters


def _halves(x: Any, axis_even: int) -> Any:
    return x[..., axis_even::2]


def _levels(leaves: Any) -> list[tuple[Any, Any]]:
    """Pairs (first half, both halves) of a binary tree's nodes, from the root on. leaves: (.., 2**k)."""
    found = []
    while leaves.shape[-1] > 1:
        first = _halves(leaves, 0)
        both = first + _halves(leaves, 1)
        found.append((first, both))
        leaves = both
    return found[::-1]


def _leaves(x: Any, k: int) -> Any:
    """The last axis filled up with zeros to a power of 2; on the host in float64 or int64."""
    more = (1 << max(k - 1, 0).bit_length()) - k
    if isinstance(x, Array):
        from ..ops.padding import pad

        return pad(x, [(0, 0)] * (x.ndim - 1) + [(0, more)]) if more else x
    import numpy as np

    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, more)])


def _paired(first: Array, rest: Array) -> Array:
    """(.., n) and (.., n) as (.., 2 n), by turns."""
    both = stack([first, rest], axis=-1)
    return reshape(both, (*first.shape[:-1], 2 * first.shape[-1]))


def multinomial(rng: Any, n: Any, pvals: Any, size: Any) -> Array:
    given = Parameters("multinomial")
    n = given.take("n", n, "not negative", int32)
    chances, k = _outcomes(given, pvals)
    lead = broadcast_shapes(n.shape if isinstance(n, Array) else (), chances.shape[:-1], where="multinomial")
    dims = _whole(lead, size, "multinomial")
    if not k or 0 in dims:
        return full((*dims, k), 0, dtype=int32)
    leaves = _leaves(chances, k)
    key, start = rng._take((*dims, leaves.shape[-1]))
    counts = (
        broadcast_to(expand_dims(n, -1), (*dims, 1))
        if isinstance(n, Array)
        else full((*dims, 1), n, dtype=int32)
    )
    for first, both in _levels(leaves):
        p = _share(first, both)
        shape = counts.shape
        some = draw("binomial", key, shape, start, counts, broadcast_to(p, shape))
        start = (start + math.prod(shape)) & 0xFFFFFFFF
        counts = _paired(some, ew.subtract(counts, some))
    return given.put(counts[..., :k])


def _share(first: Any, both: Any) -> Array:
    """The probability of the first half given both: float32, 0 where both are 0."""
    if isinstance(first, Array):
        return ew.where(ew.greater(both, 0), ew.divide(first, both), 0.0)
    import numpy as np

    return from_host(np.divide(first, both, out=np.zeros_like(first), where=both > 0).astype(np.float32))


def _outcomes(given: Parameters, pvals: Any) -> tuple[Any, int]:
    """(probabilities, how many): all but the last must not sum to more than 1; the last is what is left of 1."""
    if isinstance(pvals, Array):
        if not pvals.ndim:
            raise ValueError("multinomial: pvals must have an axis")
        pvals = given.take("pvals", pvals, "from 0 to 1")
        total = pvals.sum(axis=-1)
        given._watch(astype(ew.logical_not(ew.less_equal(total, 1.0 + 1e-4)), uint32), "pvals must sum to 1")
        del given.values["pvals"]
        return pvals, pvals.shape[-1]
    import numpy as np

    host = np.asarray(pvals)
    slack = 1e-12 if host.dtype != np.float32 else 1e-6
    host = host.astype(np.float64)
    if not host.ndim:
        raise ValueError("multinomial: pvals must have an axis")
    if not ((host >= 0) & (host <= 1)).all():
        raise ValueError("multinomial: pvals must be from 0 to 1")
    if host.shape[-1]:
        before = host[..., :-1].sum(axis=-1)
        if (before > 1 + slack).any():
            raise ValueError("multinomial: all but the last of pvals sum to more than 1")
        host = np.concatenate([host[..., :-1], np.maximum(1 - before, 0)[..., None]], axis=-1)
    return host, host.shape[-1]


def _whole(lead: tuple[int, ...], size: Any, where: str) -> tuple[int, ...]:
    if size is None:
        return lead
    dims = as_shape(size, where)
    if broadcast_shapes(dims, lead, where=where) != dims:
        raise ValueError(f"{where}: parameters of shape {lead} do not broadcast to the size {dims}")
    return dims


def multivariate_hypergeometric(rng: Any, colors: Any, nsample: Any, size: Any, method: str) -> Array:
    name = "multivariate_hypergeometric"
    if method not in ("marginals", "count"):
        raise ValueError(f"{name}: method must be 'marginals' or 'count', not {method!r}")
    given = Parameters(name)
    if isinstance(colors, Array):
        host: Any = given.take("colors", colors, "not negative", int32)
        total = host.sum(axis=-1)
    else:
        import numpy as np

        host = np.asarray(colors)
        if host.dtype.kind not in "biu":
            raise TypeError(f"{name}: colors must be integers, not {host.dtype}")
        host = host.astype(np.int64)
        if not (host >= 0).all() or host.sum() >= 10**9:
            raise ValueError(f"{name}: colors must not be negative, and their sum below 10**9")
        total = int(host.sum())
    if host.ndim != 1:
        raise ValueError(f"{name}: colors must have one axis, not {host.ndim}")
    nsample = given.take("nsample", nsample, "not negative", int32)
    (given.values if isinstance(total, Array) else given.host)["the sum of colors"] = total
    given.ordered("nsample", "the sum of colors", False)
    k = host.shape[0]
    dims = _whole(nsample.shape if isinstance(nsample, Array) else (), size, name)
    if not k or 0 in dims:
        return full((*dims, k), 0, dtype=int32)
    leaves = _leaves(host, k)
    key, start = rng._take((*dims, leaves.shape[-1]))
    counts = (
        broadcast_to(expand_dims(nsample, -1), (*dims, 1))
        if isinstance(nsample, Array)
        else full((*dims, 1), nsample, dtype=int32)
    )
    for first, both in _levels(leaves):
        rest = both - first
        if not isinstance(first, Array):
            first, rest = from_host(first.astype("int32")), from_host(rest.astype("int32"))
        shape = counts.shape
        some = draw(
            "hypergeometric", key, shape, start, broadcast_to(first, shape), broadcast_to(rest, shape), counts
        )
        start = (start + math.prod(shape)) & 0xFFFFFFFF
        counts = _paired(some, ew.subtract(counts, some))
    return given.put(counts[..., :k])


def dirichlet(rng: Any, alpha: Any, size: Any) -> Array:
    from ..nn.normalization import softmax

    given = Parameters("dirichlet")
    alpha = given.take("alpha", alpha, "not negative")
    if not isinstance(alpha, Array) or alpha.ndim != 1:
        raise ValueError("dirichlet: alpha must have one axis")
    dims = (*(() if size is None else as_shape(size, "dirichlet")), alpha.shape[0])
    key, start = rng._take(dims)
    logs = draw("log_gamma", key, dims, start, alpha)
    if not logs.size:
        return given.put(logs)
    if "alpha" in given.host and (given.host["alpha"] > 0).all():
        return given.put(softmax(logs, -1))
    there = ew.greater(alpha, 0)  # no share for 0, nor any where all are
    return given.put(ew.where(there, softmax(ew.where(there, logs, -math.inf), -1), 0.0))


def multivariate_normal(
    rng: Any, mean: Any, cov: Any, size: Any, check_valid: str, tol: float, method: str
) -> Array:
    name = "multivariate_normal"
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError(f"{name}: method must be 'svd', 'eigh' or 'cholesky', not {method!r}")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError(f"{name}: check_valid must be 'warn', 'raise' or 'ignore', not {check_valid!r}")
    given = Parameters(name)
    if not isinstance(cov, Array) and check_valid == "raise":
        _check(cov, tol)
    mean, cov = (astype(from_host(x, name), float32, copy=False) for x in (mean, cov))
    if mean.ndim != 1 or cov.shape != (mean.shape[0],) * 2:
        raise ValueError(f"{name}: mean must be (n,) and cov (n, n), not {mean.shape} and {cov.shape}")
    dims = (*(() if size is None else as_shape(size, name)), mean.shape[0])
    z: Array = rng.standard_normal(dims)
    if not z.size:
        return z
    rows = reshape(z, (-1, mean.shape[0]))
    made = ew.add(matmul(rows, factor(cov, method)), mean)
    return given.put(reshape(made, dims))


def _check(cov: Any, tol: float) -> None:
    import numpy as np

    host = np.asarray(cov, np.float64)
    if host.ndim == 2 and host.shape[0] == host.shape[1] and host.size:
        least = np.linalg.eigvalsh((host + host.T) / 2).min()
        if not np.allclose(host, host.T, rtol=tol, atol=tol) or least < -tol * max(
            1.0, float(np.abs(host).max())
        ):
            raise ValueError("multivariate_normal: cov is not symmetric positive-semidefinite")


def factor(cov: Array, method: str) -> Any:
    """A matrix f with f^T f = cov: from tg.linalg."""
    from .. import linalg

    found = getattr(linalg, method)
    if method == "cholesky":
        return matrix_transpose(found(cov))
    if method == "eigh":
        values, vectors = found(cov)
        return matrix_transpose(ew.multiply(vectors, ew.sqrt(ew.maximum(values, 0.0))))
    _, s, vh = found(cov)
    return ew.multiply(expand_dims(ew.sqrt(s), -1), vh)


__all__ = ["dirichlet", "factor", "multinomial", "multivariate_hypergeometric", "multivariate_normal"]
