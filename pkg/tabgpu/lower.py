"""Groups -> Launches: numbers a region's values, makes elementwise launches. Cores: lower_reduction, lower_product.

What depends on structure and shapes alone (kernel, grid, parameter words but scalars) is a Recipe, found again by key.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import codegen
from .codegen import Elementwise, Region
from .dtypes import DType
from .errors import LimitError
from .graph import EW, IOTA, MATMUL, REDUCE, SCALAR, Op
from .launch import Kernel, Launch
from .layout import Layout, collapse, compose
from .plan import Group
from .windows import TooWide

MAX_SIZE = (1 << 32) - (1 << 16)  # element positions are u32
U32 = 0xFFFFFFFF
_F, _U = struct.Struct("<f"), struct.Struct("<I")
_kernels: dict[Any, Kernel] = {}
_recipes: dict[Any, Any] = {}


@dataclass(frozen=True, eq=False)
class Facts:
    """What lowering must know of a device."""

    workgroup: int  # threads
    groups: int  # workgroups in one dimension of a dispatch
    binding: int  # bytes of one storage binding
    software: bool
    limits: dict[str, int]


class Recipe(NamedTuple):
    """An elementwise launch without its buffers and scalars."""

    kernel: Kernel
    grid: tuple[int, int, int]
    words: list[int]


def remember(key: Any, recipe: Any) -> None:
    """Keeps a recipe; forgets all when there are very many."""
    if len(_recipes) > 16384:
        _recipes.clear()
    _recipes[key] = recipe


def bits(value: Any, kind: str) -> int:
    """A Python scalar as the u32 that a kernel gets."""
    if kind == "f":
        try:
            return int(_U.unpack(_F.pack(value))[0])
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    if kind == "b":
        return int(bool(value))
    return int(value) & U32


class Numbering:
    """The values of one region: which node, access or scalar slot each argument is."""

    __slots__ = ("accesses", "group", "index", "nodes", "reads", "scalars")

    def __init__(self, group: Group) -> None:
        self.group = group
        self.reads: dict[Op, int] = {}
        self.accesses: dict[tuple[Op, Layout | None], int] = {}
        self.scalars: list[int] = []
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
            view = views.get(op)
            fn = op.fn
            refs = []
            for k, a in enumerate(op.args):
                if type(a) is not Op:
                    refs.append(len(scalars) * 4 + 2)
                    scalars.append(bits(a, fn.kinds[k]))
                else:
                    at = index.get(a)
                    if at is None:
                        v = op.views[k]
                        if view is not None:
                            v = view if v is None else compose(view, v)
                        at = self.access(a, v)
                    refs.append(at)
            index[op] = len(nodes) * 4
            nodes.append((fn, tuple(refs)))
        return self

    def access(self, a: Op, view: Layout | None) -> int:
        """The reference for a stored or virtual value."""
        stored = a.buffer is not None
        if a.kind == SCALAR and not stored:
            self.scalars.append(bits(a.extra, a.dtype.kind))
            return len(self.scalars) * 4 - 2
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
            (reads[a], a.dtype.kind, k < len(splats) and splats[k]) if a in reads else (-1, "i", False)
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
    found = _kernels.get(sig)
    if found is None:
        code, access = make(sig)
        found = _kernels[sig] = Kernel(label, code, access, workgroup)
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


def lower(group: Group, facts: Facts) -> list[Launch]:
    """The launches of one group."""
    size = group.size if group.pre is None else max(group.size, group.pre.size)
    if size > MAX_SIZE:
        raise LimitError(f"an operation over {size:,} elements: at most {MAX_SIZE:,} are addressable")
    if not group.size:
        return [Launch(NOTHING, (), tuple(group.outs), (0, 0, 0), [])]
    core = group.core
    if core is None:
        return lower_elementwise(group, facts)
    from . import lower_product, lower_reduction  # they build on this module

    if core.kind == REDUCE:
        return lower_reduction.lower_reduction(group, facts)
    assert core.kind == MATMUL
    return lower_product.lower_product(group, facts)


NOTHING = Kernel("nothing", "", "", 1)  # nothing to compute, but an output to exist


def lower_elementwise(group: Group, facts: Facts) -> list[Launch]:
    numbers = Numbering(group).walk()
    outs = numbers.outs(group.outs)
    key = (facts, group.shape, numbers.key(), outs)
    recipe = _recipes.get(key)
    if recipe is None:
        made = _elementwise(group, numbers, outs, facts)
        if isinstance(made, list):
            return made
        remember(key, recipe := made)
    return [
        Launch(
            recipe.kernel,
            tuple(numbers.reads),
            tuple(group.outs),
            recipe.grid,
            recipe.words + numbers.scalars,
        )
    ]


def _elementwise(
    group: Group, numbers: Numbering, outs: tuple[tuple[int, DType], ...], facts: Facts
) -> Recipe | list[Launch]:
    """The recipe of a group, or its launches where bindings are too small for whole buffers."""
    layouts = numbers.layouts()
    dims, strides = collapse(group.shape, [v.strides for v in layouts])
    words = [0, group.size, 0, 0]
    rank = -1
    splats: list[bool] = []
    if len(dims) <= 1 and all(
        s in ((), (0,)) or (s == (1,) and not v.offset & 3) or (a.kind == IOTA and a.buffer is None)
        for (a, _), v, s in zip(numbers.accesses, layouts, strides, strict=True)
    ):
        for v, s in zip(layouts, strides, strict=True):
            words += (v.offset & U32, s[0] & U32 if s else 0)
            splats.append(s in ((), (0,)))
    else:
        rank = len(dims)
        words += dims
        for v, s in zip(layouts, strides, strict=True):
            words.append(v.offset & U32)
            words += [x & U32 for x in s]
    region = numbers.region(outs, splats)
    sig = Elementwise(region, rank, len(numbers.reads), facts.workgroup)
    names = "_".join(dict.fromkeys(fn.name for fn, _ in region.nodes[-4:]))
    label = f"{names}_{outs[0][1].name}_{'flat' if rank < 0 else f'rank{rank}'}"
    kernel = kernel_for(sig, codegen.elementwise, label, facts.workgroup)
    from . import lower_wide  # it builds on this module

    if lower_wide.wide([*numbers.reads, *group.outs], facts):
        walks = [(v.offset, s) for v, s in zip(layouts, strides, strict=True)]
        whole = words + numbers.scalars
        try:
            return lower_wide.cut_elementwise(numbers, walks, dims, kernel, whole, group.outs, facts, rank)
        except TooWide as error:
            first, copies = lower_wide.spread(numbers, group.shape, facts)
            if not first:
                raise lower_wide.refused(label, [*numbers.reads, *group.outs], facts, error) from None
        made = _elementwise(group, copies, outs, facts)
        if isinstance(made, Recipe):
            words = made.words + copies.scalars
            made = [Launch(made.kernel, tuple(copies.reads), tuple(group.outs), made.grid, words)]
        return first + made
    return Recipe(kernel, grid(-(-group.size // (4 * facts.workgroup)), facts.groups), words)


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
