"""pad of torch.nn.functional: widths from the last axis on, negative ones crop. (tg.pad is NumPy's.)"""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array
from ..ops.creation import astype
from ..ops.padding import pad as pad_axes
from ..ops.reductions import prepared

__all__ = ["pad"]
_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Array:
    """input with pad = (before, after) of its last axis, then of the one before it, and so on; negative widths crop.

    mode: 'constant' (value, 0 by default), 'reflect' (each width below the axis), 'replicate', 'circular' (at most it).
    """
    x = prepared(input, "pad")
    widths = [as_index(w) for w in pad]
    if mode not in _MODES:
        raise ValueError(f"pad: mode is one of {', '.join(_MODES)}, not {mode!r}")
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(f"pad: {len(widths)} widths are not pairs for the {x.ndim} axes of {x.shape}")
    if mode != "constant" and value:
        raise ValueError(f"pad: a value, {value}, is for mode 'constant', not {mode!r}")
    kept, grown = [slice(None)] * x.ndim, {}
    first = mode in ("constant", "circular")  # whether cropping comes first: the others see what is cropped
    for k in range(len(widths) // 2):
        axis, (low, high) = x.ndim - 1 - k, widths[2 * k : 2 * k + 2]
        size, more = x.shape[axis], (max(low, 0), max(high, 0))
        left = size + min(low, 0) + min(high, 0)
        most = {"reflect": size - 1, "circular": left, "replicate": max(more) if size else 0}.get(
            mode, max(more)
        )
        if min(left, size + low + high) < 0 or max(more) > max(most, 0):
            raise ValueError(
                f"pad: {mode} by {low} and {high} is more than axis {axis} of {x.shape} can give"
            )
        kept[axis] = slice(max(-low, 0), size - max(-high, 0) + (0 if first else sum(more)))
        if max(more):
            grown[axis] = more
    x = x[tuple(kept)] if first else x
    options = {"constant_values": 0 if value is None else value} if mode == "constant" else {}
    x = pad_axes(x, grown, mode=_MODES[mode], **options) if grown else astype(x, x.dtype)
    return x if first else x[tuple(kept)]
