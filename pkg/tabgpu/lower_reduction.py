"""A reduction and what is fused before and behind it -> one launch; two where an axis is too long for a workgroup."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

from . import codegen_reduction, windows
from .codegen import Region
from .codegen_reduction import ACROSS, ALONG, GENERAL, Reduction
from .dtypes import BY_KIND
from .graph import SCALAR, Op
from .launch import Kernel, Launch
from .layout import Shape, collapse
from .lower_wide import TooWide, Walks, begin, refused, spread, union, wide, window
from .plan import Group
from .region import U32, Facts, Numbering, grid, kernel_for, recipes, remember, tail

CHUNK = 16384  # elements of a long axis for one workgroup
LONGEST = 262144  # an axis up to this stays with one workgroup where there are outputs enough
ENOUGH = 512  # workgroups that keep a GPU busy without cutting an axis
BUSY = 65536  # threads from which on more would only have less to do each
THREADS = 1024  # that a CPU adapter should have to do
WORTH = 32768  # elements from which on it pays to make more of them, and a second launch
PIECE = 16384  # elements that one of its threads adds at most


class Steps(NamedTuple):
    """A reduction without its buffers and scalars: pass 1 (None: all in one) and the last pass."""

    first: tuple[Kernel, tuple[int, int, int], list[int]] | None
    last: tuple[
        Kernel, tuple[int, int, int], list[int], list[int]
    ]  # words before and behind pass 1's scalars
    partials: int  # elements an output in the partial buffers
    cut: Any  # how to cut both passes into windows, if their buffers are too wide


class Walk(NamedTuple):
    """How pass 1 goes through its accesses: kept and reduced sizes, and (offset, kept, reduced strides) each."""

    kept: Shape
    reduced: Shape
    strides: list[tuple[int, Shape, Shape]]
    way: str
    splats: list[bool]  # accesses of which one element serves for four
    words: list[int]


class Share(NamedTuple):
    """How the reduced axis of each output is shared out."""

    chunks: int
    chunk: int  # elements
    lanes: int  # threads


def lower_reduction(group: Group, facts: Facts) -> list[Launch]:
    """`core.extra` is the number of leading axes that stay."""
    core, before = group.core, group.pre
    assert core is not None and before is not None
    source = core.args[0]
    pre = Numbering(before).walk(last=(source, core.views[0]))
    ref = pre.index.get(source)
    if ref is None:
        ref = pre.access(source, core.views[0])
    post = Numbering(group).walk(core)
    try:
        return _launches(group, pre, ref, post, facts)
    except TooWide:
        pass
    first, copies = spread(pre, before.shape, facts)
    more, post = spread(post, group.shape, facts)
    try:
        return first + more + _launches(group, copies, ref, post, facts)
    except TooWide as error:
        ops = [*pre.reads, *post.reads, *group.outs]
        raise refused(f"{core.fn.name}_{core.fn.kind}32", ops, facts, error) from None


def _launches(group: Group, pre: Numbering, ref: int, post: Numbering, facts: Facts) -> list[Launch]:
    core, before = group.core, group.pre
    assert core is not None and before is not None
    key = (facts, core.fn, core.extra, before.shape, pre.key(), ref, post.key(), post.outs(group.outs))
    steps = recipes.get(key)
    if steps is None:
        steps = _steps(group, pre, ref, post, facts)
        remember(key, steps)
    kernel, dispatch, head, behind = steps.last
    outs = tuple(group.outs)
    if not steps.partials:
        words = [*head, *pre.scalars, *behind, *post.scalars]
        return [Launch(kernel, (*pre.reads, *post.reads), outs, dispatch, words)]
    partials = tuple(
        Op(SCALAR, None, (), (), (core.size, steps.partials), core.dtype)
        for _ in range(2 if core.fn.arg else 1)
    )
    if steps.cut is not None:
        walk, first, chunk, lanes, few = steps.cut
        launches = _cut_first(pre, partials, core, facts, walk, first, chunk, lanes)
        return launches + _cut_last(group, partials, post, facts, kernel, head, few)
    assert steps.first is not None
    first, first_grid, first_words = steps.first
    return [
        Launch(first, tuple(pre.reads), partials, first_grid, first_words + pre.scalars),
        Launch(kernel, (*partials, *post.reads), outs, dispatch, [*head, *behind, *post.scalars]),
    ]


def _steps(group: Group, pre: Numbering, ref: int, post: Numbering, facts: Facts) -> Steps:
    core = group.core
    assert core is not None and group.pre is not None
    fn, n_out, n_red = core.fn, core.size, group.pre.size // core.size
    _, region, post_rank, post_words = tail(group, post)
    wg = facts.workgroup
    name = f"{fn.name}_{fn.kind}32"
    n_post = len(post.reads)
    walk = _walk(pre, group.pre.shape, core.extra, n_out, n_red)
    out_fast = _out_fast(walk)
    share = divide(n_out, n_red, walk.way, out_fast, facts)
    too_much = wide([*pre.reads, *post.reads, *group.outs], facts)
    if too_much or 4 * n_out * share.chunks + 16 > facts.binding:
        too_much = True
        walk = _walk(pre, group.pre.shape, core.extra, n_out, n_red, across=False)
        out_fast = _out_fast(walk)
        share = divide(n_out, n_red, walk.way, out_fast, facts)
        chunk = _chunk(pre, walk, min(share.chunk, CHUNK), facts)
        share = Share(-(-n_red // chunk), chunk, share.lanes)
    first = pre.region(((ref, core.dtype),), walk.splats)
    chunks, chunk, lanes = share
    ranks = len(walk.kept), len(walk.reduced)

    def head(length: int, piece: int, parts: int, steps: tuple[int, int]) -> list[int]:
        """steps: what an output's and a chunk's numbers count for in the result."""
        return [n_out, 0, length, piece, steps[0], 0, parts, fn.identity, 0, steps[1], 0, 0]

    def groups(way: str, lanes: int, parts: int) -> tuple[int, int, int]:
        jobs = -(-n_out // 4) if way == ACROSS else n_out
        return grid(workgroups(jobs, parts, lanes, wg), facts.groups)

    def kernel(way: str, lanes: int, last: bool, **more: Any) -> Kernel:
        sub = way != ACROSS and not more["out_fast"] and lanes > 1 and "subgroups" in facts.features
        tailed = {"post": region, "inputs": n_post} if last else {"post": None, "inputs": 0}
        ranks = (*more.pop("ranks"), post_rank if last else 0)
        sig = Reduction(fn, way=way, ranks=ranks, workgroup=wg, lanes=lanes, subgroups=sub, **tailed, **more)
        return kernel_for(sig, codegen_reduction.reduction, name if last else name + "_partial", wg)

    if chunks == 1 and not too_much:
        made = kernel(walk.way, lanes, True, pre=first, ranks=ranks, out_fast=out_fast, partial=False)
        words = head(n_red, chunk, 1, (1, 0)) + walk.words
        return Steps(None, (made, groups(walk.way, lanes, 1), words, post_words), 0, None)
    # Partials of neighbouring outputs lie side by side where the outputs are walked across: (chunks, outputs).
    side = not too_much and (walk.way == ACROSS or out_fast)
    made = kernel(walk.way, lanes, False, pre=first, ranks=ranks, out_fast=out_fast, partial=False)
    words = head(n_red, chunk, chunks, (1, n_out) if side else (chunks, 1)) + walk.words
    pass_one = made, groups(walk.way, lanes, chunks), words
    if side:
        way = ACROSS if n_out % 4 == 0 else GENERAL
        step = [n_out, chunks, 0, 1, n_out]
    else:
        way = ALONG if (chunks % 4 == 0 or n_out == 1) and not too_much else GENERAL
        step = [n_out, chunks, 0, chunks, 1]
    fast = side and way == GENERAL
    _, piece, few = divide(n_out, chunks, way, fast, facts, cut=False)
    read = Region(((0, BY_KIND["u" if fn.arg else fn.kind], False),), (), ((1, core.dtype),), 0)
    made = kernel(way, few, True, pre=read, ranks=(1, 1), out_fast=fast, partial=True)
    last = made, groups(way, few, 1), head(chunks, piece, 1, (1, 0)) + step, post_words
    cut = (walk, pass_one[0], chunk, lanes, few) if too_much else None
    return Steps(pass_one, last, chunks, cut)


def _walk(pre: Numbering, shape: Shape, kept: int, n_out: int, n_red: int, across: bool = True) -> Walk:
    """ALONG or ACROSS where every access is a row of aligned quads (or one element) that way; else GENERAL."""
    layouts = pre.layouts()
    kept_dims, kept_walks = collapse(shape[:kept], [v.strides[:kept] for v in layouts])
    reduced_dims, reduced_walks = collapse(shape[kept:], [v.strides[kept:] for v in layouts])
    words = [*kept_dims, *reduced_dims]
    strides = []
    for v, k, r in zip(layouts, kept_walks, reduced_walks, strict=True):
        words += [x & U32 for x in (v.offset, *k, *r)]
        strides.append((v.offset, k, r))
    stored = [a in pre.reads for a, _ in pre.accesses]
    real = [s for s, is_read in zip(strides, stored, strict=True) if is_read]

    def quads(offset: int, fast: Shape, others: Shape) -> bool:
        return fast in ((), (0,)) or (fast == (1,) and not offset & 3 and not any(x & 3 for x in others))

    if len(reduced_dims) <= 1 and (n_red % 4 == 0 or n_out == 1) and all(quads(o, r, k) for o, k, r in real):
        splats = [r in ((), (0,)) for _, _, r in strides]
        return Walk(kept_dims, reduced_dims, strides, ALONG, splats, words)
    if (
        across
        and kept_dims
        and kept_dims[-1] % 4 == 0
        and all(quads(o, k[-1:], k[:-1] + r) for o, k, r in real)
    ):
        return Walk(kept_dims, reduced_dims, strides, ACROSS, [k[-1] == 0 for _, k, _ in strides], words)
    return Walk(kept_dims, reduced_dims, strides, GENERAL, [], words)


def _out_fast(walk: Walk) -> bool:
    """Whether neighbouring outputs lie closer together in memory than neighbouring elements of the reduced axis."""
    if walk.way != GENERAL or not walk.strides or not walk.kept or walk.kept[-1] < 16:
        return False
    far = 1 << 40
    near_out = min((abs(k[-1]) for _, k, _ in walk.strides if k[-1]), default=far)
    near_red = min((abs(r[-1]) for _, _, r in walk.strides if r and r[-1]), default=far)
    return near_out < near_red


def divide(n_out: int, n_red: int, way: str, out_fast: bool, facts: Facts, cut: bool = True) -> Share:
    """How many chunks, elements of each (a multiple of four) and threads an output."""
    if facts.software:
        return _alone(n_out, n_red, way, cut)
    if way == ACROSS:
        return _divide_across(-(-n_out // 4), n_red, facts.workgroup, cut)
    workgroup = facts.workgroup
    steps = -(-max(n_red, 1) // 4)
    whole = 1, steps * 4
    if out_fast:
        lanes = 1
        while lanes < 8 and lanes * 8 <= steps:
            lanes *= 2
        tiles = -(-n_out // (workgroup // lanes))
        most = 4 * 16 * lanes  # elements in one run of the inner loop
        if cut and n_red > 4 * most and tiles < ENOUGH:
            chunks = min(-(-n_red // most), -(-ENOUGH * 2 // tiles))
            chunk = -(-n_red // (4 * chunks)) * 4
            return Share(-(-n_red // chunk), chunk, lanes)
        return Share(*whole, lanes)
    lanes = 1
    for wanted in (8, 32, workgroup):
        busy = lanes > 1 and n_out * lanes >= BUSY
        if steps >= 8 * wanted if busy else lanes * 4 < steps or wanted <= steps:
            lanes = min(wanted, workgroup)
    longest = LONGEST if n_out >= ENOUGH else CHUNK
    if cut and n_red > longest:
        chunk = CHUNK
        while chunk < 4 * CHUNK and n_out * n_red > 2 * ENOUGH * chunk:
            chunk *= 2
        return Share(-(-n_red // chunk), chunk, lanes)
    return Share(*whole, lanes)


def workgroups(jobs: int, chunks: int, lanes: int, workgroup: int) -> int:
    """How many there are for each chunk of each output (or quad of outputs)."""
    if lanes == 1:
        return -(-jobs * chunks // workgroup)
    return -(-jobs // (workgroup // lanes)) * chunks


def _divide_across(quads: int, n_red: int, workgroup: int, cut: bool) -> Share:
    """For quads of outputs side by side: few lanes, since a row of a quad is enough for a whole segment of memory."""
    lanes = 1
    while lanes < 8 and lanes * 16 <= n_red:
        lanes *= 2
    while quads < workgroup // lanes and lanes < workgroup and lanes * 2 <= n_red:
        lanes *= 2
    tiles = -(-quads // (workgroup // lanes))
    most = 16 * lanes  # rows in which each thread has four loads four times
    if cut and n_red > 2 * most and tiles < 2 * ENOUGH:
        chunks = min(-(-n_red // most), -(-2 * ENOUGH // tiles))
        chunk = -(-n_red // (4 * chunks)) * 4
        return Share(-(-n_red // chunk), chunk, lanes)
    return Share(1, -(-max(n_red, 1) // 4) * 4, lanes)


def _alone(n_out: int, n_red: int, way: str, cut: bool) -> Share:
    """For a CPU adapter: a thread for each chunk of each output (or quad of outputs)."""
    jobs = -(-n_out // 4) if way == ACROSS else n_out
    longest = PIECE // 4 if way == ACROSS else PIECE
    few = jobs < THREADS and n_out * n_red > WORTH
    chunks = min(-(-THREADS // jobs), n_red // 256) if few else 1
    chunks = max(chunks, -(-n_red // longest), 1)
    if not cut or chunks == 1:
        return Share(1, -(-max(n_red, 1) // 4) * 4, 1)
    chunk = -(-n_red // (4 * chunks)) * 4
    return Share(-(-n_red // chunk), chunk, 1)


def _chunk(pre: Numbering, walk: Walk, chunk: int, facts: Facts) -> int:
    """The longest chunk of one output that fits the bindings."""
    n_red = prod(walk.reduced)
    while chunk >= 4:
        spans = _spans(pre, walk, 0, 1, 0, min(chunk, n_red))
        if all(n + windows.ALIGN <= facts.binding for _, n in spans):
            return chunk
        chunk = chunk // 8 * 4
    raise TooWide("neighbours along the reduced axis")


def _spans(pre: Numbering, walk: Walk, o0: int, o1: int, r0: int, r1: int) -> list[tuple[int, int]]:
    """The windows that outputs o0..o1 and their elements r0..r1 touch."""
    found = []
    for offset, k, r in walk.strides:
        low, high = windows.reach(walk.kept, k, offset, o0, o1 - 1)
        r_low, r_high = windows.reach(walk.reduced, r, 0, r0, r1 - 1)
        found.append((low + r_low, high + r_high))
    reached = union(pre, found)
    return [window(op, *reached[op]) for op in pre.reads]


def _cut_first(
    pre: Numbering,
    partials: Sequence[Op],
    core: Op,
    facts: Facts,
    walk: Walk,
    kernel: Kernel,
    chunk: int,
    lanes: int,
) -> list[Launch]:
    """Pass 1 over ranges of outputs and of chunks whose bindings fit."""
    reads = list(pre.reads)
    n_red = prod(walk.reduced)
    chunks = partials[0].shape[1]

    def spans(o0: int, o1: int, c0: int, c1: int) -> list[tuple[int, int]]:
        mine = _spans(pre, walk, o0, o1, c0 * chunk, min(c1 * chunk, n_red))
        return mine + [window(p, o0 * chunks + c0, (o1 - 1) * chunks + c1 - 1) for p in partials]

    def fits(o0: int, o1: int, c0: int, c1: int) -> bool:
        return all(n <= facts.binding for _, n in spans(o0, o1, c0, c1))

    def one(o0: int, o1: int, c0: int, c1: int) -> Launch:
        bound = spans(o0, o1, c0, c1)
        head = [o1, o0, n_red, chunk, chunks, c0, c1 - c0, core.fn.identity]
        head += [begin(partials[0], bound[len(reads)]), 1, 0, 0]
        begins = {op: begin(op, w) for op, w in zip(reads, bound, strict=False)}
        mine = list(walk.words)
        at = len(walk.kept) + len(walk.reduced)
        for (op, _), (offset, k, r) in zip(pre.accesses, walk.strides, strict=True):
            mine[at] = offset - begins.get(op, 0) & U32
            at += 1 + len(k) + len(r)
        groups = workgroups(o1 - o0, c1 - c0, lanes, facts.workgroup)
        words = head + mine + pre.scalars
        return Launch(kernel, tuple(reads), tuple(partials), grid(groups, facts.groups), words, tuple(bound))

    # Cutting along what lies further apart gives fewer, fuller windows; try each way around.
    ways = []
    for first_outputs in (True, False):
        try:
            ways.append(_pieces(core.size, chunks, fits, first_outputs))
        except TooWide:
            continue
    if not ways:
        raise TooWide("one output's chunk")
    return [one(*piece) for piece in min(ways, key=len)]


def _pieces(n: int, m: int, fits: Any, first_outputs: bool) -> list[tuple[int, int, int, int]]:
    """Rectangles (o0, o1, c0, c1) that cover n x m and fit, cut along one side before the other."""
    found = []
    if first_outputs:
        for o0, o1 in windows.pieces(0, n, 1, lambda a, b: fits(a, b, 0, m) or b - a == 1):
            found += [(o0, o1, c0, c1) for c0, c1 in windows.pieces(0, m, 1, partial(fits, o0, o1))]
    else:
        for c0, c1 in windows.pieces(0, m, 1, lambda a, b: fits(0, n, a, b) or b - a == 1):
            each = windows.pieces(0, n, 1, partial(_swapped, fits, c0, c1))
            found += [(o0, o1, c0, c1) for o0, o1 in each]
    return found


def _swapped(fits: Any, c0: int, c1: int, o0: int, o1: int) -> bool:
    return bool(fits(o0, o1, c0, c1))


def _cut_last(
    group: Group,
    partials: tuple[Op, ...],
    post: Numbering,
    facts: Facts,
    kernel: Kernel,
    head: list[int],
    few: int,
) -> list[Launch]:
    """The last pass over ranges of outputs; partials are read in the general class."""
    n_out, chunks = partials[0].shape
    outs = tuple(group.outs)
    walks = Walks(post, group.shape)

    def spans(a: int, b: int) -> list[tuple[int, int]]:
        mine = [window(p, a * chunks, b * chunks - 1) for p in partials] + walks.spans(a, b)
        return mine + [window(op, a, b - 1) for op in outs]

    def fits(a: int, b: int) -> bool:
        return all(n <= facts.binding for _, n in spans(a, b))

    launches = []
    for a, b in windows.pieces(0, n_out, 1, fits):
        bound = spans(a, b)
        behind = len(partials)
        mine = [b, a, *head[2:8], begin(outs[0], bound[-1]), 1, 0, 0]
        mine += [n_out, chunks, -begin(partials[0], bound[0]) & U32, chunks, 1]
        mine += walks.words(bound[behind : behind + len(post.reads)]) + post.scalars
        groups = grid(-(-(b - a) // (facts.workgroup // few)), facts.groups)
        launches.append(Launch(kernel, (*partials, *post.reads), outs, groups, mine, tuple(bound)))
    return launches
