"""A pending graph as a key: graphs with equal keys become the same launches, over other buffers and scalars.

What planning and lowering depend on is in the key: kinds, functions, order, views, shapes, dtypes, which values are
stored, which are read twice. What they do not depend on is beside it: buffers and scalars, in the order of first use.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, NamedTuple

from .graph import EW, KERNEL, LEAF, SCALAR, Op

_serial = attrgetter("serial")
_WANTED = -1 << 40
# Marks between the parts of a key. Strings, since ints are numbers of values and tuples are shapes and views.
_STORED, _NUMBER, _SHAPE, _GUARDED = "stored", "number", "shape", "guarded"
_NO_VIEWS = (None, None)


class Digest(NamedTuple):
    """`ops`: all pending ones, oldest first. `values`: scalars; `names`: which argument each of them is."""

    key: tuple[Any, ...]
    ops: list[Op]
    inputs: list[Op]
    stored: list[Op]
    values: list[Any]
    names: list[Any]
    guarded: list[Op]


def digest(roots: Iterable[Op], merge: bool) -> Digest:
    """Of all that pending roots need. Ends with the planner's notes as it found them."""
    order = list({op for op in roots if op.buffer is None})
    for op in order:
        op._seen, op._uses = _WANTED, 0
    try:
        return _digest(order, merge)
    finally:
        for op in order:
            op._uses = None


def _digest(order: list[Op], merge: bool) -> Digest:
    for op in order:  # grows on the way; an Op with a number is in it
        for a in op.args:
            if type(a) is Op and a.buffer is None and a.kind >= EW:
                if a._uses is None:
                    a._seen, a._uses = 1, 0
                    order.append(a)
                else:
                    a._seen += 1
    order.sort(key=_serial)
    inputs: dict[Op, int] = {}
    stored: list[Op] = []
    values: list[Any] = []
    names: list[Any] = []
    guarded: list[Op] = []
    key: list[Any] = [merge]
    add = key.append
    shape: Any = None
    at = 0
    for op in order:
        op._uses = at
        at += 1
        add(op.fn)
        if op.shape is not shape:
            shape = op.shape
            key += (_SHAPE, shape)
        if op.kind == EW:
            if op.views != _NO_VIEWS:
                add(op.views)
        else:
            key += (op.kind, op.dtype, op.views, op.extra)
            if op.kind == KERNEL:
                add(repr(op.extra))  # too, since 0.0 == -0.0 and 1 == True
        for a in op.args:
            if type(a) is Op:
                if a._uses is not None and a.buffer is None:
                    add(a._uses)
                    continue
                k = inputs.get(a)
                if k is None:
                    k = inputs[a] = -1 - len(inputs)
                    virtual = a.buffer is None and a.kind != LEAF
                    key += (k, a.dtype, a.shape, a.kind if virtual else LEAF)
                    if virtual and a.kind == SCALAR:
                        values.append(a.extra)
                        names.append(a)
                else:
                    add(k)
            else:
                add(_NUMBER)
                values.append(a)
                names.append(op)
        cell = op.cell
        if op.uses > op._seen or (cell is not None and (cell := cell()) is not None and cell.op is op):
            add(_STORED)
            stored.append(op)
        if op.guards:
            key += (_GUARDED, len(op.guards))
            guarded.append(op)
    return Digest(tuple(key), order, list(inputs), stored, values, names, guarded)


def slots_of(found: Digest) -> dict[Any, int]:
    """The number of each scalar, by (Op, position of the argument) or by the Op of a constant."""
    slots: dict[Any, int] = {}
    before: Any = None
    k = 0
    for index, op in enumerate(found.names):
        if op.kind == SCALAR:
            slots[op] = index
            continue
        k = k + 1 if op is before else 0
        while type(op.args[k]) is Op:
            k += 1
        slots[op, k] = index
        before = op
    return slots
