"""Host values -> Arrays: the 64-bit rules, layouts and byte orders that NumPy may hand over. Nothing else uploads."""

from __future__ import annotations

from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import (
    ALL,
    DType,
    bfloat16,
    bool_,
    bounds,
    check_scalar,
    complex64,
    float32,
    int32,
    nearest,
    promote,
)
from ..graph import SCALAR, Cell, Op
from ..traced import plain

_NARROW = {
    "int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64", "float128": "float32",
    "float96": "float32", "complex256": "complex64", "complex192": "complex64",
}  # fmt: skip


def constant(value: Any, dtype: DType, shape: tuple[int, ...] = ()) -> Array:
    """An array of one repeated value: no memory before something needs it."""
    if dtype.kind == "c":
        value = complex(value)
    elif dtype.kind == "f" and dtype.per_word == 2:
        value = nearest(value, dtype)
    op = Op(SCALAR, None, (), (), shape, dtype, value)
    return Array(dtype, op.layout, Cell(op))


def from_scalar(value: complex, where: str) -> Array:
    """A 0-d array of a Python scalar in its default dtype."""
    if isinstance(value, bool):
        return constant(value, bool_)
    if isinstance(value, int):
        check_scalar(value, int32, where)
        return constant(value, int32)
    return constant(value, complex64 if isinstance(value, complex) else float32)


def as_value(value: Any, dtype: DType, where: str) -> Array:
    """An Array or host value that is about to be cast to dtype: Python integers are of that dtype from the start."""
    if type(value) is int and dtype.kind != "b":
        check_scalar(value, dtype, where)
        return constant(value if dtype.kind in "iu" else float(value), dtype)
    return from_host(value, where)


def _closed(value: Any) -> Any:
    """Numbers that a traced function got, looked at; also inside lists and tuples."""
    return [_closed(v) for v in value] if type(value) in (list, tuple) else plain(value)


def from_host(value: Any, where: str = "asarray", dtype: DType | None = None) -> Array:
    """An Array from a Python scalar, nested sequences, a NumPy scalar or array, or anything with a buffer.

    int64 and uint64 become int32 and uint32 if every value fits (OverflowError names one that does not), float64
    becomes float32. dtype: what the values are converted to on the host (None: as they are).
    """
    if isinstance(value, Array):
        return value
    if engine.any_tracing():
        value = _closed(value)
    if type(value) in (bool, int, float, complex) and dtype is None:
        return from_scalar(value, where)
    if isinstance(value, (list, tuple)) and _holds_array(value):
        return _stacked(value, where, dtype)
    if (typed := engine.typed_array(value)) and dtype in (None, ALL[typed]):
        op = engine.upload(value, ALL[typed], (int(value.length),), where)  # never in Python's memory
        return Array(op.dtype, op.layout, Cell(op))
    if hasattr(value, "to_memoryview"):  # any other JavaScript buffer, or one to convert
        value = value.to_memoryview()
    try:
        import numpy as np  # importing tabgpu needs no NumPy, host data does
    except ImportError:
        return _without_numpy(value, where, dtype)

    if isinstance(value, (list, tuple, range)):
        host = np.asarray(value)
        if host.size == 0 and host.dtype == np.float64:
            host = host.astype(np.float32)
    elif isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
        host = np.asarray(value)
    else:
        try:
            host = np.asarray(memoryview(value))
        except TypeError:
            if not (hasattr(value, "__array__") or hasattr(value, "__array_interface__")):
                raise TypeError(f"{where}: cannot make an array from {type(value).__name__}") from None
            host = np.asarray(value)
    if host.dtype.name == "bfloat16":  # ml_dtypes'
        dtype, host = dtype or bfloat16, host.astype(np.float32)
    if host.dtype.kind not in "biufc":
        if host.dtype.kind == "O" and all(isinstance(x, int) for x in host.flat):
            raise OverflowError(
                f"{where}: {max(host.flat, key=abs)} does not fit 32 bits, and WebGPU has no more"
            )
        raise TypeError(
            f"{where}: dtype {host.dtype} has no place on the GPU; bool, integers, floats and complex numbers have"
        )
    known = dtype or ALL[_NARROW.get(host.dtype.name, host.dtype.name)]
    if host.dtype.kind == "c" and known.kind in "iuf":
        raise TypeError(
            f"{where}: {host.dtype} to {known.name} would drop the imaginary part; use .real or abs"
        )
    # NumPy arrays of 32 bits wrap into an explicit dtype, as astype does; Python's and 64-bit integers have to fit.
    exact = dtype is None or host.dtype.itemsize == 8 or not isinstance(value, (np.ndarray, np.generic))
    if (
        exact
        and known.name != host.dtype.name
        and host.dtype.kind in "iu"
        and known.kind in "iu"
        and host.size
    ):
        low, high = bounds(known)
        for extreme in (int(host.min()), int(host.max())):
            if not low <= extreme <= high:
                why = (
                    "WebGPU has no 64-bit integers"
                    if known.itemsize == 4
                    else f"its range is {low} to {high}"
                )
                raise OverflowError(f"{where}: {extreme} of {host.dtype} does not fit {known.name}; {why}")
    with np.errstate(over="ignore", invalid="ignore"):
        flat = np.ascontiguousarray(_converted(host, known)).reshape(-1)
    op = engine.upload(flat.view(np.uint8), known, host.shape, where)
    return Array(known, op.layout, Cell(op))


def _converted(host: Any, known: DType) -> Any:
    """Host values as what is stored: floats for integers as astype on the GPU does it (truncated, saturated, NaN 0);
    bfloat16 as 16-bit words, rounded to nearest even."""
    import numpy as np

    if known is bfloat16:
        bits = host.astype(np.float32).view(np.uint32)
        rounded = bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))
        nan = (bits & 0x7FFFFFFF) > 0x7F800000
        return (np.where(nan, bits | np.uint32(0x400000), rounded) >> 16).astype(np.uint16)
    if host.dtype.kind == "f" and known.kind in "iu":
        low, high = bounds(known)
        wide = np.nan_to_num(np.trunc(host.astype(np.float64)), nan=0.0, posinf=high, neginf=low)
        host = np.clip(wide, low, high).astype(np.int64)
    return np.asarray(host, dtype=np.dtype(known.name).newbyteorder("="))


def _holds_array(value: Any) -> bool:
    """Whether nested lists have an Array in them."""
    stack = [value]
    while stack:
        items = stack.pop()
        types = set(map(type, items))
        if Array in types:
            return True
        if list in types or tuple in types:
            stack += [x for x in items if isinstance(x, (list, tuple))]
    return False


def _stacked(value: Any, where: str, dtype: DType | None) -> Array:
    """Nested lists with Arrays in them: stacked on the GPU. Python scalars among them are weak, as in arithmetic."""
    from .creation import astype
    from .joining import stack
    from .rows import _WEAK

    leaves = [value]
    kinds: list[DType | str] = []
    while leaves:
        item = leaves.pop()
        if isinstance(item, (list, tuple)):
            leaves += item
        else:
            kinds.append(_WEAK.get(type(item)) or from_host(item, where).dtype)
    want = dtype or promote(*kinds, where=where)

    def made(item: Any) -> Array:
        if isinstance(item, (list, tuple)):
            return stack([made(x) for x in item])
        if type(item) in _WEAK:
            return from_host(item, where, want)
        return astype(from_host(item, where), want, copy=False)

    return made(value)


def _without_numpy(value: Any, where: str, dtype: DType | None) -> Array:
    """Flat or nested lists of Python scalars, and buffers of a simple format, where NumPy is not installed."""
    if isinstance(value, (bool, int, float, complex)):
        got = from_scalar(value, where)
        return got if dtype in (None, got.dtype) else constant(value, dtype)
    if not isinstance(value, (list, tuple)):
        try:
            held = memoryview(value)
        except TypeError:
            raise TypeError(f"{where}: {type(value).__name__} needs NumPy, which is not installed") from None
        value = held.tolist()
        if dtype is None and held.format in _FORMATS:
            dtype = ALL[_FORMATS[held.format]]
    shape: list[int] = []
    level = value
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        level = level[0] if level else None
    flat = list(value)
    for n in shape[1:]:
        if any(not isinstance(x, (list, tuple)) or len(x) != n for x in flat):
            raise ValueError(f"{where}: nested lists are ragged")
        flat = [x for row in flat for x in row]
    if dtype is None:
        kinds = {type(x) for x in flat}
        dtype = bool_ if kinds == {bool} else int32 if kinds <= {int, bool} and kinds else float32
        if complex in kinds:
            dtype = complex64
    for x in flat:
        check_scalar(x, dtype, where)
    op = engine.upload(_packed(flat, dtype), dtype, tuple(shape), where)
    return Array(dtype, op.layout, Cell(op))


_FORMATS = {
    "?": "bool", "b": "int8", "h": "int16", "i": "int32", "l": "int32", "q": "int32", "B": "uint8", "H": "uint16",
    "I": "uint32", "L": "uint32", "Q": "uint32", "e": "float16", "f": "float32", "d": "float32",
}  # fmt: skip
_CODES = {"int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "uint32": "I", "bool": "?"}


def _packed(flat: list[Any], dtype: DType) -> bytes:
    """Python numbers as the bytes of a dtype."""
    import struct

    if dtype.kind == "c":
        flat = [part for x in flat for part in (complex(x).real, complex(x).imag)]
    if dtype.kind in "fc":
        numbers = [nearest(v, dtype) if dtype.per_word == 2 else float(v) for v in flat]
        limit = 3.4028235677973366e38  # from here on float32 is inf
        floats = b"".join([struct.pack("<f", x * float("inf") if abs(x) >= limit else x) for x in numbers])
        if dtype is bfloat16:
            return b"".join([floats[k + 2 : k + 4] for k in range(0, len(floats), 4)])
        return (
            floats
            if dtype.per_word == 1
            else struct.pack(f"<{len(flat)}e", *[nearest(v, dtype) for v in flat])
        )
    cast = bool if dtype is bool_ else int
    return struct.pack(f"<{len(flat)}{_CODES[dtype.name]}", *[cast(x) for x in flat])
