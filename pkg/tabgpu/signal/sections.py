"""Filters of high order as second-order sections, on the host in float64: what float32 can compute of them.

Rounding the coefficients of a high order to float32 moves poles far, often out of the unit circle; of sections it does
not.
"""

from __future__ import annotations

from typing import Any


def _apart(roots: Any) -> tuple[list[complex], list[float]]:
    """(those of the upper half, real ones) of the roots of a real polynomial."""
    return [complex(r) for r in roots if r.imag > 0], [float(r.real) for r in roots if r.imag == 0]


def _quadratic(pair: tuple[Any, Any]) -> list[float]:
    """Coefficients of a section's factor; None is a delay."""
    r, s = pair
    if r is None and s is None:
        return [0.0, 0.0, 1.0]
    if r is None or s is None:
        return [0.0, 1.0, -float((s if r is None else r).real)]
    return [1.0, -float((r + s).real), float((r * s).real)]


def _pairs(upper: list[complex], real: list[float]) -> list[tuple[Any, Any]]:
    real = sorted(real, key=abs)
    return [(r, r.conjugate()) for r in upper] + list(zip(real[::2], real[1::2], strict=True))


def sections_of(b: Any, a: Any) -> Any:
    """(sections, 6) of a filter of real coefficients, a[0] = 1. Poles go with the zeros nearest to them, those nearest
    to the unit circle come last, and no section's part of the response is much above 1."""
    import numpy as np

    order = max(a.size, b.size) - 1
    order += order % 2
    b, a = (np.concatenate([c, np.zeros(order + 1 - c.size)]) for c in (b, a))
    filled = np.flatnonzero(b)
    if not filled.size:
        return np.array([[0.0, 0, 0, 1, 0, 0]])
    late = int(filled[0])
    gain = b[late]
    poles = _pairs(*_apart(np.roots(a)))
    poles.sort(key=lambda pair: abs(1 - max(abs(pair[0]), abs(pair[1]))))
    upper, real = _apart(np.roots(b))
    rest: list[Any] = [*real, *[None] * late]
    z = np.exp(-1j * np.pi * (np.arange(257) + 0.25) / 257.5)
    made = []
    for pair in poles:
        near = max(pair, key=abs)

        def distance(zero: Any, near: Any = near) -> float:
            return 1e9 if zero is None else abs(zero - near)

        upper.sort(key=distance)
        rest.sort(key=distance)
        if upper and (not rest or distance(upper[0]) < distance(rest[0])):
            zero = upper.pop(0)
            zeros: tuple[Any, Any] = (zero, zero.conjugate())
        else:
            zeros = (rest.pop(0), rest.pop(0))
        made.append([*_quadratic(zeros), *_quadratic(pair)])
    sos = np.array(made[::-1])
    response = np.ones_like(z)
    for k, row in enumerate(sos):
        response = response * (row[0] + row[1] * z + row[2] * z * z) / (row[3] + row[4] * z + row[5] * z * z)
        scale = gain if k == len(sos) - 1 else 1 / min(max(np.abs(response).max(), 1e-6), 1e6)
        row[:3] *= scale
        response = response * scale
        gain /= scale
    return sos
