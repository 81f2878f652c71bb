"""tg.image: filters, morphology, measurements and geometry of images under scipy.ndimage's names, colours and
histograms under scikit-image's; over arrays of any rank where those are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PARTS = {
    "boxes": "find_objects",
    "colors":
        "gray2rgb hsv2rgb lab2lch lab2rgb lab2xyz lch2lab rgb2gray rgb2hsv rgb2lab rgb2xyz rgb2ycbcr rgb2yiq rgb2yuv "
        "rgba2rgb xyz2lab xyz2rgb ycbcr2rgb yiq2rgb yuv2rgb",
    "distances": "distance_transform_bf distance_transform_cdt distance_transform_edt",
    "flooding": "label",
    "fourier": "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform",
    "geometry": "affine_transform map_coordinates rotate shift zoom",
    "intensity": "equalize_hist image_normalize resize unsharp_mask",
    "kernels2d": "fspecial",
    "linear":
        "convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d gaussian_gradient_magnitude "
        "gaussian_laplace generic_gradient_magnitude generic_laplace laplace prewitt sobel uniform_filter "
        "uniform_filter1d",
    "measuring":
        "center_of_mass extrema histogram maximum maximum_position mean median minimum minimum_position "
        "standard_deviation sum sum_labels variance",
    "morphology":
        "binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening "
        "binary_propagation black_tophat grey_closing grey_dilation grey_erosion grey_opening morphological_gradient "
        "morphological_laplace white_tophat",
    "ranking":
        "maximum_filter maximum_filter1d median_filter minimum_filter minimum_filter1d percentile_filter rank_filter",
    "splines": "spline_filter spline_filter1d",
    "structures": "generate_binary_structure iterate_structure",
}  # fmt: skip
"""Which part has each name: loaded at its first use (PEP 562)."""
WHERE = {name: part for part, names in PARTS.items() for name in names.split()}
__all__ = sorted(WHERE)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in WHERE:
        raise AttributeError(f"module 'tabgpu.image' has no attribute {name!r}")
    made = globals()[name] = getattr(import_module(f".{WHERE[name]}", __name__), name)
    return made


def __dir__() -> list[str]:
    return __all__
