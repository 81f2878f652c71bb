"""Making arrays: from host values, constants, ranges; and astype. Constants and ranges take no memory by themselves."""

from __future__ import annotations

from math import ceil
from operator import index as as_index
from typing import Any

from ..array import Array, fresh, source, view
from ..dtypes import as_dtype, bool_, check_scalar, complex64, float32, int32, uint32
from ..graph import EW, IOTA, Cell, Op, copy_fn
from ..layout import as_shape, broadcast_to
from . import elementwise as ew
from .convert import constant, from_host
from .rows import CASTS


def asarray(obj: Any, /, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> Array:
    """An Array from an Array, a Python scalar, nested lists, or what NumPy can see.

    dtype: converts (float to integer truncates, saturates, NaN to 0). copy=True always makes new memory; False raises
    ValueError where a copy is needed (host values always need one). 64-bit host dtypes: see docs/differences.md.
    """
    _check_device(device)
    want = None if dtype is None else as_dtype(dtype)
    if isinstance(obj, Array):
        if want is not None and want is not obj.dtype:
            if copy is False:
                raise ValueError(f"asarray: {obj.dtype.name} to {want.name} needs a copy")
            return astype(obj, want)
        return copy_of(obj) if copy else obj
    if copy is False:
        raise ValueError("asarray: host values cannot be on the GPU without a copy")
    return from_host(obj, "asarray", want)


def array(obj: Any, /, dtype: Any = None, *, copy: bool | None = True, device: Any = None) -> Array:
    """An Array of its own memory, as asarray with copy=True; copy=None shares the memory of an Array where it can."""
    return asarray(obj, dtype, device=device, copy=copy)


def _check_device(device: Any) -> None:
    if device not in (None, "webgpu"):
        raise ValueError(f'device {device!r} is unknown; the only one is "webgpu"')


def copy_of(x: Array) -> Array:
    """A new array with the same values, of its own memory."""
    op, layout = source(x)
    return fresh(Op(EW, copy_fn(x.dtype), (op,), (layout,), x.shape, x.dtype))


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The values in another dtype. Float to integer truncates, saturates, and takes NaN to 0; integers wrap;
    to bool: not zero; to float16 and bfloat16: nearest. complex64 to a real dtype raises TypeError (use tg.real).
    copy=False may return x itself."""
    _check_device(device)
    want = as_dtype(dtype)
    if x.dtype.kind == "c" and want.kind in "iuf":
        raise TypeError(
            f"astype: complex64 to {want.name} would drop the imaginary part; use tg.real or tg.abs"
        )
    if want is x.dtype:
        return copy_of(x) if copy else x
    return CASTS[want.name](x)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of one repeated value; the dtype follows the value (float32, int32, bool) unless given."""
    _check_device(device)
    dims = as_shape(shape, "full")
    if isinstance(fill_value, Array):
        value = fill_value if dtype is None else astype(fill_value, dtype, copy=False)
        return copy_of(view(value, broadcast_to(value._layout, dims, "full")))
    if not isinstance(fill_value, (bool, int, float, complex)):
        one = from_host(fill_value, "full", None if dtype is None else as_dtype(dtype))
        return copy_of(view(one, broadcast_to(one._layout, dims, "full")))
    kinds = {bool: bool_, int: int32, float: float32, complex: complex64}
    kind = next(d for t, d in kinds.items() if isinstance(fill_value, t))
    want = kind if dtype is None else as_dtype(dtype)
    if isinstance(fill_value, complex) and want.kind in "iuf":
        raise TypeError(f"full: {fill_value} is complex and {want.name} is not")
    if want.kind in "iu" and not isinstance(fill_value, complex):
        number = int(fill_value)
        check_scalar(number, want, "full")
        fill_value = number
    elif want.kind == "f" and not isinstance(fill_value, complex):
        fill_value = float(fill_value)
    return constant(fill_value, want, dims)


def zeros(shape: Any, dtype: Any = float32, *, device: Any = None) -> Array:
    """Zeros (float32 by default)."""
    return full(shape, 0, dtype=dtype or float32, device=device)


def ones(shape: Any, dtype: Any = float32, *, device: Any = None) -> Array:
    """Ones (float32 by default)."""
    return full(shape, 1, dtype=dtype or float32, device=device)


def empty(shape: Any, dtype: Any = float32, *, device: Any = None) -> Array:
    """An array whose values nobody should read before assigning them (they are zeros)."""
    return zeros(shape, dtype=dtype, device=device)


def zeros_like(x: Any, /, dtype: Any = None, *, device: Any = None) -> Array:
    """Zeros of x's shape and dtype."""
    x = from_host(x, "zeros_like")
    return full(x.shape, 0, dtype=dtype or x.dtype, device=device)


def ones_like(x: Any, /, dtype: Any = None, *, device: Any = None) -> Array:
    """Ones of x's shape and dtype."""
    x = from_host(x, "ones_like")
    return full(x.shape, 1, dtype=dtype or x.dtype, device=device)


def empty_like(x: Any, /, dtype: Any = None, *, device: Any = None) -> Array:
    """As zeros_like; the values are nobody's."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """One repeated value in x's shape and dtype."""
    x = from_host(x, "full_like")
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def positions(n: int) -> Array:
    """int32 0, 1, .. n-1 without memory: an element's value is its position."""
    op = Op(IOTA, None, (), (), (n,), int32)
    return Array(int32, op.layout, Cell(op))


def _is_complex(value: Any) -> bool:
    """Whether a scalar is Python's complex or NumPy's."""
    return isinstance(value, complex) or (
        not isinstance(value, Array) and getattr(getattr(value, "dtype", None), "kind", "") == "c"
    )


def _many(value: Any) -> bool:
    """Whether a value is an array or a sequence, and no number."""
    return isinstance(value, (Array, list, tuple)) or getattr(value, "shape", ()) != ()


def _number(value: Any, where: str) -> int | float:
    """A Python number from one, or from a NumPy scalar; never from an Array, which would have to be read."""
    if type(value) in (int, float):
        return value  # type: ignore[no-any-return]
    if not isinstance(value, (bool, Array)) and getattr(value, "shape", ()) == ():
        try:
            return as_index(value)
        except TypeError:
            if hasattr(value, "__float__"):
                return float(value)
    raise TypeError(f"{where}: start, stop and step are Python numbers, not {type(value).__name__}")


def _read(value: Any) -> Any:
    """The number of a 0-d Array, where Python can wait for it; anything else as it is."""
    if isinstance(value, Array) and not value.ndim and value.dtype.kind in "iuf":
        return float(value) if value.dtype.kind == "f" else int(value)
    return value


def arange(
    start: float, /, stop: float | None = None, step: float = 1, dtype: Any = None, *, device: Any = None
) -> Array:
    """Evenly spaced values start, start + step, .. below stop; int32 for integers, float32 otherwise.

    0-d Arrays are read where Python can wait, since the shape depends on them; SyncError elsewhere."""
    _check_device(device)
    if stop is None:
        start, stop = 0, start
    start, stop, step = (_number(_read(value), "arange") for value in (start, stop, step))
    if step == 0:
        raise ValueError("arange: step must not be 0")
    whole = all(isinstance(v, int) for v in (start, stop, step))
    want = (int32 if whole else float32) if dtype is None else as_dtype(dtype)
    n = max(0, -(-(stop - start) // step) if whole else ceil((stop - start) / step))
    n = int(n)
    if want.kind in "iu" and whole and n:
        check_scalar(start, want, "arange")
        check_scalar(start + (n - 1) * step, want, "arange")
    index = positions(n)
    if want.kind in "fc":
        out = ew.add(ew.multiply(astype(index, float32), float(step)), float(start))
        return astype(out, want, copy=False)
    if not whole:
        return astype(ew.add(ew.multiply(astype(index, float32), float(step)), float(start)), want)
    if want is uint32 and n:
        return ew.add(ew.multiply(astype(index, uint32), step & 0xFFFFFFFF), int(start) & 0xFFFFFFFF)  # type: ignore[operator]
    out = ew.add(ew.multiply(index, int(step)), int(start))
    return out if want is int32 else astype(out, want)


def linspace(
    start: Any, stop: Any, /, num: int = 50, *, dtype: Any = None, device: Any = None, endpoint: bool = True,
    retstep: bool = False, axis: int = 0,
) -> Any:  # fmt: skip
    """num evenly spaced values from start to stop; the last is stop itself (endpoint=True) or one step before it.

    An integer dtype rounds down (exactly so between integers, for up to 65,536 values). complex64 if either end is
    complex, else float32, unless dtype says otherwise (TypeError for a real dtype and a complex end). Arrays as ends
    are broadcast, and the values stand along a new axis. retstep=True: (values, the step between them).
    """
    _check_device(device)
    if retstep or _many(start) or _many(stop):
        from .ranges import between

        return between(start, stop, num, dtype, endpoint, retstep, axis)
    if _is_complex(start) or _is_complex(stop):
        start, stop = complex(start), complex(stop)
        if dtype is not None and as_dtype(dtype).kind != "c":
            raise TypeError(f"linspace: from {start} to {stop} is complex and {as_dtype(dtype).name} is not")
        ends = (start.real, stop.real), (start.imag, stop.imag)
        return ew.complex_of(*[linspace(a, b, num, endpoint=endpoint) for a, b in ends])
    num = as_index(num)
    if num < 0:
        raise ValueError(f"linspace: num must not be negative: {num}")
    start, stop = _number(start, "linspace"), _number(stop, "linspace")
    want = float32 if dtype is None else as_dtype(dtype)
    steps = max(num - 1 if endpoint else num, 1)
    index = positions(num)
    if want.kind in "iu" and num <= 65536 and start == int(start) and stop == int(stop):
        check_scalar(int(start), want, "linspace")
        check_scalar(int(stop), want, "linspace")
        whole, rest = divmod(int(stop) - int(start), steps)
        k = astype(index, uint32)
        far = ew.add(ew.multiply(k, whole & 0xFFFFFFFF), ew.floor_divide(ew.multiply(k, rest), steps))
        return astype(ew.add(far, int(start) & 0xFFFFFFFF), want, copy=False)
    # From the nearer end, so that both ends are exact; in two products where the distance overflows.
    low, high, span = float(start), float(stop), float(stop) - float(start)
    t = ew.divide(astype(index, float32), float(steps))
    u = ew.divide(astype(ew.subtract(steps, index), float32), float(steps))
    if abs(span) < 3e38:
        rising, falling = ew.add(ew.multiply(t, span), low), ew.subtract(high, ew.multiply(u, span))
        out = ew.where(ew.less(index, (steps + 1) // 2), rising, falling)
    else:
        out = ew.add(ew.multiply(u, low), ew.multiply(t, high))
    return astype(ew.floor(out) if want.kind in "iu" else out, want, copy=False)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = float32, device: Any = None
) -> Array:
    """Ones on the k-th diagonal, zeros elsewhere."""
    _check_device(device)
    n_cols = n_rows if n_cols is None else n_cols
    as_shape((n_rows, n_cols), "eye")
    k = as_index(k)
    if not -n_rows < k < n_cols:  # beside the matrix, perhaps too far for 32 bits
        return zeros((n_rows, n_cols), dtype=dtype or float32)
    rows, cols = positions(n_rows), positions(n_cols)
    down = view(rows, rows._layout._replace(shape=(n_rows, 1), strides=(1, 0)))
    return astype(ew.equal(ew.add(down, k), cols), dtype or float32, copy=False)


def identity(n: int, dtype: Any = float32) -> Array:
    """The n x n identity matrix."""
    return eye(n, dtype=dtype)
