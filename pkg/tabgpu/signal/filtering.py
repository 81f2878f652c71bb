"""Linear filters in time: lfilter, sosfilt, their beginnings, forwards and backwards; coefficients are the host's."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, complex64, float32
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.creation import asarray, astype, copy_of, zeros
from ..ops.joining import concat
from ..ops.manipulation import broadcast_to, permute_dims, reshape
from ..ops.routine import routine, stored
from .samples import along, axis_of, cut, extended, floats, host, on_host, taps_along, zeros_beside

LONG = 24  # taps from which the numerator is a sum of its own
MOST_STATES = 2  # of a direct form: more would not bear coefficients of float32
MOST_SECTIONS = 12  # of one launch (kernels/iir_functions.py)
MOST_FACTORED = 24  # the highest order that is factored; sections beside each other no longer balance then


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """The filter a[0] y[n] = b[0] x[n] + b[1] x[n-1] + .. - a[1] y[n-1] - .. along an axis: y, or (y, zf) with zi.

    b, a: coefficients of the host (float64 is kept until they are divided by a[0]); b alone may be on the GPU where a
    has one number. zi: what was remembered, x's shape with the axis replaced by max(len(a), len(b)) - 1 (or one that
    broadcasts to it). float32 or complex64; float16 and bfloat16 come back as they are. Long signals are cut in chunks
    that are filtered at once (docs: numerics); the error is that of float32 recursions and grows with the filter's
    response. ValueError for empty coefficients, a[0] = 0 or a zi that does not fit; TypeError for complex a.
    """
    x, want = floats(x, "lfilter")
    k = axis_of(x, axis, "lfilter")
    a = host(a, "a", "lfilter")
    if a.ndim != 1 or not a.size:
        raise ValueError(f"lfilter: a has shape {a.shape}: one axis of at least one number")
    if a[0] == 0:
        raise ValueError("lfilter: a[0] is 0")
    if a.dtype.kind == "c":
        if abs(a.imag).max():
            raise TypeError("lfilter: a of complex numbers; filter with second-order sections of real ones")
        a = a.real
    if isinstance(b, Array):
        if a.size > 1:
            raise TypeError("lfilter: b on the GPU with a recursive part: give it as a list or a NumPy array")
        if b.ndim != 1 or not b.size:
            raise ValueError(f"lfilter: b has shape {b.shape}: one axis of at least one number")
        return _convolved(ew.divide(b, float(a[0])), x, k, zi, want)
    b = host(b, "b", "lfilter")
    if b.ndim != 1 or not b.size:
        raise ValueError(f"lfilter: b has shape {b.shape}: one axis of at least one number")
    b, a = b / a[0], a / a[0]
    if not x.size and zi is not None:  # nothing has moved the state
        state = _state(zi, x, k, max(a.size, b.size) - 1, "lfilter")
        return astype(x, want), astype(asarray(state), want)
    if a.size == 1:
        return _convolved(asarray(b), x, k, zi, want)
    if b.dtype.kind == "c" and x.dtype is not complex64:
        x, want = astype(x, complex64), complex64
    order = max(a.size, b.size) - 1
    high = order > MOST_STATES
    if (
        b.dtype.kind == "c"
        or b.size > max(LONG, 2 * a.size)
        or (high and zi is not None and (b.size > 1 or not b[0]))
    ):
        return _split(b, a, x, k, zi, want)
    state = _state(zi, x, k, order, "lfilter")
    if order > MOST_FACTORED:
        from .recursion import blocks

        y, zf = blocks(b, a, x, k, state)
    elif high:
        y, zf = _factored(b, a, x, k, state)
    else:
        y, zf = _recursive(_direct_form(b, a, order), order, False, x, k, state)
    y = astype(y, want, copy=False)
    return y if zi is None else (y, astype(zf, want, copy=False))


def _factored(b: Any, a: Any, x: Array, axis: int, state: Array | None) -> tuple[Array, Array]:
    """(y, zf) by second-order sections. With a state b is one number, and the state is added to the first samples."""
    from .sections import sections_of

    sos = sections_of(b, a)
    if state is None:
        return _cascade(sos, x, axis, None)
    n, order = x.shape[axis], a.size - 1
    driven = ew.add(zeros_beside(x, axis, 0, order), zeros_beside(ew.divide(state, float(b[0])), axis, 0, n))
    y, _ = _cascade(sos, cut(driven, axis, 0, n), axis, None)
    # what is remembered: what the last results still take off, and what of the state is left
    some = zeros_beside(y, axis, order - n, 0)
    left = cut(taps_along(some, asarray(a), axis, 0, 2 * order), axis, order, None)
    return y, ew.subtract(ew.multiply(cut(driven, axis, n, None), float(b[0])), left)


def _direct_form(b: Any, a: Any, order: int) -> tuple[tuple[float, ...], Any]:
    """(coefficients as the kernel takes them, how the states move)."""
    import numpy as np

    b, a = (np.concatenate([c, np.zeros(order + 1 - c.size)]) for c in (b, a))
    moves = np.eye(order, k=1)
    moves[:, 0] -= a[1:]
    return (*map(float, b), *map(float, a[1:])), moves


def _sections(sos: Any) -> tuple[tuple[float, ...], Any]:
    import numpy as np

    many = len(sos)
    moves = np.zeros((2 * many, 2 * many))
    for state in range(2 * many):
        s = np.eye(2 * many)[state]
        u = 0.0
        for i, (b0, b1, b2, _, a1, a2) in enumerate(sos):
            y = b0 * u + s[2 * i]
            moves[2 * i, state] = b1 * u - a1 * y + s[2 * i + 1]
            moves[2 * i + 1, state] = b2 * u - a2 * y
            u = y
    return tuple(float(c) for row in sos for c in (*row[:3], *row[4:])), moves


def _recursive(
    form: tuple[tuple[float, ...], Any], many: int, sections: bool, x: Array, axis: int, state: Array | None,
    reverse: bool = False, final: bool = True,
) -> tuple[Array, Array]:  # fmt: skip
    """(y, zf) of one launch of filters; state: None or in x's shape with the axis replaced by `many`."""
    shape = (*x.shape[:axis], many, *x.shape[axis + 1 :])
    if not x.size:
        return x, state if state is not None else zeros(shape, dtype=x.dtype)
    outer, inner = prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
    final = final and state is not None
    size, more = x.size, prod(shape) if final else 0
    coefficients, moves = form
    matrix = tuple([tuple([float(v) for v in row]) for row in moves])
    extra = (
        outer, x.shape[axis], inner, reverse, final, state is not None, sections, coefficients, matrix,
    )  # fmt: skip
    source = stored(x)
    before = source if state is None else stored(state)
    made = routine("iir", [source, before], (size + more,), x.dtype, extra, 3 * size)
    y = reshape(made[:size], x.shape)
    return y, reshape(made[size:], shape) if final else y


def _state(zi: Any, x: Array, axis: int, order: int, where: str) -> Array | None:
    """zi as an Array of the shape that a state has."""
    if zi is None:
        return None
    state = astype(prepared(zi, where), x.dtype, copy=False)
    want = (*x.shape[:axis], order, *x.shape[axis + 1 :])
    fits = state.ndim == x.ndim and all(n in (1, m) for n, m in zip(state.shape, want, strict=True))
    if not fits or state.shape[axis] != order:
        raise ValueError(f"{where}: zi has shape {state.shape}, x {x.shape} and the filter need {want}")
    return broadcast_to(state, want)


def _convolved(b: Array, x: Array, axis: int, zi: Any, want: Any) -> Any:
    """A filter without a recursive part."""
    if b.dtype.kind == "c" and x.dtype.kind != "c":
        x = astype(x, complex64)
        want = complex64
    b = astype(b, BY_KIND["c" if b.dtype.kind == "c" else "f"], copy=False)
    n, order = x.shape[axis], b.size - 1
    state = _state(zi, x, axis, order, "lfilter")
    if state is None:
        return astype(taps_along(x, b, axis, 0, n), want, copy=False)
    y = ew.add(taps_along(x, b, axis, 0, n + order), zeros_beside(state, axis, 0, n))
    return astype(cut(y, axis, 0, n), want, copy=False), astype(cut(y, axis, n, None), want, copy=False)


def _split(b: Any, a: Any, x: Array, axis: int, zi: Any, want: Any) -> Any:
    """The numerator as a sum of its own, then the recursive part of it."""
    import numpy as np

    order = max(a.size, b.size) - 1
    state = _state(zi, x, axis, order, "lfilter")
    n = x.shape[axis]
    taps = asarray(np.concatenate([b, np.zeros(order + 1 - b.size)]))
    if state is None:
        return lfilter([1.0], a, astype(taps_along(x, taps, axis, 0, n), want, copy=False), axis)
    both = ew.add(taps_along(x, taps, axis, 0, n + order), zeros_beside(state, axis, 0, n))
    nothing = zeros((*x.shape[:axis], a.size - 1, *x.shape[axis + 1 :]), dtype=x.dtype)
    y, left = lfilter([1.0], a, cut(both, axis, 0, n), axis, nothing)
    zf = ew.add(cut(both, axis, n, None), zeros_beside(left, axis, 0, order - (a.size - 1)))
    return astype(y, want, copy=False), astype(zf, want, copy=False)


def _valid_sos(sos: Any, where: str) -> Any:
    import numpy as np

    if isinstance(sos, Array):
        host(sos, "sos", where)
    got = np.atleast_2d(np.asarray(sos))
    if got.ndim != 2 or got.shape[1] != 6 or not len(got):
        raise ValueError(f"{where}: sos has shape {got.shape}: (sections, 6)")
    if got.dtype.kind == "c":
        raise TypeError(f"{where}: sos of complex numbers")
    got = got.astype(np.float64)
    if not (got[:, 3] == 1).all():
        raise ValueError(f"{where}: sos[:, 3] must be 1")
    return got


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Second-order sections, one after another, along an axis: y, or (y, zf) if zi is given.

    sos: (sections, 6) numbers of the host. zi: (sections, *x.shape with the axis replaced by 2). The form to take for
    filters of high order: its error in float32 is that of single sections. dtypes as lfilter; all sections are one
    pass over the signal.
    """
    x, want = floats(x, "sosfilt")
    k = axis_of(x, axis, "sosfilt")
    sos = _valid_sos(sos, "sosfilt")
    many = len(sos)
    lead, tail = x.shape[:k], x.shape[k + 1 :]
    state = None
    if zi is not None:
        state = astype(prepared(zi, "sosfilt"), x.dtype, copy=False)
        need = (many, *lead, 2, *tail)
        if state.shape != need:
            raise ValueError(
                f"sosfilt: zi has shape {state.shape}, {many} sections of x {x.shape} need {need}"
            )
        order = (*range(1, k + 1), 0, *range(k + 1, x.ndim + 1))
        state = reshape(permute_dims(state, order), (*lead, 2 * many, *tail))
    y, zf = _cascade(sos, x, k, state)
    y = astype(y, want, copy=False)
    if zi is None:
        return y
    back = (k, *range(k), *range(k + 1, x.ndim + 1))
    zf = permute_dims(reshape(zf, (*lead, many, 2, *tail)), back)
    return y, astype(zf, want, copy=False)


def _cascade(
    sos: Any, x: Array, axis: int, state: Array | None, reverse: bool = False
) -> tuple[Array, Array]:
    """(y, zf) of sections; as many launches of filters as their number needs. state: the axis has two numbers each."""
    ends, most = [], MOST_SECTIONS
    for at in range(0, len(sos), most):
        some = sos[at : at + most]
        part = None if state is None else cut(state, axis, 2 * at, 2 * (at + len(some)))
        x, zf = _recursive(_sections(some), 2 * len(some), True, x, axis, part, reverse)
        ends.append(zf)
    return x, ends[0] if len(ends) == 1 or state is None else concat(ends, axis=axis)


def lfilter_zi(b: Any, a: Any) -> Any:
    """What a filter remembers in the steady state of a step (NumPy, float64): lfilter's zi for a signal that has always
    been 1."""
    import numpy as np

    b, a = host(b, "b", "lfilter_zi"), host(a, "a", "lfilter_zi")
    while a.size > 1 and a[0] == 0:
        a = a[1:]
    if not a.size or a[0] == 0:
        raise ValueError("lfilter_zi: there must be a number that is not 0 in a")
    b, a = b / a[0], a / a[0]
    order = max(a.size, b.size)
    b, a = (np.concatenate([c, np.zeros(order - c.size)]) for c in (b, a))
    moves = np.eye(order - 1, k=1, dtype=a.dtype)
    if order > 1:
        moves[:, 0] -= a[1:]
    return np.linalg.solve(np.eye(order - 1) - moves, b[1:] - a[1:] * b[0])


def sosfilt_zi(sos: Any) -> Any:
    """What sections remember in the steady state of a step (NumPy, float64): (sections, 2), sosfilt's zi."""
    import numpy as np

    sos = _valid_sos(sos, "sosfilt_zi")
    made, scale = np.empty((len(sos), 2)), 1.0
    for k, row in enumerate(sos):
        made[k] = scale * lfilter_zi(row[:3], row[3:])
        scale *= row[:3].sum() / row[3:].sum()
    return made


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """lfilter's zi of a filter whose last results (newest first) and samples were y and x: NumPy, float64."""
    import numpy as np

    b, a, y = (host(v, n, "lfiltic") for v, n in ((b, "b"), (a, "a"), (y, "y")))
    x = np.zeros(0) if x is None else host(x, "x", "lfiltic")
    if not a.size or a[0] == 0:
        raise ValueError("lfiltic: a[0] is 0")
    b, a = b / a[0], a / a[0]
    order = max(a.size, b.size) - 1
    y, x = (np.concatenate([v, np.zeros(max(0, n - v.size))]) for v, n in ((y, a.size - 1), (x, b.size - 1)))
    made = np.zeros(order, dtype=np.result_type(b, a, y, x))
    for m in range(b.size - 1):
        made[m] = (b[m + 1 :] * x[: b.size - 1 - m]).sum()
    for m in range(a.size - 1):
        made[m] -= (a[m + 1 :] * y[: a.size - 1 - m]).sum()
    return made


def _padding(padtype: Any, padlen: Any, x: Array, axis: int, taps: int, where: str) -> tuple[str, int]:
    """(kind, samples) of the extension of a signal that is filtered both ways."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(f"{where}: padtype {padtype!r}: 'even', 'odd', 'constant' or None")
    edge = 0 if padtype is None else taps * 3 if padlen is None else int(padlen)
    if edge < 0:
        raise ValueError(f"{where}: padlen {edge} is negative")
    if x.shape[axis] <= edge:
        raise ValueError(
            f"{where}: x {x.shape} must have more than padlen = {edge} samples along axis {axis}"
        )
    return padtype or "odd", edge


def filtfilt(
    b: Any, a: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None, method: str = "pad",
    irlen: Any = None,
) -> Array:  # fmt: skip
    """A filter forwards and backwards: no shift of phases, twice the order. As scipy.signal.filtfilt with method "pad".

    padtype, padlen: how the signal is extended at its ends (by 3 * max(len(a), len(b)) samples). ValueError if it is
    not longer than that. Coefficients of the host; dtypes as lfilter.
    """
    x, want = floats(x, "filtfilt")
    k = axis_of(x, axis, "filtfilt")
    if method != "pad":
        raise ValueError(f"filtfilt: method {method!r}: only 'pad' is there")
    b, a = host(b, "b", "filtfilt"), host(a, "a", "filtfilt")
    kind, edge = _padding(padtype, padlen, x, k, max(a.size, b.size), "filtfilt")
    n = x.shape[k]
    longer = extended(x, k, edge, kind, "filtfilt")
    order = max(a.size, b.size) - 1
    if a.size > 1 and order <= MOST_FACTORED and "c" not in (a.dtype.kind, b.dtype.kind):
        from .sections import sections_of

        if not a[0]:
            raise ValueError("filtfilt: a[0] is 0")
        y = _both_ways(sections_of(b / a[0], a / a[0]), longer, k)
        return astype(cut(y, k, edge, edge + n), want, copy=False)
    zi = along(astype(asarray(lfilter_zi(b, a)), x.dtype), k, x.ndim)
    y = _begun(b, a, longer, k, zi)
    y = cut(_begun(b, a, cut(y, k, None, None, -1), k, zi), k, None, None, -1)
    return astype(cut(y, k, edge, edge + n), want, copy=False)


def _begun(b: Any, a: Any, x: Array, axis: int, zi: Array) -> Array:
    """A filter in the steady state of its first sample."""
    y: Array = lfilter(b, a, x, axis, ew.multiply(zi, cut(x, axis, 0, 1)))[0]
    return y


def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: Any = "odd", padlen: Any = None) -> Array:
    """Sections forwards and backwards, as filtfilt: two passes over the signal, the second from its end."""
    x, want = floats(x, "sosfiltfilt")
    k = axis_of(x, axis, "sosfiltfilt")
    sos = _valid_sos(sos, "sosfiltfilt")
    taps = 2 * len(sos) + 1 - min(int((sos[:, 2] == 0).sum()), int((sos[:, 5] == 0).sum()))
    kind, edge = _padding(padtype, padlen, x, k, taps, "sosfiltfilt")
    n = x.shape[k]
    y = _both_ways(sos, extended(x, k, edge, kind, "sosfiltfilt"), k)
    return astype(cut(y, k, edge, edge + n), want, copy=False)


def _both_ways(sos: Any, y: Array, axis: int) -> Array:
    """Sections forwards, then from the end backwards, each in the steady state of the sample that it begins with."""
    zi = along(astype(asarray(sosfilt_zi(sos).reshape(-1)), y.dtype), axis, y.ndim)
    for reverse in (False, True):
        first = cut(y, axis, -1, None) if reverse else cut(y, axis, 0, 1)
        y, _ = _cascade(sos, y, axis, ew.multiply(zi, first), reverse)
    return y


def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False
) -> Array:
    """Samples less their mean (type "constant") or their least-squares line, of each part between the breaks bp."""
    x, want = floats(data, "detrend")
    k = axis_of(x, axis, "detrend")
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError(f"detrend: type {type!r}: 'linear' or 'constant'")
    from ..ops import reductions as rd

    n = x.shape[k]
    if type in ("constant", "c"):
        return astype(ew.subtract(x, rd.mean(x, k, keepdims=True)), want, copy=False)
    import numpy as np

    breaks = sorted({0, n, *[int(v) for v in np.atleast_1d(on_host(bp, "bp", "detrend"))]})
    if breaks[0] < 0 or breaks[-1] > n:
        raise ValueError(f"detrend: breaks {breaks} of an axis of {n}")
    parts = []
    for begin, end in pairwise(breaks):
        part, many = cut(x, k, begin, end), end - begin
        mean = rd.mean(part, k, keepdims=True)
        steps = along(ew.subtract(_ramp(many), (many - 1) / 2), k, x.ndim)
        squares = many * (many * many - 1) / 12
        part = ew.subtract(part, mean)
        if many > 1:
            slope = ew.divide(rd.sum(ew.multiply(part, steps), k, keepdims=True), squares)
            part = ew.subtract(part, ew.multiply(slope, steps))
        parts.append(part)
    if not parts:
        return copy_of(x)
    return astype(concat(parts, axis=k) if len(parts) > 1 else parts[0], want, copy=False)


def _ramp(n: int) -> Array:
    from ..ops.creation import positions

    return astype(positions(n), float32)
