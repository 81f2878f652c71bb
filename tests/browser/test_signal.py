"""Filters and convolutions in the tab against NumPy's float64: forms, axes, states, views, special values, launches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from arrays import launches
from forms import taking

import tabgpu as tg

S = tg.signal
B = [0.018098933007514428, 0.054296799022543285, 0.054296799022543285, 0.018098933007514428]  # butter(3, 0.2)
A = [1.0, -1.7600418803431688, 1.1828932620378305, -0.27805991763454646]
SOS = [[0.2, 0.3, 0.2, 1.0, -0.9, 0.4], [1.0, -0.5, 0.1, 1.0, -1.6, 0.7], [0.5, 0.5, 0.0, 1.0, -0.8, 0.0]]
EPS = 2.0**-24


@pytest.fixture(params=["own", "serial", "portable"])
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """As the device has it, as a CPU adapter, as a GPU."""
    with taking(request.param):
        yield request.param


def draw(shape: Any, kind: str = "f", seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *np.atleast_1d(shape)])
    x = rng.normal(size=shape)
    if kind == "c":
        return (x + 1j * rng.normal(size=shape)).astype(np.complex64)
    return x.astype(np.float32) if kind == "f" else rng.integers(-9, 9, shape).astype(np.int32)


def lfilter(b: Any, a: Any, x: Any, zi: Any = None) -> tuple[Any, Any]:
    """The transposed direct form II along the last axis, sample by sample."""
    order = max(len(a), len(b)) - 1
    b, a = (
        np.pad(np.asarray(c, complex if np.iscomplexobj(c) else float), (0, order + 1 - len(c)))
        for c in (b, a)
    )
    b, a = b / a[0], a / a[0]
    x = np.asarray(x, np.result_type(x, b, float))
    z = np.zeros((*x.shape[:-1], order), x.dtype) if zi is None else np.array(zi, x.dtype)
    y = np.empty_like(x)
    for n in range(x.shape[-1]):
        y[..., n] = b[0] * x[..., n] + (z[..., 0] if order else 0)
        z = np.concatenate([z[..., 1:], np.zeros((*z.shape[:-1], min(order, 1)))], -1)
        z = z + b[1:] * x[..., n, None] - a[1:] * y[..., n, None]
    return y, z


def near(got: Any, want: Any, tol: float) -> None:
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0) <= tol * np.abs(want).max(initial=0)


@pytest.mark.limits
@pytest.mark.parametrize("n", [1, 3, 2501])
async def test_lfilter(form: str, n: int) -> None:
    """runmat iir_filter: y and the final state, b and a of any lengths, divided by a[0]."""
    x = draw(n)
    cases = [
        (B, A),
        ([1.0], [2.0, -1.0]),
        (draw(30), A),
        ([0.0, 0, 1], [1, -0.5]),
        (draw(9), [1.0]),
        ([2.0], [1.0]),
    ]
    for b, a in cases:
        order = max(len(a), len(b)) - 1
        zi = np.linspace(-1, 1, order) if order else np.zeros(0)
        y, zf = lfilter(b, a, x, zi)
        mine, last = S.lfilter(b, a, tg.asarray(x), zi=zi)
        got = await tg.fetch(S.lfilter(b, a, tg.asarray(x)), mine, last)
        near(got[0], lfilter(b, a, x)[0], 3e-6)
        near(got[1], y, 3e-6)
        assert np.abs(got[2] - zf).max(initial=0) <= 1e-5 * max(np.abs(zf).max(initial=0), np.abs(y).max())


@pytest.mark.limits
async def test_sections(form: str) -> None:
    x = draw(2000)
    want, zs = x.astype(float), []
    zi = draw((3, 2), seed=1)
    for row, z in zip(SOS, zi, strict=True):
        want, end = lfilter(row[:3], row[3:], want, z)
        zs.append(end)
    y, zf = await tg.fetch(*S.sosfilt(SOS, tg.asarray(x), zi=zi))
    near(y, want, 5e-6)
    near(zf, np.array(zs), 1e-5)
    both = S.sosfiltfilt(SOS, tg.asarray(x))
    other = x.astype(float)
    edge = 21 - 3 * min(1, 1)
    other = np.concatenate(
        [2 * other[0] - other[edge:0:-1], other, 2 * other[-1] - other[-2 : -edge - 2 : -1]]
    )
    start = S.sosfilt_zi(SOS)
    for _ in range(2):
        first = other[0]
        for row, z in zip(SOS, start, strict=True):
            other, _z = lfilter(row[:3], row[3:], other, z * first)
        other = other[::-1]
    near(await both.numpy(), other[edge:-edge], 1e-5)


async def test_axes_and_views(form: str) -> None:
    x = draw((3, 70, 4))
    for axis in (0, 1, -1):
        want = np.moveaxis(lfilter(B, A, np.moveaxis(x, axis, -1))[0], -1, axis)
        near(await S.lfilter(B, A, tg.asarray(x), axis).numpy(), want, 3e-6)
        fir = np.moveaxis(lfilter([1, 2, 3], [1], np.moveaxis(x, axis, -1))[0], -1, axis)
        near(await S.lfilter([1, 2, 3], 1, tg.asarray(x), axis).numpy(), fir, 1e-6)
    turned = tg.asarray(x).T[::-1, ::2]
    near(await S.lfilter(B, A, turned).numpy(), lfilter(B, A, x.T[::-1, ::2])[0], 3e-6)
    wide = tg.broadcast_to(tg.asarray(x[0, :, 0]), (5, 70))
    near(await S.lfilter(B, A, wide).numpy(), lfilter(B, A, np.broadcast_to(x[0, :, 0], (5, 70)))[0], 3e-6)
    c = draw((2, 90), "c")
    near(await S.lfilter(B, A, tg.asarray(c)).numpy(), lfilter(B, A, c)[0], 3e-6)
    near(await S.lfilter([1, 2j], A, tg.asarray(c)).numpy(), lfilter([1, 2j], A, c)[0], 3e-6)
    assert S.lfilter(B, A, tg.zeros((0, 5))).shape == (0, 5) and S.lfilter(B, A, tg.zeros((2, 0))).shape == (
        2,
        0,
    )
    half = S.lfilter(B, A, tg.asarray(x, dtype="float16"))
    assert half.dtype is tg.float16
    assert S.lfilter(B, A, tg.asarray([1, 2, 3])).dtype is tg.float32


async def test_nan_and_infinity_stay_where_they_came() -> None:
    x = draw(300)
    x[100] = np.nan
    got = await S.lfilter(B, A, tg.asarray(x)).numpy()
    assert np.isfinite(got[:100]).all() and np.isnan(got[100:]).all()
    x[100] = np.inf
    fir = await S.lfilter([1, 1, 1], 1, tg.asarray(x)).numpy()
    assert np.isinf(fir[100:103]).all() and np.isfinite(fir[:100]).all() and np.isfinite(fir[103:]).all()
    out = await tg.convolve(tg.asarray(x), tg.asarray([np.inf, 0, 0], dtype="float32"), "full").numpy()
    assert out.shape == (302,)


async def test_unstable_filters_are_walked(form: str) -> None:
    """Nothing but zeros stays zero, though powers of the filter's matrix are infinite."""
    assert not (await S.lfilter([1.0], [1, -1.5], tg.zeros(40000)).numpy()).any()
    near(
        await S.lfilter([1.0], [1, -1.2], tg.ones(90)).numpy(),
        lfilter([1.0], [1, -1.2], np.ones(90))[0],
        1e-5,
    )


@pytest.mark.limits
async def test_high_orders() -> None:
    """More than 24 states: blocks of samples as products; between: sections."""
    x = draw(900)
    comb = np.zeros(41)
    comb[[0, 3, 40]] = 1, 0.1, -0.7
    zi = np.linspace(-1, 1, 40)
    y, zf = await tg.fetch(*S.lfilter([1.0, 0.5], comb, tg.asarray(x), zi=zi))
    want, end = lfilter([1.0, 0.5], comb, x, zi)
    near(y, want, 3e-6)
    near(zf, end, 5e-6)
    a = np.poly([0.9, 0.8, -0.5, 0.3, 0.95 * np.exp(0.3j), 0.95 * np.exp(-0.3j)]).real
    near(await S.lfilter([1.0, 0.2, 0.1], a, tg.asarray(x)).numpy(), lfilter([1.0, 0.2, 0.1], a, x)[0], 2e-5)


async def test_bad_filters() -> None:
    x = tg.ones(10)
    for b, a, what in (
        ([], [1.0], "at least one"),
        ([1.0], [], "at least one"),
        ([1.0], [0.0, 1], r"a\[0\]"),
    ):
        with pytest.raises(ValueError, match=what):
            S.lfilter(b, a, x)
    with pytest.raises(TypeError, match="host"):
        S.lfilter([1.0], tg.ones(3), x)
    with pytest.raises(ValueError, match="zi has shape"):
        S.lfilter(B, A, x, zi=[1.0, 2])
    with pytest.raises(ValueError, match="sections"):
        S.sosfilt(SOS, x, zi=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="padlen"):
        S.filtfilt(B, A, x)
    with pytest.raises(ValueError, match="one dimension"):
        S.lfilter(B, A, tg.asarray(1.0))
    with pytest.raises(ImportError, match="SciPy") if not _scipy() else _nothing():
        S.butter(2, 0.2)


def _scipy() -> bool:
    from importlib.util import find_spec

    return find_spec("scipy") is not None


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


async def test_launches_and_pipelines() -> None:
    """A long filter is a launch that reads, some that carry, one that writes; no other length or filter compiles."""
    x = tg.asarray(draw(60000))
    await S.lfilter(B, A, x).numpy()
    before = launches()
    await S.sosfilt(SOS, x).numpy()
    assert launches() - before <= 8
    await S.sosfilt(SOS, x).numpy()
    compiled = tg.device().counters.pipelines
    for n in range(50, 60000, 5003):
        some = np.array(SOS) * [1, 1, 1, 1, 1 - n / 1e6, 1]
        await S.sosfilt(some, x[:n]).numpy()
        await tg.convolve(x[:n], tg.ones(3 + n % 40)).numpy()
    assert tg.device().counters.pipelines - compiled <= 4  # fir, reversed taps, their copies


def convolve(a: Any, b: Any) -> Any:
    """Of two arrays of as many axes, in full, by definition."""
    a, b = (v.astype({"f": float, "c": complex, "i": np.int64}[v.dtype.kind]) for v in (a, b))
    out = np.zeros([n + k - 1 for n, k in zip(a.shape, b.shape, strict=True)], np.result_type(a, b))
    for at in itertools.product(*map(range, b.shape)):
        out[tuple([slice(k, k + n) for k, n in zip(at, a.shape, strict=True)])] += a * b[at]
    return out


def parts(full: Any, a: Any, b: Any, mode: str) -> Any:
    if mode == "full":
        return full
    sizes = a.shape if mode == "same" else [n - k + 1 for n, k in zip(a.shape, b.shape, strict=True)]
    return full[
        tuple([slice((m - n) // 2, (m - n) // 2 + n) for m, n in zip(full.shape, sizes, strict=True)])
    ]


@pytest.mark.limits
@pytest.mark.parametrize("kinds", ["ff", "fc", "ii", "cc"])
async def test_convolve(kinds: str) -> None:
    """runmat conv1d and conv2d: modes of one and more axes, directly and by transforms."""
    shapes = [((1,), (1,)), ((70,), (9,)), ((9, 8), (3, 2)), ((4, 5, 6), (2, 3, 2)), ((200,), (60,))]
    for k, (sa, sb) in enumerate(shapes):
        a, b = draw(sa, kinds[0]), draw(sb, kinds[1], 1)
        full = convolve(a, b)
        for mode in ("full", "same", "valid"):
            for method in ("direct", "fft") if k % 2 else ("auto",):
                got = await S.convolve(tg.asarray(a), tg.asarray(b), mode, method).numpy()
                near(got, parts(full, a, b, mode), 0 if kinds == "ii" else 3e-6)
            turned = await S.correlate(tg.asarray(a), tg.asarray(np.conj(np.flip(b))), mode).numpy()
            near(turned, parts(full, a, b, mode), 0 if kinds == "ii" else 3e-6)


async def test_numpy_convolve_and_correlate() -> None:
    """np.convolve, np.correlate: modes, which is longer, dtypes; called through NumPy too."""
    for n, k in ((1, 1), (12, 5), (5, 12), (40, 40)):
        for kind, mode in itertools.product("fic", ("full", "same", "valid")):
            a, b = draw(n, kind), draw(k, kind, 1)
            got = await tg.fetch(
                np.convolve(tg.asarray(a), b, mode), tg.correlate(tg.asarray(a), tg.asarray(b), mode)
            )
            near(
                got[0], np.convolve(a.astype(a.dtype.char.upper() if kind == "c" else a.dtype), b, mode), 3e-6
            )
            near(got[1], np.correlate(a, b, mode), 3e-6)
    assert (await tg.convolve([True, False, True], [True, True]).tolist()) == [True, True, True, True]
    small = tg.convolve(tg.asarray([100, 100], dtype="int8"), tg.asarray([2], dtype="int8"))
    assert small.dtype is tg.int8 and (await small.tolist()) == [-56, -56]
    for wrong in (
        lambda: tg.convolve([], [1.0]),
        lambda: tg.convolve([[1.0]], [1.0]),
        lambda: tg.convolve([1.0], [1.0], "most"),
    ):
        with pytest.raises(ValueError):
            wrong()
    assert S.convolve(tg.zeros(0), tg.ones(3)).shape == (0,)  # runmat conv1d: either empty, then empty


async def test_borders_of_convolve2d() -> None:
    a, b = draw((8, 7)), draw((3, 4), seed=1)
    for mode, boundary in itertools.product(("full", "same"), ("wrap", "symm", "fill")):
        how = {"wrap": {"mode": "wrap"}, "symm": {"mode": "symmetric"}, "fill": {"constant_values": 2.5}}[
            boundary
        ]
        wide = np.pad(a, [(2, 2), (3, 3)], **how)
        full = convolve(wide, b)[2:-2, 3:-3]
        got = await S.convolve2d(tg.asarray(a), tg.asarray(b), mode, boundary, 2.5).numpy()
        near(got, parts(full, a, b, mode), 2e-6)


@pytest.mark.limits
async def test_blocks_and_axes_of_transforms() -> None:
    a, b = draw((3, 5000)), draw((1, 50), seed=1)
    want = np.stack([np.convolve(row.astype(float), b[0]) for row in a])
    for name in ("fftconvolve", "oaconvolve"):
        near(await getattr(S, name)(tg.asarray(a), tg.asarray(b), axes=1).numpy(), want, 2e-6)
        got = await getattr(S, name)(tg.asarray(a), tg.asarray(b), "same", axes=-1).numpy()
        near(got, want[:, 24:5024], 2e-6)
    with pytest.raises(ValueError, match="at least as large"):
        S.fftconvolve(tg.ones((3, 9)), tg.ones((9, 3)), "valid")
    q, r = await tg.fetch(*S.deconvolve(tg.asarray(np.convolve([1.0, 2, 3], [2.0, 1])), [2.0, 1]))
    assert np.allclose(q, [1, 2, 3]) and np.allclose(r, 0)


async def test_numbers_of_the_host_are_not_read_from_the_gpu() -> None:
    """What chooses a kernel or is computed by NumPy refuses arrays of the GPU: nothing waits on the spot."""
    s, x, image, three = tg.signal, tg.ones(64), tg.ones((8, 8)), tg.ones(3)
    sos = tg.asarray([[1.0, 0.2, 0.1, 1.0, 0.3, 0.1]])
    await tg.synchronize()
    before = tg.memory()["reads"]
    for call in (
        lambda: s.firwin(5, tg.asarray(0.3)), lambda: s.freqz(three), lambda: s.freqz([1.0], worN=three),
        lambda: s.freqz_sos(sos), lambda: s.freqz_zpk(three, [1.0], 1.0), lambda: s.lfilter([1.0], three, x),
        lambda: s.sosfilt(sos, x), lambda: s.filtfilt(three, [1.0], x), lambda: s.medfilt(image, tg.asarray(3)),
        lambda: s.order_filter(image, tg.ones((3, 3)), 1), lambda: s.detrend(x, bp=tg.asarray([3])),
        lambda: s.check_COLA(tg.ones(16), 16, 8),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="numbers of the host"):
            call()
    assert tg.memory()["reads"] == before
