"""Reductions of complex64: sums of the two parts, products in a tree of elementwise ones. They have no order."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import complex64
from . import elementwise as ew
from .creation import copy_of, full
from .manipulation import getitem, permute_dims, reshape
from .ufunc_arguments import widened


def parts(x: Array) -> tuple[Array, Array]:
    """(real, imaginary), float32."""
    return ew.real(x), ew.imag(x)


def joined(real: Array, imag: Array) -> Array:
    """complex64 of two parts."""
    return ew.complex_of(real, imag)


def accumulated(
    name: str, x: Array, axes: tuple[int, ...], keepdims: bool, label: str, mask: Array | None, initial: Any
) -> Array:  # fmt: skip
    """sum or prod over normalised axes; TypeError for others."""
    from . import reductions as rd

    if name not in ("sum", "prod"):
        raise TypeError(f"{label}: not defined for complex64: complex numbers have no order")
    if mask is not None:
        x = ew.where(widened(mask, x.shape, label), x, complex(name == "prod"))
    if not axes:
        got = copy_of(x)
    elif 0 in [x.shape[k] for k in axes]:
        got = full(rd.reduced_shape(x.shape, axes, keepdims), complex(name == "prod"), dtype=complex64)
    elif name == "sum":
        got = joined(*[rd.accumulated("sum", part, axes, keepdims, label) for part in parts(x)])
    else:
        got = reshape(_product(x, axes), rd.reduced_shape(x.shape, axes, keepdims))
    return got if initial is None else (ew.add if name == "sum" else ew.multiply)(got, initial)


def _product(x: Array, axes: tuple[int, ...]) -> Array:
    """The product over axes (moved last, flattened): halves are multiplied until one is left."""
    kept = [k for k in range(x.ndim) if k not in axes]
    x = permute_dims(x, (*kept, *axes))
    shape = x.shape[: len(kept)]
    n = 1
    for size in x.shape[len(kept) :]:
        n *= size
    x = reshape(x, (*shape, n))
    odd: list[Array] = []
    while n > 1:
        if n % 2:
            odd.append(getitem(x, (..., -1)))
        n //= 2
        x = ew.multiply(getitem(x, (..., slice(n))), getitem(x, (..., slice(n, 2 * n))))
    got = getitem(x, (..., 0))
    for rest in odd:
        got = ew.multiply(got, rest)
    return got
