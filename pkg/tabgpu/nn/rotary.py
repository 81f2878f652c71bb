"""Rotary position embedding: pairs of a head's elements turned by tables of cosines and sines, in one launch."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype, positions
from ..ops.joining import concat
from ..ops.manipulation import reshape
from ..ops.rowwise import floating
from ..ops.taking import take

__all__ = ["rotary_embedding"]


def rotary_embedding(
    x: Any, cos: Any, sin: Any, interleaved: bool = False, offset: int = 0, *, position_ids: Any = None,
    rotary_dim: int | None = None, seq_dim: int = -2,
) -> Array:  # fmt: skip
    """x with each pair (a, b) of its last axis turned: (a cos - b sin, a sin + b cos). x: (.., t, d), of its dtype.

    Pairs are (i, i + d/2), as GPT-NeoX and Llama have them, or neighbours (interleaved=True), as RoFormer and GPT-J.
    cos, sin: (rows, d/2) for all of a batch, or (batch, rows, d/2), batch being x's first axis. Row offset + k belongs
    to position k of x; or position_ids, integers (t,) or (batch, t), choose rows of 2-d tables (IndexError at the read
    for what is out of range on the GPU). rotary_dim: only the first so many elements turn. seq_dim: x's axis of t.
    ValueError for odd d and for tables that do not fit. Computed in float32.
    """
    x = floating(x, "rotary_embedding", None)
    c, s = [astype(from_host(a, "rotary_embedding"), float32, copy=False) for a in (cos, sin)]
    if x.ndim < 2:
        raise ValueError(f"rotary_embedding: x of shape {x.shape} has no axis of positions")
    at = normalize_axis(seq_dim, x.ndim, "rotary_embedding")
    if at == x.ndim - 1:
        raise ValueError(f"rotary_embedding: seq_dim {seq_dim} is the axis whose elements are turned")
    whole, t = x.shape[-1], x.shape[at]
    d = whole if rotary_dim is None else as_index(rotary_dim)
    if d % 2 or not 0 <= d <= whole:
        what = "the last axis" if rotary_dim is None else "rotary_dim"
        raise ValueError(f"rotary_embedding: {what} of x {x.shape} has to be even and within it, not {d}")
    if c.shape != s.shape or c.ndim not in (2, 3) or c.shape[-1] != d // 2:
        raise ValueError(
            f"rotary_embedding: cos {c.shape} and sin {s.shape} are not (rows, {d // 2}) or (batch, rows, {d // 2})"
        )
    if position_ids is not None:
        c, s = [_chosen(a, position_ids, x, t) for a in (c, s)]
    else:
        offset = as_index(offset)
        if offset < 0 or offset + t > c.shape[-2]:
            raise ValueError(
                f"rotary_embedding: positions {offset} to {offset + t - 1} are beyond tables of {c.shape}"
            )
        c, s = c[..., offset : offset + t, :], s[..., offset : offset + t, :]
    if c.ndim == 3 and c.shape[0] != x.shape[0]:
        raise ValueError(
            f"rotary_embedding: tables {c.shape} are for {c.shape[0]} batches, x {x.shape} has others"
        )
    part: Array = x if d == whole else x[..., :d]
    if not part.size:
        return part if d == whole else astype(x, x.dtype)
    turned = astype(_turned(part, c, s, at, interleaved), x.dtype, copy=False)
    return turned if d == whole else concat([turned, x[..., d:]], axis=-1)


def _chosen(table: Array, position_ids: Any, x: Array, t: int) -> Array:
    ids = from_host(position_ids, "rotary_embedding")
    if table.ndim != 2:
        raise ValueError(f"rotary_embedding: position_ids choose rows of 2-d tables, not of {table.shape}")
    if ids.shape not in ((t,), (x.shape[0], t)):
        raise ValueError(
            f"rotary_embedding: position_ids {ids.shape} are not ({t},) or ({x.shape[0]}, {t}), as x {x.shape} is"
        )
    return take(table, ids if isinstance(position_ids, Array) else position_ids, axis=0)


def _turned(x: Array, c: Array, s: Array, at: int, interleaved: bool) -> Array:
    """x cos + partner * (-sin or sin): the partner is a view, so that one kernel reads all and writes all."""
    half = x.shape[-1] // 2
    axes = (half, 2) if interleaved else (2, half)
    pairs = reshape(x, (*x.shape[:-1], *axes))
    partner = pairs[..., ::-1] if interleaved else pairs[..., ::-1, :]
    shape = [1] * (pairs.ndim - 2) + ([half, 1] if interleaved else [1, half])
    shape[at] = c.shape[-2]
    if c.ndim == 3:
        shape[0] = c.shape[0]
    c, s = reshape(c, tuple(shape)), reshape(s, tuple(shape))
    sign = ew.subtract(ew.multiply(astype(positions(2), float32), 2.0), 1.0)
    sign = sign if interleaved else reshape(sign, (2, 1))
    wide, other = astype(pairs, float32, copy=False), astype(partner, float32, copy=False)
    return reshape(ew.add(ew.multiply(wide, c), ew.multiply(other, ew.multiply(s, sign))), x.shape)
