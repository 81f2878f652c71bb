"""Host values -> Arrays: the 64-bit rules, layouts and byte orders that NumPy may hand over. Nothing else uploads."""

from __future__ import annotations

from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import ALL, DType, bool_, check_scalar, float32, int32, uint32
from ..graph import SCALAR, Cell, Op

_NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32"}


def constant(value: Any, dtype: DType, shape: tuple[int, ...] = ()) -> Array:
    """An array of one repeated value: no memory before something needs it."""
    op = Op(SCALAR, None, (), (), shape, dtype, value)
    return Array(dtype, op.layout, Cell(op))


def from_scalar(value: bool | int | float, where: str) -> Array:
    """A 0-d array of a Python scalar in its default dtype."""
    if isinstance(value, bool):
        return constant(value, bool_)
    if isinstance(value, int):
        check_scalar(value, int32, where)
        return constant(value, int32)
    return constant(value, float32)


def from_host(value: Any, where: str = "asarray", dtype: DType | None = None) -> Array:
    """An Array from a Python scalar, nested sequences, a NumPy scalar or array, or anything with a buffer.

    int64 and uint64 become int32 and uint32 if every value fits (OverflowError names one that does not), float64
    becomes float32. dtype: what the values are converted to on the host (None: as they are).
    """
    if isinstance(value, Array):
        return value
    if type(value) in (bool, int, float) and dtype is None:
        return from_scalar(value, where)
    if isinstance(value, complex):
        raise TypeError(f"{where}: complex numbers are not supported yet")
    try:
        import numpy as np  # importing tabgpu needs no NumPy, host data does
    except ImportError:
        return _without_numpy(value, where, dtype)

    if isinstance(value, (list, tuple, range)):
        _refuse_nested_arrays(value, where)
        host = np.asarray(value)
        if host.size == 0 and host.dtype == np.float64:
            host = host.astype(np.float32)
    elif isinstance(value, (np.ndarray, np.generic, bool, int, float)):
        host = np.asarray(value)
    else:
        try:
            host = np.asarray(memoryview(value))
        except TypeError:
            if not (hasattr(value, "__array__") or hasattr(value, "__array_interface__")):
                raise TypeError(f"{where}: cannot make an array from {type(value).__name__}") from None
            host = np.asarray(value)
    if host.dtype.kind not in "biuf":
        raise TypeError(
            f"{where}: dtype {host.dtype} has no place on the GPU; bool, integers and floats have"
        )
    target = (
        np.dtype(dtype.name) if dtype is not None else np.dtype(_NARROW.get(host.dtype.name, host.dtype.name))
    )
    known = ALL.get(target.name)
    if known is None or not known.available:
        raise TypeError(
            f"{where}: dtype {host.dtype} is not supported yet; use .astype('float32') or .astype('int32')"
        )
    # NumPy arrays of 32 bits wrap into an explicit dtype, as astype does; Python's and 64-bit integers have to fit.
    exact = dtype is None or host.dtype.itemsize == 8 or not isinstance(value, (np.ndarray, np.generic))
    if exact and target != host.dtype and host.dtype.kind in "iu" and target.kind in "iu" and host.size:
        for extreme in (host.min(), host.max()):
            if not np.iinfo(target).min <= extreme <= np.iinfo(target).max:
                raise OverflowError(
                    f"{where}: {extreme} of {host.dtype} does not fit {target}; WebGPU has no 64-bit integers"
                )
    shape = host.shape
    with np.errstate(over="ignore", invalid="ignore"):
        flat = np.ascontiguousarray(_saturate(host, target), dtype=target.newbyteorder("=")).reshape(-1)
    op = engine.upload(flat.view(np.uint8), known, shape, where)
    return Array(known, op.layout, Cell(op))


def _saturate(host: Any, target: Any) -> Any:
    """Floats for an integer dtype as astype on the GPU would do: truncated, saturated, NaN to 0."""
    import numpy as np

    if host.dtype.kind != "f" or target.kind not in "iu":
        return host
    info = np.iinfo(target)
    wide = np.nan_to_num(np.trunc(host.astype(np.float64)), nan=0.0, posinf=info.max, neginf=info.min)
    return np.clip(wide, info.min, info.max).astype(np.int64)


def _refuse_nested_arrays(value: Any, where: str) -> None:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Array):
            raise TypeError(f"{where}: a list of GPU arrays is no host value; use tg.stack")
        if isinstance(item, (list, tuple)) and item and isinstance(item[0], (list, tuple, Array)):
            stack += item


def _without_numpy(value: Any, where: str, dtype: DType | None) -> Array:
    """Flat or nested lists of Python scalars, and buffers, where NumPy is not installed."""
    import array as host_array

    if isinstance(value, (bool, int, float)):
        got = from_scalar(value, where)
        return got if dtype in (None, got.dtype) else constant(value, dtype)
    shape: list[int] = []
    level = value
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        level = level[0] if level else None
    if not shape:
        raise TypeError(f"{where}: {type(value).__name__} needs NumPy, which is not installed")
    flat = list(value)
    for n in shape[1:]:
        if any(not isinstance(x, (list, tuple)) or len(x) != n for x in flat):
            raise ValueError(f"{where}: nested lists are ragged")
        flat = [x for row in flat for x in row]
    if dtype is None:
        kinds = {type(x) for x in flat}
        dtype = bool_ if kinds == {bool} else int32 if kinds <= {int, bool} and kinds else float32
    for x in flat:
        check_scalar(x, dtype, where)
    code = {bool_: "B", int32: "i", uint32: "I", float32: "f"}[dtype]
    cast = {"B": bool, "i": int, "I": int, "f": float}[code]
    data = host_array.array(code, [cast(x) for x in flat])
    op = engine.upload(memoryview(data).cast("B"), dtype, tuple(shape), where)
    return Array(dtype, op.layout, Cell(op))
