"""What functions of tg.image share: modes, axes, origins, and results as `output` wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..array import Array
from ..dtypes import as_dtype, bool_, int32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype
from ..ops.rowwise import number

MODES = {
    "constant": 0, "grid-constant": 0, "nearest": 1, "reflect": 2, "grid-mirror": 2, "mirror": 3,
    "wrap": 4, "grid-wrap": 4,
}  # fmt: skip
NUDGE = 1 + 2.0**-21  # what float32 rounds off a whole number must not cost 1


def prepared(x: Any, label: str) -> Array:
    """An operand."""
    made: Array = rd.prepared(x, label)
    return made


def listed(value: Any, label: str, what: str) -> Any:
    """A host argument, NumPy's arrays as lists and numbers."""
    if isinstance(value, Array):
        raise TypeError(
            f"{label}: {what} is of the host (numbers or lists): an array on the GPU is not read for it"
        )
    return value.tolist() if hasattr(value, "tolist") else value


def axes_of(axes: Any, rank: int, label: str) -> tuple[int, ...]:
    """Normalised axes, all for None; ValueError for one that is named twice."""
    if axes is None:
        return tuple(range(rank))
    given = listed(axes, label, "axes")
    given = given if isinstance(given, Sequence) else (given,)
    made = tuple([normalize_axis(k, rank, label) for k in given])
    if len(set(made)) != len(made):
        raise ValueError(f"{label}: axes {axes!r} name an axis twice")
    return made


def ascending(at: tuple[int, ...], *values: list[Any]) -> Any:
    """Axes in order, and values that go with them: SciPy's footprints lie along axes in that order, however named."""
    order = sorted(range(len(at)), key=at.__getitem__)
    return (tuple([at[k] for k in order]), *[[v[k] for k in order] for v in values])


def each(value: Any, rank: int, label: str, what: str) -> list[Any]:
    """One value for each axis, from one or a sequence."""
    value = listed(value, label, what)
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return [value] * rank
    if len(value) != rank:
        raise ValueError(f"{label}: {what} {value!r} has not one value for each of {rank} axes")
    return list(value)


def mode_of(mode: Any, label: str) -> int:
    """Number of a mode in kernels/lib/border.wgsl."""
    if mode not in MODES:
        raise ValueError(f"{label}: mode {mode!r} is not known; modes are {', '.join(MODES)}")
    return MODES[mode]


def whole(value: Any, label: str, what: str) -> int:
    """An integer argument."""
    try:
        return int(value.__index__())
    except AttributeError:
        raise TypeError(f"{label}: {what} must be an integer, not {value!r}") from None


def start(size: int, origin: Any, label: str) -> int:
    """How far before an element its window of `size` begins."""
    at = whole(origin, label, "origin")
    if not 0 <= size // 2 + at < size:
        raise ValueError(f"{label}: origin {at} moves the filter of {size} off its element")
    return size // 2 + at


def cast(made: Array, dtype: Any) -> Array:
    """float32 sums in another dtype: towards zero, as SciPy."""
    want = as_dtype(dtype)
    if want.kind in "iub" and made.dtype.kind == "f":
        made = ew.trunc(ew.multiply(made, NUDGE))
        if want is bool_:
            made = astype(made, int32)
    return astype(made, want, copy=False)


def finish(made: Array, like: Array, output: Any, label: str) -> Array:
    """`made` as what `output` says: a dtype, an Array that takes the values, or None for the operand's dtype."""
    if isinstance(output, Array):
        if output.shape != made.shape:
            raise ValueError(f"{label}: output has the shape {output.shape}, the result {made.shape}")
        output[...] = cast(made, output.dtype)  # type: ignore[index]
        return output
    return cast(made, like.dtype if output is None else output)


def scalar(value: Any, label: str, what: str) -> float:
    """A real number."""
    return number(label, what, value)


__all__ = ["axes_of", "cast", "each", "finish", "mode_of", "prepared", "scalar", "start", "whole"]
