"""A matrix product and what follows it -> launches. Which kernel: kernels/gemm_tiles.py; their text: codegen_product.

One launch, or two where k is cut in pieces: the second adds them up and does what follows.
"""

from __future__ import annotations

from typing import NamedTuple

from .codegen import Region
from .codegen_product import WORDS, Product, Sum, added, product
from .errors import LimitError
from .graph import SCALAR, Op
from .kernels.gemm_tiles import Choice, Side, choose
from .launch import Kernel, Launch
from .layout import Shape, collapse
from .lower_wide import refused, wide
from .plan import Group
from .region import U32, Facts, Numbering, Recipe, grid, kernel_for, recipes, remember, tail

FORMS = {"float16": "f16", "bfloat16": "bf16"}


class Walk(NamedTuple):
    """How an operand is read: first element, strides along three batch axes, rows, columns; its dtype's name, or
    "quant." and a format of quantised weights (in whose bytes elements count as weights)."""

    offset: int
    strides: Shape
    dtype: str

    @property
    def side(self) -> Side:
        return Side(self.strides, self.offset, self.dtype if self.dtype in FORMS else "")

    @property
    def form(self) -> str:
        return self.dtype[6:] if self.dtype.startswith("quant.") else FORMS.get(self.dtype, "")


class Pieces(NamedTuple):
    """Two launches without their buffers and scalars, and the elements of what stands between them."""

    first: Recipe
    second: Recipe
    size: int


def lower_product(group: Group, facts: Facts) -> list[Launch]:
    """`core.extra` is (batch shape, m, n, k); its views have batch axes, rows, columns; `core.fn` is None, or how B is
    quantised ("quant.q8_0")."""
    core = group.core
    assert core is not None
    post = Numbering(group).walk(core)
    a, b = core.args
    outs = post.outs(group.outs)
    key = (facts, "product", core.fn, core.dtype, a.dtype, b.dtype, core.extra, core.views, post.key(), outs)
    recipe = recipes.get(key)
    if recipe is None:
        if wide([a, b, *post.reads, *group.outs], facts):
            if any(op.dtype.per_word != 1 for op in group.outs) or (core.fn and group.members):
                return _apart(group, facts)
            if core.fn:
                raise refused(f"matmul {core.fn}", [a, b, core], facts, "whole")
            from .lower_product_wide import lower_wide_product  # rarely needed

            return lower_wide_product(group, post, facts)
        recipe = _recipe(group, post, facts)
        remember(key, recipe)
    if recipe is None:
        return _apart(group, facts)
    if isinstance(recipe, Pieces):
        sums = Op(SCALAR, None, (), (), (recipe.size,), core.dtype)
        first, second = recipe.first, recipe.second
        return [
            Launch(first.kernel, (a, b), (sums,), first.grid, first.words),
            Launch(
                second.kernel,
                (sums, *post.reads),
                tuple(group.outs),
                second.grid,
                second.words + post.scalars,
            ),
        ]
    reads = (a, b, *post.reads)
    return [Launch(recipe.kernel, reads, tuple(group.outs), recipe.grid, recipe.words + post.scalars)]


def _recipe(group: Group, post: Numbering, facts: Facts) -> Recipe | Pieces | None:
    """The recipe of a group; None where its kernel cannot store what follows."""
    core = group.core
    assert core is not None
    batch, m, n, k = core.extra
    la, lb = core.views
    assert la is not None and lb is not None
    dims, sa, sb = batches(batch, la.strides[:-2], lb.strides[:-2])
    a = Walk(la.offset, (*sa, *la.strides[-2:]), core.args[0].dtype.name)
    b = Walk(lb.offset, (*sb, *lb.strides[-2:]), core.fn or core.args[1].dtype.name)
    kind = core.dtype.kind
    choice, words = chosen((m, n, k), dims, a, b, facts)
    _, region, rank, more = tail(group, post)
    if choice.pieces > 1:
        size = core.size
        bare = Region((), (), ((3, core.dtype),), 0)
        first = Recipe(kernel_of(choice, kind, a, b, bare, 0, 0), grid(choice.groups, facts.groups), words)
        sig = Sum(kind, facts.workgroup, region, rank, len(post.reads))
        kernel = kernel_for(sig, added, f"product_sum_{kind}32", facts.workgroup)
        groups = -(-size // (4 * facts.workgroup))
        start = [size, choice.pieces, *[0] * (WORDS - 2)]
        return Pieces(first, Recipe(kernel, grid(groups, facts.groups), start + more), size * choice.pieces)
    if not choice.params["N4"] and any(op.dtype.per_word != 1 for op in group.outs):
        return None
    kernel = kernel_of(choice, kind, a, b, region, rank, len(post.reads))
    return Recipe(kernel, grid(choice.groups, facts.groups), words + more)


def _apart(group: Group, facts: Facts) -> list[Launch]:
    """The product in a launch of its own, then the rest."""
    from .lower import lower_elementwise

    core = group.core
    assert core is not None
    alone, rest = (Group(group.shape, group.size, group.budget) for _ in range(2))
    alone.core, alone.outs = core, [core]
    rest.members, rest.outs, rest.viewed = (
        group.members,
        [op for op in group.outs if op is not core],
        group.viewed,
    )
    return lower_product(alone, facts) + lower_elementwise(rest, facts)


def batches(batch: Shape, sa: Shape, sb: Shape) -> tuple[Shape, Shape, Shape]:
    """Three batch axes, and the strides of A and B along them."""
    dims, (sa, sb) = collapse(batch, [sa, sb]) if batch else ((), [(), ()])
    if len(dims) > 3:
        raise LimitError(f"matmul: batch axes {batch} do not merge to 3; make the operands contiguous")
    zero = (0,) * (3 - len(dims))
    return (1,) * len(zero) + dims, (*zero, *sa), (*zero, *sb)


def chosen(
    sizes: Shape, dims: Shape, a: Walk, b: Walk, facts: Facts, cut: bool = True
) -> tuple[Choice, list[int]]:
    """The variant and the words of its kernel."""
    m, n, k = sizes
    count = dims[0] * dims[1] * dims[2]
    try:
        choice = choose(
            m, n, k, count, a.side, b.side, facts.limits, facts.software, features=facts.features, cut=cut
        )
    except ValueError as error:  # limits below what WebGPU guarantees
        raise LimitError(str(error)) from None
    words = [m, n, k, count, a.offset, *a.strides[3:], 0, b.offset, *b.strides[3:], 0]
    words += [*a.strides[:3], dims[1], *b.strides[:3], dims[2], choice.piece, choice.pieces, 0, 0]
    return choice, [w & U32 for w in words]


def kernel_of(choice: Choice, kind: str, a: Walk, b: Walk, region: Region, rank: int, inputs: int) -> Kernel:
    """The kernel of a variant with its epilogue."""
    forms = a.form, b.form
    params, unroll = tuple(choice.params.items()), tuple(choice.unroll.items())
    sig = Product(choice.kernel, kind, forms, params, unroll, region, rank, inputs)
    read = "_".join(dict.fromkeys(f or f"{kind}32" for f in forms))
    return kernel_for(sig, product, f"{choice.kernel}_{read}_{choice.name}", 0)
