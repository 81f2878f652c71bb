"""tg.r_, tg.c_, tg.s_ and tg.index_exp: arrays and index tuples from what stands in brackets."""

from __future__ import annotations

from typing import Any

from ..array import Array
from .along import prepared
from .grids import _line
from .joining import concat
from .manipulation import expand_dims, reshape, transpose

__all__ = ["c_", "index_exp", "r_", "s_"]


class IndexExpression:
    """An index as it stands in brackets: s_[1:, 0] is (slice(1, None), 0); index_exp gives tuples always."""

    def __init__(self, maketuple: bool) -> None:
        self.maketuple = maketuple

    def __getitem__(self, item: Any) -> Any:
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


class Joiner:
    """Slices, numbers and arrays joined along an axis: r_ along the first, c_ as columns. A slice is a range (a
    complex step: a number of points). A string in front says "axis", "axis,ndmin" or "axis,ndmin,where the axes of an
    array go"."""

    def __init__(self, axis: int, ndmin: int, trans1d: int) -> None:
        self.options = axis, ndmin, trans1d

    def __repr__(self) -> str:
        return f"<tabgpu {'r_' if self.options[0] == 0 else 'c_'}>"

    def __getitem__(self, key: Any) -> Array:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self.options
        if items and isinstance(items[0], str):
            words = items.pop(0).split(",")
            try:
                numbers = [int(w) for w in words]
            except ValueError:
                raise TypeError(
                    f"r_: {words!r} asks for a matrix, which is not there, or is no axis"
                ) from None
            axis, ndmin, trans1d = (*numbers, *(axis, ndmin, trans1d)[len(numbers) :])
        if not items:
            raise ValueError("r_: need at least one array to concatenate")
        return concat([self._one(v, ndmin, trans1d) for v in items], axis=axis)

    @staticmethod
    def _one(item: Any, ndmin: int, trans1d: int) -> Array:
        if isinstance(item, slice):
            made = _line(slice(0 if item.start is None else item.start, item.stop, item.step))
            if ndmin > 1:
                made = _raised(made, ndmin)
                if trans1d != -1:
                    axes = list(range(ndmin))
                    axes[trans1d], axes[-1] = axes[-1], axes[trans1d]
                    made = transpose(made, tuple(axes))
            return made
        made = prepared(item, "r_")
        if not made.ndim:
            return _raised(reshape(made, (1,)), ndmin)
        rank = made.ndim
        made = _raised(made, ndmin)
        if trans1d != -1 and rank < ndmin:
            k2 = ndmin - rank
            k1 = trans1d + k2 + 1 if trans1d < 0 else trans1d
            axes = list(range(ndmin))
            made = transpose(made, tuple(axes[:k1] + axes[k2:] + axes[k1:k2]))
        return made


def _raised(x: Array, ndmin: int) -> Array:
    return expand_dims(x, axis=tuple(range(ndmin - x.ndim))) if x.ndim < ndmin else x


r_, c_ = Joiner(0, 1, -1), Joiner(-1, 2, 0)
s_, index_exp = IndexExpression(False), IndexExpression(True)
