"""Binary searches of many values in one sorted row: one launch of search.wgsl."""

from __future__ import annotations

from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import kernel, launch
from .sort import key_form


def lower(op: Op, facts: Facts) -> list[Launch]:
    """args: the sorted row and the values, of one dtype; extra: whether to go behind equal elements. Result: int32."""
    row, values = op.args
    wg = facts.workgroup
    made = kernel("search", "rrw", f"search_{row.dtype.name}", WG=wg)
    words = [row.size, values.size, int(op.extra), 0, *key_form(row.dtype.kind), 0]
    return [launch(made, (row, values), (op,), -(-values.size // wg), words, facts)]
