"""What the launches of a group do, for a profile: bytes they must touch and operations. Nothing here decides anything.

Bytes: each value that is read or written counts once, by the elements its views reach. Operations: 2 m n k of a
product, one an element of a reduction or of an elementwise function; 0 where nobody counted.
"""

from __future__ import annotations

from math import prod

from .graph import KERNEL, MATMUL, REDUCE, Op, nbytes_of
from .launch import Launch
from .layout import Layout
from .plan import Group
from .region import Numbering

SPARSE = ("gather", "pick")  # routines that read of their first operand as many elements as they write


def work(group: Group, launches: list[Launch]) -> list[tuple[int, int]]:
    """(bytes, operations) of each launch of a group; before they are carried out, since Ops then drop their inputs."""
    core = group.core
    post = Numbering(group).walk(core) if core is not None else Numbering(group).walk()
    touched: dict[Op, int] = {}
    _touch(touched, post)
    behind = _operations(group)
    heavy = 0
    inputs: set[Op] = set()
    update = None  # bytes of an indexed write, which is the last launch
    if core is not None and core.kind == REDUCE and group.pre is not None:
        source, view = core.args[0], core.views[0]
        pre = Numbering(group.pre).walk(last=(source, view))
        if source not in pre.index:
            pre.access(source, view)
        _touch(touched, pre)
        heavy = group.pre.size + _operations(group.pre)
        inputs = set(pre.reads)
    elif core is not None and core.kind == MATMUL:
        batch, m, n, k = core.extra[:4]
        heavy = 2 * m * n * k
        for size in batch:
            heavy *= size
        for a, view in zip(core.args, core.views, strict=True):
            _add(touched, a, view)
        inputs = set(core.args)
    elif core is not None and core.kind == KERNEL:
        name = core.fn.partition(".")[0]
        if name in SPARSE and core.args:
            table = core.args[0]
            touched[table] = min(nbytes_of(table), core.size * table.dtype.itemsize)
        elif name == "scatter":
            update = min(nbytes_of(core), prod(core.extra.shape) * core.dtype.itemsize)
        elif name == "attention":
            (rows, _, keys, dims, values), batch = core.extra[:2]
            heavy = 2 * rows * keys * (dims + values) * prod(batch)
            inputs = set(core.args)
    first = [k for k, x in enumerate(launches) if inputs.intersection(x.reads)] or [0]
    last = [k for k, x in enumerate(launches) if any(op in group.outs for op in x.writes)] or [-1]
    found = []
    for k, launch in enumerate(launches):
        operations = heavy // len(first) if k in first else 0
        operations += behind // len(last) if k in last else 0
        found.append((_bytes(launch, touched, update if k == len(launches) - 1 else None), operations))
    return found


def _operations(group: Group) -> int:
    """Elementwise functions of a group that compute something, times its size."""
    computing = sum(not op.fn.name.startswith("copy_") for op in group.members)
    return computing * group.size


def _touch(touched: dict[Op, int], numbers: Numbering) -> None:
    for op, view in numbers.accesses:
        if op in numbers.reads:
            _add(touched, op, view)


def _add(touched: dict[Op, int], op: Op, view: Layout | None) -> None:
    """Counts what a view reaches of a stored value, up to all of it."""
    elements = op.size
    if view is not None:
        elements = 1
        for n, step in zip(view.shape, view.strides, strict=True):
            elements *= n if step else min(n, 1)
    touched[op] = min(nbytes_of(op), touched.get(op, 0) + elements * op.dtype.itemsize)


def _bytes(launch: Launch, touched: dict[Op, int], update: int | None) -> int:
    bound = launch.reads if update is not None else launch.reads + launch.writes
    first_written = len(launch.reads)
    reached = [
        touched.get(op, nbytes_of(op)) if k < first_written else nbytes_of(op) for k, op in enumerate(bound)
    ]
    if launch.windows is None:  # each value once, also where it is bound as two operands
        return (update or 0) + sum(dict(zip(bound, reached, strict=True)).values())
    windows = zip(reached, launch.windows, strict=False)
    return (update or 0) + sum(min(n, size) if size else n for n, (_, size) in windows)
