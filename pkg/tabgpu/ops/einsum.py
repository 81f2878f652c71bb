"""einsum: sums of products over named axes, pair by pair, each a matmul, a fused multiply-and-sum or a product."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from .. import layout as lo
from ..array import Array, view
from ..dtypes import BY_KIND, DType, as_dtype, promote
from . import elementwise as ew
from . import reductions
from .convert import from_host
from .creation import astype, copy_of, zeros
from .joining import check_casting, deliver
from .manipulation import addressable, permute_dims, reshape
from .paths import Path, contraction_path
from .products import matmul
from .subscripts import Label, Labels, from_sublist, parse, sizes_of

Term = tuple[Labels, Array]


def einsum(
    *operands: Any, out: Array | None = None, dtype: Any = None, order: str = "K", casting: str = "safe",
    optimize: Any = True,
) -> Array:  # fmt: skip
    """Einstein's sum: einsum("ij,jk->ik", a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2]); letters, "...", repeated
    letters (diagonals), implicit results. A result that is only a permuted or diagonal view is a view.

    Contracts pair by pair (see einsum_path); optimize may be a path that it gave. ValueError where subscripts and
    shapes do not fit. order is accepted: there is one memory order.
    """
    text, arrays = _read(operands)
    want = promote(*[x.dtype for x in arrays], where="einsum") if dtype is None else as_dtype(dtype)
    for x in arrays if dtype is not None else ():
        check_casting(x.dtype, want, casting, "einsum")
    plan = _plan(text, tuple([x.shape for x in arrays]))
    addressable(plan.shape, "einsum")
    made = _contract(plan, arrays, want, _given(optimize, len(arrays)) or plan.path)
    return made if out is None else deliver(made, out, "einsum")


class Plan(NamedTuple):
    """What an einsum of some shapes does: its labels, the size of each that is not 1, the shape of the result."""

    terms: list[Labels]
    output: Labels
    sizes: dict[Label, int]
    shape: lo.Shape
    path: Path


@lru_cache(1024)
def _plan(text: str, shapes: tuple[lo.Shape, ...]) -> Plan:
    terms, output = parse(text, [len(shape) for shape in shapes])
    sizes = sizes_of(terms, shapes, repr(text))
    shape = tuple(sizes[x] for x in output)
    left = {x: n for x, n in sizes.items() if n != 1}
    pairs = [zip(labels, dims, strict=True) for labels, dims in zip(terms, shapes, strict=True)]
    distinct = [tuple(dict.fromkeys(x for x, n in pair if n != 1)) for pair in pairs]
    path = contraction_path(distinct, tuple(x for x in output if x in left), left)
    return Plan(terms, output, left, shape, path)


def einsum_path(*operands: Any, optimize: Any = True) -> tuple[list[Any], str]:
    """(["einsum_path", pair, pair, ..], what it costs): the order in which einsum contracts these operands."""
    text, arrays = _read(operands)
    terms, output, sizes, _, path = _plan(text, tuple([x.shape for x in arrays]))
    path = _given(optimize, len(arrays)) or path
    terms = [tuple(label for label in t if label in sizes) for t in terms]
    output = tuple(label for label in output if label in sizes)
    lines, cost = [f"  Complete contraction:  {text}"], 0
    sets = [set(t) for t in terms]
    for step in path:
        taken = [sets[k] for k in step]
        rest = [s for k, s in enumerate(sets) if k not in step]
        both = set[Label]().union(*taken)
        cost += prod(sizes[x] for x in both)
        sets = [*rest, both & set(output).union(*rest)]
        lines.append(f"  {step}: {len(both)} indices, {len(sets[-1])} left")
    lines.append(f"  Multiplications:  {cost:,}; in one step {prod(sizes.values()):,}")
    return ["einsum_path", *path], "\n".join(lines)


def _given(optimize: Any, count: int) -> Path | None:
    if isinstance(optimize, (list, tuple)) and optimize and optimize[0] == "einsum_path":
        path = [tuple(int(k) for k in step) for step in optimize[1:]]
        left = count
        for step in path:
            if len(set(step)) != len(step) or any(not 0 <= k < left for k in step):
                raise ValueError(f"einsum: {step} is no step of a path over {left} operands")
            left -= len(step) - 1
        if left != 1:
            raise ValueError(f"einsum: the path leaves {left} operands")
        return path
    return None


def _read(operands: tuple[Any, ...]) -> tuple[str, list[Array]]:
    """Subscripts (of sublists, too) and the operands."""
    if not operands:
        raise ValueError("einsum: the subscripts and at least one operand are needed")
    if isinstance(operands[0], str):
        text, given = operands[0], list(operands[1:])
    else:
        pairs = list(operands)
        output = from_sublist(pairs.pop(), "result") if len(pairs) % 2 else None
        text = ",".join(from_sublist(items, f"operand {k}") for k, items in enumerate(pairs[1::2]))
        text, given = text if output is None else f"{text}->{output}", pairs[::2]
    if not given:
        raise ValueError("einsum: must provide at least one operand")
    return text, [x if isinstance(x, Array) else from_host(x, "einsum") for x in given]


def _contract(plan: Plan, arrays: list[Array], want: DType, path: Path) -> Array:
    terms, output, sizes, shape, _ = plan
    if any(not x.size for x in arrays):
        return zeros(shape, dtype=want)
    parts = [_distinct(labels, x) for labels, x in zip(terms, arrays, strict=True)]
    only_view = len(parts) == 1 and set(terms[0]) <= set(output)
    if not only_view:
        computed = BY_KIND["i"] if want.kind == "b" else BY_KIND[want.kind]
        parts = [(labels, astype(x, computed, copy=False)) for labels, x in parts]
        for step in path:
            taken = [parts[k] for k in step]
            rest = [p for k, p in enumerate(parts) if k not in step]
            parts = [*rest, _several(taken, set(output).union(*[t for t, _ in rest]), output, sizes)]
    ((labels, made),) = parts
    made = permute_dims(made, tuple(labels.index(x) for x in output if x in labels))
    made = reshape(made, shape)  # axes of size 1 come back
    if not only_view and any(made._cell is x._cell for x in arrays):
        made = copy_of(made)
    return astype(made, want, copy=False)


def _distinct(labels: Labels, x: Array) -> Term:
    """Diagonals of repeated labels, and no axes of size 1: views."""
    seen: dict[Label, tuple[int, int]] = {}
    for label, n, stride in zip(labels, x.shape, x._layout.strides, strict=True):
        have = seen.get(label)
        if have is not None and 1 not in (have[0], n) and have[0] != n:
            raise ValueError(
                f"einsum: repeated subscript {label!r} has sizes {have[0]} and {n} in shape {x.shape}"
            )
        more = stride if n != 1 else 0
        seen[label] = (n, more) if have is None else (max(n, have[0]), have[1] + more)
    kept = {label: (n, s) for label, (n, s) in seen.items() if n != 1}
    layout = lo.Layout(
        tuple(n for n, _ in kept.values()), tuple(s for _, s in kept.values()), x._layout.offset
    )
    return tuple(kept), x if layout == x._layout else view(x, layout)


def _several(taken: list[Term], kept: set[Label], output: Labels, sizes: dict[Label, int]) -> Term:
    """One step: usually two terms; of one, what nobody needs is summed away."""
    while len(taken) > 1:
        a, b, rest = taken[0], taken[1], taken[2:]
        need = kept.union(*[t for t, _ in rest])
        a, b = _summed(a, need | set(b[0])), _summed(b, need | set(a[0]))
        taken = [*rest, _pair(a, b, need, output, sizes)]
    return _summed(taken[0], kept)


def _summed(term: Term, kept: set[Label]) -> Term:
    labels, x = term
    gone = tuple(k for k, label in enumerate(labels) if label not in kept)
    if not gone:
        return term
    return tuple(label for label in labels if label in kept), reductions.sum(x, axis=gone, dtype=x.dtype)


def _pair(a: Term, b: Term, kept: set[Label], output: Labels, sizes: dict[Label, int]) -> Term:
    """Two terms contracted over what they share and nobody else needs; axes come in the order of the output if it can
    be had for nothing."""
    either = {*a[0], *b[0]}
    first = next((x for x in output if x in either and not (x in a[0] and x in b[0])), None)
    if first in b[0]:
        a, b = b, a
    (la, x), (lb, y) = a, b
    both = [label for label in la if label in lb]
    over = [label for label in both if label not in kept]
    batch = sorted([label for label in both if label in kept], key=_order(output))
    free_a = [label for label in la if label not in lb]
    free_b = [label for label in lb if label not in la]
    m, n, k = (prod(sizes[label] for label in some) for some in (free_a, free_b, over))
    if not over or not free_a or not free_b or (m * n <= 64 and k >= 64 * m * n):
        made = tuple(sorted([*batch, *free_a, *free_b], key=_order(output)))
        space = (*made, *over)
        product = ew.multiply(_spread(x, la, space), _spread(y, lb, space))
        if not over:
            return made, product
        return made, reductions.sum(product, axis=tuple(range(len(made), len(space))), dtype=x.dtype)
    left = right = None
    for order in (over, [label for label in lb if label in over]):
        left = _grouped(x, la, batch, free_a, order, copy=False)
        right = _grouped(y, lb, batch, order, free_b, copy=False)
        if left is not None and right is not None:
            break
    left = _grouped(x, la, batch, free_a, order, copy=True) if left is None else left
    right = _grouped(y, lb, batch, order, free_b, copy=True) if right is None else right
    assert left is not None and right is not None
    made = (*batch, *free_a, *free_b)
    return made, reshape(matmul(left, right), tuple(sizes[label] for label in made))


def _order(output: Labels) -> Any:
    """A sorting key: the place in the output, behind it what is not there."""
    place = {label: k for k, label in enumerate(output)}
    return lambda label: place.get(label, len(place))


def _spread(x: Array, labels: Labels, space: tuple[Label, ...]) -> Array:
    """x over the axes of a space in that order, with size 1 where it has none."""
    order = tuple(labels.index(label) for label in space if label in labels)
    sizes = iter(x.shape[k] for k in order)
    return reshape(permute_dims(x, order), tuple(next(sizes) if label in labels else 1 for label in space))


def _grouped(
    x: Array, labels: Labels, batch: list[Label], rows: list[Label], columns: list[Label], copy: bool
) -> Array | None:
    """x as (batch.., rows, columns), each of these two one axis; None where that needs a copy and none is wanted."""
    moved = permute_dims(x, tuple(labels.index(label) for label in (*batch, *rows, *columns)))
    cut = len(batch)
    shape = (
        *moved.shape[:cut],
        prod(moved.shape[cut : cut + len(rows)]),
        prod(moved.shape[cut + len(rows) :]),
    )
    seen = lo.reshape(moved._layout, shape)
    if seen is None:
        return reshape(copy_of(moved), shape) if copy else None
    return view(moved, seen)
