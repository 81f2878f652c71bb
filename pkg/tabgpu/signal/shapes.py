"""The formulas of windows, each written once: over a Line of the GPU (float32, lazy) or of NumPy (float64).

A Line has the samples k = 0 .. m - 1, n = m - 1 steps. Formulas take `edge` = min(k, n - k) and `off` = |2 k - n|,
which are whole numbers, so that both halves are equal and what is small near the ends is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, floor, log, pi, sqrt
from typing import Any


class NumpyLine:
    """float64 on the host: for designs, and for windows that are computed there anyway."""

    def __init__(self, m: int) -> None:
        import numpy as np

        self.m, self.np = m, np
        self.k = np.arange(m, dtype=np.float64)
        self.exp, self.abs, self.where, self.sqrt = np.exp, np.abs, np.where, np.sqrt
        self.power, self.zeros, self.maximum = np.power, np.zeros_like, np.maximum

    def cospi(self, x: Any) -> Any:
        return self.np.cos(pi * x)

    def sinpi(self, x: Any) -> Any:
        return self.np.sin(pi * x)

    def i0e(self, x: Any) -> Any:
        return self.np.i0(x) * self.np.exp(-self.np.abs(x))

    @property
    def edge(self) -> Any:
        return self.np.minimum(self.k, self.m - 1 - self.k)

    @property
    def off(self) -> Any:
        return self.np.abs(2 * self.k - (self.m - 1))


class GpuLine:
    """float32 on the GPU: what follows joins the launch, a length is a parameter word."""

    def __init__(self, m: int) -> None:
        from ..dtypes import float32
        from ..ops import elementwise as ew
        from ..ops.creation import astype, positions, zeros_like
        from ..special import cospi, i0e, sinpi

        self.m, self.whole = m, positions(m)
        self.k = astype(self.whole, float32)
        self.exp, self.abs, self.where, self.sqrt = ew.exp, ew.abs, ew.where, ew.sqrt
        self.power, self.zeros, self.maximum = ew.power, zeros_like, ew.maximum
        self.cospi, self.sinpi, self.i0e = cospi, sinpi, i0e
        self._ew: Any = ew
        self._float: Any = lambda x: astype(x, float32)

    @property
    def edge(self) -> Any:
        return self._float(self._ew.minimum(self.whole, self._ew.subtract(self.m - 1, self.whole)))

    @property
    def off(self) -> Any:
        return self._float(self.abs(self._ew.subtract(self._ew.multiply(self.whole, 2), self.m - 1)))


def boxcar(line: Any) -> Any:
    return line.zeros(line.k) + 1.0


def triang(line: Any) -> Any:
    if line.m % 2:
        return (line.edge + 1.0) * (2 / (line.m + 1))
    return (line.edge * 2.0 + 1.0) * (1 / line.m)


def parzen(line: Any) -> Any:
    far = line.off * (1 / line.m)
    outside = 2.0 * (1.0 - far) ** 3
    inside = 1.0 - 6.0 * far * far * (1.0 - far)
    return line.where(line.off <= (line.m - 1) / 2, inside, outside)


def bohman(line: Any) -> Any:
    near = line.edge * (2 / (line.m - 1))
    got = line.sinpi(near) * (1 / pi) - near * line.cospi(near)
    return line.where(line.edge == 0, 0.0, got)


def general_cosine(line: Any, a: Sequence[float]) -> Any:
    far = line.off / (line.m - 1.0)
    total = line.zeros(far) + float(a[0])
    for k, weight in enumerate(a[1:], 1):
        total = total + float(weight) * line.cospi(far * k)
    return total


def hann(line: Any) -> Any:
    half = line.sinpi(line.edge / (line.m - 1.0))
    return half * half


BLACKMAN = (0.42, 0.50, 0.08)
NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
BLACKMANHARRIS = (0.35875, 0.48829, 0.14128, 0.01168)
FLATTOP = (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368)


def blackman(line: Any) -> Any:
    return general_cosine(line, BLACKMAN)


def nuttall(line: Any) -> Any:
    return general_cosine(line, NUTTALL)


def blackmanharris(line: Any) -> Any:
    return general_cosine(line, BLACKMANHARRIS)


def flattop(line: Any) -> Any:
    return general_cosine(line, FLATTOP)


def general_hamming(line: Any, alpha: float) -> Any:
    return general_cosine(line, (alpha, 1.0 - alpha))


def hamming(line: Any) -> Any:
    return general_hamming(line, 0.54)


def bartlett(line: Any) -> Any:
    return line.edge * 2.0 / (line.m - 1.0)


def barthann(line: Any) -> Any:
    far = line.off / (2.0 * (line.m - 1))
    return 0.62 - 0.48 * far + 0.38 * line.cospi(2.0 * far)


def tukey(line: Any, alpha: float = 0.5) -> Any:
    if alpha <= 0:
        return boxcar(line)
    if alpha >= 1:
        return hann(line)
    half = line.sinpi(line.edge / (alpha * (line.m - 1)))
    return line.where(line.edge <= floor(alpha * (line.m - 1) / 2), half * half, 1.0)


def cosine(line: Any) -> Any:
    return line.sinpi((line.edge + 0.5) / float(line.m))


def _over(a: float, b: float) -> float:
    """a / b, inf for b = 0: then NaN in the middle, as SciPy."""
    return a / b if b else float("inf")


def exponential(line: Any, center: float | None = None, tau: float = 1.0) -> Any:
    middle = (line.m - 1) / 2 if center is None else center
    return line.exp(line.abs(line.k - middle) * -_over(1.0, tau))


def gaussian(line: Any, std: float) -> Any:
    far = line.off * _over(0.5, std)
    return line.exp(far * far * -0.5)


def general_gaussian(line: Any, p: float, sig: float) -> Any:
    return line.exp(line.power(line.off * _over(0.5, sig), 2.0 * p) * -0.5)


def kaiser(line: Any, beta: float) -> Any:
    beta = abs(float(beta))
    near = line.edge * (2 / (line.m - 1))
    root = line.sqrt(line.maximum(near * (2.0 - near), 0.0))
    far = 1.0 - near
    top = i0e_of(beta)
    return line.i0e(beta * root) * line.exp(far * far / (1.0 + root) * -beta) * (1 / top)


def i0e_of(x: float) -> float:
    """exp(-x) i0(x) of a number of the host, x >= 0: the power series, or the asymptotic one."""
    if x < 30:
        term = total = 1.0
        k = 0
        while term > 1e-18 * total:
            k += 1
            term *= (x / 2 / k) ** 2
            total += term
        return total * exp(-x)
    term = total = 1.0
    for k in range(1, 30):
        term *= (2 * k - 1) ** 2 / (8 * k * x)
        total += term
    return total / sqrt(2 * pi * x)


def lanczos(line: Any) -> Any:
    far, near = line.off / (line.m - 1.0), line.edge * (2 / (line.m - 1))
    safe = line.where(line.off == 0, 1.0, far)
    lobe = line.sinpi(line.where(far < near, far, near)) / (pi * safe)
    return line.where(line.off == 0, 1.0, lobe)


def taylor(line: Any, nbar: int = 4, sll: float = 30, norm: bool = True) -> Any:
    b = 10 ** (sll / 20)
    a = log(b + sqrt(b * b - 1)) / pi
    s2 = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    found = []
    for m in range(1, nbar):
        top = bottom = 1.0
        for k in range(1, nbar):
            top *= 1 - m**2 / s2 / (a**2 + (k - 0.5) ** 2)
            bottom *= 1 - m**2 / k**2 if k != m else 1.0
        found.append((1 if m % 2 else -1) * top / (2 * bottom))
    scale = 1.0
    if norm:
        scale = 1 / (1 + 2 * sum(found))
    far = line.off / float(line.m)
    total = line.zeros(far) + scale
    for m, f in enumerate(found, 1):
        total = total + (2 * f * scale) * line.cospi(far * m)
    return total


def kaiser_bessel_derived(line: Any, beta: float) -> Any:
    """NumPy only."""
    np = line.np
    sums = np.cumsum(kaiser(NumpyLine(line.m // 2 + 1), beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([half, half[::-1]])


def chebwin(line: Any, at: float) -> Any:
    """NumPy only: the inverse transform of a Chebyshev polynomial."""
    np, m = line.np, line.m
    order = m - 1.0
    beta = np.cosh(np.arccosh(10 ** (abs(at) / 20)) / order)
    x = beta * np.cos(pi * line.k / m)
    with np.errstate(invalid="ignore"):
        p = np.where(x > 1, np.cosh(order * np.arccosh(x)), np.cos(order * np.arccos(x)))
        p = np.where(x < -1, (2 * (m % 2) - 1) * np.cosh(order * np.arccosh(-x)), p)
    if m % 2:
        w = np.fft.fft(p).real
        n = (m + 1) // 2
        w = np.concatenate([w[n - 1 : 0 : -1], w[:n]])
    else:
        w = np.fft.fft(p * np.exp(1j * pi / m * line.k)).real
        n = m // 2 + 1
        w = np.concatenate([w[n - 1 : 0 : -1], w[1:n]])
    return w / w.max()


def dpss(line: Any, nw: float) -> Any:
    """SciPy only, on the host."""
    from .design import scipy_signal

    return scipy_signal("dpss").windows.dpss(line.m, nw)


ON_HOST = {"kaiser_bessel_derived", "chebwin", "dpss"}
"""Whose formulas are for NumPy alone; their values are uploaded."""
NEED = {
    "general_cosine", "general_hamming", "gaussian", "general_gaussian", "kaiser", "kaiser_bessel_derived", "chebwin",
    "dpss",
}  # fmt: skip
"""Which cannot do without a parameter."""
MAY = {"exponential", "tukey", "taylor"}
ALIASES = {
    "barthann": "barthann brthan bth", "bartlett": "bartlett bart brt", "blackman": "blackman black blk",
    "blackmanharris": "blackmanharris blackharr bkh", "bohman": "bohman bman bmn",
    "boxcar": "boxcar box ones rect rectangular", "chebwin": "chebwin cheb", "cosine": "cosine halfcosine",
    "dpss": "dpss", "exponential": "exponential poisson", "flattop": "flattop flat flt",
    "gaussian": "gaussian gauss gss", "general_cosine": "general cosine|general_cosine",
    "general_gaussian": "general gaussian|general_gaussian|general gauss|general_gauss|ggs",
    "general_hamming": "general hamming|general_hamming", "hamming": "hamming hamm ham", "hann": "hann han",
    "kaiser": "kaiser ksr", "kaiser_bessel_derived": "kaiser bessel derived|kaiser_bessel_derived|kbd",
    "lanczos": "lanczos sinc", "nuttall": "nuttall nutl nut", "parzen": "parzen parz par",
    "taylor": "taylor taylorwin", "triang": "triang triangle tri", "tukey": "tukey tuk",
}  # fmt: skip
NAMES = {
    alias: name
    for name, text in ALIASES.items()
    for alias in (text.split("|") if "|" in text else text.split())
}


def named(window: Any, where: str) -> tuple[str, tuple[Any, ...], bool | None]:
    """(name, parameters, whether symmetric, None: not said) of a window as get_window takes it."""
    if not isinstance(window, (str, tuple)):
        try:
            return "kaiser", (float(window),), None
        except TypeError:
            raise ValueError(f"{where}: window {window!r} must be a name, a tuple or a number") from None
    name, args = (window, ()) if isinstance(window, str) else (window[0], window[1:])
    sym = None
    if isinstance(name, str):
        for ending, value in (("_symmetric", True), ("_periodic", False)):
            if name.endswith(ending):
                name, sym = name.removesuffix(ending), value
    if name not in NAMES:
        raise ValueError(f"{where}: there is no window {name!r}; windows: {', '.join(ALIASES)}")
    name = NAMES[name]
    if not args and name in NEED:
        raise ValueError(f"{where}: the window {name!r} needs parameters: ({name!r}, ..)")
    if args and name not in NEED and name not in MAY:
        raise ValueError(f"{where}: the window {name!r} has no parameters, not {args}")
    return name, tuple(args), sym


def made(name: str, m: int, sym: bool, args: tuple[Any, ...], gpu: bool) -> Any:
    """A window: an Array, or a NumPy array of float64. What SciPy gives for lengths 0 and 1."""
    if m <= 1 or not sym:
        one = m == 1
        longer = m if m <= 1 else m + 1
        if m <= 1:
            line = (GpuLine if gpu else NumpyLine)(max(m, 1))
            return boxcar(line)[: int(one)]
        return made(name, longer, True, args, gpu)[:m]
    formula = globals()[name]
    if not gpu:
        return formula(NumpyLine(m), *args)
    if name in ON_HOST:
        from ..ops.creation import asarray

        return asarray(formula(NumpyLine(m), *args))
    return formula(GpuLine(m), *args)


def host_window(window: Any, m: int, periodic: bool, where: str) -> Any:
    """A named window as NumPy's float64."""
    name, args, sym = named(window, where)
    return made(name, m, not periodic if sym is None else sym, args, False)
