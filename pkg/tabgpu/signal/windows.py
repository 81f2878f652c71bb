"""scipy.signal.windows: float32 Arrays, lazy like all others, so that multiplying with one costs no launch of its own.

Lengths are parameters of a kernel, not part of it. Formulas: shapes.py. kaiser_bessel_derived, chebwin and dpss are
computed by NumPy or SciPy on the host and uploaded.
"""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array
from . import shapes

__all__ = [
    "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "chebwin", "cosine", "dpss",
    "exponential", "flattop", "gaussian", "general_cosine", "general_gaussian", "general_hamming", "get_window",
    "hamming", "hann", "kaiser", "kaiser_bessel_derived", "lanczos", "nuttall", "parzen", "taylor", "triang", "tukey",
]  # fmt: skip


def _window(name: str, m: Any, sym: bool, *args: Any) -> Array:
    try:
        n = as_index(m)
    except TypeError:
        n = int(m) if float(m) == int(m) else -1
    if n < 0:
        raise ValueError(f"{name}: the length must be a whole number, not negative: {m!r}")
    got: Array = shapes.made(name, n, bool(sym), args, True)
    return got


def boxcar(M: int, sym: bool = True) -> Array:
    """M ones. sym of all windows: False for a periodic one, that of length M + 1 less its last sample."""
    return _window("boxcar", M, sym)


def triang(M: int, sym: bool = True) -> Array:
    """A triangle whose ends are not 0."""
    return _window("triang", M, sym)


def parzen(M: int, sym: bool = True) -> Array:
    """Parzen's: cubic pieces."""
    return _window("parzen", M, sym)


def bohman(M: int, sym: bool = True) -> Array:
    """Bohman's."""
    return _window("bohman", M, sym)


def blackman(M: int, sym: bool = True) -> Array:
    """Blackman's: three cosine terms."""
    return _window("blackman", M, sym)


def nuttall(M: int, sym: bool = True) -> Array:
    """Nuttall's: four cosine terms, the least side lobes."""
    return _window("nuttall", M, sym)


def blackmanharris(M: int, sym: bool = True) -> Array:
    """Blackman and Harris': four cosine terms."""
    return _window("blackmanharris", M, sym)


def flattop(M: int, sym: bool = True) -> Array:
    """Flat top: five cosine terms, true amplitudes."""
    return _window("flattop", M, sym)


def bartlett(M: int, sym: bool = True) -> Array:
    """A triangle whose ends are 0."""
    return _window("bartlett", M, sym)


def hann(M: int, sym: bool = True) -> Array:
    """A period of a raised cosine."""
    return _window("hann", M, sym)


def tukey(M: int, alpha: float = 0.5, sym: bool = True) -> Array:
    """Flat, with the ends of a hann window; alpha: the part of it that is not flat."""
    return _window("tukey", M, sym, float(alpha))


def barthann(M: int, sym: bool = True) -> Array:
    """Bartlett's and Hann's, mixed."""
    return _window("barthann", M, sym)


def hamming(M: int, sym: bool = True) -> Array:
    """A raised cosine with ends of 0.08."""
    return _window("hamming", M, sym)


def general_cosine(M: int, a: Any, sym: bool = True) -> Array:
    """A sum of cosine terms with weights a (numbers of the host)."""
    return _window("general_cosine", M, sym, tuple(map(float, a)))


def general_hamming(M: int, alpha: float, sym: bool = True) -> Array:
    """alpha - (1 - alpha) cos."""
    return _window("general_hamming", M, sym, float(alpha))


def kaiser(M: int, beta: float, sym: bool = True) -> Array:
    """Kaiser's; beta: 0 is flat, 14 has side lobes of about -100 dB."""
    return _window("kaiser", M, sym, float(beta))


def kaiser_bessel_derived(M: int, beta: float, *, sym: bool = True) -> Array:
    """Of running sums of Kaiser's: its squares overlap to 1. M even; symmetric only. Computed by NumPy."""
    if not sym:
        raise ValueError("kaiser_bessel_derived: only symmetric ones are there")
    if M < 1:
        M = 0
    if int(M) % 2:
        raise ValueError(f"kaiser_bessel_derived: the length must be even, not {M}")
    return _window("kaiser_bessel_derived", M, sym, float(beta))


def gaussian(M: int, std: float, sym: bool = True) -> Array:
    """exp(-k**2 / (2 std**2)) around the middle."""
    return _window("gaussian", M, sym, float(std))


def general_gaussian(M: int, p: float, sig: float, sym: bool = True) -> Array:
    """exp(-|k / sig|**(2 p) / 2) around the middle."""
    return _window("general_gaussian", M, sym, float(p), float(sig))


def chebwin(M: int, at: float, sym: bool = True) -> Array:
    """Dolph's and Chebyshev's: side lobes of -at dB. Computed by NumPy."""
    return _window("chebwin", M, sym, float(at))


def cosine(M: int, sym: bool = True) -> Array:
    """Half a period of a sine."""
    return _window("cosine", M, sym)


def exponential(M: int, center: float | None = None, tau: float = 1.0, sym: bool = True) -> Array:
    """exp(-|k - center| / tau); center for periodic ones only."""
    if sym and center is not None:
        raise ValueError("exponential: center is for sym=False")
    return _window("exponential", M, sym, center, float(tau))


def taylor(M: int, nbar: int = 4, sll: float = 30, norm: bool = True, sym: bool = True) -> Array:
    """Taylor's: nbar side lobes of -sll dB."""
    return _window("taylor", M, sym, int(nbar), float(sll), bool(norm))


def lanczos(M: int, *, sym: bool = True) -> Array:
    """The main lobe of sinc."""
    return _window("lanczos", M, sym)


def dpss(
    M: int,
    NW: float,
    Kmax: int | None = None,
    sym: bool = True,
    norm: Any = None,
    return_ratios: bool = False,
) -> Any:
    """Slepian's sequences: computed by SciPy, where it is installed, and uploaded."""
    from ..ops.creation import asarray
    from .design import scipy_signal

    made = scipy_signal("dpss").windows.dpss(M, NW, Kmax, sym, norm, return_ratios)
    return (asarray(made[0]), asarray(made[1])) if return_ratios else asarray(made)


def get_window(window: Any, Nx: int, fftbins: bool = True) -> Array:
    """A window by name, ("name", parameters ..), or a number: kaiser's beta. Periodic unless fftbins=False, or as a
    name's ending _symmetric or _periodic says. ValueError for other names, or parameters that do not fit."""
    if isinstance(Nx, bool) or as_index(Nx) < 1:
        raise ValueError(f"get_window: the length must be a positive whole number, not {Nx!r}")
    name, args, sym = shapes.named(window, "get_window")
    return _window(name, Nx, not fftbins if sym is None else sym, *args)
