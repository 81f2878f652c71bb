"""Analytic signals by transforms: hilbert, hilbert2, envelope."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops.along import back, last
from ..ops.creation import astype, positions
from ..ops.joining import stack
from .samples import along, axis_of, floats, whole_number


def _halves(n: int) -> Array:
    """2 for positive frequencies, 1 for those that are both, 0 for negative ones."""
    k = positions(n)
    single = ew.equal(k, 0)
    if not n % 2:
        single = ew.logical_or(single, ew.equal(k, n // 2))
    return ew.where(single, 1.0, ew.where(ew.less(k, (n + 1) // 2), 2.0, 0.0))


def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Array:
    """The analytic signal (complex64) of a real one along an axis: its imaginary part is the Hilbert transform. N: the
    length of transforms."""
    from .. import fft

    x, _ = floats(x, "hilbert")
    if x.dtype.kind == "c":
        raise ValueError("hilbert: x must be real")
    k = axis_of(x, axis, "hilbert")
    n = x.shape[k] if N is None else int(N)
    if n < 1:
        raise ValueError(f"hilbert: N must be positive, it is {n}")
    z = fft.fft(last(x, k), n)
    return back(fft.ifft(ew.multiply(z, _halves(n))), k)


def hilbert2(x: Any, N: Any = None, axes: Any = (-2, -1)) -> Array:
    """The analytic signal of a real matrix over two axes: frequencies of the first quadrant are kept."""
    from .. import fft

    x, _ = floats(x, "hilbert2")
    if x.dtype.kind == "c":
        raise ValueError("hilbert2: x must be real")
    if x.ndim < 2:
        raise ValueError(f"hilbert2: x {x.shape} needs two axes")
    a, b = (axis_of(x, k, "hilbert2") for k in axes)
    sizes = (x.shape[a], x.shape[b]) if N is None else (N, N) if isinstance(N, int) else tuple(N)
    if len(sizes) != 2 or min(sizes) < 1:
        raise ValueError(f"hilbert2: N must be one or two positive numbers, it is {N!r}")
    rows, columns = (whole_number(n, "N", "hilbert2") for n in sizes)
    z = fft.fft2(x, (rows, columns), axes=(a, b))
    for k, n in ((a, rows), (b, columns)):
        at = positions(n)
        weights = ew.where(ew.equal(at, 0), 1.0, ew.where(ew.less(at, (n + 1) // 2), 2.0, 0.0))
        z = ew.multiply(z, along(weights, k, x.ndim))
    return fft.ifft2(z, axes=(a, b))


def envelope(
    z: Any, bp_in: Any = (1, None), *, n_out: int | None = None, squared: bool = False,
    residual: str | None = "lowpass", axis: int = -1,
) -> Array:  # fmt: skip
    """The envelope of a real or complex signal, and (residual "lowpass" or "all") what the band bp_in leaves out.

    Both are stacked in front of the other axes; residual None: the envelope alone. bp_in: (first, end) of the
    frequencies kept, counted as fftfreq does. n_out: samples of results.
    """
    from .. import fft

    z, _ = floats(z, "envelope")
    k = axis_of(z, axis, "envelope")
    real = z.dtype.kind != "c"
    if residual not in ("lowpass", "all", None):
        raise ValueError(f"envelope: residual {residual!r}: 'lowpass', 'all' or None")
    z = last(z, k)
    n = z.shape[-1]
    m = n if n_out is None else whole_number(n_out, "n_out", "envelope")
    low, high = bp_in
    low = -(n // 2) if low is None else int(low)
    high = (n + 1) // 2 if high is None else int(high)
    if not -n // 2 <= low < high <= (n + 1) // 2:
        raise ValueError(f"envelope: bp_in {bp_in!r} of {n} samples: -n // 2 <= first < end <= (n + 1) // 2")
    spectrum = fft.fft(z)
    at = positions(n)
    frequency = ew.where(ew.less(at, (n + 1) // 2), at, ew.subtract(at, n))
    band = spectrum
    if real:  # analytic within the band
        positive = ew.logical_and(ew.greater(frequency, 0), ew.less(frequency, high))
        above = 0.0 if n % 2 else ew.where(ew.equal(at, n // 2), 1.0, 0.0)
        band = ew.multiply(band, ew.where(positive, 2.0, ew.where(ew.equal(at, 0), 1.0, above)))
    shifted = fft.fftshift(band, axes=-1)[..., low + n // 2 : high + n // 2]
    made = ew.multiply(fft.ifft(shifted, m), m / n)  # an envelope does not see a shift of frequencies
    if squared:
        re, im = ew.real(made), ew.imag(made)
        made = ew.add(ew.multiply(re, re), ew.multiply(im, im))
    else:
        made = ew.abs(made)
    if residual is None:
        return back(made, k)
    kept = ew.less(frequency, low)
    if residual == "all":
        kept = ew.logical_or(kept, ew.greater_equal(frequency, high))
    rest = ew.multiply(spectrum, ew.where(kept, 1.0, 0.0))
    if real:
        bins, few = rest[..., : n // 2 + 1], min(n, m)
        if m != n and not few % 2:
            side = 2.0 if m < n else 0.5
            bins = ew.multiply(bins, ew.where(ew.equal(positions(n // 2 + 1), few // 2), side, 1.0))
        other = ew.multiply(fft.irfft(bins, m), m / n)
    else:
        from .resampling import resample

        other = resample(rest, m, axis=-1, domain="freq")
    return stack([back(astype(made, other.dtype), k), back(other, k)], axis=0)


__all__ = ["envelope", "hilbert", "hilbert2"]
