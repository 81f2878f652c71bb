"""numpy.fft and the names of scipy.fft: Fourier transforms of any length along any axes, cosine and sine transforms."""

from __future__ import annotations

from .frequencies import fftfreq, fftshift, ifftshift, next_fast_len, prev_fast_len, rfftfreq
from .multiple import fft2, fftn, ifft2, ifftn, irfft2, irfftn, rfft2, rfftn
from .single import fft, hfft, ifft, ihfft, irfft, rfft

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "next_fast_len", "prev_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
