"""Signals made of times: chirps, saws, squares, pulses, impulses; elementwise, so that they join what uses them."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

from ..array import Array
from ..dtypes import as_dtype, float32
from ..layout import as_shape
from ..ops import elementwise as ew
from ..ops.creation import asarray, astype, full, positions
from ..ops.manipulation import broadcast_to, reshape
from .samples import floats, host


def _turns(t: Array, where: str) -> Array:
    """t modulo a period, in parts of it: [0, 1)."""
    part = ew.divide(t, 2 * pi)
    return ew.subtract(part, ew.floor(part))


def sawtooth(t: Any, width: Any = 1) -> Array:
    """A saw of period 2 pi: from -1 up to 1 over `width` (0 .. 1) of it, and down again. NaN for other widths."""
    t, want = floats(t, "sawtooth")
    w: Any = float(width) if isinstance(width, (int, float)) else floats(width, "sawtooth")[0]
    part = _turns(t, "sawtooth")
    w = ew.add(ew.multiply(part, 0.0), w)  # as many as results
    up = ew.subtract(ew.divide(ew.multiply(part, 2.0), w), 1.0)
    down = ew.divide(ew.subtract(ew.add(w, 1.0), ew.multiply(part, 2.0)), ew.subtract(1.0, w))
    got = ew.where(ew.less(part, w), up, down)
    wrong = ew.logical_or(ew.less(w, 0.0), ew.greater(w, 1.0))
    return astype(ew.where(wrong, float("nan"), got), want, copy=False)


def square(t: Any, duty: Any = 0.5) -> Array:
    """1 over `duty` (0 .. 1) of a period of 2 pi, then -1. NaN for other duties."""
    t, want = floats(t, "square")
    w: Any = float(duty) if isinstance(duty, (int, float)) else floats(duty, "square")[0]
    part = _turns(t, "square")
    w = ew.add(ew.multiply(part, 0.0), w)
    wrong = ew.logical_or(ew.less(w, 0.0), ew.greater(w, 1.0))
    got = ew.where(ew.less(part, w), 1.0, -1.0)
    return astype(ew.where(wrong, float("nan"), got), want, copy=False)


def gausspulse(
    t: Any, fc: float = 1000, bw: float = 0.5, bwr: float = -6, tpr: float = -60, retquad: bool = False,
    retenv: bool = False,
) -> Any:  # fmt: skip
    """A sine of fc Hz in a Gaussian: the pulse, with retquad its quadrature, with retenv its envelope.

    t "cutoff": the time at which the envelope has fallen by tpr dB, a number.
    """
    if fc < 0 or bw <= 0 or bwr >= 0:
        raise ValueError(f"gausspulse: fc {fc} must not be negative, bw {bw} be positive, bwr {bwr} negative")
    a = -((pi * fc * bw) ** 2) / (4 * log(10 ** (bwr / 20)))
    if isinstance(t, str):
        if t != "cutoff" or tpr >= 0:
            raise ValueError(f"gausspulse: t {t!r} must be 'cutoff' or an array, tpr {tpr} negative")
        return sqrt(-log(10 ** (tpr / 20)) / a)
    t, want = floats(t, "gausspulse")
    hull = ew.exp(ew.multiply(ew.multiply(t, t), -a))
    phase = ew.multiply(t, 2 * pi * fc)
    made = [astype(ew.multiply(hull, ew.cos(phase)), want, copy=False)]
    if retquad:
        made.append(astype(ew.multiply(hull, ew.sin(phase)), want, copy=False))
    if retenv:
        made.append(astype(hull, want, copy=False))
    return made[0] if len(made) == 1 else tuple(made)


def chirp(
    t: Any, f0: float, t1: float, f1: float, method: str = "linear", phi: float = 0, vertex_zero: bool = True, *,
    complex: bool = False,
) -> Array:  # fmt: skip
    """A cosine whose frequency goes from f0 at 0 to f1 at t1: "linear", "quadratic", "logarithmic" or "hyperbolic".

    phi: degrees at the beginning. complex: exp(i phase), complex64. Phases are float32: their error grows with t.
    """
    t, want = floats(t, "chirp")
    f0, f1, t1 = float(f0), float(f1), float(t1)
    if method in ("linear", "lin", "li"):
        turns = ew.add(ew.multiply(t, f0), ew.multiply(ew.multiply(t, t), (f1 - f0) / (2 * t1)))
    elif method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        if vertex_zero:
            turns = ew.add(ew.multiply(t, f0), ew.multiply(ew.power(t, 3), beta / 3))
        else:
            rest = ew.subtract(t1**3, ew.power(ew.subtract(t1, t), 3))
            turns = ew.subtract(ew.multiply(t, f1), ew.multiply(rest, beta / 3))
    elif method in ("logarithmic", "log", "lo"):
        if f0 * f1 <= 0:
            raise ValueError(f"chirp: a logarithmic chirp needs f0 and f1 of one sign and not 0: {f0}, {f1}")
        if f0 == f1:
            turns = ew.multiply(t, f0)
        else:
            beta = t1 / log(f1 / f0)
            turns = ew.multiply(ew.expm1(ew.multiply(t, log(f1 / f0) / t1)), beta * f0)
    elif method in ("hyperbolic", "hyp"):
        if f0 == 0 or f1 == 0:
            raise ValueError("chirp: a hyperbolic chirp needs f0 and f1 that are not 0")
        if f0 == f1:
            turns = ew.multiply(t, f0)
        else:
            sing = -f1 * t1 / (f0 - f1)
            turns = ew.multiply(ew.log(ew.abs(ew.subtract(1.0, ew.divide(t, sing)))), -sing * f0)
    else:
        raise ValueError(f"chirp: method {method!r}: 'linear', 'quadratic', 'logarithmic' or 'hyperbolic'")
    return _turned(turns, phi, complex, want)


def _turned(turns: Array, phi: float, complex: bool, want: Any) -> Array:
    """cos(2 pi turns + phi degrees): whole turns are dropped first."""
    turns = ew.subtract(turns, ew.rint(turns))
    phase = ew.add(ew.multiply(turns, 2 * pi), float(phi) * pi / 180)
    if complex:
        return ew.complex_of(ew.cos(phase), ew.sin(phase))
    return astype(ew.cos(phase), want, copy=False)


def sweep_poly(t: Any, poly: Any, phi: float = 0) -> Array:
    """A cosine whose frequency is a polynomial of time: coefficients of the host, highest power first."""
    t, want = floats(t, "sweep_poly")
    c = host(getattr(poly, "coeffs", poly), "poly", "sweep_poly")
    turns = ew.multiply(t, 0.0)
    for k, a in enumerate(c):
        turns = ew.multiply(ew.add(turns, float(a) / (len(c) - k)), t)
    return _turned(turns, phi, False, want)


def unit_impulse(shape: Any, idx: Any = None, dtype: Any = float32) -> Array:
    """Zeros but for a 1 at idx: an int (of all axes), a tuple, None (the first) or "mid" (the middle)."""
    dims = as_shape(shape, "unit_impulse")
    if idx is None:
        at = (0,) * len(dims)
    elif idx == "mid":
        at = tuple([n // 2 for n in dims])
    else:
        at = tuple(idx) if hasattr(idx, "__iter__") else (int(idx),) * len(dims)
    if len(at) != len(dims) or any(not -n <= k < n for k, n in zip(at, dims, strict=True)):
        raise IndexError(f"unit_impulse: index {idx!r} is out of bounds for shape {dims}")
    made: Any = None
    for axis, (k, n) in enumerate(zip(at, dims, strict=True)):
        line = reshape(
            ew.equal(positions(n), k % n), tuple([-1 if a == axis else 1 for a in range(len(dims))])
        )
        made = line if made is None else ew.logical_and(made, line)
    if made is None:
        return full((), 1, dtype=dtype)
    return astype(broadcast_to(made, dims), as_dtype(dtype))


def max_len_seq(
    nbits: int, state: Any = None, length: int | None = None, taps: Any = None
) -> tuple[Array, Any]:
    """(a maximum-length sequence of 0 and 1, int8; the next state, NumPy): made by SciPy on the host and uploaded."""
    from .design import scipy_signal

    seq, after = scipy_signal("max_len_seq").max_len_seq(nbits, state, length, taps)
    return asarray(seq), after


__all__ = ["chirp", "gausspulse", "max_len_seq", "sawtooth", "square", "sweep_poly", "unit_impulse"]
