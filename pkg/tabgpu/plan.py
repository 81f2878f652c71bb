"""Pending Ops -> groups of one launch (or few): all fusion decisions live here. How they become launches: lower.py.

The walk goes from the newest Op to the oldest, so that all consumers of a value are placed before the value itself.
A value joins its consumers' group if they are all in one and read it the same way; otherwise it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from .graph import EW, KERNEL, LEAF, MATMUL, REDUCE, Fn, Op
from .kernels import weight
from .layout import Layout, Shape, compose

MAX_WEIGHT = 64  # additions a kernel, or what costs a compiler as much (kernels.weight)
HEAVY, LARGE = 10, 1 << 20  # weight of what follows a product, elements: from both on it has its own launch
MAX_BEFORE = 24  # the same before a reduction, whose kernel holds five copies
_serial = attrgetter("serial")


class Group:
    """Ops computed by one launch: `members` over one iteration space, an optional hand-written `core` in front.

    reads: stored values the members need (Ops, some still to be placed as members). outs: what is written. For a
    reduction core, `pre` is the group of what is fused before it.
    """

    __slots__ = (
        "budget", "core", "into", "members", "open", "outs", "parent", "pre", "reads", "shape", "size", "viewed",
        "weight",
    )  # fmt: skip

    def __init__(self, shape: Shape, size: int, budget: int, parent: Group | None = None) -> None:
        self.shape, self.size, self.budget, self.parent = shape, size, budget, parent
        self.members: list[Op] = []
        self.reads: dict[Op, None] = {}
        self.outs: list[Op] = []
        self.core: Op | None = None
        self.pre: Group | None = None
        self.open = False  # whether an output is read by another group
        self.into: Group | None = None
        self.weight = 0
        self.viewed = False  # whether some member is read through a view

    def bindings(self) -> int:
        whole = self.parent or self
        n = len(whole.reads) + len(whole.outs)
        if whole.pre is not None:
            n += len(whole.pre.reads)
        return n + 2 if whole.core is not None and whole.core.kind == MATMUL else n


def find(group: Group) -> Group:
    """The group that a merged one became part of."""
    while group.into is not None:
        group = group.into
    return group


def plan(roots: Iterable[Op], *, budget: int, fuse: bool, merge: bool = False) -> list[Group]:
    """Groups in launch order that compute all pending roots. No side effects besides the Ops' notes.

    budget: storage buffers a generated kernel may bind. fuse False: every Op in a group of its own.
    merge: results that read the same memory share a launch (for reads that a program asks for together; what happens
    to be pending at an automatic flush is not merged, since every mixture would be another kernel).
    """
    wanted = {op for op in roots if op.buffer is None}
    order = _reachable(wanted)
    try:
        groups = _place(order, wanted, budget, fuse)
    finally:
        for op in order:
            op._uses = None
    if fuse:
        _join(groups, merge)
    groups = [g for g in groups if g.into is None]
    groups.sort(key=lambda g: max(op.serial for op in g.outs))
    for g in groups:
        g.members.sort(key=_serial)
        if g.pre is not None:
            g.pre.members.sort(key=_serial)
    return groups


def _place(order: list[Op], wanted: set[Op], budget: int, fuse: bool) -> list[Group]:
    """Puts every Op into a group. Each statement here is paid once an operation, so the common case is written out."""
    groups: list[Group] = []
    for op in order:
        uses: list[tuple[Group | None, Layout | None]] = op._uses
        cell = op.cell and op.cell()
        stored = (cell is not None and cell.op is op) or op.uses > op._seen or op in wanted
        home = _home(op, uses, stored) if uses and fuse else None
        if op.kind == EW:
            if home is None:
                home = Group(op.shape, op.size, budget)
                home.open = bool(uses)
                home.outs.append(op)
                groups.append(home)
                view = None
            else:
                view = uses[0][1]
                if stored:
                    home.outs.append(op)
                home.reads.pop(op, None)
            home.members.append(op)
            home.weight += op.fn.weight or weigh(op.fn)
            if view is not None:
                _note_args(op, home, view)
                continue
            reads = home.reads  # as _note_args
            for k, a in enumerate(op.args):
                if type(a) is Op:
                    if a.buffer is None and a.kind >= EW:
                        v = op.views[k]
                        if v is not None:
                            home.viewed = True
                        a._seen += 1
                        a._uses.append((home, v))
                        reads[a] = None
                    elif a.kind == LEAF or a.buffer is not None:
                        reads[a] = None
        else:
            if home is None:
                home = Group(op.shape, op.size, budget)
                home.open = bool(uses)
                home.outs.append(op)
                groups.append(home)
            elif stored:
                home.outs.append(op)
            home.core = op
            home.reads.pop(op, None)
            if op.kind == REDUCE:
                view = op.views[0]
                shape = op.args[0].shape if view is None else view.shape
                size = 1
                for n in shape:
                    size *= n
                home.pre = Group(shape, size, budget, home)
                _note_args(op, home.pre, None)
            else:
                for a in op.args:
                    if type(a) is Op and a.buffer is None and a.kind >= EW:
                        a._seen += 1
                        a._uses.append((None, None))
    return groups


def weigh(fn: Fn) -> int:
    """What a function adds to a kernel's weight, found once."""
    fn.weight = weight(fn.expr)
    return fn.weight


def _join(groups: list[Group], merge: bool) -> None:
    """Merges groups over one space: the results of one call of a user's kernel, and with `merge` those that read
    something in common."""
    at: dict[Any, Group] = {}
    for g in groups:
        if g.into is None and g.core is None:
            call = g.outs[0].extra
            key = (g.shape, None if merge else call)
            if call is None and not merge:
                continue
            other = at.get(key)
            if other is not None and (
                (call is not None and other.outs[0].extra is call) or any(op in other.reads for op in g.reads)
            ):
                at[key] = _merge(other, g) or other
            else:
                at[key] = g


def _reachable(wanted: set[Op]) -> list[Op]:
    """All pending ancestors, newest first."""
    order = list(wanted)
    for op in order:
        op._seen, op._uses = 0, []
    for op in order:  # grows on the way; an Op with a list of uses is in it
        for a in op.args:
            if type(a) is Op and a._uses is None and a.buffer is None and a.kind >= EW:
                a._seen, a._uses = 0, []
                order.append(a)
    order.sort(key=_serial, reverse=True)
    return order


def _note_args(op: Op, group: Group, view: Layout | None) -> None:
    """Tells each argument of a placed Op which group reads it, and how."""
    reads = group.reads
    for a, v in zip(op.args, op.views, strict=True):
        if type(a) is not Op:
            continue
        if a.buffer is None and a.kind >= EW:
            if view is not None:
                v = view if v is None else compose(view, v)
            if v is not None:
                group.viewed = True
            a._seen += 1
            a._uses.append((group, v))
            reads[a] = None
        elif a.kind == LEAF or a.buffer is not None:
            reads[a] = None


def _home(op: Op, uses: list[tuple[Group | None, Layout | None]], stored: bool) -> Group | None:
    """The group of its consumers that an Op may join, or None."""
    group, view = uses[0]
    if group is None or op.kind == KERNEL:
        return None
    if group.into is not None:
        group = find(group)
    for other, v in uses[1:] if len(uses) > 1 else ():
        if v != view or other is None:
            return None
        other = find(other)
        if other is not group:
            if view is not None or op.kind != EW:
                return None
            merged = _merge(group, other)
            if merged is None:
                return None
            group = merged
    if op.kind != EW:
        return group if _may_core(op, group, view, stored) else None
    most = MAX_WEIGHT if group.parent is None else MAX_BEFORE
    if group.weight + (op.fn.weight or weigh(op.fn)) > most and group.members:
        return None
    if view is not None:
        if stored or (group.size > op.size and not op.fn.cheap):
            return None
        if any(v is not None and compose(view, v) is None for v in op.views):
            return None
    elif stored and (group.parent is not None or group.core is not None):
        return None
    reads, fresh, last = group.reads, int(stored) - 1, None
    for a in op.args:
        if type(a) is Op and a is not last and a not in reads and (a.buffer is not None or a.kind >= EW):
            fresh += 1
        last = a
    if group.core is None and group.parent is None:
        return group if len(reads) + len(group.outs) + fresh <= group.budget else None
    return group if group.bindings() + fresh <= group.budget else None


def _may_core(op: Op, group: Group, view: Layout | None, stored: bool) -> bool:
    """Whether a reduction or product may hand its values straight to the group of its consumers."""
    if view is not None or group.core is not None or group.parent is not None or group.shape != op.shape:
        return False
    if op.kind == MATMUL and group.weight >= HEAVY and op.size >= LARGE:
        return False  # few threads of a product run at a time: a launch of its own takes less
    if any(out.dtype.per_word != 1 for out in group.outs) and (op.kind != MATMUL or op.extra[2] % 4):
        return False  # whole words are stored by products whose rows are whole vec4s
    return group.bindings() + stored + 1 <= group.budget


def _merge(a: Group, b: Group) -> Group | None:
    """Two groups over the same space become one multi-output launch, if nothing could run in between."""
    if (
        a.parent is not None
        or b.parent is not None
        or a.core is not None
        or b.core is not None
        or a.shape != b.shape
    ):
        return None
    low, high = (a, b) if max(map(_serial, a.outs)) < max(map(_serial, b.outs)) else (b, a)
    if low.open or low.weight + high.weight > MAX_WEIGHT:
        return None
    reads = {**high.reads, **low.reads}
    if len(reads) + len(low.outs) + len(high.outs) > high.budget:
        return None
    if any(op in reads for op in low.outs):  # cannot be: low's outputs have no readers
        return None
    high.reads = reads
    high.members += low.members
    high.weight += low.weight
    high.outs += low.outs
    high.viewed |= low.viewed
    low.into = high
    return high
