"""tests/browser/test_awkward_rows.py's functions with all of their operands in all layouts; and BESIDE, the same for
what the chapters have beside the runmat checklist's rows, each pair in one layout."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.signal
from awkward import all_layouts, all_pairs, compare, draw, special
from test_awkward_rows import FINITE_BATCHES, LINES, PICTURES, ROWS, SPOILT, SQUARE, name

pytestmark = pytest.mark.filterwarnings("ignore")
LONG = [x for x in LINES if x[0].size]
SAME = [(draw(n), draw(n)) for n in (2, 9, 33)] + [(draw(3, 17), draw(3, 17))]
B, A = scipy.signal.butter(4, 0.3)
SOS = scipy.signal.butter(5, 0.3, output="sos")
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
POSITIVE = [(np.abs(draw(*s)) + 0.1,) for s in ((33, 3), (6,), (1, 4), (2, 3, 4), (130,))]
KNOTS = [(np.sort(draw(n)), draw(n), draw(5)) for n in (4, 7, 33)]


def each(text: str, *arguments: Any, **options: Any) -> list[Any]:
    """m.CHAPTER.NAME for every name of "CHAPTER: NAME NAME"."""
    chapter, names = text.split(": ")
    return [name(f"{chapter}.{n}", *arguments, **options) for n in names.split()]


def borders(text: str, *arguments: Any, modes: Any = MODES, **options: Any) -> list[Any]:
    return [f for mode in modes for f in each(text, *arguments, mode=mode, cval=0.5, **options)]


def above(text: str, level: float = 0.0, **options: Any) -> Any:
    return lambda m, x: name("image." + text, **options)(m, x > level)


def groups(text: str) -> Any:
    """Of labels 0 .. 3 (and one that is not there)."""
    return lambda m, x: name("image." + text)(m, x, np.arange(x.size).reshape(x.shape) // 3 % 4, [1, 2, 3, 9])


BESIDE: dict[str, tuple[list[Any], Any, float]] = {
    "fft of reals": (each("fft: rfft ihfft rfftn rfft2 fftshift ifftshift"), LONG[3:], 1e-6),
    "fft to reals": (each("fft: irfft hfft irfftn hfft", n=7)[:2] + each("fft: irfft hfft", 9, 0), LONG[3:], 1e-6),
    "cosines": (
        [f for kind in (1, 2, 3, 4) for norm in ("backward", "ortho")
         for f in each("fft: dct dst idct idst", kind, norm=norm)] + each("fft: dctn idctn dstn idstn"),
        [x for x in LONG if x[0].shape[-1] > 1 and 1 not in x[0].shape], 3e-6,
    ),
    "convolutions": (
        [f for mode in ("full", "same", "valid") for f in each("signal: fftconvolve oaconvolve", mode)],
        [(draw(7), draw(3)), (draw(3), draw(7)), (draw(1), draw(1)), (draw(5, 7), draw(3, 2))], 2e-6,
    ),
    "filters": (
        [
            name("signal.upfirdn", up=3, down=2), *each("signal: hilbert detrend"), name("signal.savgol_filter", 5, 2),
            name("signal.savgol_filter", 5, 3, deriv=1, mode="mirror"), *each("signal: medfilt wiener", 3),
            *[name("signal.resample", n) for n in (5, 16, 40)], name("signal.resample_poly", 3, 2),
            lambda m, x: m.signal.lfilter(B, A, x), lambda m, x: m.signal.sosfilt(SOS, x),
            lambda m, x: m.signal.filtfilt(B, A, x, padlen=4), lambda m, x: m.signal.sosfiltfilt(SOS, x, padlen=0),
            *[name("signal.decimate", 2, ftype=f) for f in ("iir", "fir")],
        ],
        [x for x in LONG if x[0].shape[-1] > 2], 3e-5,
    ),
    "filters of NaN": (
        [lambda m, x: m.signal.lfilter(B, A, x), lambda m, x: m.signal.sosfilt(SOS, x),
         name("signal.detrend", type="constant"), name("signal.savgol_filter", 5, 2, mode="nearest"), name("unwrap"),
         name("signal.cumulative_trapezoid")],
        [(SPOILT,), (SPOILT[::-1].copy(),)], 1e-5,
    ),
    "integrals": (
        [*each("signal: trapezoid cumulative_trapezoid simpson", dx=0.5), lambda m, x: m.unwrap(4 * x),
         lambda m, x: m.unwrap(4 * x, axis=0)],
        [*LONG, (special(33),), (special(5, 7),)], 1e-5,
    ),
    "spectra": (
        [name("signal.welch", nperseg=8), name("signal.welch", nperseg=9, noverlap=3, average="median"),
         name("signal.periodogram", scaling="spectrum"), name("signal.spectrogram", nperseg=8),
         name("signal.stft", 2.0, nperseg=8), name("signal.stft", nperseg=6, nfft=11, boundary="even")],
        [x for x in LONG if x[0].shape[-1] > 8], 1e-5,
    ),
    "spectra of two": (each("signal: csd coherence", nperseg=8), SAME, 1e-4),
    "image filters": (
        borders("image: uniform_filter", 4, origin=1) + borders("image: gaussian_filter", 1.3)
        + borders("image: sobel prewitt laplace")
        + borders("image: correlate1d convolve1d", [1.0, 2, -0.5, 0.3], axis=0),
        PICTURES, 1e-5,
    ),
    "image ranks": (
        borders("image: minimum_filter maximum_filter median_filter", 3) + borders("image: percentile_filter", 30, 4)
        + borders("image: minimum_filter1d maximum_filter1d", 4, axis=0, origin=-1),
        PICTURES, 0,
    ),
    "morphology": (
        [lambda m, x, f=f, mode=mode: getattr(m.image, f)(x, size=(3, 2, 2)[: x.ndim], mode=mode, cval=0.5)
         for f in ("grey_erosion", "grey_dilation", "grey_opening", "white_tophat", "morphological_gradient")
         for mode in MODES], PICTURES, 1e-6,
    ),
    "binary morphology": (
        [above(f) for f in ("binary_erosion", "binary_dilation", "binary_opening", "binary_fill_holes", "label")]
        + [above("binary_closing", iterations=2), above("binary_dilation", border_value=1),
           lambda m, x: m.image.binary_propagation(x > 1, mask=x > -0.5),
           lambda m, x: m.image.label(x > 0, np.ones((3,) * x.ndim))], PICTURES, 0,
    ),
    "distances": (  # of pictures with a 0
        [above("distance_transform_edt", 0.5),
         *[above("distance_transform_cdt", 0.5, metric=k) for k in ("chessboard", "taxicab")]],
        [(draw(5, 7),), (draw(33, 17),), (draw(2, 9, 4),), (draw(0, 3),)], 1e-6,
    ),
    "geometry": (
        [lambda m, x, o=o, mode=mode, f=f: getattr(m.image, f)(x, v, order=o, mode=mode, cval=0.5)
         for f, v in (("shift", 0.37), ("zoom", 1.7)) for o in (0, 1, 3)
         for mode in (*MODES, "grid-wrap", "grid-constant")],
        [x for x in PICTURES if x[0].size and x[0].ndim < 3], 3e-5,
    ),
    "maps": (
        [lambda m, x, o=o, mode=mode: m.image.affine_transform(
            x, np.eye(x.ndim) * 0.81 + 0.05, 0.21, order=o, mode=mode, cval=0.5)
         for o in (0, 1, 3) for mode in MODES], [x for x in PICTURES if x[0].size and x[0].ndim < 3], 5e-5,
    ),
    "groups": ([groups(f) for f in ("sum_labels", "mean", "variance", "minimum", "maximum")], PICTURES[:-1], 2e-5),
    "statistics": (
        [f for axis in (0, None) for f in each(
            "stats: skew kurtosis sem variation zscore iqr median_abs_deviation gmean hmean entropy", axis=axis)],
        POSITIVE[:2] + POSITIVE[4:], 3e-4,
    ),
    "ranks": ([name("stats.rankdata", how) for how in ("average", "min", "dense", "ordinal")], LONG, 1e-6),
    "tests": (
        [lambda m, x, y, f=f: tuple(getattr(m.stats, f)(x, y))[:2]
         for f in ("pearsonr", "spearmanr", "ttest_ind", "ttest_rel", "linregress")], SAME[1:3], 1e-3,
    ),
    "quantiles": (
        [name(f, q, axis=axis) for f, q in (("quantile", 0.3), ("percentile", 70), ("nanquantile", [0, 0.5, 1]))
         for axis in (None, 0, -1)], [*LONG, (SPOILT,)], 2e-6,
    ),
    "histograms": ([name("histogram", 5, (-2, 2)), name("digitize", [-1.0, 0.0, 2.0])], [*LONG, (special(33),)], 1e-6),
    "interp": (
        [lambda m, x, y, q: m.interp(q, x, y), lambda m, x, y, q: m.interp(q, x, y, left=9, right=-9)], KNOTS, 1e-5
    ),
    "interp1d": (
        [lambda m, x, y, q, k=k, v=v: m.interpolate.interp1d(x, y, k, bounds_error=False, fill_value=v)(q)
         for k in ("linear", "nearest", "previous", "next", "zero") for v in (0.5, "extrapolate")], KNOTS, 1e-5,
    ),
    "splines": (
        [lambda m, x, y, q, f=f: getattr(m.interpolate, f)(x, y)(q)
         for f in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator")], KNOTS, 2e-3,
    ),
    "grids": (
        [lambda m, v, q, k=k: m.interpolate.RegularGridInterpolator(
            (np.arange(v.shape[0]) * 1.0, np.arange(v.shape[1]) * 1.0), v, k, bounds_error=False, fill_value=0.5)(q)
         for k in ("linear", "nearest")],
        [(draw(5, 7), draw(9, 2) * 2 + 2), (draw(4, 4), draw(1, 2)), (draw(5, 7), draw(0, 2))], 1e-5,
    ),
    "polynomials": (
        each("polynomial: polyadd polysub polymul polyval") + [name("polyadd"), name("polysub"), name("polymul")],
        [(draw(a), draw(b)) for a, b in ((1, 1), (3, 5), (5, 3), (1, 4), (9, 33))], 1e-5,
    ),
    "functions of matrices": (
        [name("linalg.det"), name("linalg.slogdet"), lambda m, x: m.linalg.expm(0.2 * x),
         name("linalg.matrix_power", 3), name("linalg.matrix_power", 0)], SQUARE, 5e-5,
    ),
    "of any matrix": (
        [name("linalg.trace"), name("linalg.svdvals"),
         *[name("linalg.matrix_norm", ord=p) for p in ("fro", "nuc", 1, -2)],
         *[name("linalg.vector_norm", ord=p) for p in (0, 1, 2, np.inf)]], FINITE_BATCHES, 1e-5,
    ),
    "of two vectors": (
        [lambda m, x, y: m.linalg.toeplitz(x, y), lambda m, x, y: m.linalg.circulant(x),
         lambda m, x, y: m.linalg.outer(x, y), lambda m, x, y: m.linalg.matmul_toeplitz(x, y),
         lambda m, x, y: m.linalg.fiedler(y)], [(draw(n), draw(n)) for n in (1, 3, 33)], 1e-5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
async def test_rows_in_every_layout(row: str) -> None:
    functions, operands, tolerance = ROWS[row]
    assert not (wrong := await compare(functions, operands, tolerance, all_layouts)), "\n".join(wrong[:12])


@pytest.mark.parametrize("part", BESIDE)
async def test_beside_the_rows(part: str) -> None:
    functions, operands, tolerance = BESIDE[part]
    assert not (wrong := await compare(functions, operands, tolerance, all_pairs)), "\n".join(wrong[:12])


CHECKLISTS = Path(__file__).resolve().parents[2] / "docs/checklists.toml"
FACTORS = "lu chol qr eig"  # tests/browser/test_awkward_factors.py
ELSEWHERE = {
    "swept over OPERANDS or through binary() in test_checklist_runmat.py": (
        "unary_ elem_ scalar_ logical_ pow2_scale not_nan_mask reduce_sum_dim reduce_prod_dim reduce_mean_dim "
        "reduce_nnz_dim reduce_any_dim reduce_all_dim reduce_median_dim reduce_std_dim"
    ),
    "numbers of the host make it; no array goes in": (
        "zeros fill eye linspace peaks random_ set_rng_state fspecial stochastic_evolution"
    ),
    "its chapter's tests sweep it: test_linalg_orthogonal_ranks, test_linalg_structure, test_indexing, test_async": (
        "qr_power_iter sym_rcm scatter_linear read_scalar"
    ),
    "devices, telemetry, settings, entry points": (
        "take_matmul_sources supports_ind2sub fused_ upload download free device_ precision export_ warmup "
        "last_warmup_millis telemetry_snapshot reset_telemetry default_reduction two_pass_threshold "
        "reduction_two_pass_mode"
    ),
}


def test_each_of_the_200_rows_is_here_or_elsewhere() -> None:
    rows = {k.removeprefix("RM-") for k in tomllib.loads(CHECKLISTS.read_text("utf-8"))["runmat"]}
    here = {k.removeprefix("RM-") for k in ROWS} | set(FACTORS.split())
    starts = tuple(name for names in ELSEWHERE.values() for name in names.split())
    assert len(rows) == 200 and here <= rows
    assert {k for k in rows - here if not k.startswith(starts)} == set()
    assert [s for s in starts if not any(k.startswith(s) for k in rows - here)] == []
