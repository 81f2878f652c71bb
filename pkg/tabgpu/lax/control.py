"""Loops and branches under jax.lax's names, in Python: each step records its work, which the GPU does when it is read.

Trip counts are the host's, so there is no while_loop, whose end would depend on what the GPU computes: that is a Python
`while` with an `await`. cond on an Array computes both branches and selects, element by element.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index as as_index
from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops.joining import stack


def fori_loop(lower: int, upper: int, body_fun: Callable[[int, Any], Any], init_val: Any) -> Any:
    """val = body_fun(i, val) for i from lower to upper - 1, host integers."""
    value = init_val
    for i in range(as_index(lower), as_index(upper)):
        value = body_fun(i, value)
    return value


def leaves(tree: Any, found: list[Any]) -> list[Any]:
    """The leaves of nested tuples, lists and dicts, in order."""
    if isinstance(tree, (tuple, list)):
        for part in tree:
            leaves(part, found)
    elif isinstance(tree, dict):
        for key in sorted(tree):
            leaves(tree[key], found)
    elif tree is not None:
        found.append(tree)
    return found


def mapped(function: Callable[..., Any], *trees: Any) -> Any:
    """The tree of function(leaf of each tree), all of one structure; None stays."""
    first = trees[0]
    if isinstance(first, (tuple, list)):
        if any(type(t) is not type(first) or len(t) != len(first) for t in trees):
            raise TypeError(f"tg.lax: results of different structure: {trees}")
        made = [mapped(function, *parts) for parts in zip(*trees, strict=True)]
        return type(first)(*made) if hasattr(first, "_fields") else type(first)(made)
    if isinstance(first, dict):
        if any(not isinstance(t, dict) or t.keys() != first.keys() for t in trees):
            raise TypeError(f"tg.lax: results of different structure: {trees}")
        return {k: mapped(function, *[t[k] for t in trees]) for k in first}
    return None if first is None else function(*trees)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(carry, ys): carry, y = f(carry, x) for each slice x of xs along the first axis, ys stacked.

    xs and y: arrays in nested tuples, lists and dicts, or None (then length says how often). reverse: from the last.
    """
    sizes = {x.shape[0] for x in leaves(xs, [])} | ({as_index(length)} if length is not None else set())
    if len(sizes) != 1:
        raise ValueError(f"scan: needs one length, of xs or by length=, not {sorted(sizes)}")
    n = sizes.pop()
    carry, made = init, []
    for i in reversed(range(n)) if reverse else range(n):
        carry, y = f(carry, mapped(lambda x, i=i: x[i], xs))
        made.append(y)
    if reverse:
        made.reverse()
    return carry, mapped(lambda *ys: stack(ys), *made) if made else None


def map(f: Callable[[Any], Any], xs: Any) -> Any:  # lax's name
    """f of each slice along the first axis, stacked."""
    return scan(lambda carry, x: (carry, f(x)), None, xs)[1]


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """true_fun(*operands) if pred is true, else false_fun(*operands).

    A pred of the host calls one of them. A 0-d Array calls both and selects, so nothing is read; both must give arrays
    of the same shapes and must not mind being called.
    """
    if not isinstance(pred, Array):
        return true_fun(*operands) if pred else false_fun(*operands)
    if pred.ndim:
        raise ValueError(f"cond: pred is a scalar, its shape is {pred.shape}")
    return mapped(lambda a, b: ew.where(pred, a, b), true_fun(*operands), false_fun(*operands))
