"""Functions of square matrices: powers and the exponential."""

from __future__ import annotations

from math import inf, nan
from operator import index as as_index
from typing import Any

from ..array import Array
from ..errors import LinAlgError
from ..ops import elementwise as ew
from ..ops.creation import copy_of, eye, zeros
from ..ops.manipulation import broadcast_to, reshape
from ..ops.products import matmul
from ..ops.rearranging import prepare
from .direct import solved
from .norms import matrix_norm
from .solving import inv
from .stacks import matrices

__all__ = ["expm", "matrix_power"]

# Pade approximants of degree 7 are accurate to float32 up to this 1-norm (Higham, SIAM J. Matrix Anal. 26, 2005).
RADIUS = 3.925724783138660
PADE = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
SQUARINGS = 24  # the most: norms up to RADIUS * 2**24


def matrix_power(a: Any, n: int, /) -> Array:
    """a @ a @ .. (n times) of matrices (.., m, m), in their dtype; n = 0 gives identities, n < 0 powers of the inverse
    (LinAlgError at the read for a singular matrix). About 2 log2 n products."""
    x = prepare(a, "matrix_power")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise LinAlgError(f"matrix_power: the last 2 axes must be square, shape is {x.shape}")
    n = as_index(n)
    if n == 0:
        return copy_of(broadcast_to(eye(x.shape[-1], dtype=x.dtype), x.shape))
    if n < 0:
        x, n = inv(x), -n
    found = None
    while True:
        if n & 1:
            found = x if found is None else matmul(found, x)
        n >>= 1
        if not n:
            return copy_of(found) if found is a else found  # type: ignore[return-value]
        x = matmul(x, x)


def expm(A: Any) -> Array:  # SciPy's name
    """The exponentials of matrices (.., n, n), float32 or complex64: a Pade approximant of degree 7 of the matrix
    scaled by a power of two, squared as often.

    How often is found on the GPU for each matrix, at most 24 times; a matrix of 1-norm above 6.5e7 gives NaN.
    """
    x = prepare(A, "expm")
    if x.size == 1 and x.ndim < 2:  # as SciPy: a number is a matrix of one
        x = reshape(x, (1, 1))
    x = matrices(x, "expm", square=True)
    if not x.size:
        return zeros(x.shape, x.dtype)
    size = matrix_norm(x, ord=1, keepdims=True)
    times = ew.clip(ew.frexp(ew.multiply(size, 1 / RADIUS))[1], 0, 200)
    small = ew.multiply(x, ew.ldexp(1.0, ew.negative(times)))
    one = broadcast_to(eye(x.shape[-1], dtype=x.dtype), x.shape)
    two = matmul(small, small)
    four = matmul(two, two)
    six = matmul(four, two)
    b = PADE
    odd = ew.add(ew.add(six, ew.multiply(four, b[5])), ew.add(ew.multiply(two, b[3]), ew.multiply(one, b[1])))
    odd = matmul(small, odd)
    even = ew.add(ew.multiply(six, b[6]), ew.multiply(four, b[4]))
    even = ew.add(even, ew.add(ew.multiply(two, b[2]), ew.multiply(one, b[0])))
    made, _ = solved(ew.subtract(even, odd), ew.add(even, odd), "expm")
    for k in range(SQUARINGS):
        made = ew.where(ew.greater(times, k), matmul(made, made), made)
    return ew.where(
        ew.logical_or(ew.greater(times, SQUARINGS), ew.logical_not(ew.less(size, inf))), nan, made
    )
