"""tg.signal's resampling, smoothing, analytic signals, waveforms, integrals and phases beside SciPy in float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si
import scipy.signal as ss
from signals import T, draw, same, wide

import tabgpu as tg

pytestmark = pytest.mark.filterwarnings("ignore")
X = {"even": draw(60), "odd": draw(61), "cube": draw((2, 40, 3)), "c": draw(50, "c"), "c odd": draw(51, "c")}
AXES = [("even", 0), ("odd", 0), ("cube", 1), ("c", 0), ("c odd", 0)]
S = tg.signal


@pytest.mark.parametrize("name,axis", AXES)
def test_other_rates(name: str, axis: int) -> None:
    x = X[name]
    n = x.shape[axis]
    for k, num in enumerate((1, 2, n // 2, n // 2 + 1, n - 1, n, n + 1, 2 * n, 2 * n + 1, 7)):
        window: Any = (None, "hamming", ("kaiser", 3.0), np.hanning(n), lambda f: 1 / (1 + f * f))[k % 5]
        same((num, k), lambda: S.resample(T(x), num, axis=axis, window=window),
             lambda: ss.resample(wide(x), num, axis=axis, window=window))  # fmt: skip
    t = np.arange(n) * 0.5
    same("t", lambda: S.resample(T(x), 33, t=t, axis=axis), lambda: ss.resample(wide(x), 33, t=t, axis=axis))
    for k, (up, down) in enumerate(((1, 1), (2, 1), (1, 3), (3, 2), (7, 5), (20, 30))):
        for kind in ("constant", "mean", "median", "line", "minimum", "edge", "wrap", "symmetric", "smooth")[
            k % 2 :: 2
        ]:
            if kind in ("median", "minimum") and x.dtype.kind == "c":
                continue
            args = {"axis": axis, "padtype": kind}
            same((up, down, kind), lambda: S.resample_poly(T(x), up, down, **args),
                 lambda: ss.resample_poly(wide(x), up, down, **args))  # fmt: skip
        taps = np.array([1.0, 2, 3, 2])
        same(
            "taps",
            lambda: S.resample_poly(T(x), up, down, axis, taps),
            lambda: ss.resample_poly(wide(x), up, down, axis, taps),
        )
        for mode in ("constant", "edge", "wrap", "symmetric", "reflect", "line", "smooth")[k % 2 :: 2]:
            h = [1, 2, 0.5, -1, 3]
            same(
                mode,
                lambda: S.upfirdn(h, T(x), up, down, axis, mode),
                lambda: ss.upfirdn(h, wide(x), up, down, axis, mode),
            )
        same(
            "c",
            lambda: S.upfirdn([1, 2j], T(x), up, down, axis),
            lambda: ss.upfirdn([1, 2j], wide(x), up, down, axis),
        )
    for q, kind, zero in itertools.product((2, 5), ("iir", "fir"), (True, False)):
        args = {"ftype": kind, "zero_phase": zero, "axis": axis}
        same((q, args), lambda: S.decimate(T(x), q, **args), lambda: ss.decimate(wide(x), q, **args), 1e-5)


@pytest.mark.parametrize("name,axis", AXES)
def test_analytic_signals(name: str, axis: int) -> None:
    x = X[name]
    n = x.shape[axis]
    real = x.dtype.kind != "c"
    if real:
        for length in (None, n - 3, n + 4):
            same(length, lambda: S.hilbert(T(x), length, axis), lambda: ss.hilbert(wide(x), length, axis))
    bands = [(1, None), (2, 10), (3, None)] + ([] if real else [(-5, 8), (None, None)])
    for band, out, rest in itertools.product(bands, (None, n // 2, 2 * n), ("lowpass", "all", None)):
        args: dict[str, Any] = {"n_out": out, "residual": rest, "axis": axis, "squared": band == (2, 10)}
        same(
            (band, args),
            lambda: S.envelope(T(x), band, **args),
            lambda: ss.envelope(wide(x), band, **args),
            1e-5,
        )


def test_smoothing() -> None:
    im = draw((30, 25))
    for size in (None, 3, 5, (3, 7)):
        same(size, lambda: S.medfilt(T(im), size), lambda: ss.medfilt(wide(im), size))
        whole = (im * 10).astype(np.int32)
        same(size, lambda: S.medfilt(T(whole), size), lambda: ss.medfilt(whole, size))
        same(size, lambda: S.wiener(T(im), size), lambda: ss.wiener(wide(im), size), 2e-5)
        same(size, lambda: S.wiener(T(im), size, 0.5), lambda: ss.wiener(wide(im), size, 0.5), 2e-5)
    same("2d", lambda: S.medfilt2d(T(im), 5), lambda: ss.medfilt2d(wide(im), 5))
    same("even", lambda: S.medfilt(T(im), 4), lambda: ss.medfilt(wide(im), 4))
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    for rank in range(5):
        same(rank, lambda: S.order_filter(T(im), cross, rank), lambda: ss.order_filter(wide(im), cross, rank))
    for n in (None, 20, (32, 19)):
        same(n, lambda: S.hilbert2(T(im), n), lambda: ss.hilbert2(wide(im), n))


@pytest.mark.parametrize("name,axis", [("odd", 0), ("cube", 1), ("cube", 0)])
def test_savgol(name: str, axis: int) -> None:
    x = X[name]
    ways = itertools.product(
        ((5, 2), (7, 3), (1, 0), (6, 2), (11, 4)), ("interp", "mirror", "nearest", "constant", "wrap")
    )
    for k, ((window, order), mode) in enumerate(ways):
        if mode == "interp" and window > x.shape[axis]:
            continue
        args = (window, order, k % 3, 0.5, axis, mode, 1.5)
        same(args, lambda: S.savgol_filter(T(x), *args), lambda: ss.savgol_filter(wide(x), *args), 1e-5, 1e-6)
    for args in (
        (5, 2),
        (6, 3),
        (7, 2, 1, 0.5),
        (7, 2, 2, 0.5, 1),
        (7, 2, 1, 0.5, 1, "dot"),
        (5, 2, 3),
        (3, 3),
    ):
        same(args, lambda: S.savgol_coeffs(*args), lambda: ss.savgol_coeffs(*args), 1e-12)


@pytest.mark.parametrize("name,axis", [*AXES, ("cube", 0), ("cube", -1)])
def test_integrals(name: str, axis: int) -> None:
    x = X[name]
    at = np.cumsum(np.random.default_rng(1).uniform(0.5, 1, x.shape[axis])).astype(np.float32)
    same("t", lambda: S.cumulative_trapezoid(T(x), dx=0.3, axis=axis, initial=0),
         lambda: si.cumulative_trapezoid(wide(x), dx=0.3, axis=axis, initial=0))  # fmt: skip
    same(
        "x",
        lambda: S.cumulative_trapezoid(T(x), T(at), axis=axis),
        lambda: si.cumulative_trapezoid(wide(x), wide(at), axis=axis),
    )
    for n in {min(n, x.shape[axis]) for n in (1, 2, 3, 4, 5, 60, 61)}:
        y, z = np.take(x, range(n), axis=axis), at[:n]
        same(
            n,
            lambda: S.simpson(T(y), dx=0.3, axis=axis),
            lambda: si.simpson(wide(y), dx=0.3, axis=axis),
            absolute=2e-6,
        )
        same(
            n,
            lambda: S.simpson(T(y), T(z), axis=axis),
            lambda: si.simpson(wide(y), wide(z), axis=axis),
            1e-5,
            5e-6,
        )


def test_waveforms() -> None:
    t = np.linspace(-2, 3, 500).astype(np.float32)
    late = np.abs(t)
    for width in (0, 0.3, 1):
        same(width, lambda: S.sawtooth(T(t), width), lambda: ss.sawtooth(wide(t), width), 1e-5)
        same(width, lambda: S.square(T(t), width), lambda: ss.square(wide(t), width))
    assert (
        np.isnan(np.asarray(S.sawtooth(T(t), 1.5))).all() and np.isnan(np.asarray(S.square(T(t), -0.1))).all()
    )
    for way in ({}, {"retquad": True}, {"retenv": True}, {"retquad": True, "retenv": True}):
        same(way, lambda: S.gausspulse(T(t), fc=5, **way), lambda: ss.gausspulse(wide(t), fc=5, **way), 1e-5)
    assert S.gausspulse("cutoff", fc=5) == pytest.approx(ss.gausspulse("cutoff", fc=5))
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
        for way in ({}, {"phi": 30}, {"vertex_zero": False}, {"complex": True}):
            same((method, way), lambda: S.chirp(T(late), 2, 4, 9, method, **way),
                 lambda: ss.chirp(wide(late), 2, 4, 9, method, **way), 2e-5)  # fmt: skip
    poly = np.array([0.1, 1, 2.0])
    same("sweep", lambda: S.sweep_poly(T(t), poly), lambda: ss.sweep_poly(wide(t), poly), 1e-5)
    for shape, at in ((7, None), (7, "mid"), ((3, 4), (1, 2)), ((3, 4), "mid"), ((3, 3), 1), (3, 5)):
        same(at, lambda: S.unit_impulse(shape, at), lambda: ss.unit_impulse(shape, at))
    assert np.array_equal(np.asarray(S.max_len_seq(5)[0]), ss.max_len_seq(5)[0])


def test_unwrap() -> None:
    rng = np.random.default_rng(0)
    p = np.cumsum(rng.normal(size=(3, 200)) * 2, 1)
    p = ((p + np.pi) % (2 * np.pi) - np.pi).astype(np.float32)
    for axis in (0, 1, -1):
        same(axis, lambda: tg.unwrap(T(p), axis=axis), lambda: np.unwrap(wide(p), axis=axis))
        way = {"discont": 4, "axis": axis, "period": 5.0}
        same(axis, lambda: tg.unwrap(T(p), **way), lambda: np.unwrap(wide(p), **way))
    whole = rng.integers(-20, 20, (4, 50)).astype(np.int32)
    for period in (4, 5, 7, 360):
        same(
            period, lambda: tg.unwrap(T(whole), period=period), lambda: np.unwrap(wide(whole), period=period)
        )
    edge = np.array([0, 2, 0, -2, 0, 4, 8, 2], np.float32)
    same("edge", lambda: np.unwrap(T(edge), period=4.0), lambda: np.unwrap(edge, period=4.0))
