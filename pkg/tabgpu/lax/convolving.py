"""conv_general_dilated: XLA's convolution by tg.nn's kernels; layouts are views, dilated inputs are padded first."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import as_dtype
from ..ops.creation import astype, zeros
from ..ops.manipulation import permute_dims
from ..ops.rearranging import prepare
from .reducing import padtype_to_pads
from .shapes import pad


def _orders(given: Any, rank: int) -> list[list[int]]:
    """For operand, kernel and result: where the axes of batch (or outputs), features and space lie."""
    if given is None:
        return [list(range(rank))] * 3
    made = []
    for spec, lead in zip(given, ("NC", "OI", "NC"), strict=True):
        if isinstance(spec, str):
            space = [name for name in given[1] if name not in "OI"]  # in the kernel's order, as strides
            order = [spec.find(name) for name in (*lead, *space)]
        else:
            order = [as_index(k) for k in spec]
        if sorted(order) != list(range(rank)):
            raise ValueError(f"conv_general_dilated: dimension_numbers {given} for operands of {rank} axes")
        made.append(order)
    return made


def conv_general_dilated(
    lhs: Any, rhs: Any, window_strides: Any, padding: Any, lhs_dilation: Any = None, rhs_dilation: Any = None,
    dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """Cross-correlation over 1 to 3 axes.

    padding: "SAME", "VALID" or (low, high) an axis, also negative; lhs_dilation: distance of the input's elements (a
    transposed convolution), rhs_dilation: of the kernel's. dimension_numbers: None (NC.., OI.., NC..), three strings
    such as ("NHWC", "HWIO", "NHWC"), or three sequences of axes (batch or outputs, features, space ..).
    preferred_element_type: of the result, converted after the sums. batch_group_count other than 1: ValueError.
    """
    from ..nn import convolution

    x, w = prepare(lhs, "conv_general_dilated"), prepare(rhs, "conv_general_dilated")
    if x.ndim not in (3, 4, 5) or w.ndim != x.ndim:
        raise ValueError(
            f"conv_general_dilated: shapes {x.shape} and {w.shape}: both need 3 to 5 axes, as many"
        )
    if as_index(batch_group_count) != 1:
        raise ValueError(
            f"conv_general_dilated: batch_group_count = {batch_group_count} is not supported, only 1"
        )
    orders = _orders(dimension_numbers, x.ndim)
    x, w = permute_dims(x, orders[0]), permute_dims(w, orders[1])
    n = x.ndim - 2
    strides, gaps, holes = (
        (1,) * n if given is None else tuple(as_index(k) for k in given)
        for given in (window_strides, lhs_dilation, rhs_dilation)
    )
    if any(len(v) != n or min(v) < 1 for v in (strides, gaps, holes)):
        raise ValueError(
            f"conv_general_dilated: strides {strides}, dilations {gaps} and {holes} need {n} numbers of at least 1"
        )
    sizes = [(k - 1) * g + 1 if k else 0 for k, g in zip(x.shape[2:], gaps, strict=True)]
    reach = [(k - 1) * h + 1 for k, h in zip(w.shape[2:], holes, strict=True)]
    pads = padtype_to_pads(sizes, reach, strides, padding) if isinstance(padding, str) else padding
    pairs = [(as_index(a), as_index(b)) for a, b in pads]
    back = sorted(range(x.ndim), key=orders[2].__getitem__)
    out = [
        max(0, (k + a + b - r) // s + 1) for k, (a, b), r, s in zip(sizes, pairs, reach, strides, strict=True)
    ]
    if 0 in (x.shape[0], w.shape[0], *out):  # no window fits
        made = zeros((x.shape[0], w.shape[0], *out), dtype=preferred_element_type or x.dtype)
        return permute_dims(made, back)
    if max(gaps) > 1 or min(min(p) for p in pairs) < 0:
        config = [(0, 0, 0)] * 2 + [(a, b, g - 1) for (a, b), g in zip(pairs, gaps, strict=True)]
        x, pairs = pad(x, 0, config), [(0, 0)] * n
    function = (convolution.conv1d, convolution.conv2d, convolution.conv3d)[n - 1]
    made = function(x, w, None, strides, tuple(pairs), holes, as_index(feature_group_count))
    made = permute_dims(made, back)
    return (
        made if preferred_element_type is None else astype(made, as_dtype(preferred_element_type), copy=False)
    )


def conv(lhs: Any, rhs: Any, window_strides: Any, padding: Any, precision: Any = None) -> Array:
    """conv_general_dilated of (n, c, ..) with (k, c, ..), without dilation."""
    return conv_general_dilated(lhs, rhs, window_strides, padding)
