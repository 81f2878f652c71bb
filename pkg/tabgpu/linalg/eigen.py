"""Eigenvalues and vectors of general matrices: eig, eigvals, schur, hessenberg. Launches: routines/eigen.py."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import complex64, float32, int32, uint32
from ..errors import LinAlgError
from ..graph import Guard
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import arange, astype, zeros
from ..ops.guards import guard
from ..ops.manipulation import broadcast_to, expand_dims, flip, matrix_transpose, reshape
from ..ops.products import matmul
from ..ops.rearranging import prepare
from ..ops.routine import routine, stored
from ..ops.taking import take_along_axis
from ..ops.triangles import triu

BALANCINGS = 6  # rounds, each of which takes the square root of how badly rows and columns are scaled


class EigResult(NamedTuple):
    """What eig returns."""

    eigenvalues: Array
    eigenvectors: Array


class _Scaled(NamedTuple):
    """A matrix with elements up to about 1: a = D matrix D**-1 * 2**power, D = diag(2**logs)."""

    matrix: Array
    power: Array  # (.., 1, 1) int32
    logs: Array | None  # (.., n) int32
    guards: tuple[Guard, ...]


def _lost(_: int) -> Exception:
    return LinAlgError("eig: array must not contain infs or NaNs")


def _stuck(word: int) -> Exception:
    return LinAlgError(f"eig: {word} eigenvalues did not converge")


def square(x: Any, where: str) -> Array:
    """x as a stack of square matrices of float32 or complex64. ValueError (LinAlgError) for other shapes."""
    x = prepare(x, where)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise LinAlgError(f"{where}: takes square matrices in the last two axes, shape is {x.shape}")
    return x if x.dtype in (float32, complex64) else astype(x, float32)


def _times_power(x: Array, power: Array) -> Array:
    """x * 2**power, exactly."""
    if x.dtype.kind != "c":
        return ew.ldexp(x, power)
    return ew.multiply(x, ew.ldexp(1.0, power))


def _scaled(x: Array, balance: bool) -> _Scaled:
    parts = (ew.real(x), ew.imag(x)) if x.dtype.kind == "c" else (x,)
    fine = ew.isfinite(x)
    watch = guard(astype(ew.logical_not(fine), uint32), _lost)
    sizes = [ew.abs(part) for part in parts]
    top = reductions.max(ew.maximum(*sizes) if len(sizes) > 1 else sizes[0], axis=(-2, -1), keepdims=True)
    power = ew.clip(ew.frexp(top)[1], -120, 120)
    power = ew.where(ew.isfinite(top), power, 0)
    a = _times_power(ew.where(fine, x, 0), ew.negative(power))
    logs = None
    if balance and x.shape[-1] > 1:
        for _ in range(BALANCINGS):
            size = ew.abs(a)
            columns, rows = reductions.sum(size, axis=-2), reductions.sum(size, axis=-1)
            usable = ew.logical_and(ew.greater(columns, 0), ew.greater(rows, 0))
            ratio = ew.subtract(ew.log2(ew.where(usable, rows, 1)), ew.log2(ew.where(usable, columns, 1)))
            step = astype(ew.round(ew.multiply(ratio, 0.25)), int32)
            a = _times_power(a, ew.subtract(expand_dims(step, axis=-2), expand_dims(step, axis=-1)))
            logs = step if logs is None else ew.add(logs, step)
    return _Scaled(a, power, logs, (watch,))


class _Form(NamedTuple):
    """Eigenvalues (.., n) and, if wanted, T and Z of the complex Schur form of a scaled matrix."""

    values: Array
    triangle: Array | None
    vectors: Array | None
    guards: tuple[Guard, ...]


def _schur(x: Array, guards: tuple[Guard, ...], whole: bool) -> _Form:
    n, lead = x.shape[-1], x.shape[:-2]
    count = prod(lead)
    size = count * (n + 1) + (2 * count * n * n if whole else 0)
    made = routine(
        "eigen.schur" if whole else "eigen.values",
        [stored(x)],
        (size,),
        complex64,
        (count, n),
        25 * count * n**3,
    )
    values, state = made[: count * n], made[count * n : count * (n + 1)]
    guards = (*guards, guard(astype(ew.real(state), uint32), _stuck))
    if not whole:
        return _Form(reshape(values, (*lead, n)), None, None, guards)
    rest = reshape(made[count * (n + 1) :], (2, *lead, n, n))
    return _Form(reshape(values, (*lead, n)), rest[0], rest[1], guards)


def _guarded(x: Array, guards: tuple[Guard, ...]) -> Array:
    x._cell.op.guards = (*x._cell.op.guards, *guards)
    return x


def eigvals(a: Any, /) -> Array:
    """The eigenvalues (.., n) of each square matrix in the last two axes, complex64 whatever they are, in no order.

    Of real matrices complex ones come in exactly conjugate pairs, the one above the real axis first. LinAlgError for
    shapes that are not square; at the read that depends on it for NaN, infinity and what does not converge.
    """
    x = square(a, "eigvals")
    if not x.size:
        return zeros(x.shape[:-1], dtype=complex64)
    s = _scaled(x, True)
    form = _schur(s.matrix, s.guards, False)
    return _guarded(_times_power(form.values, s.power[..., 0]), form.guards)


def eig(
    a: Any, /, b: Any = None, left: bool = False, right: bool = True
) -> EigResult | tuple[Array, ...] | Array:
    """Eigenvalues (.., n) and right eigenvectors in the columns of (.., n, n), complex64: a @ v[:, i] = w[i] v[:, i].

    Vectors have norm 1 and a real greatest element. As in scipy.linalg.eig, left=True gives (w, left, right) with
    left[:, i].conj() @ a = w[i] left[:, i].conj(); with right=False the right ones are left out. Errors as eigvals;
    NotImplementedError for b (the generalised problem).
    """
    if b is not None:
        raise NotImplementedError("eig: the generalised problem (b) is not there")
    if not left and not right:
        return eigvals(a)
    x = square(a, "eig")
    if not x.size:
        vectors = zeros(x.shape, dtype=complex64)
        w = zeros(x.shape[:-1], dtype=complex64)
        return EigResult(w, vectors) if not left else (w, *[vectors] * (left + right))
    s = _scaled(x, True)
    form = _schur(s.matrix, s.guards, True)
    assert form.triangle is not None and form.vectors is not None
    real = x.dtype.kind != "c"
    w = _guarded(_times_power(form.values, s.power[..., 0]), form.guards)
    found = []
    if left:
        turned = flip(ew.conjugate(matrix_transpose(form.triangle)), axis=(-2, -1))
        y = flip(_vectors(turned), axis=(-2, -1))
        logs = None if s.logs is None else ew.negative(s.logs)
        found.append(_finished(matmul(form.vectors, y), logs, form.values, real))
    if right:
        found.append(_finished(matmul(form.vectors, _vectors(form.triangle)), s.logs, form.values, real))
    found = [_guarded(v, form.guards) for v in found]
    return EigResult(w, found[0]) if not left else (w, *found)


def _vectors(t: Array) -> Array:
    """The eigenvectors of upper triangles, in columns; their lengths are any."""
    n = t.shape[-1]
    count = t.size // (n * n)
    return routine("eigen.vectors", [stored(t)], t.shape, complex64, (count, n), count * n**3)


def _finished(v: Array, logs: Array | None, values: Array, real: bool) -> Array:
    """D v with columns of norm 1 whose greatest element is real; of real matrices exactly real where their value is,
    and exact conjugates where two values are."""
    if logs is not None:
        v = _times_power(v, expand_dims(logs, axis=-1))
    size = ew.maximum(ew.abs(ew.real(v)), ew.abs(ew.imag(v)))
    top = reductions.max(size, axis=-2, keepdims=True)
    v = ew.divide(v, ew.where(ew.greater(top, 0), top, 1))
    squares = ew.add(ew.square(ew.real(v)), ew.square(ew.imag(v)))
    length = ew.sqrt(reductions.sum(squares, axis=-2, keepdims=True))
    most = take_along_axis(v, reductions.argmax(squares, axis=-2, keepdims=True), axis=-2)
    turn = ew.multiply(ew.conjugate(most), ew.divide(1.0, ew.multiply(ew.abs(most), length)))
    v = ew.multiply(v, turn)
    if not real:
        return v
    n = v.shape[-1]
    side = expand_dims(ew.imag(values), axis=-2)
    before = take_along_axis(
        v, broadcast_to(ew.maximum(ew.subtract(arange(n, dtype=int32), 1), 0), v.shape), axis=-1
    )
    v = ew.where(ew.less(side, 0), ew.conjugate(before), v)
    return ew.where(ew.equal(side, 0), astype(ew.real(v), complex64), v)


def schur(a: Any, output: str = "complex") -> tuple[Array, Array]:
    """(T, Z), complex64, of each square matrix: a = Z @ T @ Z.conj().T, T an upper triangle, Z unitary.

    Errors as eigvals; NotImplementedError for output="real"; SciPy's default, it has 2 x 2 blocks on the diagonal.
    """
    if output not in ("complex", "c"):
        if output in ("real", "r"):
            raise NotImplementedError("schur: output='real' is not there; output='complex' is")
        raise ValueError(f"schur: output is 'complex', not {output!r}")
    x = square(a, "schur")
    if not x.size:
        return zeros(x.shape, dtype=complex64), zeros(x.shape, dtype=complex64)
    s = _scaled(x, False)
    form = _schur(s.matrix, s.guards, True)
    assert form.triangle is not None and form.vectors is not None
    t = _guarded(_times_power(form.triangle, s.power), form.guards)
    return t, _guarded(ew.multiply(form.vectors, 1), form.guards)


def hessenberg(a: Any, calc_q: bool = False) -> Array | tuple[Array, Array]:
    """H, or (H, Q) for calc_q: a = Q @ H @ Q.conj().T, H zero below the first subdiagonal, Q unitary (float32 or
    complex64); of stacks too. LinAlgError as eigvals for shapes, NaN and infinity."""
    x = square(a, "hessenberg")
    n, lead = x.shape[-1], x.shape[:-2]
    if not x.size:
        return (x, x) if calc_q else x
    s = _scaled(x, False)
    count = prod(lead)
    made = routine(
        "eigen.hessenberg", [stored(s.matrix)], (2, *lead, n, n), x.dtype, (count, n), 5 * count * n**3
    )
    h = _guarded(_times_power(triu(made[0], -1), s.power), s.guards)
    return (h, _guarded(ew.multiply(matrix_transpose(made[1]), 1), s.guards)) if calc_q else h
