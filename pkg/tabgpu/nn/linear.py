"""Products and look-ups of torch.nn.functional: linear, bilinear, embedding, one_hot; distances and similarities."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from .. import engine
from ..array import Array, view
from ..dtypes import bool_, float32, int32, promote
from ..layout import broadcast_shapes, broadcast_to, normalize_axis
from ..linalg.norms import vector_norm
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.convert import from_host
from ..ops.creation import astype, full, positions, zeros
from ..ops.guards import position_guard
from ..ops.manipulation import reshape
from ..ops.products import matmul
from ..ops.rowwise import floating
from ..ops.searching import searchsorted
from ..ops.taking import At, take
from ..ops.triangles import triu_indices
from .convolution import whole

__all__ = [
    "bilinear", "cosine_similarity", "embedding", "embedding_bag", "linear", "one_hot", "pairwise_distance", "pdist",
]  # fmt: skip


def linear(input: Any, weight: Any, bias: Any = None) -> Array:
    """input @ weight.T + bias: input (.., in), weight (out, in) or (in,), bias (out,) or ().

    The weight is read as it lies, and the bias is added in the product's own launch."""
    x, w = rd.prepared(input, "linear"), rd.prepared(weight, "linear")
    if not x.ndim or w.ndim not in (1, 2) or x.shape[-1] != w.shape[-1]:
        raise ValueError(
            f"linear: input {x.shape} and weight {w.shape} are not (.., in) and (out, in) or (in,)"
        )
    out = matmul(x, w.mT if w.ndim == 2 else w)  # type: ignore[attr-defined]
    if bias is None:
        return out
    b = rd.prepared(bias, "linear")
    if b.shape not in (w.shape[:-1], ()):
        raise ValueError(f"linear: bias of shape {b.shape} does not have weight's {w.shape[:-1]}")
    return ew.add(out, b)


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Array:
    """sum over i, j of input1[.., i] * weight[o, i, j] * input2[.., j], plus bias[o]: shape (.., out).

    input1 (.., in1), input2 (.., in2) with the same leading axes, weight (out, in1, in2), bias (out,).
    """
    a, b, w = (rd.prepared(x, "bilinear") for x in (input1, input2, weight))
    if not (a.ndim and b.ndim and w.ndim == 3 and a.shape[:-1] == b.shape[:-1]) or (
        (a.shape[-1], b.shape[-1]) != w.shape[1:]
    ):
        raise ValueError(
            f"bilinear: input1 {a.shape}, input2 {b.shape} and weight {w.shape} are not (.., in1), (.., in2), "
            "(out, in1, in2)"
        )
    pairs = ew.multiply(a[..., :, None], b[..., None, :])
    flat = reshape(pairs, (*a.shape[:-1], a.shape[-1] * b.shape[-1]))
    return linear(flat, reshape(w, (w.shape[0], w.shape[1] * w.shape[2])), bias)


def _table(weight: Any, padding_idx: int | None, where: str) -> tuple[Array, int | None]:
    """The rows to choose from, and the index that is padding, counted from 0."""
    w = rd.prepared(weight, where)
    if w.ndim != 2:
        raise ValueError(f"{where}: weight is (rows, elements), not {w.shape}")
    if padding_idx is not None:
        padding_idx = whole(where, "padding_idx", padding_idx)
        if not -w.shape[0] <= padding_idx < w.shape[0]:
            raise ValueError(
                f"{where}: padding_idx {padding_idx} is not among the {w.shape[0]} rows of weight"
            )
        padding_idx %= w.shape[0]
    return w, padding_idx


def _rows(ids: Array, w: Array, max_norm: float | None, norm_type: float) -> Array:
    """The rows of w, those with a norm above max_norm scaled down to it."""
    got = take(w, ids, axis=0)
    if max_norm is None:
        return got
    norm = vector_norm(got, axis=-1, keepdims=True, ord=norm_type)
    return ew.where(
        ew.greater(norm, max_norm), ew.multiply(got, ew.divide(max_norm, ew.add(norm, 1e-7))), got
    )


def _ids(input: Any, where: str, rows: int | None = None) -> Array:
    """Integers as an Array; those from the host are checked to be rows."""
    ids = from_host(input, where)
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"{where}: indices are integers, not {ids.dtype.name}")
    if rows is not None and not isinstance(input, Array) and ids.size:
        import numpy as np

        host = np.asarray(input)
        for k in (int(host.min()), int(host.max())):
            if not -rows <= k < rows:
                raise IndexError(f"{where}: index {k} is out of bounds for {rows} rows of weight")
    return ids if ids.dtype.kind in "iu" else astype(ids, int32)


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Array:  # fmt: skip
    """Rows of weight (rows, d) by integers of any shape: input.shape + (d,).

    Negative integers count from the end; IndexError (at the read, for indices on the GPU) for what is out of range.
    max_norm: rows of a greater norm_type-norm are scaled down to it in the result; weight stays as it is. padding_idx
    is checked and changes no value, and the last two say nothing without gradients: as in torch.
    """
    w, _ = _table(weight, padding_idx, "embedding")
    return _rows(_ids(input, "embedding", w.shape[0]), w, max_norm, norm_type)


def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Array:  # fmt: skip
    """Sums, means or maxima of rows of weight by bags of integers: (bags, d), 0 for an empty bag.

    input (bags, n), or flat with offsets, where each bag begins (include_last_offset: one more, where the last ends).
    per_sample_weights (of input's shape, mode 'sum' only) multiply the rows. Rows of padding_idx do not count. Sums of
    bags by offsets are added in no fixed order.
    """
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: mode is 'sum', 'mean' or 'max', not {mode!r}")
    w, padding = _table(weight, padding_idx, "embedding_bag")
    ids = _ids(input, "embedding_bag", w.shape[0])
    if (ids.ndim == 2) != (offsets is None) or ids.ndim not in (1, 2):
        raise ValueError(f"embedding_bag: input {ids.shape} is 2-d without offsets, or flat with them")
    factors = None
    if per_sample_weights is not None:
        if mode != "sum":
            raise ValueError(f"embedding_bag: per_sample_weights are for mode 'sum', not {mode!r}")
        factors = rd.prepared(per_sample_weights, "embedding_bag")
        if factors.shape != ids.shape:
            raise ValueError(
                f"embedding_bag: per_sample_weights {factors.shape} do not have input's {ids.shape}"
            )
    counted = full(ids.shape, True, dtype=bool_)
    if padding is not None:
        wrapped = ew.where(ew.less(ids, 0), ew.add(ids, w.shape[0]), ids) if ids.dtype.kind == "i" else ids
        counted = ew.not_equal(wrapped, padding)
    rows = _rows(ids, w, max_norm, norm_type)
    if factors is not None:
        rows = ew.multiply(rows, factors[..., None])
    want = rows.dtype
    if want.kind == "f":  # a sum may be beyond float16 where the mean is not
        rows = astype(rows, float32, copy=False)
    rows = ew.where(counted[..., None], rows, -float("inf") if mode == "max" else 0)
    counts = astype(counted, int32)
    if offsets is None:
        number = rd.sum(counts, axis=1)
        if not ids.shape[1]:
            return zeros((ids.shape[0], w.shape[1]), dtype=want)
        made = (rd.max if mode == "max" else rd.sum)(rows, axis=1)
    else:
        starts = from_host(offsets, "embedding_bag")
        if starts.ndim != 1 or (starts.dtype.kind not in "iu" and starts.size):
            raise ValueError(
                f"embedding_bag: offsets are integers (bags,), not {starts.dtype.name} {starts.shape}"
            )
        bags = starts.shape[0] - bool(include_last_offset)
        begin = full((max(bags, 0), w.shape[1]), -float("inf") if mode == "max" else 0, dtype=rows.dtype)
        if bags <= 0 or not ids.size:
            return zeros(begin.shape, dtype=want)
        bag = ew.subtract(searchsorted(starts[:bags], positions(ids.size), side="right"), 1)
        number = At(zeros((bags,), dtype=int32))[bag].add(counts)
        made = At(begin)[bag].max(rows) if mode == "max" else At(begin)[bag].add(rows)
    number = number[:, None]
    if mode == "mean":
        made = ew.divide(made, ew.maximum(number, 1))
    elif mode == "max":
        made = ew.where(ew.equal(number, 0), 0, made)
    return astype(made, want, copy=False)


async def one_hot_async(tensor: Any, num_classes: int = -1) -> Array:
    """one_hot that may be awaited anywhere."""
    ids = _ids(tensor, "one_hot")
    if num_classes == -1 and ids.size:
        num_classes = int(await rd.max(ids).item()) + 1  # type: ignore[arg-type]
    return _one_hot(ids, num_classes)


def one_hot(tensor: Any, num_classes: int = -1) -> Array:
    """int32, shape tensor.shape + (num_classes,): 1 where the last index is the value, 0 elsewhere.

    Values from 0 to num_classes - 1; ValueError (at the read, for values on the GPU) for others. num_classes -1: one
    more than the greatest, which has to be read where values are on the GPU: `await tg.aio.one_hot(x)` where Python
    cannot wait. With num_classes nothing is read.
    """
    if num_classes == -1 and isinstance(tensor, Array) and tensor.size:
        return engine.wait_for(one_hot_async(tensor), "one_hot", "num_classes=, or await tg.aio.one_hot(...)")  # type: ignore[no-any-return]
    ids = _ids(tensor, "one_hot")
    if not isinstance(tensor, Array) and ids.size:
        import numpy as np

        host = np.asarray(tensor)
        num_classes = int(host.max()) + 1 if num_classes == -1 else num_classes
        if host.min() < 0 or host.max() >= num_classes:
            raise ValueError(
                f"one_hot: values {host.min()} to {host.max()} are not classes 0 to {num_classes - 1}"
            )
    return _one_hot(ids, num_classes)


def _one_hot(ids: Array, num_classes: int) -> Array:
    number = as_index(num_classes)
    if number < 0 or (not number and ids.size):
        raise ValueError(f"one_hot: num_classes {number} for {ids.size} values")
    wide = astype(ids, int32, copy=False)
    out = astype(ew.equal(wide[..., None], positions(number)), int32)
    if out.size:
        out._cell.op.guards = (position_guard(wide, number),)
    return out


def _pair(x1: Any, x2: Any, where: str) -> tuple[Array, Array, Any]:
    """Two operands as float32, and the dtype of the result."""
    a, b = (floating(x, where, None) for x in (x1, x2))
    out = promote(a.dtype, b.dtype, where=where)
    return astype(a, float32, copy=False), astype(b, float32, copy=False), out


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Array:
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along dim of the shape that both broadcast to."""
    a, b, out = _pair(x1, x2, "cosine_similarity")
    shape = broadcast_shapes(a.shape, b.shape, where="cosine_similarity")
    axis = normalize_axis(dim, len(shape), "cosine_similarity")
    a, b = (view(x, broadcast_to(x._layout, shape, "cosine_similarity")) for x in (a, b))
    lengths = [ew.maximum(vector_norm(x, axis=axis), eps) for x in (a, b)]
    return astype(ew.divide(rd.sum(ew.multiply(a, b), axis=axis), ew.multiply(*lengths)), out, copy=False)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Array:
    """The p-norm of x1 - x2 + eps along the last axis."""
    a, b, out = _pair(x1, x2, "pairwise_distance")
    apart = ew.add(ew.subtract(a, b), eps)
    if not apart.ndim:
        apart = reshape(apart, (1,))
    return astype(vector_norm(apart, axis=-1, keepdims=keepdim, ord=p), out, copy=False)


def pdist(input: Any, p: float = 2.0) -> Array:
    """The p-norms of the differences of all pairs of rows of input (n, d): n (n - 1) / 2, as an upper triangle."""
    x = floating(input, "pdist", None)
    if x.ndim != 2:
        raise ValueError(f"pdist: input is (rows, elements), not {x.shape}")
    if p < 0:
        raise ValueError(f"pdist: p must not be negative, it is {p}")
    n = x.shape[0]
    if n < 2:
        return zeros((0,), dtype=x.dtype)
    wide = astype(x, float32, copy=False)
    square = vector_norm(ew.subtract(wide[:, None, :], wide[None, :, :]), axis=-1, ord=p)
    rows, columns = triu_indices(n, 1)
    return astype(square[rows, columns], x.dtype, copy=False)
