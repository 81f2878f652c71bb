"""NumPy for the GPU in a browser tab: `import tabgpu as tg; await tg.init()`. Names are NumPy's and the array API's.

Arrays are lazy and read with `await a.numpy()`. Everything here is a re-export; the chapters are in ops/, most of them
imported when one of their names is first used (chapters.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import attributes, dtypes, errors, late, operators
from .array import Array, fetch, synchronize
from .dtypes import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from .dtypes import bool_ as bool  # the array API's name
from .errors import *  # noqa: F403  # the public exceptions
from .jit import ShapeDtype, jit, warmup
from .ops.creation import (
    arange,
    array,
    asarray,
    astype,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    identity,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)  # fmt: skip
from .ops.dtype_functions import can_cast, finfo, iinfo, isdtype, result_type
from .ops.elementwise import *  # noqa: F403  # a table: every row is public
from .ops.manipulation import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    flip,
    fliplr,
    flipud,
    matrix_transpose,
    moveaxis,
    permute_dims,
    ravel,
    reshape,
    rollaxis,
    rot90,
    squeeze,
    swapaxes,
    transpose,
)  # fmt: skip
from .ops.products import matmul
from .ops.reductions import all, amax, amin, any, argmax, argmin, max, mean, min, prod, sum  # NumPy's names
from .runtime import device, init, memory, trim

__version__ = "0.1.0"
del where  # noqa: F821  # the full one is ops/searching.py's
newaxis = None
e, pi, inf, nan, euler_gamma = (
    2.718281828459045,
    3.141592653589793,
    float("inf"),
    float("nan"),
    0.5772156649015329,
)


def __getattr__(name: str) -> Any:
    """A name whose chapter was not imported yet (PEP 562); from then on it is here."""
    from importlib import import_module

    from .chapters import MODULES, RENAMED, WHERE

    if name in MODULES:
        return import_module(f".{name}", __name__)
    if name == "__all__":  # `from tabgpu import *`
        return [k for k in __dir__() if not k.startswith("_")]
    if name not in WHERE:
        raise AttributeError(f"module 'tabgpu' has no attribute {name!r}")
    found = getattr(import_module(f".{WHERE[name]}", __name__), RENAMED.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from .chapters import MODULES, WHERE

    return sorted({*globals(), *WHERE, *MODULES})


if TYPE_CHECKING:  # what __getattr__ finds
    from .custom import ElementwiseKernel
    from .custom_raw import RawKernel
    from .custom_reduction import ReductionKernel
    from .interop import VERSION as __array_api_version__
    from .interop import array_namespace_info as __array_namespace_info__
    from .interop import from_dlpack
    from .interpolate.lines import interp
    from .ops.calculus import *  # noqa: F403
    from .ops.choosing import apply_along_axis, apply_over_axes, choose, piecewise, select
    from .ops.comparing import *  # noqa: F403
    from .ops.complex_functions import angle, iscomplex, iscomplexobj, isreal, isrealobj
    from .ops.contractions import *  # noqa: F403
    from .ops.einsum import einsum, einsum_path
    from .ops.extremes import *  # noqa: F403
    from .ops.grids import fromfunction, indices, ix_, meshgrid, mgrid, ogrid
    from .ops.histograms import *  # noqa: F403
    from .ops.inspecting import *  # noqa: F403
    from .ops.joining import (
        append,
        block,
        column_stack,
        concat,
        concatenate,
        delete,
        dstack,
        hstack,
        insert,
        row_stack,
        stack,
        vstack,
    )  # fmt: skip
    from .ops.nan_functions import *  # noqa: F403
    from .ops.padding import pad
    from .ops.polynomials import *  # noqa: F403
    from .ops.quantiles import *  # noqa: F403
    from .ops.ranges import frombuffer, fromiter, geomspace, logspace
    from .ops.rearranging import repeat, resize, roll, tile
    from .ops.row_sets import *  # noqa: F403
    from .ops.scans import *  # noqa: F403
    from .ops.searching import *  # noqa: F403
    from .ops.sets import *  # noqa: F403
    from .ops.sorting import *  # noqa: F403
    from .ops.splitting import array_split, dsplit, hsplit, split, unstack, vsplit
    from .ops.statistics import *  # noqa: F403
    from .ops.surfaces import peaks
    from .ops.taking import (
        compress,
        copyto,
        extract,
        index_add,
        place,
        put,
        put_along_axis,
        putmask,
        take,
        take_along_axis,
    )  # fmt: skip
    from .ops.translators import c_, index_exp, r_, s_
    from .ops.triangles import (
        diag,
        diag_indices,
        diag_indices_from,
        diagflat,
        diagonal,
        fill_diagonal,
        trace,
        tri,
        tril,
        tril_indices,
        tril_indices_from,
        triu,
        triu_indices,
        triu_indices_from,
        vander,
    )  # fmt: skip
    from .profiling import profile
    from .sharing import from_gpu_buffer
    from .showing import show
    from .signal.convolving import numpy_convolve as convolve
    from .signal.convolving import numpy_correlate as correlate
    from .signal.phases import unwrap
    from .signal.windows import bartlett, blackman, hamming, kaiser
    from .signal.windows import hann as hanning
    from .tuning import tune
    from .usage import telemetry

del annotations, TYPE_CHECKING
