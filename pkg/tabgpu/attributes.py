"""Attributes that NumPy's arrays have beside the array API's: strides, real, imag, flat, fill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .array import Array, view
from .layout import contiguous
from .ops import creation, elementwise, manipulation


def strides(self: Array) -> tuple[int, ...]:
    """Bytes from one element to the next along each axis (0 where an axis is broadcast)."""
    return tuple([s * self.dtype.itemsize for s in self._layout.strides])


def real(self: Array) -> Array:
    """The real part: of a complex array float32, of any other the array itself."""
    return elementwise.real(self) if self.dtype.kind == "c" else self


def imag(self: Array) -> Array:
    """The imaginary part: of a complex array float32, of any other zeros."""
    return elementwise.imag(self) if self.dtype.kind == "c" else creation.zeros_like(self)


def _set_real(self: Array, value: Any) -> None:
    self[...] = elementwise.complex_of(value, imag(self)) if self.dtype.kind == "c" else value  # type: ignore[index]


def _set_imag(self: Array, value: Any) -> None:
    if self.dtype.kind != "c":
        raise TypeError(f"imag: an array of {self.dtype.name} has no imaginary part to assign to")
    self[...] = elementwise.complex_of(real(self), value)  # type: ignore[index]


def conj(self: Array) -> Array:
    """The complex conjugate; of a real array a copy."""
    return elementwise.conjugate(self)


def fill(self: Array, value: Any) -> None:
    """Assigns a scalar to every element."""
    self[...] = creation.full((), value, dtype=self.dtype)  # type: ignore[index]


class Flat:
    """`a.flat`: the elements in row-major order, to be iterated over, indexed and assigned to."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def base(self) -> Array:
        """The array."""
        return self._array

    def __len__(self) -> int:
        return self._array.size

    def __iter__(self) -> Iterator[Array]:
        return iter(manipulation.ravel(self._array))

    def __getitem__(self, key: Any) -> Array:
        return creation.copy_of(manipulation.ravel(self._array)[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        line = creation.copy_of(manipulation.ravel(self._array))
        line[key] = value  # type: ignore[index]
        self._array[...] = view(line, contiguous(self._array.shape))  # type: ignore[index]

    def copy(self) -> Array:
        """The elements as a new array of one axis."""
        return creation.copy_of(manipulation.ravel(self._array))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return manipulation.ravel(self._array).__array__(dtype, copy)


def _set_flat(self: Array, value: Any) -> None:
    Flat(self)[...] = value


Array.strides = property(strides, doc=strides.__doc__)  # type: ignore[attr-defined]
Array.real = property(real, _set_real, doc=real.__doc__)  # type: ignore[attr-defined]
Array.imag = property(imag, _set_imag, doc=imag.__doc__)  # type: ignore[attr-defined]
Array.flat = property(Flat, _set_flat, doc=Flat.__doc__)  # type: ignore[attr-defined]
Array.fill = fill  # type: ignore[attr-defined]
Array.conj = Array.conjugate = conj  # type: ignore[attr-defined]
