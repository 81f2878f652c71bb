"""QTensor: a format, a shape and bytes in GPU memory. What multiplies with it is in products.py and experts.py."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import BY_KIND, DType, as_dtype, bfloat16, float16, float32, uint8
from ..formats import FORMATS as _FORMS
from ..formats import Format
from ..graph import Cell, Op, leaf
from ..layout import Layout, Shape, contiguous
from ..ops.creation import astype, copy_of, zeros
from ..ops.manipulation import matrix_transpose, reshape
from ..ops.routine import routine, stored, whole

_FLOATS = {"f32": float32, "f16": float16, "bf16": bfloat16}
FORMATS: dict[str, tuple[int, int]] = {
    name.upper(): (1, _FLOATS[name].itemsize) if name in _FLOATS else (f.block, f.nbytes)
    for name, f in _FORMS.items()
}
"""Name of a format -> (weights, bytes) of a block."""


def format_named(name: Any, where: str) -> Format:
    """The format of a name: "Q4_K", also in small letters, or an enumeration's member of that name."""
    text = str(getattr(name, "name", name)).lower()
    found = _FORMS.get(text)
    if found is None:
        raise ValueError(f"{where}: format {name!r} is not known; there are {', '.join(FORMATS)}")
    return found


def check_shape(shape: Any, form: Format, where: str) -> Shape:
    """The shape as a tuple; ValueError unless its rows are whole blocks."""
    shape = (int(shape),) if not hasattr(shape, "__iter__") else tuple([int(n) for n in shape])
    name = form.name.upper()
    if not shape or any(n < 0 for n in shape):
        raise ValueError(f"{where}: {name} weights need at least one axis of a size, not shape {shape}")
    block = FORMATS[name][0]
    if shape[-1] % block:
        raise ValueError(
            f"{where}: shape {shape}: rows of {shape[-1]} weights are not whole {name} blocks of {block}"
        )
    return shape  # type: ignore[no-any-return]


class QTensor:
    """Quantised weights: `format` ("Q4_K"), `shape`, and the file's bytes in GPU memory, decoded where they are used.

    Rows (the last axis) are whole blocks. `W[i]`, `W[a:b]` are views of rows or of a bank's matrices, `W[ids]` decodes
    rows (`take_rows`), `W.T` is a view, `W.reshape(..)` one whose rows are whole blocks too.
    """

    __slots__ = ("__weakref__", "_data", "_first", "_form", "_shape", "_turned")

    def __init__(self, data: Array, form: Format, shape: Shape, first: int = 0, turned: bool = False) -> None:
        self._data, self._form, self._shape = data, form, shape
        self._first = first  # weight of _data
        self._turned = turned  # whether this is the transpose of what lies in memory

    @property
    def format(self) -> str:
        """The format's name, as GGML has it."""
        return self._form.name.upper()

    @property
    def shape(self) -> Shape:
        """Sizes of the axes, in weights."""
        if self._turned:
            return (*self._shape[:-2], self._shape[-1], self._shape[-2])
        return self._shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of weights."""
        return prod(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the weights as they are stored."""
        block, each = FORMATS[self.format]
        return self.size // block * each

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<tabgpu.quant.QTensor {self.format} {self.shape}, {self.nbytes:,} bytes>"

    # --- views ----------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            found: Any = self
            for depth, one in enumerate(key):
                if not isinstance(one, int) and depth < len(key) - 1:
                    raise IndexError(
                        f"QTensor: {key}: all but the last index of a quantised tensor are integers"
                    )
                found = found[one]
            return found
        if not isinstance(key, (slice, int)):
            from .products import take_rows

            return take_rows(self, key)
        if self._turned:
            raise IndexError(f"QTensor: {self.format} weights are cut along their rows only; index before .T")
        if isinstance(key, slice):
            start, stop, step = key.indices(self._shape[0])
            if step != 1:
                raise IndexError(f"QTensor: slices of quantised weights have step 1, not {step}")
            n = max(0, stop - start)
            shape: Shape = (n, *self._shape[1:])
            if self.ndim == 1:
                block = FORMATS[self.format][0]
                if start % block or n % block:
                    raise IndexError(f"QTensor: [{start}:{stop}] cuts a block of {block} weights")
        else:
            start, shape = key, self._shape[1:]
            if self.ndim == 1:
                raise IndexError("QTensor: single weights cannot be cut out of a block; use dequantize()")
            if not -self._shape[0] <= start < self._shape[0]:
                raise IndexError(
                    f"QTensor: index {start} is out of bounds for axis 0 with size {self._shape[0]}"
                )
            start %= self._shape[0]
        return QTensor(self._data, self._form, shape, self._first + start * prod(self._shape[1:]))

    def reshape(self, *shape: Any) -> QTensor:
        """The same weights in another shape (one size may be -1) whose rows are whole blocks; ValueError otherwise."""
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        if self._turned:
            raise ValueError(f"reshape: transposed {self.format} weights cannot be reshaped in place")
        if -1 in shape:
            rest = prod([n for n in shape if n != -1])
            shape = tuple([self.size // max(rest, 1) if n == -1 else n for n in shape])
        if prod(shape) != self.size:
            raise ValueError(f"reshape: {self._shape} has {self.size} weights, {shape} {prod(shape)}")
        return QTensor(self._data, self._form, check_shape(shape, self._form, "reshape"), self._first)

    @property
    def mT(self) -> QTensor:
        """The transpose of the last two axes, a view."""
        if self.ndim < 2:
            raise ValueError(f"mT: needs at least 2 axes, not shape {self._shape}")
        return QTensor(self._data, self._form, self._shape, self._first, not self._turned)

    @property
    def T(self) -> QTensor:
        """The transpose of a matrix, a view."""
        if self.ndim != 2:
            raise ValueError(f"T: needs 2 axes, not shape {self._shape}; use .mT")
        return self.mT

    # --- values ---------------------------------------------------------------------------------------------------

    def dequantize(self, dtype: Any = None) -> Array:
        """The weights as an Array: float32 values exactly as GGML's own decoder makes them, or another dtype's."""
        want = float32 if dtype is None else as_dtype(dtype)
        if not self.size:
            return zeros(self.shape, dtype=want)
        if self._form.name in _FLOATS:
            lay = contiguous(self._shape)
            made = Array(self._data.dtype, Layout(lay.shape, lay.strides, self._first), self._data._cell)
        else:
            k = self._shape[-1]
            job = (self._form.name, self._first, self.size // k, k)
            made = reshape(
                routine("quant.dequantize", [stored(self._data)], (self.size // k, k), float32, job),
                self._shape,
            )
        made = astype(made, want, copy=False)
        return matrix_transpose(made) if self._turned else made

    async def tobytes(self) -> bytes:
        """The stored bytes. `await W.tobytes()`."""
        block, each = FORMATS[self.format]
        begin = self._first // block * each
        item = self._data.dtype.itemsize
        part = Layout((self.nbytes // item,), (1,), begin // item)
        return await Array(self._data.dtype, part, self._data._cell).tobytes()

    def words(self) -> Op:
        """The memory, as kernels bind it."""
        return stored(self._data)


def from_bytes(data: Any, format: Any, shape: Any) -> QTensor:
    """Weights from the bytes of a GGML tensor: bytes-like, a NumPy or JavaScript array, or a uint8 Array.

    format: "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K" .. "Q6_K", "F16", "BF16" or "F32". shape: row-major, as NumPy
    has it (GGUF lists it backwards); rows have to be whole blocks. The bytes are uploaded as they are.
    ValueError where the number of bytes is not that of the shape.
    """
    form = format_named(format, "from_bytes")
    shape = check_shape(shape, form, "from_bytes")
    block, each = FORMATS[form.name.upper()]
    need = prod(shape) // block * each
    kind: DType = _FLOATS.get(form.name, uint8)
    if isinstance(data, Array):
        if data.dtype.kind == "b" or data.dtype.itemsize != 1:
            raise TypeError(f"from_bytes: an Array of bytes has dtype uint8, not {data.dtype.name}")
        _check_bytes(data.size, need, form, shape)
        return QTensor(_as_kind(data, kind, need), form, shape)
    if engine.typed_array(data) == "uint8":
        held, n = data, int(data.length)
    else:
        if hasattr(data, "to_memoryview"):
            data = data.to_memoryview()
        try:
            held = memoryview(data).cast("B")
        except TypeError:
            held = memoryview(bytes(data))
        n = held.nbytes
    _check_bytes(n, need, form, shape)
    if not need:
        return QTensor(zeros((0,), dtype=kind), form, shape)
    op = engine.upload(held, kind, (need // kind.itemsize,), "from_bytes")
    return QTensor(Array(kind, op.layout, Cell(op)), form, shape)


def _check_bytes(n: int, need: int, form: Format, shape: Shape) -> None:
    if n != need:
        raise ValueError(f"from_bytes: {form.name.upper()} of shape {shape} has {need:,} bytes, not {n:,}")


def _as_kind(data: Array, kind: DType, need: int) -> Array:
    """An Array of bytes as one of `kind` in the same memory, if it begins where memory does."""
    data = reshape(data, (data.size,))
    if not whole(data):
        data = copy_of(data)
    return data if kind is uint8 else same_memory(data, kind, need // kind.itemsize)


def same_memory(data: Array, dtype: DType, n: int) -> Array:
    """Stored memory under another dtype, n elements."""
    op = stored(data)
    engine.settle(engine.device(), [op])
    assert op.buffer is not None
    made = leaf((n,), dtype, op.buffer)
    return Array(dtype, made.layout, Cell(made))


def check_weights(W: Any, where: str) -> None:
    """TypeError unless W is a QTensor."""
    if not isinstance(W, QTensor):
        raise TypeError(
            f"{where}: needs quantised weights (tg.quant.quantize, load_gguf), not {type(W).__name__}"
        )


def as_floats(x: Any, where: str) -> Array:
    """An operand in float32 (16-bit floats stay), from numbers of any real kind."""
    from ..ops.convert import from_host

    x = x if isinstance(x, Array) else from_host(x, where)
    if x.dtype.kind == "c":
        raise TypeError(f"{where}: needs real numbers, not {x.dtype.name}")
    return x if x.dtype.kind == "f" else astype(x, BY_KIND["f"])
