"""Kernels of interpolation: piecewise.wgsl, tridiagonal.wgsl, grid_interpolation.wgsl, nearest_points.wgsl."""

from __future__ import annotations

from ..dtypes import float32
from ..graph import Op
from ..kernels import piecewise_functions
from ..launch import Launch
from ..region import Facts, kernel_for
from . import kernel, launch, temporary

STEPS = (
    7  # of cyclic reduction: in rows whose diagonal is twice the others, couplings square at each, from 1/2
)
ROUNDS = 50_000  # of loops of a thread in a launch on Mesa's CPU driver
PAIRS = 1 << 34  # distances of a launch


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "interpolation.NAME"; op.extra its parameters."""
    return list(globals()[f"_{op.fn.partition('.')[2]}"](op, facts))


def _piecewise(op: Op, facts: Facts) -> list[Launch]:
    """args: knots, table, points; extra (kind, n, points, columns, coefficients, left, right, bits, bits)."""
    kind, *words = op.extra
    wg = facts.workgroup
    made = kernel_for(("piecewise", kind, wg), piecewise_functions.text, f"piecewise_{kind}", wg)
    return [launch(made, op.args, (op,), -(-op.size // wg), words, facts)]


def _tridiagonal(op: Op, facts: Facts) -> list[Launch]:
    """args: bands (3, n) and right sides (n, m); extra (n, m, wraps). Result: solutions (n, m)."""
    n, m, wraps = op.extra
    wg = facts.workgroup
    made = kernel("tridiagonal", "rrww", WG=wg)
    steps = STEPS if wraps else max(1, min(STEPS, (n - 1).bit_length()))
    bands, rhs = op.args
    found = []
    for k in range(steps):
        last = k == steps - 1
        into = (
            (temporary((1,), float32), op)
            if last
            else (temporary((3, n), float32), temporary((n, m), float32))
        )
        words = [n, m, 1 << k, int(wraps), int(last), 0, 0, 0]
        found.append(launch(made, (bands, rhs), into, -(-n * m // wg), words, facts))
        bands, rhs = into
    return found


def _grid(op: Op, facts: Facts) -> list[Launch]:
    """args: knots of all axes, table, points; extra (points, columns, nearest, filled, bits, *sizes)."""
    points, columns, nearest, filled, bits, *sizes = op.extra
    made = kernel("grid_interpolation", "rrrw", WG=facts.workgroup)
    words = [len(sizes), points, columns, nearest, filled, bits, 0, 0, *sizes, *[1] * (8 - len(sizes))]
    return [launch(made, op.args, (op,), -(-op.size // facts.workgroup), words, facts)]


def _nearest(op: Op, facts: Facts) -> list[Launch]:
    """args: points (n, axes), queries (q, axes); extra (n, q, axes). Result: (q, 2) of distance bits and position."""
    n, q, axes = op.extra
    made = kernel("nearest_points", "rrw", WG=facts.workgroup)
    most = ROUNDS // (axes + 1) if facts.software else max(1024, PAIRS // max(q * axes, 1))
    return [
        launch(made, op.args, (op,), -(-q // facts.workgroup), [q, axes, k, min(n, k + most)], facts)
        for k in range(0, n, most)
    ]
