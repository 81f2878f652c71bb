"""In which order einsum contracts more than two operands: opt_einsum's path where it is installed, else our own.

Up to five operands: the cheapest order of all. More: the pair that shrinks memory most, step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

from .subscripts import Label, Labels

Path = list[tuple[int, ...]]
FEW = 5


def contraction_path(terms: Sequence[Labels], output: Labels, sizes: dict[Label, int]) -> Path:
    """Positions to contract, step after step; each result goes to the end of the list."""
    if len(terms) <= 2:
        return [tuple(range(len(terms)))]
    found = _opt_einsum(terms, output, sizes)
    return own_path(terms, output, sizes) if found is None else found


def own_path(terms: Sequence[Labels], output: Labels, sizes: dict[Label, int]) -> Path:
    """The path without opt_einsum."""
    sets = [frozenset(t) for t in terms]
    if len(terms) <= FEW:
        path: Path = _cheapest(sets, frozenset(output), sizes, {})[1]
        return path
    return _greedy(sets, frozenset(output), sizes)


def _opt_einsum(terms: Sequence[Labels], output: Labels, sizes: dict[Label, int]) -> Path | None:
    try:
        import opt_einsum  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    symbol = {x: opt_einsum.get_symbol(k) for k, x in enumerate(sizes)}
    text = ",".join("".join(symbol[x] for x in t) for t in terms) + "->" + "".join(symbol[x] for x in output)
    shapes = [tuple(sizes[x] for x in t) for t in terms]
    path: Any = opt_einsum.contract_path(text, *shapes, shapes=True)[0]
    return [tuple(step) for step in path]


Sets = list[frozenset[Label]]


def _step(sets: Sets, output: frozenset[Label], i: int, j: int) -> tuple[frozenset[Label], Sets]:
    """What a pair gives, and the list behind that step."""
    rest = [s for k, s in enumerate(sets) if k not in (i, j)]
    kept = output.union(*rest)
    made = (sets[i] | sets[j]) & kept
    return made, [*rest, made]


def _size(labels: frozenset[Label], sizes: dict[Label, int]) -> int:
    return prod(sizes[x] for x in labels)


def _cheapest(sets: Sets, output: frozenset[Label], sizes: dict[Label, int], known: dict[Any, Any]) -> Any:
    """(multiplications, path) of the best order."""
    if len(sets) == 1:
        return 0, []
    key = tuple(sets)
    if key not in known:
        options = []
        for i, j in combinations(range(len(sets)), 2):
            _, behind = _step(sets, output, i, j)
            cost, path = _cheapest(behind, output, sizes, known)
            options.append((cost + _size(sets[i] | sets[j], sizes), [(i, j), *path]))
        known[key] = min(options, key=lambda option: option[0])
    return known[key]


def _greedy(sets: Sets, output: frozenset[Label], sizes: dict[Label, int]) -> Path:
    path: Path = []
    while len(sets) > 1:
        best: Any = None
        for i, j in combinations(range(len(sets)), 2):
            made, _ = _step(sets, output, i, j)
            grown = _size(made, sizes) - _size(sets[i], sizes) - _size(sets[j], sizes)
            rank = (not sets[i] & sets[j], grown, _size(sets[i] | sets[j], sizes))
            if best is None or rank < best[0]:
                best = rank, i, j
        _, i, j = best
        path.append((i, j))
        _, sets = _step(sets, output, i, j)
    return path
