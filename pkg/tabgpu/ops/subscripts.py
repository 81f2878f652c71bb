"""What an einsum call says: subscripts and sublists parsed and checked against shapes, with NumPy's rules and errors.

A label is a letter, or an int for an axis that an ellipsis stands for (-1 the last of them).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import index as as_index
from typing import Any

from ..layout import Shape

Label = str | int
Labels = tuple[Label, ...]


def parse(subscripts: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Labels of each operand and of the result."""
    text = subscripts.replace(" ", "")
    wrong = re.sub(r"[A-Za-z.,]|->", "", text)
    if wrong:
        raise ValueError(
            f"einsum: invalid subscript {wrong[0]!r} in {subscripts!r}: subscripts are letters, ',', '...' and '->'"
        )
    left, arrow, right = text.partition("->")
    if "->" in right or "," in right:
        raise ValueError(f"einsum: {subscripts!r} must have one '->' with one result behind it")
    parts = left.split(",")
    if len(parts) != len(ranks):
        few = "fewer" if len(ranks) < len(parts) else "more"
        raise ValueError(
            f"einsum: {few} operands provided than specified in the subscripts string: {len(ranks)} for {subscripts!r}"
        )
    split = [_pieces(p, subscripts) for p in parts]
    return _resolve(split, ranks, _pieces(right, subscripts) if arrow else None, repr(subscripts))


def _pieces(part: str, whole: str) -> list[Any]:
    """Letters and Ellipsis of one operand."""
    before, dots, behind = part.partition("...")
    if "." in before or "." in behind:
        raise ValueError(f"einsum: {whole!r} has a '.' that is not part of one '...' an operand")
    return [*before, *((Ellipsis,) if dots else ()), *behind]


def from_sublist(items: Any, where: str) -> str:
    """A sublist of integers below 52 and Ellipsis as subscripts."""
    made = ""
    for item in items:
        k = -1 if item is Ellipsis else as_index(item)
        if item is not Ellipsis and not 0 <= k < 52:
            raise ValueError(f"einsum: {where}: subscripts are integers from 0 to 51, not {k}")
        made += "..." if k < 0 else chr(ord("A") + k) if k < 26 else chr(ord("a") + k - 26)
    return made


def _resolve(
    inputs: list[list[Any]], ranks: Sequence[int], output: list[Any] | None, text: str
) -> tuple[list[Labels], Labels]:
    """Ellipses replaced by the axes that they stand for; the result of the implicit form."""
    terms: list[Labels] = []
    widest = 0
    for k, (items, rank) in enumerate(zip(inputs, ranks, strict=True)):
        named = len(items) - items.count(Ellipsis)
        if named > rank:
            raise ValueError(
                f"einsum: {text} contains too many subscripts for operand {k}, which has {rank} axes"
            )
        if named < rank and Ellipsis not in items:
            raise ValueError(
                f"einsum: operand {k} has {rank} axes, more than {text} names, but no '...' ellipsis for the others"
            )
        extra = rank - named
        if Ellipsis in items:
            widest = max(widest, extra)
        terms.append(_expand(items, extra))
    dots = tuple(range(-widest, 0))
    letters = [x for term in terms for x in term if isinstance(x, str)]
    if output is None:
        return terms, (*dots, *sorted(x for x in set(letters) if letters.count(x) == 1))
    for x in output:
        if x is not Ellipsis and output.count(x) > 1:
            raise ValueError(f"einsum: {text} includes output subscript {x!r} multiple times")
        if x is not Ellipsis and x not in letters:
            raise ValueError(
                f"einsum: {text} includes output subscript {x!r}, which never appears in an input"
            )
    if widest and Ellipsis not in output:
        raise ValueError(f"einsum: the output of {text} needs '...' for {widest} broadcast dimensions")
    return terms, _expand(output, widest)


def _expand(items: list[Any], extra: int) -> Labels:
    made: list[Label] = []
    for x in items:
        made += range(-extra, 0) if x is Ellipsis else (x,)
    return tuple(made)


def sizes_of(terms: Sequence[Labels], shapes: Sequence[Shape], text: str) -> dict[Label, int]:
    """The size of each label; size-1 axes broadcast. ValueError naming the label and both sizes."""
    sizes: dict[Label, int] = {}
    for labels, shape in zip(terms, shapes, strict=True):
        for x, n in zip(labels, shape, strict=True):
            have = sizes.setdefault(x, n)
            if have == 1:
                sizes[x] = n
            elif n not in (1, have):
                named = f"{x!r}" if isinstance(x, str) else "'...'"
                raise ValueError(
                    f"einsum: operands could not be broadcast together: {named} of {text} is {have} and {n} "
                    f"in shapes {', '.join(map(str, shapes))}"
                )
    return sizes
