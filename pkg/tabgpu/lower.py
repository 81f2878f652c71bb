"""Groups -> Launches: elementwise ones here; cores in lower_reduction, lower_product, routines; the wide in lower_wide.

What depends on structure and shapes alone (kernel, grid, parameter words but scalars) is a Recipe, found again by key.
"""

from __future__ import annotations

from . import codegen, lower_wide, routines
from .codegen import Elementwise
from .dtypes import DType
from .errors import LimitError
from .graph import IOTA, KERNEL, MATMUL, REDUCE
from .launch import Kernel, Launch
from .layout import collapse
from .lower_product import lower_product
from .lower_reduction import lower_reduction
from .plan import Group
from .region import U32, Facts, Numbering, Recipe, grid, kernel_for, recipes, remember
from .windows import TooWide

MAX_SIZE = (1 << 32) - (1 << 16)  # element positions are u32


def lower(group: Group, facts: Facts) -> list[Launch]:
    """The launches of one group."""
    size = group.size if group.pre is None else max(group.size, group.pre.size)
    if size > MAX_SIZE:
        raise LimitError(f"an operation over {size:,} elements: at most {MAX_SIZE:,} are addressable")
    if not group.size:
        return [Launch(NOTHING, (), tuple(group.outs), (0, 0, 0), [])]
    core = group.core
    if core is None:
        return lower_elementwise(group, facts)
    if core.kind == REDUCE:
        return lower_reduction(group, facts)
    if core.kind == KERNEL:
        return routines.lower(core, facts)
    assert core.kind == MATMUL
    if core.fn == "conv":
        from .routines.conv import lower_conv  # its tables: only for programs that convolve

        return lower_conv(group, facts)
    return lower_product(group, facts)


NOTHING = Kernel("nothing", "", "", 1)  # nothing to compute, but an output to exist


def lower_elementwise(group: Group, facts: Facts) -> list[Launch]:
    numbers = Numbering(group).walk()
    outs = numbers.outs(group.outs)
    key = (facts, group.shape, numbers.key(), outs)
    recipe = recipes.get(key)
    if recipe is None:
        made = _elementwise(group, numbers, outs, facts)
        if isinstance(made, list):
            return made
        remember(key, recipe := made)
    return [
        Launch(
            recipe.kernel,
            tuple(numbers.reads),
            tuple(group.outs),
            recipe.grid,
            recipe.words + numbers.scalars,
        )
    ]


def _elementwise(
    group: Group, numbers: Numbering, outs: tuple[tuple[int, DType], ...], facts: Facts
) -> Recipe | list[Launch]:
    """The recipe of a group, or its launches where bindings are too small for whole buffers."""
    layouts = numbers.layouts()
    dims, strides = collapse(group.shape, [v.strides for v in layouts])
    walks = [(v.offset, s) for v, s in zip(layouts, strides, strict=True)]
    words = [0, group.size, 0, 0]
    rank = -1
    names = "_".join(dict.fromkeys(fn.name for fn, _ in numbers.nodes[-4:])) + "_" + outs[0][1].name
    wide = lower_wide.wide([*numbers.reads, *group.outs], facts)
    if len(dims) <= 1 and all(
        s in ((), (0,)) or (s == (1,) and not offset & 3) or (a.kind == IOTA and a.buffer is None)
        for (a, _), (offset, s) in zip(numbers.accesses, walks, strict=True)
    ):
        splats = [s in ((), (0,)) for _, s in walks]
        for offset, s in walks:
            words += (offset & U32, s[0] & U32 if s else 0)
        region = codegen.as_bits(numbers.region(outs, splats))
        sig = Elementwise(region, -1, len(numbers.reads), facts.workgroup)
        label = names + "_flat"
    else:
        from . import lower_strided  # only when an operand is not contiguous

        recipe = None if wide else lower_strided.tiles(names, numbers, outs, dims, walks, facts)
        if recipe is not None:
            return recipe
        rank = len(dims)
        sig, more = lower_strided.rows(numbers, outs, dims, walks, facts)
        words += more
        label = f"{names}_rank{rank}"
    kernel = kernel_for(sig, codegen.elementwise, label, facts.workgroup)
    each = 4 * facts.workgroup * codegen.fold(sig.region)  # elements a workgroup
    if wide:
        whole = words + numbers.scalars
        try:
            return lower_wide.cut_elementwise(
                numbers, walks, dims, kernel, whole, group.outs, facts, rank, each
            )
        except TooWide as error:
            first, copies = lower_wide.spread(numbers, group.shape, facts)
            if not first:
                raise lower_wide.refused(label, [*numbers.reads, *group.outs], facts, error) from None
        made = _elementwise(group, copies, outs, facts)
        if isinstance(made, Recipe):
            words = made.words + copies.scalars
            made = [Launch(made.kernel, tuple(copies.reads), tuple(group.outs), made.grid, words)]
        return first + made
    return Recipe(kernel, grid(-(-group.size // each), facts.groups), words)
