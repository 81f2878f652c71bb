"""Attention that never holds its scores: scaled_dot_product_attention (kernels/attention.wgsl)."""

from __future__ import annotations

from math import isfinite, prod, sqrt
from typing import Any

from ..array import Array, source, view
from ..dtypes import float32, int32
from ..graph import IOTA, SCALAR, Op
from ..layout import Layout, Shape, broadcast_shapes, broadcast_to, collapse, contiguous, permute
from ..ops.convert import from_host
from ..ops.creation import astype, copy_of, full, zeros
from ..ops.manipulation import reshape
from ..ops.routine import routine
from ..ops.rowwise import floating

__all__ = ["scaled_dot_product_attention"]
_NAME = "scaled_dot_product_attention"
_AXES = 4  # of the batch in the kernel


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    causal: str | None = None,
    kv_length: Any = None,
    softcap: float = 0.0,
) -> Array:
    """softmax(query @ key.mT * scale + attn_mask) @ value, row by row, of shape (.., L, Ev).

    query (.., L, E), key (.., S, E), value (.., S, Ev), in one dtype: float32, float16 or bfloat16 (sums are float32);
    any strides; leading axes broadcast. Memory is that of the result: no scores are kept.
    attn_mask: bools (False hides a key) or floats to add, of any shape that broadcasts to (.., L, S). A row that sees
    no key is 0. is_causal, or causal='top_left': query i sees keys up to i; causal='bottom_right': up to i + S - L, as
    a cache of keys needs. Both masks may be given. scale: 1 / sqrt(E) by default.
    enable_gqa: axis -3 of query is a multiple of that of key and value, which are not repeated in memory.
    kv_length: only the first keys count, an int or integers whose axes are the first leading ones; 'bottom_right' then
    means up to i + kv_length - L. softcap: scores are softcap * tanh(score / softcap) before the mask; 0: as they are.
    ValueError for shapes that do not fit and dropout_p other than 0, TypeError for dtypes.
    """
    q, k, v = (floating(x, _NAME, None) for x in (query, key, value))
    _check(q, k, v, enable_gqa)
    if dropout_p:
        raise ValueError(
            f"{_NAME}: dropout_p={dropout_p} needs a random key, which it does not take yet; use 0.0"
        )
    how = _causal(is_causal, causal)
    if softcap < 0 or not isfinite(softcap):
        raise ValueError(f"{_NAME}: softcap must be 0 or a positive number, not {softcap}")
    length, keys = q.shape[-2], k.shape[-2]
    group = q.shape[-3] // k.shape[-3] if enable_gqa and q.ndim > 2 else 1
    lead = _lead(q, k, v, group)
    if group == 1 and lead and all(x.ndim < 3 or x.shape[-3] == 1 for x in (k, v)):
        group = lead[-1]  # one head of keys for all: read once
    mask = _mask(attn_mask, (*lead, length, keys))
    lengths = None
    if isinstance(kv_length, int):
        if not 0 <= kv_length <= keys:
            raise ValueError(f"{_NAME}: kv_length {kv_length} is not in [0, {keys}], the keys of {k.shape}")
        keys = kv_length
        k, v = _first(k, -2, keys), _first(v, -2, keys)
        mask = mask if mask is None else _first(mask, -1, keys)
    elif kv_length is not None:
        lengths = _lengths(kv_length, lead)
    shape = (*lead, length, v.shape[-1])
    if not prod(shape) or not keys:
        return full(shape, 0, dtype=q.dtype)
    if not q.shape[-1]:
        q, k = zeros((*q.shape[:-1], 1), dtype=q.dtype), zeros((*k.shape[:-1], 1), dtype=q.dtype)
    if scale is None:
        scale = 1 / sqrt(q.shape[-1])
    return _attention(q, k, v, mask, lengths, lead, group, float(scale), how, float(softcap))


def _check(q: Array, k: Array, v: Array, grouped: bool) -> None:
    shapes = f"query {q.shape}, key {k.shape}, value {v.shape}"
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise ValueError(f"{_NAME}: {shapes}: each needs 2 axes or more")
    if q.dtype is not k.dtype or q.dtype is not v.dtype:
        raise TypeError(
            f"{_NAME}: query, key and value are {q.dtype.name}, {k.dtype.name} and {v.dtype.name}: "
            "they must have one dtype"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{_NAME}: {shapes}: heads of {q.shape[-1]} and {k.shape[-1]} dimensions")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{_NAME}: {shapes}: {k.shape[-2]} keys and {v.shape[-2]} values")
    if not grouped or q.ndim < 3:
        return
    shared = k.shape[-3] if k.ndim > 2 and v.ndim > 2 and k.shape[-3] == v.shape[-3] else 0
    if not shared or q.shape[-3] % shared:
        raise ValueError(
            f"{_NAME}: {shapes}: enable_gqa needs a multiple of the heads (axis -3) of key and value"
        )


def _causal(is_causal: bool, causal: str | None) -> int:
    """0: no, 1: top-left, 2: bottom-right."""
    if causal not in (None, "top_left", "bottom_right"):
        raise ValueError(f"{_NAME}: causal is 'top_left', 'bottom_right' or None, not {causal!r}")
    if is_causal and causal == "bottom_right":
        raise ValueError(f"{_NAME}: is_causal means 'top_left'; give causal='bottom_right' alone")
    return 2 if causal == "bottom_right" else int(bool(is_causal) or causal == "top_left")


def _lead(q: Array, k: Array, v: Array, group: int) -> Shape:
    """The leading axes of the result."""

    def wide(x: Array) -> Shape:
        return (*x.shape[:-3], x.shape[-3] * group) if group > 1 else x.shape[:-2]

    try:
        return broadcast_shapes(q.shape[:-2], wide(k), wide(v))
    except ValueError:
        hint = "; enable_gqa=True shares heads of key and value" if q.ndim > 2 else ""
        raise ValueError(
            f"{_NAME}: leading axes of query {q.shape}, key {k.shape} and value {v.shape} do not broadcast{hint}"
        ) from None


def _mask(given: Any, shape: Shape) -> Array | None:
    """The mask as bools or float32."""
    if given is None:
        return None
    mask = from_host(given, _NAME)
    if mask.dtype.kind not in "bf":
        raise TypeError(f"{_NAME}: attn_mask is {mask.dtype.name}: it must hold bools or floats")
    if mask.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(mask.shape[::-1], shape[::-1], strict=False)
    ):
        raise ValueError(f"{_NAME}: attn_mask of shape {mask.shape} does not broadcast to the scores {shape}")
    mask = reshape(mask, (1,) * (2 - mask.ndim) + mask.shape) if mask.ndim < 2 else mask
    if mask.shape[-2:] != shape[-2:]:
        mask = view(mask, broadcast_to(mask._layout, (*mask.shape[:-2], *shape[-2:])))
    return mask if mask.dtype.kind == "b" else astype(mask, float32, copy=False)


def _lengths(given: Any, lead: Shape) -> Array:
    lengths = from_host(given, _NAME)
    if lengths.dtype.kind not in "iu":
        raise TypeError(f"{_NAME}: kv_length is {lengths.dtype.name}: it must hold integers")
    if lengths.ndim > len(lead) or any(n not in (1, m) for n, m in zip(lengths.shape, lead, strict=False)):
        raise ValueError(f"{_NAME}: kv_length of shape {lengths.shape} does not fit the leading axes {lead}")
    return reshape(astype(lengths, int32, copy=False), lengths.shape + (1,) * (len(lead) + 2 - lengths.ndim))


def _first(x: Array, axis: int, n: int) -> Array:
    """The first n along an axis, as a view."""
    lay = x._layout
    k = axis % len(lay.shape)
    return view(x, Layout((*lay.shape[:k], n, *lay.shape[k + 1 :]), lay.strides, lay.offset))


def _stored(x: Array) -> tuple[Op, Layout]:
    """An Op with memory and how x lies in it."""
    op, seen = source(x)
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        op, seen = source(copy_of(x))
    return op, seen or op.layout


def _attention(
    q: Array, k: Array, v: Array, mask: Array | None, lengths: Array | None, lead: Shape, group: int, scale: float,
    how: int, cap: float,
) -> Array:  # fmt: skip
    """The Op, for operands that are checked and not empty."""
    length, keys, dims, values = q.shape[-2], k.shape[-2], q.shape[-1], v.shape[-1]
    shape = (*lead, length, values)
    lead = lead or (1,)
    named = [q, k, v, *[x for x in (mask, lengths) if x is not None]]
    found = [_stored(x) for x in named]
    within, inverse = _order(found[0][1], lead, values)
    batch = (*lead[:-1], lead[-1] // group)
    at = len(batch)
    for attempt in range(2):
        walks = [_walk(lay, lead, group, n in (1, 2)) for n, (_, lay) in enumerate(found)]
        none = ((0,) * (at + 3), 0)
        walks[3:] = [walks[3] if mask is not None else none, walks[-1] if lengths is not None else none]
        walks.append(_walk(inverse, lead, group, False))
        sizes, strides = collapse(batch, [w[:at] for w, _ in walks])
        if len(sizes) <= _AXES or attempt:
            break
        # Copies of the broadcast operands: their leading axes merge.
        wide = [(*(batch if n in (1, 2) else lead), *x.shape[-2:]) for n, x in enumerate(named)]
        found = [
            _stored(copy_of(view(x, broadcast_to(x._layout, w)))) for x, w in zip(named, wide, strict=True)
        ]
    zero = (0,) * (_AXES - len(sizes))
    qs, ks, vs, ms, _, os = [w[at:] for w, _ in walks]
    steps = (qs[1], qs[0], qs[2], os[1], os[0], *ks[1:], *vs[1:], ms[1], ms[0], ms[2])
    four = not values % 4
    job = (
        (length * group, group, keys, dims, values), (*[1] * len(zero), *sizes), scale, how, cap,
        tuple([offset for _, offset in walks[:5]]), tuple([(*zero, *w) for w in strides]), steps,
        "none" if mask is None else "bool" if mask.dtype.kind == "b" else "float", lengths is not None,
        four and not dims % 4 and all(_even(lay) for _, lay in found[:3]), four,
    )  # fmt: skip
    work = prod(shape[:-1]) * keys * (dims + values) >> 10
    dtype = q.dtype if four else float32
    out = view(routine("attention", [op for op, _ in found], within, dtype, job, work), inverse)
    return astype(reshape(out, shape), q.dtype, copy=False)


def _walk(lay: Layout, lead: Shape, group: int, shared: bool) -> tuple[Shape, int]:
    """(strides, offset) along (.., heads of the keys, those that share them, two axes); shared: all of them do."""
    if shared and group > 1:
        lay = broadcast_to(lay, (*lead[:-1], lead[-1] // group, *lay.shape[-2:]))
        return (*lay.strides[:-2], 0, *lay.strides[-2:]), lay.offset
    lay = broadcast_to(lay, (*lead, *lay.shape[-2:]))
    step = lay.strides[-3]
    return (*lay.strides[:-3], step * group, step, *lay.strides[-2:]), lay.offset


def _order(q: Layout, lead: Shape, values: int) -> tuple[Shape, Layout]:
    """The shape in memory of the result and the view of it: positions lie outside heads if those of the queries do, so
    that (.., L, H, E) is joined to (.., L, H * E) without a copy."""
    length = q.shape[-2]
    if len(q.shape) < 3 or abs(q.strides[-2]) <= abs(q.strides[-3]) or 1 in q.shape[-3:-1]:
        made = (*lead, length, values)
        return made, contiguous(made)
    made = (*lead[:-1], length, lead[-1], values)
    rank = len(made)
    return made, permute(contiguous(made), (*range(rank - 3), rank - 2, rank - 3, rank - 1))


def _even(lay: Layout) -> bool:
    """Whether the last axis is made of aligned fours."""
    others = zip(lay.shape[:-1], lay.strides[:-1], strict=True)
    return lay.strides[-1] == 1 and not lay.offset % 4 and all(n == 1 or not s % 4 for n, s in others)
