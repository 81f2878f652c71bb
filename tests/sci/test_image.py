"""tg.image beside scipy.ndimage on drawn inputs: every function, mode and option that both have; what is not here."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import ndimage as nd

import tabgpu as tg
from tabgpu import image

warnings.simplefilter("ignore")
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
rng = np.random.default_rng(20)

LEFT_OUT = {
    "generic_filter": "calls a Python function for every element; write a tg.ElementwiseKernel or RawKernel",
    "generic_filter1d": "calls a Python function for every line",
    "vectorized_filter": "calls a Python function with all windows: stack shifted views instead",
    "geometric_transform": "calls a Python function for every element: map_coordinates takes its places as an array",
    "labeled_comprehension": "calls a Python function for every label",
    "value_indices": "gives a dict of places whose sizes depend on data: where(a == value)",
    "watershed_ift": "a queue in the order of costs, element after element",
}


def check(got: Any, want: Any, tolerance: float = 2e-6) -> None:
    """Within tolerance of the greatest magnitude; integers may differ by 1 where a sum lies next to one."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, (got.shape, want.shape)
    if not want.size:
        return
    if want.dtype.kind in "biu" and got.dtype.kind in "biu":
        assert np.array_equal(got, want)
        return
    top = np.abs(want[np.isfinite(want)]).max(initial=1e-3)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.nanmax(np.abs(got - want), initial=0) <= tolerance * top


def wide(x: Any) -> Any:
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


def same(name: str, x: Any, *args: Any, tolerance: float = 2e-6, **options: Any) -> None:
    """One function of both."""
    check(
        getattr(image, name)(tg.asarray(x), *args, **options),
        getattr(nd, name)(wide(x), *args, **options),
        tolerance,
    )


def test_names() -> None:
    """Every public function of scipy.ndimage is here or in the table, and nothing is in both."""
    theirs = {n for n in nd.__all__ if inspect.isroutine(getattr(nd, n))}
    ours = set(image.__all__)
    assert theirs - ours == set(LEFT_OUT)
    for name in theirs & ours:
        want = list(inspect.signature(getattr(nd, name)).parameters)
        got = list(inspect.signature(getattr(image, name)).parameters)
        assert got[: len(want)] == want or name in ("sum", "histogram"), (name, got, want)


@pytest.mark.parametrize("mode", MODES)
def test_linear_filters(mode: str) -> None:
    x = rng.standard_normal((13, 17)).astype(np.float32)
    for w in (rng.standard_normal((3, 4)), rng.standard_normal((15, 1)), rng.standard_normal((2, 25))):
        for origin in (0, -1 if w.shape[1] > 1 and w.shape[0] > 1 else 0):
            same("correlate", x, w, mode=mode, cval=1.5, origin=origin, tolerance=1e-6)
            same("convolve", x, w, mode=mode, cval=1.5, origin=origin, tolerance=1e-6)
    same("correlate1d", x, [1.0, 2, -1, 3], 0, mode=mode, origin=1)
    same("convolve1d", x, [1.0, 2, -1, 3], 1, mode=mode)
    for sigma, order in ((1.3, 0), ((1, 2.5), (1, 0)), ((0, 2), 2), (0.7, 3)):
        same("gaussian_filter", x, sigma, order, mode=mode, cval=0.5)
    same("gaussian_filter", x, 2.0, radius=3, mode=mode)
    same("gaussian_filter1d", x, 1.1, 0, 1, mode=mode)
    same("uniform_filter", x, (4, 5), mode=mode, origin=(1, -1))
    same("uniform_filter1d", x, 6, mode=mode)
    for name in ("sobel", "prewitt"):
        same(name, x, 0, mode=mode)
        same(name, rng.standard_normal((4, 5, 6)).astype(np.float32), 1, mode=mode)
    same("laplace", x, mode=mode)
    same("gaussian_laplace", x, 1.5, mode=mode)
    same("gaussian_gradient_magnitude", x, (1, 2), mode=mode)
    same(
        "correlate",
        rng.standard_normal((4, 5, 6)).astype(np.float32),
        rng.standard_normal((2, 3, 3)),
        mode=mode,
    )
    same("gaussian_filter", rng.standard_normal((3, 9, 8)).astype(np.float32), 1, mode=mode, axes=(1, 2))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["float32", "int16", "uint8"])
def test_rank_filters_and_grey_morphology(mode: str, kind: str) -> None:
    x = (np.abs(rng.standard_normal((11, 12)) * 50) + 9).astype(
        kind
    )  # SciPy's own sums below 0 of uint8 vary
    flags = rng.random((3, 4)) > 0.4
    flags[1, 2] = True
    for options in ({"size": 3}, {"size": (2, 4)}, {"footprint": flags, "origin": (0, -1)}):
        for name in ("minimum_filter", "maximum_filter", "median_filter"):
            same(name, x, mode=mode, cval=3, **options)
    same("percentile_filter", x, 30, size=4, mode=mode)
    same("percentile_filter", x, -10, size=(1, 7), mode=mode)
    same("rank_filter", x, -3, footprint=flags, mode=mode)
    same("minimum_filter1d", x, 4, 0, mode=mode, origin=1)
    same("maximum_filter1d", x, 40, 1, mode=mode)
    cval = 9 if kind == "uint8" else 0
    heights = rng.integers(0, 5, (3, 3)).astype("float32" if kind == "float32" else "int64")
    names = ("grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "white_tophat", "black_tophat")
    for name in (*names, "morphological_gradient", "morphological_laplace"):
        same(name, x, (3, 2), mode=mode)
        same(name, x, None, flags, mode=mode)
        same(name, x, None, None, heights, mode=mode, cval=cval)


@pytest.mark.parametrize("level", [0.25, 0.45, 0.6, 0.8])
def test_binary_morphology_and_labels(level: float) -> None:
    x, mask = rng.random((14, 19)) < level, rng.random((14, 19)) > 0.3
    seeds = rng.random((14, 19)) > 0.95
    odd, even = rng.random((3, 3)) > 0.4, rng.random((2, 4)) > 0.3
    odd[1, 1] = even[1, 2] = True
    for s in (None, odd, even, np.ones((3, 3), bool)):
        for options in (
            {},
            {"iterations": 3},
            {"mask": mask},
            {"border_value": 1, "mask": mask, "iterations": 2},
        ):
            for name in ("binary_erosion", "binary_dilation", "binary_opening", "binary_closing"):
                same(name, x, s, **options)
    same("binary_dilation", x, even, origin=(0, -1))
    same("binary_hit_or_miss", x, odd)
    same("binary_hit_or_miss", x, odd, even)
    for s in (None, np.ones((3, 3), bool)):
        same("binary_fill_holes", x, s)
        for border in (0, 1):
            got = image.binary_propagation(tg.asarray(seeds), s, tg.asarray(x), border_value=border)
            check(got, nd.binary_propagation(seeds, s, x, border_value=border))
        same("binary_erosion", x, s, -1, mask)
        labels, count = image.label(tg.asarray(x), s)
        want, n = nd.label(x, s)
        check(labels, want)
        assert int(count) == n
    for shape in ((50,), (5, 6, 7), (3, 4, 2, 5), (60, 70)):
        deep = rng.random(shape) < level
        for k in range(len(shape)):
            s = nd.generate_binary_structure(len(shape), k + 1)
            check(image.label(tg.asarray(deep), s)[0], nd.label(deep, s)[0])
            check(image.generate_binary_structure(len(shape), k + 1), s)
    for k in range(4):
        check(image.iterate_structure(odd, k), nd.iterate_structure(odd, k))


def test_distances() -> None:
    for shape in ((30,), (17, 23), (6, 7, 8), (1, 1), (40, 1), (33, 34)):
        for level in (0.05, 0.5, 0.9):
            x = (rng.random(shape) > level).astype(np.uint8)
            x.flat[0] = 0
            same("distance_transform_edt", x)
            same("distance_transform_edt", x, tuple(rng.random(len(shape)) + 0.5))
            for metric in ("chessboard", "taxicab"):
                same("distance_transform_cdt", x, metric)
                check(
                    image.distance_transform_bf(tg.asarray(x), metric), nd.distance_transform_cdt(x, metric)
                )


def test_measurements() -> None:
    x = (rng.standard_normal((13, 17)) * 30 + 100).astype(np.float32)
    labels = rng.integers(0, 6, x.shape)
    for marks, index in ((None, None), (labels, None), (labels, 3), (labels, [1, 2, 3]), (labels, [5, 2, 2]),
                         (labels - 3, [-3, 1, 2]), (labels + 0.5, [1.5, 3.5])):  # fmt: skip
        given = (
            None
            if marks is None
            else tg.asarray(marks.astype(np.float32) if marks.dtype.kind == "f" else marks)
        )
        for name in ("sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "median"):
            got = getattr(image, name)(tg.asarray(x), given, index)
            check(got, getattr(nd, name)(wide(x), marks, index), 2e-5)
        for name in ("center_of_mass", "minimum_position", "maximum_position"):
            got = getattr(image, name)(tg.asarray(x), given, index)
            check(got, np.array(getattr(nd, name)(wide(x), marks, index)), 2e-5)
        counts = nd.histogram(x, 40, 160, 7, marks, index)
        got = image.histogram(tg.asarray(x), 40, 160, 7, given, index)
        check(got, np.array(counts.tolist() if counts.dtype == object else counts))
    for got, want in zip(
        image.extrema(tg.asarray(x), tg.asarray(labels), [1, 2]), nd.extrema(x, labels, [1, 2]), strict=True
    ):
        check(got, np.array(want))


@pytest.mark.parametrize("order", range(6))
def test_geometry(order: int) -> None:
    x = rng.standard_normal((13, 17)).astype(np.float32)
    line = rng.standard_normal(23).astype(np.float32)
    deep = rng.standard_normal((18, 19, 16)).astype(np.float32)
    places = (rng.random((2, 50)) * 40 - 12).astype(np.float32)
    far = (rng.random((3, 5, 6)) * 40 - 9).astype(np.float32)
    rows = [[0.9137, 0.2319], [-0.3119, 1.1331]]
    tolerance = 3e-6 if order < 4 else 2e-5
    for mode in (*MODES, "grid-constant", "grid-wrap", "grid-mirror"):
        options: Any = {"order": order, "mode": mode, "cval": 0.7, "tolerance": tolerance}
        if mode not in ("grid-constant", "nearest") and order > 1:
            same("spline_filter1d", x, order, 0, mode=mode)
            same("spline_filter", x, order, mode=mode, tolerance=tolerance)
        same("shift", x, (2.3117, -4.6119), **options)
        same("shift", x, (2, -3), **options)
        same("zoom", x, (1.7, 0.6), **options) if order else None
        same("zoom", x, (1.7, 2), grid_mode=True, **options)
        same("rotate", x, 33.3, **options)
        same("rotate", x, 90, **options)
        same("rotate", deep, 25.1, (0, 2), reshape=False, **options)
        same("map_coordinates", x, places, **options)
        same("map_coordinates", line, places[:1], **options)
        same("map_coordinates", deep, far, **options)
        same("affine_transform", x, rows, (1.3717, -2.1131), (11, 9), **options)
        same("affine_transform", x, rows, (1.3717, -2.1131), (11, 9), prefilter=False, **options)
        same("affine_transform", x, [0.5119, 1.4117], 1.1133, **options)
        same("affine_transform", x, [[0.5, 0.1, 1.4113], [0, 1.2119, 3]], **options)
    z = (x + 1j * x[::-1]).astype(np.complex64)
    same("shift", z, 1.5113, order=order, cval=1j, tolerance=tolerance)
    if order < 2:
        same("zoom", rng.standard_normal((3, 4, 5, 6)).astype(np.float32), 1.5113, order=1, mode="nearest")


def test_spectra() -> None:
    x = (rng.standard_normal((8, 9)) + 1j * rng.standard_normal((8, 9))).astype(np.complex64)
    for name, value in (
        ("fourier_gaussian", (0.7, 1.2)),
        ("fourier_uniform", 3.0),
        ("fourier_shift", (1.5, -2.25)),
    ):
        same(name, x, value)
        same(name, x, value, 16, 1)
    for shape in ((12,), (8, 9), (5, 6, 7)):
        deep = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64)
        same("fourier_ellipsoid", deep, 2.5, tolerance=4e-6)
        same("fourier_ellipsoid", deep, [1.5, 3, 2][: len(shape)], 2 * shape[-1] - 2, tolerance=4e-6)


def test_objects() -> None:
    for shape in ((30,), (13, 17), (5, 6, 7)):
        labels = rng.integers(0, 9, shape) * rng.integers(0, 2, shape)
        labels[labels == 4] = 0
        for most in (0, 6, 12):
            assert image.find_objects(tg.asarray(labels), most) == nd.find_objects(labels, most)
    assert image.find_objects(tg.zeros((3, 3), dtype="int32")) == []


def test_axes_in_any_order() -> None:
    """SciPy's footprints lie along the axes in ascending order; sizes, modes and origins follow the order given."""
    x = rng.standard_normal((6, 7, 8)).astype(np.float32)
    w = rng.standard_normal((3, 5))  # SciPy turns even ones about differently
    for axes in ((0, 2), (2, 0), (-1, 1), (1,)):
        flags = w > 0 if len(axes) == 2 else w[0] > -9
        options: Any = {"axes": axes, "mode": ["wrap", "mirror"][: len(axes)], "origin": [0, -1][: len(axes)]}
        for name in ("correlate", "convolve"):
            same(name, x, w if len(axes) == 2 else w[0], **{**options, "mode": "wrap"})
        for name in ("minimum_filter", "maximum_filter", "median_filter", "grey_erosion", "grey_dilation"):
            same(name, x, footprint=flags, **{**options, "mode": "wrap"})
        same("minimum_filter", x, [3, 5][: len(axes)], **options)
        same("uniform_filter", x, [3, 5][: len(axes)], **options)
        same("gaussian_filter", x, [1.0, 2.0][: len(axes)], axes=axes, mode=options["mode"])
        for name in ("binary_erosion", "binary_dilation", "binary_opening"):
            same(name, x > 0, flags, axes=axes, origin=options["origin"])
