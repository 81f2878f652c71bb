"""Spectra of samples at any times: Lomb's and Scargle's periodogram, a sine fitted at each frequency."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import zeros
from ..ops.manipulation import broadcast_to, reshape
from .samples import floats


def lombscargle(
    x: Any, y: Any, freqs: Any, *, normalize: Any = False, weights: Any = None, floating_mean: bool = False
) -> Array:  # fmt: skip
    """The periodogram of samples y at any times x, at angular frequencies: least squares of a sine each.

    normalize: False or "power", True or "normalize", "amplitude" (complex64). Phases are products of float32: keep x
    times freqs small (subtract the first time), an error of 2**-24 of the phase is one of the phase.
    """
    where = "lombscargle"
    t, v, f = (floats(p, where)[0] for p in (x, y, freqs))
    w = floats(ones_of(v) if weights is None else weights, where)[0]
    if t.ndim != 1 or not t.size or not t.shape == v.shape == w.shape:
        raise ValueError(
            f"{where}: x {t.shape}, y {v.shape} and weights {w.shape}: one axis, as long as each other"
        )
    if f.ndim != 1 or not f.size:
        raise ValueError(f"{where}: freqs of shape {f.shape}: one axis of at least one")
    kind = ("normalize" if normalize else "power") if isinstance(normalize, bool) else normalize
    if kind not in ("power", "normalize", "amplitude"):
        raise ValueError(f"{where}: normalize {normalize!r}: 'power', 'normalize' or 'amplitude'")
    w = ew.divide(w, rd.sum(w))
    wy = ew.multiply(w, v)
    phase = ew.multiply(reshape(f, (-1, 1)), t)
    mean = rd.sum(wy)

    def total(*terms: Array) -> Array:
        made = terms[0]
        for term in terms[1:]:
            made = ew.multiply(made, term)
        return rd.sum(made, 1)

    c, s = ew.cos(phase), ew.sin(phase)
    cc, cs = total(c, c, broadcast_to(w, phase.shape)), total(c, s, broadcast_to(w, phase.shape))
    ss = total(s, s, broadcast_to(w, phase.shape))
    if floating_mean:
        c1, s1 = total(c, broadcast_to(w, phase.shape)), total(s, broadcast_to(w, phase.shape))
        cc, ss, cs = (
            ew.subtract(p, ew.multiply(a, b)) for p, a, b in ((cc, c1, c1), (ss, s1, s1), (cs, c1, s1))
        )
    tau = ew.multiply(ew.arctan2(ew.multiply(cs, 2.0), ew.subtract(cc, ss)), 0.5)
    phase = ew.subtract(phase, reshape(tau, (-1, 1)))
    c, s = ew.cos(phase), ew.sin(phase)
    yc, ys = total(c, broadcast_to(wy, phase.shape)), total(s, broadcast_to(wy, phase.shape))
    cc, ss = total(c, c, broadcast_to(w, phase.shape)), total(s, s, broadcast_to(w, phase.shape))
    if floating_mean:
        c1, s1 = total(c, broadcast_to(w, phase.shape)), total(s, broadcast_to(w, phase.shape))
        yc, ys = ew.subtract(yc, ew.multiply(mean, c1)), ew.subtract(ys, ew.multiply(mean, s1))
        cc, ss = ew.subtract(cc, ew.multiply(c1, c1)), ew.subtract(ss, ew.multiply(s1, s1))
    least = 2.0**-24
    a, b = (ew.divide(top, ew.maximum(bottom, least)) for top, bottom in ((yc, cc), (ys, ss)))
    if kind == "amplitude":
        co, si = ew.cos(tau), ew.sin(tau)
        re = ew.subtract(ew.multiply(a, co), ew.multiply(b, si))
        return ew.complex_of(re, ew.add(ew.multiply(a, si), ew.multiply(b, co)))
    power = ew.add(ew.multiply(a, yc), ew.multiply(b, ys))
    if kind == "power":
        return ew.multiply(power, t.size / 2)
    squares = rd.sum(ew.multiply(wy, v))
    return ew.divide(power, ew.subtract(squares, ew.multiply(mean, mean)) if floating_mean else squares)


def ones_of(x: Array) -> Array:
    """Ones of x's shape."""
    return ew.add(zeros(x.shape), 1.0)


def vectorstrength(events: Any, period: Any) -> tuple[Array, Array]:
    """(strength, phase) of events at a period, or one of each of a line of periods: how much they keep to it."""
    times, turns = floats(events, "vectorstrength")[0], floats(period, "vectorstrength")[0]
    if times.ndim != 1 or turns.ndim > 1:
        raise ValueError(
            f"vectorstrength: events {times.shape} and period {turns.shape}: one axis each, or a number"
        )
    part = ew.divide(times, reshape(turns, (-1, 1)))
    angle = ew.multiply(ew.subtract(part, ew.rint(part)), 6.283185307179586)
    re, im = rd.mean(ew.cos(angle), 1), rd.mean(ew.sin(angle), 1)
    strength, phase = ew.hypot(re, im), ew.arctan2(im, re)
    return (strength, phase) if turns.ndim else (reshape(strength, ()), reshape(phase, ()))


__all__ = ["lombscargle", "vectorstrength"]
