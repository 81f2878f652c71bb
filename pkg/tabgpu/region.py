"""What all lowering shares: a region's values numbered, kernels and recipes remembered, workgroups put in a grid."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import codegen
from .codegen import Region
from .dtypes import DType, int32
from .errors import LimitError
from .graph import EW, IOTA, SCALAR, Op, Parameter
from .launch import Kernel, Slot
from .layout import Layout, collapse, compose
from .plan import Group

U32 = 0xFFFFFFFF
_floats: dict[float, int] = {}  # bits of float operands seen lately; never of zeros, since -0.0 == 0.0
_F, _U = struct.Struct("<f"), struct.Struct("<I")
MAX_KERNELS = 8192
kernels: dict[Any, Kernel] = {}
recipes: dict[Any, Any] = {}
made = {"kernels": 0, "recipes": 0}  # so far, kept or not
# While a program is made: which scalar an argument is, by (Op, position) or by the Op of a constant; else None.
slots: dict[Any, int] | None = None


@dataclass(frozen=True, eq=False)
class Facts:
    """What lowering must know of a device."""

    workgroup: int  # threads
    groups: int  # workgroups in one dimension of a dispatch
    binding: int  # bytes of one storage binding
    software: bool
    limits: dict[str, int]
    features: frozenset[str] = frozenset()  # that the device has: "subgroups", "shader-f16"
    subgroups: tuple[int, int] = (0, 0)  # lanes of a subgroup, least and most; zeros without them


class Recipe(NamedTuple):
    """An elementwise launch without its buffers and scalars."""

    kernel: Kernel
    grid: tuple[int, int, int]
    words: list[int]


def remember(key: Any, recipe: Any) -> None:
    """Keeps a recipe; forgets all when there are very many."""
    if len(recipes) > 16384:
        recipes.clear()
    recipes[key] = recipe
    made["recipes"] += 1


def complex_bits(value: Any) -> tuple[int, int]:
    """A Python number as the two words of a complex64."""
    number = complex(value)
    return bits(number.real, "f"), bits(number.imag, "f")


def bits(value: Any, kind: str) -> int:
    """A Python scalar as the u32 that a kernel gets."""
    if kind == "f":
        try:
            found = int(_U.unpack(_F.pack(value))[0])
        except (OverflowError, struct.error):  # beyond float32; an int beyond float64
            found = 0x7F800000 if value > 0 else 0xFF800000
        if value and type(value) is float:
            if len(_floats) >= 1024:
                _floats.clear()
            _floats[value] = found
        return found
    if kind == "b":
        return int(bool(value))
    return int(value) & U32


def words_of(value: Any, kind: str, name: Any) -> list[Any]:
    """A scalar as parameter words; as Slots, if it is one that changes from call to call."""
    at = value.index if type(value) is Parameter else None if slots is None else slots.get(name)
    if at is not None:
        return [Slot(at, kind, 0), Slot(at, kind, 1)] if kind == "c" else [Slot(at, kind)]
    return list(complex_bits(value)) if kind == "c" else [bits(value, kind)]


class Numbering:
    """The values of one region: which node, access or scalar slot each argument is."""

    __slots__ = ("accesses", "group", "index", "nodes", "reads", "scalars")

    def __init__(self, group: Group) -> None:
        self.group = group
        self.reads: dict[Op, int] = {}
        self.accesses: dict[tuple[Op, Layout | None], int] = {}
        self.scalars: list[Any] = []
        self.nodes: list[tuple[Any, tuple[int, ...]]] = []
        self.index: dict[Op, int] = {}

    def walk(self, core: Op | None = None, last: tuple[Op, Layout | None] | None = None) -> Numbering:
        """Numbers all members; `core` is the value the region gets from its kernel, `last` the one it gives to it."""
        members = self.group.members
        index = self.index
        if core is not None:
            index[core] = codegen.VALUE
        if not members:
            return self
        views = (
            settle(members, last) if self.group.viewed or (last is not None and last[1] is not None) else {}
        )
        nodes = self.nodes
        scalars = self.scalars
        for op in members:
            fn = op.fn
            refs: list[int] = []
            for a in op.args:
                if type(a) is Op:
                    at = index.get(a)
                    if at is None:
                        v, view = op.views[len(refs)], views.get(op)
                        if view is not None:
                            v = view if v is None else compose(view, v)
                        at = self.access(a, v)
                    refs.append(at)
                elif slots is None and type(a) is float and a in _floats:
                    refs.append(len(scalars) * 4 + 2)
                    scalars.append(_floats[a])
                else:
                    k = len(refs)
                    refs.append(len(scalars) * 4 + 2)
                    scalars += words_of(a, fn.kinds[k], (op, k))
            index[op] = len(nodes) * 4
            nodes.append((fn, tuple(refs)))
        return self

    def access(self, a: Op, view: Layout | None) -> int:
        """The reference for a stored or virtual value."""
        stored = a.buffer is not None
        if a.kind == SCALAR and not stored:
            at = len(self.scalars)
            self.scalars += words_of(a.extra, a.dtype.kind, a)
            return at * 4 + 2
        key = (a, view)
        k = self.accesses.get(key)
        if k is None:
            k = self.accesses[key] = len(self.accesses)
            if (a.kind != IOTA or stored) and a not in self.reads:
                self.reads[a] = len(self.reads)
        return k * 4 + 1

    def layouts(self) -> list[Layout]:
        return [v if v is not None else a.layout for a, v in self.accesses]

    def key(self) -> tuple[Any, ...]:
        """Everything about the region but scalars: its structure, and how and what it reads."""
        reads = self.reads
        seen = tuple([(reads.get(a, -1), a.dtype, a.shape, v) for a, v in self.accesses])
        return tuple(self.nodes), seen, len(self.scalars)

    def region(self, outs: tuple[tuple[int, DType], ...], splats: Sequence[bool] = ()) -> Region:
        reads = self.reads
        accesses = tuple(
            (reads[a], a.dtype, k < len(splats) and splats[k]) if a in reads else (-1, int32, False)
            for k, (a, _) in enumerate(self.accesses)
        )
        return Region(accesses, tuple(self.nodes), outs, len(self.scalars))

    def outs(self, ops: list[Op]) -> tuple[tuple[int, DType], ...]:
        return tuple([(self.index[op], op.dtype) for op in ops])


def settle(members: list[Op], last: tuple[Op, Layout | None] | None) -> dict[Op, Layout]:
    """The view under which members are computed (those with one): composed along any path from an output."""
    views: dict[Op, Layout] = {}
    if last is not None and last[1] is not None:
        views[last[0]] = last[1]
    for op in reversed(members):
        view = views.get(op)
        for a, v in zip(op.args, op.views, strict=True):
            if (view is not None or v is not None) and type(a) is Op and a.kind == EW and a.buffer is None:
                got = v if view is None else view if v is None else compose(view, v)
                if got is not None:
                    views[a] = got
    return views


def kernel_for(sig: Any, make: Any, label: str, workgroup: int) -> Kernel:
    """The Kernel of a signature, made once."""
    found = kernels.get(sig)
    if found is None:
        code, access = make(sig)
        if len(kernels) >= MAX_KERNELS:
            del kernels[next(iter(kernels))]
        found = kernels[sig] = Kernel(label, code, access, workgroup)
        made["kernels"] += 1
    return found


def grid(groups: int, most: int) -> tuple[int, int, int]:
    """Any number of workgroups folded into three dimensions."""
    if groups <= most:
        return groups, 1, 1
    y = -(-groups // most)
    if y <= most:
        return -(-groups // y), y, 1
    z = -(-groups // (most * most))
    if z > most:
        raise LimitError(f"{groups} workgroups are more than this device can dispatch")
    return most, most, z


class Tail(NamedTuple):
    """What follows a core, in the general class: parameter words without scalars."""

    numbers: Numbering
    region: Region
    rank: int
    words: list[int]


def tail(group: Group, numbers: Numbering) -> Tail:
    """The region behind a core: sizes, then offset and strides of each access."""
    layouts = numbers.layouts()
    if not layouts:
        return Tail(numbers, numbers.region(numbers.outs(group.outs)), 0, [])
    dims, strides = collapse(group.shape, [v.strides for v in layouts])
    words = list(dims)
    for v, s in zip(layouts, strides, strict=True):
        words.append(v.offset & U32)
        words += [x & U32 for x in s]
    return Tail(numbers, numbers.region(numbers.outs(group.outs)), len(dims), words)
