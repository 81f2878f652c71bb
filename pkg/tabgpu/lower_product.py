"""A matrix product and what follows it -> one gemm launch, or pieces of one. Which tile: kernels/gemm_tiles.py."""

from __future__ import annotations

from typing import Any

from . import codegen
from .codegen import Product, Region
from .errors import LimitError
from .kernels.gemm_tiles import choose
from .launch import Kernel, Launch
from .layout import Shape, collapse
from .lower_wide import wide
from .plan import Group
from .region import U32, Facts, Numbering, Recipe, grid, kernel_for, recipes, remember, tail


def lower_product(group: Group, facts: Facts) -> list[Launch]:
    """`core.extra` is (batch shape, m, n, k); its views have batch axes, rows, columns."""
    core = group.core
    assert core is not None
    post = Numbering(group).walk(core)
    a, b = core.args
    key = (facts, "product", core.dtype, core.extra, core.views, post.key(), post.outs(group.outs))
    recipe = recipes.get(key)
    if recipe is None:
        if wide([a, b, *post.reads, *group.outs], facts):
            from .lower_product_wide import lower_wide_product  # rarely needed

            return lower_wide_product(group, post, facts)
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
    dims, sa, sb = batches(batch, la.strides[:-2], lb.strides[:-2])
    _, region, rank, more = tail(group, post)
    kernel, tiles, words = product(
        core.dtype.kind, (m, n, k), dims, (la.offset, *sa, *la.strides[-2:]), (lb.offset, *sb, *lb.strides[-2:]),
        region, rank, len(post.reads), facts,
    )  # fmt: skip
    return Recipe(kernel, grid(tiles, facts.groups), words + more)


def batches(batch: Shape, sa: Shape, sb: Shape) -> tuple[Shape, Shape, Shape]:
    """Three batch axes, and the strides of A and B along them."""
    dims, (sa, sb) = collapse(batch, [sa, sb]) if batch else ((), [(), ()])
    if len(dims) > 3:
        raise LimitError(f"matmul: batch axes {batch} do not merge to 3; make the operands contiguous")
    zero = (0,) * (3 - len(dims))
    return (1,) * len(zero) + dims, (*zero, *sa), (*zero, *sb)


def product(
    kind: str, sizes: Shape, dims: Shape, a_walk: Shape, b_walk: Shape, region: Region, rank: int, inputs: int,
    facts: Facts,
) -> tuple[Kernel, int, list[int]]:  # fmt: skip
    """(kernel, workgroups, first 20 words) of one gemm launch. Walks: offset, three batch strides, two more."""
    m, n, k = sizes
    count = dims[0] * dims[1] * dims[2]
    offsets = a_walk[0], b_walk[0]
    try:
        choice: dict[str, Any] = choose(
            m, n, k, count, a_walk[1:], b_walk[1:], offsets, facts.limits, facts.software
        )
    except ValueError as error:  # limits below what WebGPU guarantees
        raise LimitError(str(error)) from None
    tile = (("params", tuple(choice["params"].items())), ("unroll", tuple(choice["unroll"].items())))
    sig = Product(kind, region, rank, inputs, tile)
    kernel = kernel_for(sig, codegen.product, f"gemm_{kind}32_{choice['name']}", 0)
    words = [m, n, k, count, a_walk[0], *a_walk[4:], 0, b_walk[0], *b_walk[4:], 0]
    words += [*a_walk[1:4], dims[1], *b_walk[1:4], dims[2]]
    return kernel, choice["tiles"], [w & U32 for w in words]
