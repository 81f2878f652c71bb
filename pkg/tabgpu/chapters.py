"""Which chapter each public name lives in that is imported only when it is used. tests/unit/test_late.py compares."""

from __future__ import annotations

MODULES = (
    "aio", "backend", "fft", "image", "interpolate", "lax", "linalg", "nn", "polynomial", "quant", "random", "signal",
    "special", "stats",
)  # fmt: skip
"""Namespaces: `tg.linalg` ..."""
RENAMED = {
    "__array_api_version__": "VERSION", "__array_namespace_info__": "array_namespace_info",
    "convolve": "numpy_convolve", "correlate": "numpy_correlate", "hanning": "hann",
}  # fmt: skip

CHAPTERS = {
    "custom": "ElementwiseKernel",
    "custom_raw": "RawKernel",
    "custom_reduction": "ReductionKernel",
    "interop": "__array_api_version__ __array_namespace_info__ from_dlpack",
    "interpolate.lines": "interp",
    "ops.calculus": "gradient trapezoid",
    "ops.choosing": "apply_along_axis apply_over_axes choose piecewise select",
    "ops.comparing": "allclose array_equal array_equiv",
    "ops.complex_functions": "angle iscomplex iscomplexobj isreal isrealobj",
    "ops.contractions": "cross dot inner kron matvec outer tensordot vdot vecdot vecmat",
    "ops.einsum": "einsum einsum_path",
    "ops.extremes": "cumulative_max_with_index cumulative_min_with_index max_with_index min_with_index",
    "ops.grids": "fromfunction indices ix_ meshgrid mgrid ogrid",
    "ops.histograms": "bincount digitize histogram histogram2d histogram_bin_edges histogramdd",
    "ops.inspecting":
        "asanyarray ascontiguousarray copy isscalar ndim promote_types ravel_multi_index shape "
        "size unravel_index",
    "ops.joining":
        "append block column_stack concat concatenate delete dstack hstack insert row_stack stack "
        "vstack",
    "ops.nan_functions": "nanargmax nanargmin nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "ops.padding": "pad",
    "ops.polynomials":
        "poly polyadd polyder polyder_product polyder_quotient polydiv polyfit polyint polymul polysub polyval "
        "roots",
    "ops.quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "ops.ranges": "frombuffer fromiter geomspace logspace",
    "ops.rearranging": "repeat resize roll tile",
    "ops.row_sets":
        "intersect_rows ismember setdiff_rows setxor_rows sort_by_magnitude sort_rows union_rows",
    "ops.scans":
        "cumprod cumsum cumulative_max cumulative_min cumulative_prod cumulative_sum diff ediff1d "
        "logcumsumexp nancumprod nancumsum",
    "ops.searching": "argwhere count_nonzero flatnonzero nonzero searchsorted where",
    "ops.sets":
        "in1d intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts "
        "unique_inverse unique_values",
    "ops.sorting": "argpartition argsort lexsort partition sort sort_complex topk",
    "ops.splitting": "array_split dsplit hsplit split unstack vsplit",
    "ops.statistics": "average corrcoef cov logsumexp ptp std var",
    "ops.surfaces": "peaks",
    "ops.taking": "compress copyto extract index_add place put put_along_axis putmask take take_along_axis",
    "ops.translators": "c_ index_exp r_ s_",
    "ops.triangles":
        "diag diag_indices diag_indices_from diagflat diagonal fill_diagonal trace tri tril "
        "tril_indices tril_indices_from triu triu_indices triu_indices_from vander",
    "profiling": "profile",
    "sharing": "from_gpu_buffer",
    "showing": "show",
    "signal.convolving": "convolve correlate",
    "signal.phases": "unwrap",
    "signal.windows": "bartlett blackman hamming hanning kaiser",
    "tuning": "tune",
    "usage": "telemetry",
}  # fmt: skip
WHERE = {name: chapter for chapter, names in CHAPTERS.items() for name in names.split()}
