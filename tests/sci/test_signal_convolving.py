"""Convolutions and correlations of tg beside NumPy's and SciPy's in float64: shapes, modes, methods, axes, borders."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.signal as ss
from signals import T, draw, same, wide

import tabgpu as tg

PAIRS = [
    ((1,), (1,)), ((5,), (3,)), ((3,), (5,)), ((100,), (17,)), ((17,), (100,)), ((1000,), (300,)), ((6, 7), (3, 2)),
    ((3, 2), (6, 7)), ((6, 2), (3, 5)), ((20, 31), (7, 1)), ((5, 6, 7), (2, 3, 2)), ((3, 4, 3, 5), (2, 2, 1, 3)),
    ((1, 9), (1, 4)), ((4, 5, 6), (4, 5, 6)), ((3,), (2, 2)),
]  # fmt: skip
KINDS = ("ff", "cf", "ii", "if", "cc", "fc")
MODES = ("full", "same", "valid")


def pairs(count: int) -> list[Any]:
    """Each pair of shapes with some of the kinds."""
    made = []
    for k, (a, b) in enumerate(PAIRS):
        made += [(a, b, KINDS[(k + i) % len(KINDS)]) for i in range(count)]
    return made


def check(a_shape: Any, b_shape: Any, kinds: str, direct: bool) -> None:
    a, b = draw(a_shape, kinds[0]), draw(b_shape, kinds[1], 1)
    for mode in MODES:
        tag = (a_shape, b_shape, kinds, mode)
        for method in ("auto", "direct", "fft"):
            same((*tag, method), lambda: tg.signal.convolve(T(a), T(b), mode, method),
                 lambda: ss.convolve(wide(a), wide(b), mode, "direct"))  # fmt: skip
        same(
            tag,
            lambda: tg.signal.correlate(T(a), T(b), mode),
            lambda: ss.correlate(wide(a), wide(b), mode, "direct"),
        )
        if len(a_shape) != len(b_shape):
            continue
        if kinds != "ii":
            for name, axes in itertools.product(("fftconvolve", "oaconvolve"), (None, *range(len(a_shape)))):
                same((*tag, name, axes), lambda: getattr(tg.signal, name)(T(a), T(b), mode, axes),
                     lambda: getattr(ss, name)(wide(a), wide(b), mode, axes))  # fmt: skip
        if len(a_shape) == 1:
            same(tag, lambda: tg.convolve(T(a), T(b), mode), lambda: np.convolve(wide(a), wide(b), mode))
            same(tag, lambda: tg.correlate(T(a), T(b), mode), lambda: np.correlate(wide(a), wide(b), mode))
        if len(a_shape) == 2:
            for boundary, fill in (("fill", 0), ("fill", 2), ("wrap", 0), ("symm", 0)):
                args = (mode, boundary, fill)
                same((*tag, args), lambda: tg.signal.convolve2d(T(a), T(b), *args),
                     lambda: ss.convolve2d(wide(a), wide(b), *args))  # fmt: skip
                if mode == "valid" and "c" in kinds and a_shape[0] < b_shape[0]:
                    continue  # SciPy takes the conjugate of the wrong one
                same((*tag, args), lambda: tg.signal.correlate2d(T(a), T(b), *args),
                     lambda: ss.correlate2d(wide(a), wide(b), *args))  # fmt: skip


@pytest.mark.parametrize("a,b,kinds", pairs(2))
def test_convolutions(a: Any, b: Any, kinds: str) -> None:
    """runmat conv1d and conv2d: full, same, valid."""
    check(a, b, kinds, True)


@pytest.mark.slow
@pytest.mark.parametrize("a,b,kinds", pairs(6))
def test_convolutions_of_all_kinds(a: Any, b: Any, kinds: str) -> None:
    check(a, b, kinds, True)


def test_long_ones() -> None:
    """1-D by blocks and by one transform, 2-D by transforms, many taps directly."""
    a, b = draw(40000), draw(3000, seed=1)
    for mode in MODES:
        want = ss.oaconvolve(wide(a), wide(b), mode)
        for name in ("convolve", "fftconvolve", "oaconvolve"):
            same((mode, name), lambda: getattr(tg.signal, name)(T(a), T(b), mode), lambda: want)
    same(
        "taps",
        lambda: tg.signal.convolve(T(a), T(b), method="direct"),
        lambda: ss.oaconvolve(wide(a), wide(b)),
        6e-6,
    )
    c, d = draw((60, 70)), draw((40, 33), seed=1)
    same("2-D", lambda: tg.signal.fftconvolve(T(c), T(d)), lambda: ss.fftconvolve(wide(c), wide(d)))
    same(
        "direct",
        lambda: tg.signal.convolve2d(T(c), T(d), "same", "symm"),
        lambda: ss.convolve2d(wide(c), wide(d), "same", "symm"),
    )
    rows, tap = draw((6, 2000)), draw((1, 31), seed=2)
    same(
        "rows",
        lambda: tg.signal.oaconvolve(T(rows), T(tap), axes=1),
        lambda: ss.oaconvolve(wide(rows), wide(tap), axes=1),
    )


def test_lags_and_methods() -> None:
    for n, k, mode in itertools.product((1, 2, 5, 8), (1, 3, 8), MODES):
        same("lags", lambda: tg.signal.correlation_lags(n, k, mode), lambda: ss.correlation_lags(n, k, mode))
    long, short = tg.zeros(1 << 20), tg.zeros(100)
    assert tg.signal.choose_conv_method(long, short) == "direct"
    assert tg.signal.choose_conv_method(long, long) == "fft"
    assert tg.signal.choose_conv_method(tg.astype(long, "int32"), tg.astype(long, "int32")) == "direct"
    x = draw(9)
    same(
        "deconvolve",
        lambda: tg.signal.deconvolve(T(x), [2.0, 1, 0.5]),
        lambda: ss.deconvolve(wide(x), [2.0, 1, 0.5]),
    )
    same("short", lambda: tg.signal.deconvolve(T(x), [1.0] * 12), lambda: ss.deconvolve(wide(x), [1.0] * 12))
