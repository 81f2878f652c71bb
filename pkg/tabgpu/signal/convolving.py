"""Convolution and correlation: one axis and many, directly or by Fourier transforms; NumPy's and scipy.signal's."""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, DType, bool_, int32, promote
from ..layout import Shape, normalize_axes
from ..ops import elementwise as ew
from ..ops.along import back, last, prepared
from ..ops.creation import arange, astype, zeros
from ..ops.manipulation import flip, getitem, reshape
from .samples import frames, host, taps_along, zeros_beside

TAPS = 256  # so many are added directly at any length
PRODUCTS = 1 << 27  # as many cost no more than the launches of transforms
_MODES = ("full", "same", "valid")


def _pair(in1: Any, in2: Any, mode: Any, where: str) -> tuple[Array, Array, DType]:
    """Both operands, and the dtype of results."""
    if mode not in _MODES:
        raise ValueError(f"{where}: mode {mode!r}: 'full', 'same' or 'valid'")
    a, b = prepared(in1, where), prepared(in2, where)
    if a.ndim != b.ndim:
        raise ValueError(f"{where}: shapes {a.shape} and {b.shape} have different numbers of axes")
    return a, b, promote(a.dtype, b.dtype, where=where)


def _computed(x: Array, want: DType) -> Array:
    return astype(x, int32 if want is bool_ else BY_KIND[want.kind], copy=False)


def _delivered(x: Array, want: DType) -> Array:
    return ew.not_equal(x, 0) if want is bool_ else astype(x, want, copy=False)


def _swapped(mode: str, a: Shape, b: Shape, where: str, axes: tuple[int, ...] | None = None) -> bool:
    """Whether "valid" takes the second for the larger one; ValueError if neither is."""
    if mode != "valid":
        return False
    each = range(len(a)) if axes is None else axes
    if all(a[k] >= b[k] for k in each):
        return False
    if all(b[k] >= a[k] for k in each):
        return True
    raise ValueError(
        f"{where}: for 'valid' one of {a} and {b} must be at least as large as the other along each axis"
    )


def _conj(x: Array) -> Array:
    return ew.conj(x) if x.dtype.kind == "c" else x


def _span(n: int, k: int, mode: str, same: int) -> tuple[int, int]:
    """(first, how many) of n + k - 1 results along an axis; same: the size that "same" keeps."""
    full = n + k - 1
    if mode == "full":
        return 0, full
    many = same if mode == "same" else n - k + 1
    return (full - many) // 2, many


def choose_conv_method(in1: Any, in2: Any, mode: str = "full", measure: bool = False) -> str:
    """ "direct" or "fft": which convolve(method="auto") takes. Integers and bools are exact: always "direct"."""
    a, b, want = _pair(in1, in2, mode, "choose_conv_method")
    if want.kind in "biu" or not a.ndim or not a.size or not b.size:
        return "direct"
    taps = min(a.size, b.size)
    out = prod(
        _span(n, k, mode, n)[1] if n >= k else n + k - 1 for n, k in zip(a.shape, b.shape, strict=True)
    )
    return "direct" if taps <= TAPS or taps * out <= PRODUCTS else "fft"


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Convolution of two arrays of as many axes: "full", "same" (in1's shape, centred) or "valid".

    method: "direct", "fft" or "auto" (choose_conv_method: by size; integers always directly, exact up to wrapping). The
    dtype is NumPy's promotion; float16 and bfloat16 are summed in float32. ValueError where shapes do not fit.
    """
    a, b, want = _pair(in1, in2, mode, "convolve")
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"convolve: method {method!r}: 'auto', 'direct' or 'fft'")
    if not a.ndim:
        return ew.multiply(a, b)
    if not a.size or not b.size:
        return zeros((0,), dtype=want)
    if _swapped(mode, a.shape, b.shape, "convolve"):
        a, b = b, a
    if method == "auto":
        method = choose_conv_method(a, b, mode)
    if method == "fft":
        if want.kind in "biu":
            return _delivered(ew.rint(_spectral(a, b, mode, tuple(range(a.ndim)))), want)
        return astype(_spectral(a, b, mode, tuple(range(a.ndim))), want, copy=False)
    spans = [_span(n, k, mode, n) for n, k in zip(a.shape, b.shape, strict=True)]
    if b.size > a.size:
        a, b = b, a
    return _delivered(_direct(_computed(a, want), _computed(b, want), spans), want)


def _direct(x: Array, taps: Array, spans: list[tuple[int, int]]) -> Array:
    """Sums of products; spans: which results of "full", an axis each."""
    thin = [k for k in range(x.ndim) if taps.shape[k] > 1]
    if len(thin) <= 1:
        axis = thin[0] if thin else x.ndim - 1
        line = reshape(taps, (taps.shape[axis],))
        for k, (first, many) in enumerate(spans):
            if k == axis:
                x = taps_along(x, line, k, first, many)
            elif (first, many) != (0, x.shape[k]):
                x = zeros_beside(x, k, -first, first + many - x.shape[k])
        return x
    from .stencils import correlated

    return correlated(x, flip(taps), spans)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Cross-correlation: sums of in1[k + l] * conj(in2[l]); otherwise as convolve."""
    a, b, want = _pair(in1, in2, mode, "correlate")
    if not a.ndim:
        return ew.multiply(a, _conj(b))
    if not a.size or not b.size:
        return zeros((0,), dtype=want)
    return convolve(a, _conj(flip(b)), mode, method)


def correlation_lags(in1_len: int, in2_len: int, mode: str = "full") -> Array:
    """int32 lags of correlate's results."""
    if mode not in _MODES:
        raise ValueError(f"correlation_lags: mode {mode!r}: 'full', 'same' or 'valid'")
    n, k = int(in1_len), int(in2_len)
    if mode == "full":
        return arange(1 - k, n)
    if mode == "same":
        begin = (n + k - 1) // 2 - n // 2 - (k - 1)
        return arange(begin, begin + n)
    return arange(0, n - k + 1) if n >= k else arange(n - k, 1)


def _spectral(a: Array, b: Array, mode: str, axes: tuple[int, ...]) -> Array:
    """By transforms along some axes; the others broadcast."""
    from .. import fft

    cplx = "c" in (a.dtype.kind, b.dtype.kind)
    sizes = [a.shape[k] + b.shape[k] - 1 for k in axes]
    fast = [fft.next_fast_len(n, not cplx) for n in sizes]
    there, home = (fft.fftn, fft.ifftn) if cplx else (fft.rfftn, fft.irfftn)
    a32, b32 = (astype(x, BY_KIND["c" if x.dtype.kind == "c" else "f"], copy=False) for x in (a, b))
    both = ew.multiply(there(a32, fast, axes=axes), there(b32, fast, axes=axes))
    got = home(both, fast, axes=axes)
    key: list[Any] = [slice(None)] * a.ndim
    for k in axes:
        first, many = _span(a.shape[k], b.shape[k], mode, a.shape[k])
        key[k] = slice(first, first + many)
    got = getitem(got, tuple(key))
    return _centred(got, a.shape) if mode == "same" else got


def _centred(x: Array, shape: Shape) -> Array:
    """The middle of x, of a shape."""
    firsts = [(n - m) // 2 for n, m in zip(x.shape, shape, strict=True)]
    return getitem(x, tuple([slice(f, f + m) for f, m in zip(firsts, shape, strict=True)]))


def _axes_of(a: Array, b: Array, axes: Any, where: str) -> tuple[int, ...]:
    """Axes that are transformed: those of one element are not."""
    given = normalize_axes(axes, a.ndim, where)
    if axes is not None and not given:
        raise ValueError(f"{where}: axes is empty")
    rest = [k for k in range(a.ndim) if k not in given]
    for k in rest:
        if a.shape[k] != b.shape[k] and 1 not in (a.shape[k], b.shape[k]):
            raise ValueError(f"{where}: shapes {a.shape} and {b.shape} do not broadcast beside axes {given}")
    return tuple([k for k in given if a.shape[k] != 1 and b.shape[k] != 1])


def _by_transforms(in1: Any, in2: Any, mode: str, axes: Any, where: str, blocks: bool) -> Array:
    a, b, want = _pair(in1, in2, mode, where)
    want = want if want.kind in "fc" else BY_KIND["f"]
    if not a.ndim:
        return astype(ew.multiply(a, b), want, copy=False)
    if not a.size or not b.size:
        return zeros((0,), dtype=want)
    there = _axes_of(a, b, axes, where)
    if _swapped(mode, a.shape, b.shape, where, there):
        a, b = b, a
    if not there:
        got = ew.multiply(a, b)
        if mode == "same":
            got = _centred(got, a.shape)
        return astype(got, want, copy=False)
    if blocks and len(there) == 1:
        n, k = sorted((a.shape[there[0]], b.shape[there[0]]))[::-1]
        if n >= 4 * k:
            return astype(_in_blocks(a, b, mode, there[0]), want, copy=False)
    return astype(_spectral(a, b, mode, there), want, copy=False)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Array:
    """Convolution by Fourier transforms along axes (all for None); other axes broadcast. float32 or complex64 (float16
    and bfloat16 come back). Errors are relative to the largest results. Otherwise as convolve."""
    return _by_transforms(in1, in2, mode, axes, "fftconvolve", False)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Array:
    """fftconvolve, with blocks of the longer operand where one axis is transformed and one operand is much shorter."""
    return _by_transforms(in1, in2, mode, axes, "oaconvolve", True)


def _in_blocks(a: Array, b: Array, mode: str, axis: int) -> Array:
    """Overlap and save along an axis: windows of the longer one, transformed together."""
    from .. import fft

    first, many = _span(a.shape[axis], b.shape[axis], mode, a.shape[axis])
    x, h = (a, b) if a.shape[axis] >= b.shape[axis] else (b, a)
    taps = h.shape[axis]
    size = 1 << max(10, (8 * taps - 1).bit_length())
    step = size - taps + 1
    blocks = -(-many // step)
    x = last(x, axis)
    # result first + j needs samples first + j - taps + 1 .. first + j
    before = taps - 1 - first
    x = zeros_beside(x, x.ndim - 1, before, blocks * step + taps - 1 - before - x.shape[-1])
    cut = frames(x, size, step)
    h = reshape(last(h, axis), (*last(h, axis).shape[:-1], 1, taps))
    cplx = "c" in (a.dtype.kind, b.dtype.kind)
    there, home = (fft.fft, fft.ifft) if cplx else (fft.rfft, fft.irfft)
    cut, h = (astype(v, BY_KIND["c" if v.dtype.kind == "c" else "f"], copy=False) for v in (cut, h))
    got = home(ew.multiply(there(cut), there(h, size)), size)[..., taps - 1 :]
    got = reshape(got, (*got.shape[:-2], blocks * step))[..., :many]
    got = back(got, axis)
    if mode == "same":
        got = _centred(got, a.shape)
    return got


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """Convolution of two matrices; boundary: what lies beyond in1: "fill" (fillvalue), "wrap" or "symm". Direct, or by
    transforms where both are large."""
    return _matrices(in1, in2, mode, boundary, fillvalue, "convolve2d")


def _matrices(in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, where: str) -> Array:
    """convolve2d and correlate2d, which centre "same" in different ways."""
    a, b, want = _pair(in1, in2, mode, where)
    if a.ndim != 2:
        raise ValueError(f"{where}: shapes {a.shape} and {b.shape}: two axes each")
    turned = where == "correlate2d"
    if turned:
        b = _conj(flip(b))
    if boundary not in ("fill", "pad", "wrap", "circular", "symm", "symmetric"):
        raise ValueError(f"{where}: boundary {boundary!r}: 'fill', 'wrap' or 'symm'")
    if not a.size or not b.size:
        raise ValueError(f"{where}: shapes {a.shape} and {b.shape}: neither may be empty")
    if _swapped(mode, a.shape, b.shape, where):
        a, b = b, a
    plain = boundary in ("fill", "pad") and type(fillvalue) in (int, float) and not fillvalue
    if mode == "valid" or (plain and (mode == "full" or not turned)):
        return convolve(a, b, mode)
    from .stencils import CONSTANT, SYMMETRIC, WRAP, correlated

    spans = [_span(n, k, mode, n) for n, k in zip(a.shape, b.shape, strict=True)]
    if turned and mode == "same":
        spans = [(k // 2, n) for n, k in zip(a.shape, b.shape, strict=True)]
    kind = (
        CONSTANT if boundary in ("fill", "pad") else WRAP if boundary in ("wrap", "circular") else SYMMETRIC
    )
    x, taps = _computed(a, want), _computed(b, want)
    if want.kind == "f" and type(fillvalue) in (int, float):
        return _delivered(correlated(x, flip(taps), spans, kind, float(fillvalue)), want)
    from ..ops.padding import pad

    # result `first` needs samples first - taps + 1 .. first
    pads = [
        (max(0, k - 1 - first), max(0, first + many - n))
        for (first, many), n, k in zip(spans, a.shape, b.shape, strict=True)
    ]
    if kind == CONSTANT:
        x = pad(x, pads, constant_values=fillvalue)
    else:
        x = pad(x, pads, mode="wrap" if kind == WRAP else "symmetric")
    for axis, ((first, _), k) in enumerate(zip(spans, b.shape, strict=True)):
        drop = max(0, first - k + 1)
        if drop:
            x = getitem(x, (*(slice(None),) * axis, slice(drop, None)))
    return _delivered(convolve(x, taps, "valid"), want)


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """Cross-correlation of two matrices, as convolve2d."""
    return _matrices(in1, in2, mode, boundary, fillvalue, "correlate2d")


def deconvolve(signal: Any, divisor: Any) -> tuple[Array, Array]:
    """(quotient, remainder): signal = convolve(divisor, quotient) + remainder. divisor: numbers of the host."""
    from .filtering import lfilter

    x = prepared(signal, "deconvolve")
    d = host(divisor, "divisor", "deconvolve")
    if x.ndim != 1 or d.ndim != 1 or not d.size or not d[0]:
        raise ValueError(
            f"deconvolve: signal {x.shape} and divisor {d.shape}: one axis each, divisor[0] not 0"
        )
    x = astype(x, BY_KIND["c" if x.dtype.kind == "c" else "f"], copy=False)
    many = x.shape[0] - d.size + 1
    if many < 1:
        return zeros((0,), dtype=x.dtype), x
    quotient = lfilter([1.0], d, x[:many])
    return quotient, ew.subtract(x, convolve(quotient, d))


def _numpy_mode(mode: Any, where: str) -> str:
    found: dict[Any, str] = {name: name for name in _MODES}
    found |= {name[0]: name for name in _MODES} | {0: "valid", 1: "same", 2: "full"}
    if mode not in found:
        raise ValueError(f"{where}: mode {mode!r}: 'full', 'same' or 'valid'")
    return found[mode]


def _lines(a: Any, v: Any, where: str) -> tuple[Array, Array, DType]:
    x, y = (prepared(p, where) for p in (a, v))
    x, y = (reshape(p, (1,)) if not p.ndim else p for p in (x, y))
    if x.ndim > 1 or y.ndim > 1:
        raise ValueError(f"{where}: shapes {x.shape} and {y.shape}: one axis each")
    if not x.size or not y.size:
        raise ValueError(f"{where}: shapes {x.shape} and {y.shape}: neither may be empty")
    return x, y, promote(x.dtype, y.dtype, where=where)


def numpy_convolve(a: Any, v: Any, mode: Any = "full") -> Array:
    """NumPy's convolution of two sequences: "full", "same" (as long as the longer one) or "valid"; the dtype is their
    promotion, integers wrap. Long pairs of floats go by Fourier transforms (signal.choose_conv_method)."""
    x, y, _ = _lines(a, v, "convolve")
    if y.size > x.size:
        x, y = y, x
    return convolve(x, y, _numpy_mode(mode, "convolve"))


def numpy_correlate(a: Any, v: Any, mode: Any = "valid") -> Array:
    """NumPy's cross-correlation of two sequences: sums of a[n + k] * conj(v[n])."""
    x, y, _ = _lines(a, v, "correlate")
    mode = _numpy_mode(mode, "correlate")
    if y.size > x.size:  # NumPy turns the result round
        return flip(_conj(convolve(y, _conj(flip(x)), mode)))
    return convolve(x, _conj(flip(y)), mode)


__all__ = [
    "choose_conv_method", "convolve", "convolve2d", "correlate", "correlate2d", "correlation_lags", "deconvolve",
    "fftconvolve", "numpy_convolve", "numpy_correlate", "oaconvolve",
]  # fmt: skip
