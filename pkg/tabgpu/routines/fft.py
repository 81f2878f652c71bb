"""Fourier transforms along an axis: which passes a length takes. Texts: codegen_fft.py.

Lengths that are products of small primes are passes of butterflies; the others a convolution of a power of two's length
(Bluestein). Reals of even length are half as many complex numbers, and one more pass.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from .. import codegen_fft as texts
from .. import windows
from ..dtypes import float32
from ..errors import LimitError
from ..graph import Op
from ..launch import Launch
from ..lower_wide import Span, begin, refused, wide, window
from ..region import Facts, kernel_for
from . import launch
from .fft_passes import End, factors, middle, one_pass, passes, words

LONGEST = 1 << 25  # that is not a product of small primes


class Job(NamedTuple):
    """`outer` lines of n positions, `inner` of them side by side; op.extra. The result is (outer, m, inner), row-major.

    `there` positions of the operand count, zeros are behind them. flips: the signs of imaginary parts, as read and as
    written (both make an inverse).
    """

    n: int
    outer: int
    inner: int
    offset: int
    strides: tuple[int, int, int]  # of the operand: outer, position, inner
    there: int
    flips: tuple[bool, bool]
    scale: float
    cosine: tuple[float, float, int] = (1.0, 1.0, 0)  # factors of element 0, read and written; flags


COSINES = {  # form: (positions of the complex transform of n reals, kind)
    "cos1": (lambda n: 2 * n - 2),
    "sin1": (lambda n: 2 * n + 2),
    "cos2": (lambda n: n),
    "cos3": (lambda n: n),
    "cos4": (lambda n: n // 2),
    "cos4odd": (lambda n: 2 * n),
}


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "fft.FORM": complex, forward (reals to half a spectrum), backward or one of COSINES; op.extra: Job;
    op.args: (x,). Cut along the outer lines where a binding does not hold all."""
    job, source = Job(*op.extra), op.args[0]
    held = _held(op.fn.partition(".")[2], job.n) * job.inner * 8  # bytes between passes, a line of `outer`
    if not wide([source, op], facts) and held * job.outer + 16 <= facts.binding:
        return _lines(op, job, facts)
    each, step = op.size // job.outer, job.strides[0]
    sides = (job.there - 1) * job.strides[1], (job.inner - 1) * job.strides[2]
    low, high = (job.offset + sum(pick(0, s) for s in sides) for pick in (min, max))

    def bound(a: int, b: int) -> tuple[Span, Span]:
        first, last = sorted((a * step, (b - 1) * step))
        return window(source, low + first, high + last), window(op, a * each, b * each - 1)

    def fits(a: int, b: int) -> bool:
        return held * (b - a) + 16 <= facts.binding and all(n <= facts.binding for _, n in bound(a, b))

    made = []
    aligned = windows.ALIGN // gcd(windows.ALIGN, each * op.dtype.itemsize)
    try:
        ranges = list(windows.pieces(0, job.outer, aligned, fits))
    except windows.TooWide as error:
        raise refused(op.fn, [source, op], facts, error) from None
    for a, b in ranges:
        spans = dict(zip((source, op), bound(a, b), strict=True))
        offset = job.offset + a * step - begin(source, spans[source])
        for one in _lines(op, job._replace(outer=b - a, offset=offset), facts):
            whole = [spans.get(o) or window(o, 0, o.size - 1) for o in (*one.reads, *one.writes)]
            made.append(one._replace(windows=tuple(whole)))
    return made


def _held(form: str, n: int) -> int:
    """Positions of a line between two passes, at most."""
    n = COSINES[form](n) if form in COSINES else n
    return n if factors(n) is not None else 1 << (2 * n - 2).bit_length()


def _lines(op: Op, job: Job, facts: Facts) -> list[Launch]:
    """The launches for `outer` lines."""
    form, source = op.fn.partition(".")[2], op.args[0]
    n, (read, write) = job.n, job.flips
    first = End(source, "complex", job.offset, job.strides, job.there, read)
    if source.dtype is float32:
        first = first._replace(kind="real")
    if form in COSINES:
        read_factor, written_factor, flags = job.cosine
        first = first._replace(kind=form, cosine=(read_factor, n, flags))
        last = End(
            op, form, 0, (n * job.inner, job.inner, 1), n, write, job.scale, (written_factor, n, flags)
        )
        return transform(first, last, COSINES[form](n), (job.outer, job.inner), facts)
    m = n // 2 + 1 if form == "forward" else n
    last = End(op, "complex", 0, (m * job.inner, job.inner, 1), m, write, job.scale)
    lines = job.outer, job.inner
    whole = n % 2 or one_pass(n, lines, facts)
    if form == "complex" or (form == "forward" and whole):
        return transform(first, last, n, lines, facts)
    if whole:
        return transform(first._replace(kind="hermitian"), last._replace(kind="real"), n, lines, facts)
    half = middle(lines, n // 2)
    if form == "forward":
        return [
            *transform(first._replace(kind="pair", flip=False), half, n // 2, lines, facts),
            _real(True, half, last, n, lines, facts),
        ]
    return [
        _real(False, first._replace(flip=not read), half, n, lines, facts),
        *transform(half._replace(flip=True), last._replace(kind="pair", flip=True), n // 2, lines, facts),
    ]


def transform(first: End, last: End, n: int, lines: tuple[int, int], facts: Facts) -> list[Launch]:
    """The transform of n positions of lines."""
    small = factors(n) is not None
    return passes(first, last, (n, n), lines, facts) if small else _bluestein(first, last, n, lines, facts)


def _real(unpacks: bool, first: End, last: End, n: int, lines: tuple[int, int], facts: Facts) -> Launch:
    wg = facts.workgroup
    kernel = kernel_for(("fft_real", unpacks, first.kind, wg), texts.real, "fft_real", wg)
    total = lines[0] * lines[1] * (n // 4 + 1)
    given = words(first, last, lines, (n, n), total, n)
    return launch(kernel, (first.op,), (last.op,), -(-total // wg), given, facts)


def _bluestein(first: End, last: End, n: int, lines: tuple[int, int], facts: Facts) -> list[Launch]:
    """As a convolution with a chirp. The filter is transformed beside, since nothing is kept between calls."""
    if n > LONGEST:
        raise LimitError(f"fft: a length of {n:,} with a prime factor above 13 is beyond {LONGEST:,}; pad it")
    size = 1 << (2 * n - 2).bit_length()
    sizes, spectrum, product = (size, n), middle((1, 1), size), middle(lines, size)
    nothing = End(first.op, "filter", 0, (size, 1, 1), size)
    given = first._replace(kind=texts.CHIRP + first.kind)
    back = last._replace(kind=texts.CHIRP + last.kind, scale=last.scale / size)
    return [
        *passes(nothing, spectrum, sizes, (1, 1), facts),
        *passes(given, product, sizes, lines, facts),
        *passes(product._replace(kind="product", other=spectrum.op), back, sizes, lines, facts),
    ]
