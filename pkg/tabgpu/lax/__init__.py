"""tg.lax: the operations of XLA under the names and argument order of jax.lax, on tabgpu's arrays.

What differs from jax.lax: operands broadcast and promote as in the rest of tabgpu; slices, transposes and broadcasts
are views; gather clamps by default and scatter drops, and negative indices do not wrap. Loops are Python's
(control.py), and there is no while_loop, no rng_bit_generator (tg.random) and nothing of several devices.
"""

from __future__ import annotations

from ..ops.creation import full
from ..ops.elementwise import absolute as abs  # lax's names for all that follows
from ..ops.elementwise import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    cbrt,
    ceil,
    cos,
    cosh,
    exp,
    exp2,
    expm1,
    floor,
    imag,
    log,
    log1p,
    nextafter,
    real,
    reciprocal,
    rsqrt,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)
from ..ops.elementwise import arccos as acos
from ..ops.elementwise import arccosh as acosh
from ..ops.elementwise import arcsin as asin
from ..ops.elementwise import arcsinh as asinh
from ..ops.elementwise import arctan as atan
from ..ops.elementwise import arctan2 as atan2
from ..ops.elementwise import arctanh as atanh
from ..ops.elementwise import bitwise_not as bitwise_not
from ..ops.elementwise import complex_of as complex
from ..ops.elementwise import conjugate as conj
from ..ops.elementwise import equal as eq
from ..ops.elementwise import greater as gt
from ..ops.elementwise import greater_equal as ge
from ..ops.elementwise import isfinite as is_finite
from ..ops.elementwise import left_shift as shift_left
from ..ops.elementwise import less as lt
from ..ops.elementwise import less_equal as le
from ..ops.elementwise import maximum as max
from ..ops.elementwise import minimum as min
from ..ops.elementwise import multiply as mul
from ..ops.elementwise import negative as neg
from ..ops.elementwise import not_equal as ne
from ..ops.elementwise import power as pow
from ..ops.elementwise import subtract as sub
from ..ops.triangles import tril, triu
from ..special import digamma, erf, erfc
from ..special import erfinv as erf_inv
from ..special import expit as logistic
from ..special import gammaln as lgamma
from ..special import i0e as bessel_i0e
from ..special import i1e as bessel_i1e
from .arithmetic import (
    RoundingMethod,
    clamp,
    clz,
    div,
    integer_pow,
    population_count,
    rem,
    round,
    select,
    select_n,
    shift_right_arithmetic,
    shift_right_logical,
)
from .control import cond, fori_loop, map, scan
from .convolving import conv, conv_general_dilated
from .dots import batch_matmul, dot, dot_general, dot_general_with_conj
from .gathering import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    gather,
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from .index_maps import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers
from .reducing import (
    argmax,
    argmin,
    cumlogsumexp,
    cummax,
    cummin,
    cumprod,
    cumsum,
    padtype_to_pads,
    reduce,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_window,
    reduce_xor,
    sort,
    top_k,
)
from .shapes import (
    bitcast_convert_type,
    broadcast,
    broadcast_in_dim,
    broadcasted_iota,
    collapse,
    concatenate,
    convert,
    convert_element_type,
    embed_diagonal,
    expand_dims,
    extract_diagonal,
    full_like,
    index_in_dim,
    iota,
    pad,
    reduce_precision,
    reshape,
    rev,
    slice,
    slice_in_dim,
    squeeze,
    transpose,
)

__all__ = [
    "GatherDimensionNumbers", "GatherScatterMode", "RoundingMethod", "ScatterDimensionNumbers", "abs", "acos",
    "acosh", "add", "argmax", "argmin", "asin", "asinh", "atan", "atan2", "atanh", "batch_matmul", "bessel_i0e",
    "bessel_i1e", "bitcast_convert_type", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast",
    "broadcast_in_dim", "broadcasted_iota", "cbrt", "ceil", "clamp", "clz", "collapse", "complex", "concatenate",
    "cond", "conj", "conv", "conv_general_dilated", "convert", "convert_element_type", "cos", "cosh", "cumlogsumexp",
    "cummax", "cummin", "cumprod", "cumsum", "digamma", "div", "dot", "dot_general", "dot_general_with_conj",
    "dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim",
    "dynamic_update_slice", "dynamic_update_slice_in_dim", "embed_diagonal", "eq", "erf", "erf_inv", "erfc", "exp",
    "exp2", "expand_dims", "expm1", "extract_diagonal", "floor", "fori_loop", "full", "full_like", "gather", "ge",
    "gt", "imag", "index_in_dim", "integer_pow", "iota", "is_finite", "le", "lgamma", "log", "log1p", "logistic",
    "lt", "map", "max", "min", "mul", "ne", "neg", "nextafter", "pad", "padtype_to_pads", "population_count", "pow",
    "real", "reciprocal", "reduce", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_precision",
    "reduce_prod", "reduce_sum", "reduce_window", "reduce_xor", "rem", "reshape", "rev", "round", "rsqrt", "scan",
    "scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub", "select", "select_n",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "slice", "slice_in_dim",
    "sort", "sqrt", "square", "squeeze", "sub", "tan", "tanh", "top_k", "transpose", "tril", "triu",
]  # fmt: skip
