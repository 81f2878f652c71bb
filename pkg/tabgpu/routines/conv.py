"""How a convolution becomes launches: its tile by size, pieces of k, the words of conv.wgsl. Texts: codegen_conv.py.

A convolution is a product (plan.py joins what follows) whose `fn` is "conv" and whose `extra` is (batch, m, n, k, form,
words): Form below, and the kernel's own words but for what is decided here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..codegen import Region
from ..codegen_conv import WORDS, Conv, convolution
from ..codegen_product import WORDS as SUM_WORDS
from ..codegen_product import Sum, added
from ..errors import LimitError
from ..graph import SCALAR, Op, nbytes_of
from ..kernels.conv_direct_inner import TAPS
from ..kernels.gemm_tiles import Side, choose
from ..launch import Launch
from ..lower_product import FORMS, Pieces
from ..lower_wide import wide
from ..plan import Group
from ..region import U32, Facts, Numbering, Recipe, bits, grid, kernel_for, recipes, remember, tail
from . import conv_direct

LONGEST = 32768  # terms that one launch adds, as in products
HEAVY = 1 << 25  # multiplications that pay for the largest blocks there
SPREAD = 64  # threads that keep the cores of a CPU adapter busy, four at a time
ENOUGH = 16384  # threads that work alone and keep a large GPU busy


class Form(NamedTuple):
    """What of a convolution the text depends on, besides its tile."""

    rank: int
    padded: bool
    phases: bool
    linear: bool  # term t of a row of A lies t behind its first
    quads: bool  # four terms of A from a multiple of four on are neighbours
    a_along_k: bool
    b_along_k: bool


class Way(NamedTuple):
    """How a convolution is shared out."""

    name: str
    params: dict[str, Any]
    tiles: int
    pieces: int
    piece: int


def lower_conv(group: Group, facts: Facts) -> list[Launch]:
    """The launches of a convolution and what follows it; LimitError if an operand does not fit a binding."""
    core = group.core
    assert core is not None
    post = Numbering(group).walk(core)
    a, b = core.args
    outs = post.outs(group.outs)
    key = (facts, "conv", core.dtype, a.dtype, b.dtype, core.extra, post.key(), outs)
    recipe = recipes.get(key)
    if recipe is None:
        for op in (a, b, core):
            if nbytes_of(op) + 16 > facts.binding:
                raise LimitError(
                    f"convolution: an operand or result {op.shape} of {nbytes_of(op):,} bytes is larger than the "
                    f"device's storage binding limit of {facts.binding:,} bytes; work on fewer images or channels"
                )
        if not wide([*post.reads, *group.outs], facts):
            recipe = _recipe(group, post, facts)
        remember(key, recipe)
    if recipe is None:
        return _apart(group, facts)
    if isinstance(recipe, Pieces):
        sums = Op(SCALAR, None, (), (), (recipe.size,), core.dtype)
        one, two = recipe.first, recipe.second
        behind = (sums, *post.reads)
        return [
            Launch(one.kernel, (a, b), (sums,), one.grid, one.words),
            Launch(two.kernel, behind, tuple(group.outs), two.grid, two.words + post.scalars),
        ]
    reads = (a, b, *post.reads)
    return [Launch(recipe.kernel, reads, tuple(group.outs), recipe.grid, recipe.words + post.scalars)]


def _apart(group: Group, facts: Facts) -> list[Launch]:
    """The convolution in a launch of its own, then the rest."""
    from ..lower import lower_elementwise

    core = group.core
    alone, rest = (Group(group.shape, group.size, group.budget) for _ in range(2))
    assert core is not None
    alone.core, alone.outs = core, [core]
    rest.members, rest.viewed = group.members, group.viewed
    rest.outs = [op for op in group.outs if op is not core]
    return lower_conv(alone, facts) + lower_elementwise(rest, facts)


def _recipe(group: Group, post: Numbering, facts: Facts) -> Recipe | Pieces | None:
    """The recipe of a group; None where its kernel cannot store what follows."""
    core = group.core
    assert core is not None
    a, b = core.args
    form = Form(*core.extra[4])
    kind, packed = core.dtype.kind, any(op.dtype.per_word != 1 for op in group.outs)
    way = shared(core.extra, FORMS.get(a.dtype.name, ""), core.size, facts, packed)
    _, region, rank, more = tail(group, post)
    words = list(core.extra[5])
    words[6] = way.piece
    words[36:39] = [bits(1 / max(n, 1), "f") for n in words[28:31]]
    words = [w & U32 for w in words]

    def kernel(region: Region, rank: int, inputs: int) -> Any:
        params = {**way.params, "RANK": form.rank, "PADDED": form.padded, "PHASES": form.phases}
        level = form.padded and form.rank > 1 and core.extra[5][18] % 4 == 0
        linear = form.linear and not way.params["ALONE"]  # a thread alone makes the address anyway
        params |= {"LEVEL": level, "A_LINEAR": linear, "LONG": core.extra[3] >= 1 << 22}
        forms = FORMS.get(a.dtype.name, ""), FORMS.get(b.dtype.name, "")
        sig = Conv(kind, forms, tuple(params.items()), region, rank, inputs)
        read = "_".join(dict.fromkeys(f or f"{kind}32" for f in forms))
        return kernel_for(sig, convolution, f"conv_{read}_{way.name}", 0)

    groups = -(-way.tiles // (way.params["NT"] if way.params["ALONE"] else 1))
    shape = grid(groups, facts.groups)
    if way.pieces > 1:
        bare = Region((), (), ((3, core.dtype),), 0)
        sig = Sum(kind, facts.workgroup, region, rank, len(post.reads))
        adding = kernel_for(sig, added, f"product_sum_{kind}32", facts.workgroup)
        start = [core.size, way.pieces, *[0] * (SUM_WORDS - 2)]
        quads = grid(-(-core.size // (4 * facts.workgroup)), facts.groups)
        first = Recipe(kernel(bare, 0, 0), shape, words)
        return Pieces(first, Recipe(adding, quads, start + more), core.size * way.pieces)
    if packed and not way.params["N4"]:
        return None
    assert len(words) == WORDS
    return Recipe(kernel(region, rank, len(post.reads)), shape, words + more)


def shared(extra: tuple[Any, ...], a_form: str, size: int, facts: Facts, packed: bool = False) -> Way:
    """Tiles of workgroups, as products have them, or threads that work alone: where there are few rows or columns, and
    on CPU adapters. packed: results are of less than 32 bits."""
    (ys,), m, n, k = extra[:4]
    form, words = Form(*extra[4]), extra[5]
    steps = (words[8], words[9], words[10], words[15])  # of A: rows, groups, images, the term's channel
    quads = form.quads and k % 4 == 0 and not any(s % 4 for s in steps)
    most = min(64, (facts.binding - 16) // (4 * size)) if size <= 1 << 22 else 1  # pieces that memory holds
    common = {"N4": n % 4 == 0 and not form.phases, "A_VEC": quads}
    if facts.software or min(m, n) <= 8:
        bm, bn = _block(m, n, k, ys) if facts.software else (1 if m < 2 else 2 if m < 4 else 4, 4)
        threads = -(-m // bm) * -(-n // bn) * ys
        pieces = -(-k // LONGEST)
        if threads < ENOUGH and not facts.software:
            pieces = max(pieces, min(k // 64, ENOUGH // threads))
        pieces = max(1, min(pieces, most))
        piece = -(-k // pieces) + 3 & ~3
        pieces = -(-k // piece)
        fours = bm % 4 == 0 and not facts.software
        params = {"BM": bm, "BN": bn, "NT": 4 if facts.software else 64, "ALONE": True, **common}
        params |= {"FOURS": fours, "A_VEC": quads and fours}
        return Way(f"a{bm}x{bn}", params, threads * pieces, pieces, piece)
    direct = conv_direct.plan(extra, most, facts, packed)
    if direct:
        return _direct(direct, extra, quads)
    side = Side((*steps[1:], steps[0], 1) if quads else (1, 3, 3), 0, a_form)
    try:
        choice = choose(m, n, k, ys, side, Side((1, 3), 1), facts.limits, False)
    except ValueError as error:  # limits below what WebGPU guarantees
        raise LimitError(str(error)) from None
    params = dict(choice.params)
    pieces, piece = choice.pieces, choice.piece
    if pieces > most:
        piece = -(-k // most) + 63 & ~63
        pieces = -(-k // piece)
    params.pop("B_VEC")
    params |= common | {"ALONE": False, "A_ALONG_K": quads or form.a_along_k, "B_ALONG_K": form.b_along_k}
    params["A_VEC"] = quads
    params["NT"] = params["BM"] // params["TM"] * (params["BN"] // params["TN"]) * params["SLICES"]
    tiles = -(-m // params["BM"]) * -(-n // params["BN"]) * ys
    return Way(choice.name.partition("_")[0], params, tiles * pieces, pieces, piece)


def _direct(plan: conv_direct.Plan, extra: tuple[Any, ...], quads: bool) -> Way:
    """Tiles of pixels; channels in are cut where stages of them end."""
    (ys,), m, _, k = extra[:4]
    (rows, columns), (span, pieces) = extra[5][17:19], plan
    stage = TAPS * span.deep
    piece = -(-k // (stage * pieces)) * stage
    pieces = -(-k // piece)
    params = conv_direct.params(span, columns) | {"A_VEC": quads}
    return Way(span.name, params, conv_direct.groups(span, rows, columns, m, ys) * pieces, pieces, piece)


def _block(m: int, n: int, k: int, ys: int) -> tuple[int, int]:
    """Rows and columns of a thread of a CPU adapter: reads cost it more than sums, but cores want some threads each,
    and large blocks take some compilers seconds."""
    for bm, bn, least, work in ((16, 16, 12, HEAVY), (8, 16, 5, HEAVY // 64), (4, 8, 2, 0)):
        if m >= least and m * n * k * ys >= work and -(-m // bm) * -(-n // bn) * ys >= SPREAD:
            return bm, bn
    return (1, 8) if m == 1 else (4, 8)
