"""A matrix product and what follows it -> one gemm launch. Which tile: kernels/gemm_tiles.py."""

from __future__ import annotations

from typing import Any

from . import codegen
from .codegen import Product
from .errors import LimitError
from .kernels.gemm_tiles import choose
from .launch import Launch
from .layout import collapse
from .lower import U32, Facts, Numbering, Recipe, _recipes, grid, kernel_for, remember, tail, too_wide, wide
from .plan import Group


def lower_product(group: Group, facts: Facts) -> list[Launch]:
    """`core.extra` is (batch shape, m, n, k); its views have batch axes, rows, columns."""
    core = group.core
    assert core is not None
    post = Numbering(group).walk(core)
    a, b = core.args
    key = (facts, "product", core.dtype, core.extra, core.views, post.key(), post.outs(group.outs))
    recipe = _recipes.get(key)
    if recipe is None:
        if wide([a, b, *post.reads, *group.outs], facts):
            raise too_wide("matmul", [a, b, *post.reads, *group.outs], facts, "whole operands")
        recipe = _recipe(group, post, facts)
        remember(key, recipe)
    reads = (a, b, *post.reads)
    return [Launch(recipe.kernel, reads, tuple(group.outs), recipe.grid, recipe.words + post.scalars)]


def _recipe(group: Group, post: Numbering, facts: Facts) -> Recipe:
    core = group.core
    assert core is not None
    batch, m, n, k = core.extra
    la, lb = core.views
    assert la is not None and lb is not None
    dims, (sa, sb) = collapse(batch, [la.strides[:-2], lb.strides[:-2]]) if batch else ((), [(), ()])
    if len(dims) > 3:
        raise LimitError(f"matmul: batch axes {batch} do not merge to 3; make the operands contiguous")
    zero = (0,) * (3 - len(dims))
    d, sa, sb = (1,) * (3 - len(dims)) + dims, (*zero, *sa), (*zero, *sb)
    count = d[0] * d[1] * d[2]
    a_walk, b_walk = (*sa, *la.strides[-2:]), (*sb, *lb.strides[-2:])
    choice: dict[str, Any] = choose(
        m, n, k, count, a_walk, b_walk, (la.offset, lb.offset), facts.limits, facts.software
    )
    _, region, rank, more = tail(group, post)
    tile = (("params", tuple(choice["params"].items())), ("unroll", tuple(choice["unroll"].items())))
    kind = core.dtype.kind
    sig = Product(kind, region, rank, len(post.reads), tile)
    kernel = kernel_for(sig, codegen.product, f"gemm_{kind}32_{choice['name']}", 0)
    words = [m, n, k, count, la.offset, *la.strides[-2:], 0, lb.offset, *lb.strides[-2:], 0]
    words += [*sa, d[1], *sb, d[2], *more]
    return Recipe(kernel, grid(choice["tiles"], facts.groups), [w & U32 for w in words])
