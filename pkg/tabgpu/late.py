"""Methods of Array whose module is imported when one of them is first asked for: most programs need few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .array import Array


class Late:
    """Stands on Array for a method; `load` puts the method in its place."""

    __slots__ = ("_load", "_name")

    def __init__(self, name: str, load: Callable[[], object]) -> None:
        self._name, self._load = name, load

    def __get__(self, instance: Array | None, owner: type[Array]) -> Any:
        self._load()
        assert vars(Array)[self._name] is not self, f"nothing was put in the place of {self._name}"
        return getattr(owner if instance is None else instance, self._name)


def bind_late(module: str, names: str) -> None:
    """Methods that a module of this package binds to Array by itself."""
    if f"{__package__}.{module}" in sys.modules:
        return
    for name in names.split():
        setattr(Array, name, Late(name, lambda: import_module(f".{module}", __package__)))


bind_late("display", "__repr__ __str__ __format__ _repr_html_ _repr_mimebundle_")
bind_late("dispatch", "__array_ufunc__ __array_function__")
bind_late("sharing", "gpu_buffer")
bind_late("interop", "__array_namespace__ to_device __dlpack__ __dlpack_device__ __reduce_ex__ __round__")
