"""A reduction and what is fused before and behind it -> one launch; two where an axis is too long for a workgroup."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from . import codegen, windows
from .codegen import Reduction, Region
from .graph import IOTA, SCALAR, Op
from .launch import Kernel, Launch
from .layout import Shape, collapse
from .lower import (
    U32,
    Facts,
    Numbering,
    _recipes,
    grid,
    kernel_for,
    reaches,
    remember,
    tail,
    too_wide,
    wide,
    window,
)
from .plan import Group

CHUNK = 16384  # elements of a long axis for one workgroup
LONGEST = 262144  # an axis up to this stays with one workgroup where there are outputs enough
FEW = 8  # threads an output on a CPU adapter
ENOUGH = 512  # workgroups that keep a GPU busy without cutting an axis


class Steps(NamedTuple):
    """A reduction without its buffers and scalars: pass 1 (None: all in one) and the last pass."""

    first: tuple[Kernel, tuple[int, int, int], list[int]] | None
    last: tuple[
        Kernel, tuple[int, int, int], list[int], list[int]
    ]  # words before and behind pass 1's scalars
    partials: int  # elements an output in the partial buffers
    cut: Any  # how to cut pass 1 into windows, if its buffers are too wide


class Walk(NamedTuple):
    """How pass 1 goes through its accesses: kept and reduced sizes, and (offset, kept, reduced strides) each."""

    kept: Shape
    reduced: Shape
    strides: list[tuple[int, Shape, Shape]]
    flat: bool
    words: list[int]


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
    key = (facts, core.fn, core.extra, before.shape, pre.key(), ref, post.key(), post.outs(group.outs))
    steps = _recipes.get(key)
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
        launches = _cut(pre, partials, core, facts, *steps.cut)
    else:
        assert steps.first is not None
        first, first_grid, first_words = steps.first
        launches = [Launch(first, tuple(pre.reads), partials, first_grid, first_words + pre.scalars)]
    launches.append(Launch(kernel, (*partials, *post.reads), outs, dispatch, [*head, *behind, *post.scalars]))
    return launches


def _steps(group: Group, pre: Numbering, ref: int, post: Numbering, facts: Facts) -> Steps:
    core = group.core
    assert core is not None and group.pre is not None
    fn, n_out, n_red = core.fn, core.size, group.pre.size // core.size
    walk = _walk(pre, group.pre.shape, core.extra, n_out, n_red)
    _, region, post_rank, post_words = tail(group, post)
    splats = [not words for words in walk.words[1::2]] if walk.flat else ()
    first = pre.region(((ref, core.dtype),), splats)
    workgroup = facts.workgroup
    out_fast = _out_fast(walk)
    chunks, chunk, lanes = divide(n_out, n_red, out_fast, workgroup)
    if (
        facts.software and n_out >= 2 * FEW
    ):  # a CPU pays for every barrier, and has enough to do with the outputs
        lanes = min(lanes, FEW)
    ranks = (0, 0) if walk.flat else (len(walk.kept), len(walk.reduced))
    name = f"{fn.name}_{fn.kind}32"
    n_post = len(post.reads)

    def head(length: int, piece: int, parts: int) -> list[int]:
        return [n_out, 0, length, piece, parts, 0, parts, fn.identity, 0, 0, 0, 0]

    def groups(lanes: int, parts: int) -> tuple[int, int, int]:
        return grid(-(-n_out // (workgroup // lanes)) * parts, facts.groups)

    too_much = wide([*pre.reads, *post.reads, *group.outs], facts)
    if chunks == 1 and not too_much:
        sig = Reduction(
            fn, first, region, walk.flat, (*ranks, post_rank), n_post, workgroup, lanes, out_fast, False
        )
        kernel = kernel_for(sig, codegen.reduction, name, workgroup)
        return Steps(
            None, (kernel, groups(lanes, 1), head(n_red, chunk, 1) + walk.words, post_words), 0, None
        )
    if too_much:
        if wide([*post.reads, *group.outs], facts):
            raise too_wide(name, [*post.reads, *group.outs], facts, "its result does not fit one binding")
        if chunks == 1 and n_red > CHUNK:  # shorter pieces, so that one fits a binding
            chunks, chunk = -(-n_red // CHUNK), CHUNK
    sig = Reduction(fn, first, None, walk.flat, (*ranks, 0), 0, workgroup, lanes, out_fast, False)
    kernel = kernel_for(sig, codegen.reduction, name + "_partial", workgroup)
    pass_one = (kernel, groups(lanes, chunks), head(n_red, chunk, chunks) + walk.words)
    cut = (walk, kernel, chunk, chunks, lanes) if too_much else None
    _, piece, few = divide(n_out, chunks, False, workgroup, cut=False)
    flat = chunks % 4 == 0 or n_out == 1
    read = Region(((0, "u" if fn.arg else fn.kind, False),), (), ((1, core.dtype),), 0)
    step = [0, 1] if flat else [n_out, chunks, 0, chunks, 1]
    ranks_two = (0, 0, post_rank) if flat else (1, 1, post_rank)
    sig = Reduction(fn, read, region, flat, ranks_two, n_post, workgroup, few, False, True)
    kernel = kernel_for(sig, codegen.reduction, name, workgroup)
    return Steps(pass_one, (kernel, groups(few, 1), head(chunks, piece, 1) + step, post_words), chunks, cut)


def _walk(pre: Numbering, shape: Shape, kept: int, n_out: int, n_red: int) -> Walk:
    """Flat: everything contiguous (rows of a multiple of four) or one element; else general strides."""
    layouts = pre.layouts()
    whole = [v is None or v == a.layout for a, v in pre.accesses]
    flat = (n_red % 4 == 0 or n_out == 1) and all(
        a.kind != IOTA and (raw or not any(v.strides))
        for (a, _), v, raw in zip(pre.accesses, layouts, whole, strict=True)
    )
    strides: list[tuple[int, Shape, Shape]] = []
    words: list[int] = []
    if flat:
        for v, raw in zip(layouts, whole, strict=True):
            words += (v.offset, int(raw))
            strides.append((v.offset, (n_red if raw else 0,), (int(raw),)))
        return Walk((n_out,), (n_red,), strides, True, words)
    kept_dims, kept_walks = collapse(shape[:kept], [v.strides[:kept] for v in layouts])
    reduced_dims, reduced_walks = collapse(shape[kept:], [v.strides[kept:] for v in layouts])
    words = [*kept_dims, *reduced_dims]
    for v, k, r in zip(layouts, kept_walks, reduced_walks, strict=True):
        words += [x & U32 for x in (v.offset, *k, *r)]
        strides.append((v.offset, k, r))
    return Walk(kept_dims, reduced_dims, strides, False, words)


def _out_fast(walk: Walk) -> bool:
    """Whether neighbouring outputs lie closer together in memory than neighbouring elements of the reduced axis."""
    if walk.flat or not walk.strides or not walk.kept or walk.kept[-1] < 16:
        return False
    far = 1 << 40
    near_out = min((abs(k[-1]) for _, k, _ in walk.strides if k[-1]), default=far)
    near_red = min((abs(r[-1]) for _, _, r in walk.strides if r and r[-1]), default=far)
    return near_out < near_red


def divide(n_out: int, n_red: int, out_fast: bool, workgroup: int, cut: bool = True) -> tuple[int, int, int]:
    """(chunks of the reduced axis, elements a chunk, threads an output)."""
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
            return -(-n_red // chunk), chunk, lanes
        return *whole, lanes
    lanes = 1
    for wanted in (8, 32, workgroup):
        if lanes * 4 < steps or wanted <= steps:
            lanes = min(wanted, workgroup)
    longest = LONGEST if n_out >= ENOUGH else CHUNK
    if cut and n_red > longest:
        return -(-n_red // CHUNK), CHUNK, lanes
    return *whole, lanes


def _cut(
    pre: Numbering,
    partials: Sequence[Op],
    core: Op,
    facts: Facts,
    walk: Walk,
    kernel: Kernel,
    chunk: int,
    chunks: int,
    lanes: int,
) -> list[Launch]:
    """Pass 1 over ranges of outputs (and, within one output, of chunks) whose bindings fit."""
    reads = list(pre.reads)
    n_red = 1
    for n in walk.reduced:
        n_red *= n

    def spans(o0: int, o1: int, c0: int, c1: int) -> list[tuple[int, int]]:
        found = []
        for offset, k, r in walk.strides:
            low, high = windows.reach(walk.kept, k, offset, o0, o1 - 1)
            r_low, r_high = windows.reach(walk.reduced, r, 0, c0 * chunk, min(c1 * chunk, n_red) - 1)
            found.append((low + r_low, high + r_high))
        low_high = reaches(pre, found)
        mine = [window(op, *low_high[op]) for op in reads]
        return mine + [window(p, o0 * chunks + c0, (o1 - 1) * chunks + c1 - 1) for p in partials]

    def fits(o0: int, o1: int, c0: int, c1: int) -> bool:
        return all(n <= facts.binding for _, n in spans(o0, o1, c0, c1))

    def one(o0: int, o1: int, c0: int, c1: int) -> Launch:
        bound = spans(o0, o1, c0, c1)
        base = bound[len(reads)][0] // 4
        head = [o1, o0, n_red, chunk, chunks, c0, c1 - c0, core.fn.identity, base, 0, 0, 0]
        mine = list(walk.words)
        at = 0 if walk.flat else len(walk.kept) + len(walk.reduced)
        for (op, _), (offset, k, r) in zip(pre.accesses, walk.strides, strict=True):
            begin = bound[reads.index(op)][0] // op.dtype.itemsize if op in pre.reads else 0
            mine[at] = offset - begin & U32
            at += 2 if walk.flat else 1 + len(k) + len(r)
        groups = -(-(o1 - o0) // (facts.workgroup // lanes)) * (c1 - c0)
        words = head + mine + pre.scalars
        return Launch(kernel, tuple(reads), tuple(partials), grid(groups, facts.groups), words, tuple(bound))

    launches = []
    try:
        for o0, o1 in windows.pieces(0, core.size, 1, lambda a, b: fits(a, b, 0, chunks) or b - a == 1):
            pieces = windows.pieces(0, chunks, 1, partial(fits, o0, o1))
            launches += [one(o0, o1, c0, c1) for c0, c1 in pieces]
    except ValueError as error:
        raise too_wide(kernel.label, [*reads, *partials], facts, str(error)) from None
    return launches
