"""Groups -> Launches: numbers the values of a region, chooses a kernel class, and fills in the parameters."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from . import codegen, windows
from .codegen import Elementwise, Product, Reduction, Region
from .dtypes import DType
from .errors import LimitError
from .graph import EW, IOTA, MATMUL, REDUCE, SCALAR, Op, nbytes_of
from .launch import Kernel, Launch
from .layout import Layout, Shape, collapse, compose
from .plan import Group

_kernels: dict[Any, Kernel] = {}
MAX_SIZE = (1 << 32) - (1 << 16)  # element positions are u32

CHUNK = 16384  # elements of a long axis for one workgroup
LONGEST = 262144  # an axis up to this stays with one workgroup where there are outputs enough
ENOUGH = 512  # outputs that keep a GPU busy without cutting their axis


@dataclass(frozen=True)
class Facts:
    """What lowering must know of a device."""

    workgroup: int  # threads
    groups: int  # workgroups in one dimension of a dispatch
    binding: int  # bytes of one storage binding
    software: bool
    limits: dict[str, int]


def bits(value: Any, kind: str) -> int:
    """A Python scalar as the u32 that a kernel gets."""
    if kind == "f":
        try:
            return int(_U.unpack(_F.pack(value))[0])
        except OverflowError:
            return 0x7F800000 if value > 0 else 0xFF800000
    if kind == "b":
        return int(bool(value))
    return int(value) & 0xFFFFFFFF


_F, _U = struct.Struct("<f"), struct.Struct("<I")


class Numbering:
    """The values of one region: which node, access or scalar slot each argument is."""

    def __init__(self, group: Group | None, first: int) -> None:
        self.group = group
        self.first = first  # binding number of the first read
        self.reads: dict[Op, int] = {}
        self.accesses: dict[tuple[Op, Layout | None], int] = {}
        self.scalars: list[int] = []
        self.nodes: list[tuple[Any, tuple[int, ...]]] = []
        self.index: dict[Op, int] = {}

    def walk(self, core: Op | None = None) -> None:
        """Numbers all members; `core` is the value the region gets from its kernel."""
        group = self.group
        if group is None:
            return
        index = self.index
        if core is not None:
            index[core] = codegen.VALUE
        nodes = self.nodes
        for op in group.members:
            view = op._seen  # the view under which the group reads this member, set by `settle`
            refs = []
            k = 0
            for a, v in zip(op.args, op.views, strict=True):
                if type(a) is not Op:
                    refs.append(len(self.scalars) * 4 + 2)
                    self.scalars.append(bits(a, op.fn.kinds[k]))
                else:
                    at = index.get(a)
                    if at is None:
                        if view is not None:
                            v = view if v is None else compose(view, v)
                        at = self.access(a, v)
                    refs.append(at)
                k += 1
            index[op] = len(nodes) * 4
            nodes.append((op.fn, tuple(refs)))

    def access(self, a: Op, view: Layout | None) -> int:
        """The reference for a stored or virtual value."""
        if a.kind == SCALAR and a.buffer is None:
            self.scalars.append(bits(a.extra, a.dtype.kind))
            return len(self.scalars) * 4 - 2
        key = (a, view)
        k = self.accesses.get(key)
        if k is None:
            k = self.accesses[key] = len(self.accesses)
            if (a.kind != IOTA or a.buffer is not None) and a not in self.reads:
                self.reads[a] = len(self.reads)
        return k * 4 + 1

    def layouts(self, shape: Shape) -> list[Layout]:
        return [v if v is not None else a.layout for a, v in self.accesses]

    def region(self, outs: tuple[tuple[int, DType], ...]) -> Region:
        reads = self.reads
        accesses = tuple((reads[a], a.dtype.kind) if a in reads else (-1, "i") for a, _ in self.accesses)
        return Region(accesses, tuple(self.nodes), outs, len(self.scalars))


def settle(group: Group) -> None:
    """Finds the view under which each member is computed: composed along any path from an output."""
    views: dict[Op, Layout | None] = {}
    for op in reversed(group.members):
        view = views.get(op)
        op._seen = view  # type: ignore[assignment]  # the planner's notes are over; this is the lowering's
        for a, v in zip(op.args, op.views, strict=True):
            if type(a) is Op and a.kind == EW and a.buffer is None:
                views[a] = v if view is None else view if v is None else compose(view, v)


def kernel_for(sig: Any, make: Any, label: str, workgroup: int) -> Kernel:
    """The Kernel of a signature, made once."""
    found = _kernels.get(sig)
    if found is None:
        code, access = make(sig)
        found = _kernels[sig] = Kernel(label, code, access, workgroup)
    return found


def grid(groups: int, most: int) -> tuple[int, int, int]:
    """Any number of workgroups folded into three dimensions."""
    if groups <= most:
        return groups, 1, 1
    y = -(-groups // most)
    if y <= most:
        return -(-groups // y), y, 1
    z = -(-groups // (most * most))
    if z > most:
        raise LimitError(f"{groups} workgroups are more than this device can dispatch")
    return most, most, z


def lower(group: Group, facts: Facts) -> list[Launch]:
    """The launches of one group."""
    if group.size > MAX_SIZE or (group.pre is not None and group.pre.size > MAX_SIZE):
        size = max(group.size, group.pre.size if group.pre else 0)
        raise LimitError(f"an operation over {size:,} elements: at most {MAX_SIZE:,} are addressable")
    settle(group)
    core = group.core
    if core is None:
        return lower_elementwise(group, facts) if group.size else empty(group)
    if core.kind == REDUCE:
        settle(group.pre)  # type: ignore[arg-type]
        return lower_reduction(group, facts) if group.size else empty(group)
    assert core.kind == MATMUL
    return lower_product(group, facts) if group.size else empty(group)


def empty(group: Group) -> list[Launch]:
    """Nothing to compute, but outputs to exist."""
    return [Launch(NOTHING, (), tuple(group.outs), (0, 0, 0), [])]


NOTHING = Kernel("nothing", "", "", 1)


def wide(ops: list[Op], facts: Facts) -> bool:
    """Whether some buffer is too large for one binding."""
    return any((op.buffer.nbytes if op.buffer else nbytes_of(op)) + 16 > facts.binding for op in ops)


def lower_elementwise(group: Group, facts: Facts) -> list[Launch]:
    numbers = Numbering(group, 0)
    numbers.walk()
    shape = group.shape
    reads, outs = list(numbers.reads), group.outs
    words = [0, group.size, 0, 0]
    for _, view in numbers.accesses:
        if view is not None:
            flat = False
            break
    else:
        flat = True
    rank = -1
    dims: Shape = (group.size,)
    walks: list[tuple[int, Shape]] = []
    if flat:
        words += [0, 1] * len(numbers.accesses)
        walks = [(0, (1,))] * len(numbers.accesses)
    else:
        layouts = numbers.layouts(shape)
        dims, strides = collapse(shape, [v.strides for v in layouts])
        walks = [(v.offset, s) for v, s in zip(layouts, strides, strict=True)]
        if len(dims) <= 1 and all(
            s in ((), (0,)) or (s == (1,) and not v.offset & 3) or (a.kind == IOTA and a.buffer is None)
            for (a, _), v, s in zip(numbers.accesses, layouts, strides, strict=True)
        ):
            for v, s in zip(layouts, strides, strict=True):
                words += (v.offset, s[0] & 0xFFFFFFFF if s else 0)
        else:
            rank = len(dims)
            words += dims
            for v, s in zip(layouts, strides, strict=True):
                words.append(v.offset)
                words += [x & 0xFFFFFFFF for x in s]
    words += numbers.scalars
    index = numbers.index
    region = numbers.region(tuple((index[op], op.dtype) for op in outs))
    sig = Elementwise(region, rank, len(reads), facts.workgroup)
    kernel = _kernels.get(sig)
    if kernel is None:
        names = "_".join(dict.fromkeys(fn.name for fn, _ in region.nodes[-4:]))
        label = f"{names}_{outs[0].dtype.name}_{'flat' if rank < 0 else f'rank{rank}'}"
        kernel = kernel_for(sig, codegen.elementwise, label, facts.workgroup)
    per = 4 * facts.workgroup
    if wide([*reads, *outs], facts):
        return _cut_elementwise(numbers, dims, walks, kernel, words, outs, facts, rank)
    dispatch = grid(-(-group.size // per), facts.groups)
    return [Launch(kernel, tuple(reads), tuple(outs), dispatch, words)]


def _cut_elementwise(
    numbers: Numbering, dims: Shape, walks: list[tuple[int, Shape]], kernel: Kernel, words: list[int], outs: list[Op],
    facts: Facts, rank: int,
) -> list[Launch]:  # fmt: skip
    """The same launch over ranges of elements, each with bindings that fit."""
    reads = list(numbers.reads)
    size = words[1]

    def spans(a: int, b: int) -> list[tuple[int, int]]:
        low: dict[Op, tuple[int, int]] = {}
        for (op, _), (offset, strides) in zip(numbers.accesses, walks, strict=True):
            if op in numbers.reads:
                got = windows.reach(dims, strides, offset, a, b - 1)
                old = low.get(op, got)
                low[op] = min(got[0], old[0]), max(got[1], old[1])
        return [_window(op, *low[op]) for op in reads] + [_window(op, a, b - 1) for op in outs]

    launches = []
    try:
        for a, b in windows.pieces(
            0, size, 1024, lambda a, b: all(n <= facts.binding for _, n in spans(a, b))
        ):
            bound = spans(a, b)
            mine = list(words)
            mine[0], mine[1], mine[2] = a, b, bound[len(reads)][0] // outs[0].dtype.itemsize
            begins = {op: w[0] // op.dtype.itemsize for op, w in zip(reads, bound, strict=False)}
            at = 4 + max(rank, 0)
            for (op, _), (offset, _) in zip(numbers.accesses, walks, strict=True):
                mine[at] = offset - begins.get(op, 0) & 0xFFFFFFFF
                at += 2 if rank < 0 else 1 + rank
            per = 4 * facts.workgroup
            launches.append(
                Launch(
                    kernel,
                    tuple(reads),
                    tuple(outs),
                    grid(-(-(b - a) // per), facts.groups),
                    mine,
                    tuple(bound),
                )
            )
    except ValueError as error:
        raise too_wide(kernel.label, [*reads, *outs], facts, str(error)) from None
    return launches


def _window(op: Op, low: int, high: int) -> tuple[int, int]:
    size = op.buffer.size if op.buffer else nbytes_of(op) + 15 & ~15
    return windows.window(low, high, op.dtype.itemsize, size)


def too_wide(label: str, ops: list[Op], facts: Facts, where: str) -> LimitError:
    most = max(nbytes_of(op) for op in ops)
    return LimitError(
        f"{label}: an operand of {most:,} bytes is read too widely ({where}) for the device's storage binding limit "
        f"of {facts.binding:,} bytes; make it contiguous or work on slices"
    )


def region_words(numbers: Numbering, shape: Shape) -> tuple[int, list[int]]:
    """(rank, words) of a region in the general class: sizes, then offset and strides of each access, then scalars."""
    layouts = numbers.layouts(shape)
    dims, strides = collapse(shape, [v.strides for v in layouts])
    words = list(dims) if layouts else []
    for v, s in zip(layouts, strides, strict=True):
        words.append(v.offset & 0xFFFFFFFF)
        words += [x & 0xFFFFFFFF for x in s]
    return len(dims) if layouts else 0, words + numbers.scalars


def tail(group: Group) -> tuple[Numbering, Region, int, list[int]]:
    """What follows a core: its numbering, region, rank and words."""
    post = Numbering(group, 0)
    post.walk(group.core)
    rank, words = region_words(post, group.shape)
    outs = tuple((codegen.VALUE if op is group.core else post.index[op], op.dtype) for op in group.outs)
    return post, post.region(outs), rank, words


def lower_reduction(group: Group, facts: Facts) -> list[Launch]:
    core = group.core
    assert core is not None and group.pre is not None
    fn, n_out = core.fn, core.size
    pre = Numbering(group.pre, 0)
    pre.walk()
    source, view = core.args[0], core.views[0]
    ref = pre.index.get(source)
    if ref is None:
        ref = pre.access(source, view)
    post, post_region, post_rank, post_words = tail(group)
    n_red = group.pre.size // n_out
    kept = core.extra  # number of leading axes that stay
    shape = group.pre.shape
    layouts = pre.layouts(shape)
    flat = (n_red % 4 == 0 or n_out == 1) and all(
        a.kind != IOTA and (v is None or not any(v.strides)) for a, v in pre.accesses
    )
    if flat:
        ranks, words = (0, 0), []
        for v, (_, raw) in zip(layouts, pre.accesses, strict=True):
            words += (v.offset, 1 if raw is None else 0)
        kept_dims, reduced_dims, walks = (n_out,), (n_red,), []
        walks = [(v.offset, (n_red,) if raw is None else (0,), (1,) if raw is None else (0,)) for v, (_, raw) in zip(layouts, pre.accesses, strict=True)]  # fmt: skip
    else:
        kept_dims, kept_walks = collapse(shape[:kept], [v.strides[:kept] for v in layouts])
        reduced_dims, reduced_walks = collapse(shape[kept:], [v.strides[kept:] for v in layouts])
        ranks = len(kept_dims), len(reduced_dims)
        words = [*kept_dims, *reduced_dims]
        walks = []
        for v, k, r in zip(layouts, kept_walks, reduced_walks, strict=True):
            words.append(v.offset & 0xFFFFFFFF)
            words += [x & 0xFFFFFFFF for x in (*k, *r)]
            walks.append((v.offset, k, r))
    words += pre.scalars
    out_fast = False
    if walks and not flat and kept_dims and kept_dims[-1] >= 16:
        near_out = min((abs(k[-1]) for _, k, _ in walks if k[-1]), default=1 << 40)
        near_red = min((abs(r[-1]) for _, _, r in walks if r and r[-1]), default=1 << 40)
        out_fast = near_out < near_red
    workgroup = facts.workgroup
    chunks, chunk, lanes = divide(n_out, n_red, out_fast, workgroup)
    first = pre.region(((ref, core.dtype),))
    launches: list[Launch] = []
    kind = fn.kind
    name = f"{fn.name}_{kind}32"

    def emit(reads: list[Op], writes: list[Op], sig: Reduction, length: int, piece: int, parts: int, more: list[int], label: str) -> None:  # fmt: skip
        kernel = kernel_for(sig, codegen.reduction, label, workgroup)
        outs_each = workgroup // sig.lanes
        head = [n_out, 0, length, piece, parts, 0, parts, fn.identity, 0, 0, 0, 0]
        launches.append(
            Launch(
                kernel,
                tuple(reads),
                tuple(writes),
                grid(-(-n_out // outs_each) * parts, facts.groups),
                head + more,
            )
        )

    post_reads = list(post.reads)
    if chunks == 1:
        sig = Reduction(fn, first, post_region, flat, (*ranks, post_rank), len(post_reads), workgroup, lanes, out_fast, False)  # fmt: skip
        if not wide([*pre.reads, *post_reads, *group.outs], facts):
            emit([*pre.reads, *post_reads], group.outs, sig, n_red, chunk, 1, words + post_words, name)
            return launches
        chunks, chunk, lanes = 1, chunk, lanes
    partials = [Op(SCALAR, None, (), (), (n_out, chunks), core.dtype) for _ in range(2 if fn.arg else 1)]
    sig = Reduction(fn, first, None, flat, (*ranks, 0), 0, workgroup, lanes, out_fast, False)
    if wide([*pre.reads, *partials], facts):
        kernel = kernel_for(sig, codegen.reduction, name + "_partial", workgroup)
        launches += _cut_reduction(pre, partials, kernel, kept_dims, reduced_dims, walks, words, flat, ranks, n_out, n_red, chunk, chunks, lanes, fn.identity, facts)  # fmt: skip
    else:
        emit(list(pre.reads), partials, sig, n_red, chunk, chunks, words, name + "_partial")
    again, piece, few = divide(n_out, chunks, False, workgroup, cut=False)
    assert again == 1
    straight = chunks % 4 == 0 or n_out == 1
    source_kind = "u" if fn.arg else kind
    read = Region(((0, source_kind),), (), ((1, core.dtype),), 0)
    step = [0, 1] if straight else [n_out, chunks, 0, chunks, 1]
    sig = Reduction(fn, read, post_region, straight, (0, 0, post_rank) if straight else (1, 1, post_rank), len(post_reads), workgroup, few, False, True)  # fmt: skip
    if wide([*partials, *post_reads, *group.outs], facts):
        raise too_wide(
            name, [*partials, *post_reads, *group.outs], facts, "its result does not fit one binding"
        )
    if (straight and not fn.arg) or straight:
        more = step
    else:
        more = step
    emit([*partials, *post_reads], group.outs, sig, chunks, piece, 1, more + post_words, name)
    return launches


def divide(n_out: int, n_red: int, out_fast: bool, workgroup: int, cut: bool = True) -> tuple[int, int, int]:
    """(chunks of the reduced axis, elements a chunk, threads an output)."""
    steps = -(-max(n_red, 1) // 4)
    if out_fast:
        lanes = 1
        while lanes < 8 and lanes * 8 <= steps:
            lanes *= 2
        outs_each = workgroup // lanes
        tiles = -(-n_out // outs_each)
        most = 4 * 16 * lanes  # elements in one pass of the inner loop
        if cut and n_red > 4 * most and tiles < ENOUGH:
            chunks = min(-(-n_red // most), -(-ENOUGH * 2 // tiles))
            chunk = -(-n_red // chunks)
            chunk = -(-chunk // 4) * 4
            return -(-n_red // chunk), chunk, lanes
        return 1, -(-max(n_red, 1) // 4) * 4, lanes
    lanes = 1
    for wanted in (8, 32, workgroup):
        if lanes * 4 < steps or wanted <= steps:
            lanes = wanted
    lanes = min(lanes, workgroup)
    longest = LONGEST if n_out >= ENOUGH else CHUNK
    if cut and n_red > longest:
        return -(-n_red // CHUNK), CHUNK, lanes
    return 1, -(-max(n_red, 1) // 4) * 4, lanes


def _cut_reduction(
    pre: Numbering, partials: list[Op], kernel: Kernel, kept_dims: Shape, reduced_dims: Shape,
    walks: list[Any], words: list[int], flat: bool, ranks: tuple[int, int], n_out: int, n_red: int, chunk: int,
    chunks: int, lanes: int, identity: int, facts: Facts,
) -> list[Launch]:  # fmt: skip
    """Pass 1 over ranges of outputs (and, within one output, of chunks) whose bindings fit."""
    reads = list(pre.reads)
    outs_each = facts.workgroup // lanes

    def spans(o0: int, o1: int, c0: int, c1: int) -> list[tuple[int, int]]:
        low: dict[Op, tuple[int, int]] = {}
        for (op, _), (offset, k, r) in zip(pre.accesses, walks, strict=True):
            if op in pre.reads:
                lo, hi = windows.reach(kept_dims, k, offset, o0, o1 - 1) if kept_dims else (offset, offset)
                rlo, rhi = windows.reach(reduced_dims, r, 0, c0 * chunk, min(c1 * chunk, n_red) - 1) if reduced_dims else (0, 0)  # fmt: skip
                got = lo + rlo, hi + rhi
                old = low.get(op, got)
                low[op] = min(got[0], old[0]), max(got[1], old[1])
        mine = [_window(op, *low[op]) for op in reads]
        return mine + [_window(p, o0 * chunks + c0, (o1 - 1) * chunks + c1 - 1) for p in partials]

    def fits(*ranges: int) -> bool:
        return all(n <= facts.binding for _, n in spans(*ranges))

    launches = []
    try:
        for o0, o1 in windows.pieces(0, n_out, 1, lambda a, b: fits(a, b, 0, chunks) or b - a == 1):
            for c0, c1 in windows.pieces(0, chunks, 1, lambda a, b: fits(o0, o1, a, b)):
                bound = spans(o0, o1, c0, c1)
                base = bound[len(reads)][0] // 4
                head = [o1, o0, n_red, chunk, chunks, c0, c1 - c0, identity, base, 0, 0, 0]
                mine = list(words)
                at = 0 if flat else len(kept_dims) + len(reduced_dims)
                for (op, _), (offset, k, r) in zip(pre.accesses, walks, strict=True):
                    begin = bound[reads.index(op)][0] // op.dtype.itemsize if op in pre.reads else 0
                    mine[at] = offset - begin & 0xFFFFFFFF
                    at += 2 if flat else 1 + len(k) + len(r)
                groups = -(-(o1 - o0) // outs_each) * (c1 - c0)
                launches.append(
                    Launch(
                        kernel,
                        tuple(reads),
                        tuple(partials),
                        grid(groups, facts.groups),
                        head + mine,
                        tuple(bound),
                    )
                )
    except ValueError as error:
        raise too_wide(kernel.label, [*reads, *partials], facts, str(error)) from None
    return launches


def lower_product(group: Group, facts: Facts) -> list[Launch]:
    """A product with its epilogue; `core.extra` is (batch shape, m, n, k), views have batch axes, rows, columns."""
    from .kernels.gemm_tiles import choose  # tuning data: only when a product is asked for

    core = group.core
    assert core is not None
    batch, m, n, k = core.extra
    a, b = core.args
    la = core.views[0] or a.layout
    lb = core.views[1] or b.layout
    dims, (sa, sb) = collapse(batch, [la.strides[:-2], lb.strides[:-2]]) if batch else ((), [(), ()])
    if len(dims) > 3:
        raise LimitError(f"matmul: batch axes {batch} do not merge to 3; make the operands contiguous")
    pad = (1,) * (3 - len(dims))
    zero = (0,) * (3 - len(dims))
    d, sa, sb = (*pad, *dims), (*zero, *sa), (*zero, *sb)
    count = d[0] * d[1] * d[2]
    choice: dict[str, Any] = choose(m, n, k, count, (*sa, *la.strides[-2:]), (*sb, *lb.strides[-2:]), (la.offset, lb.offset), facts.limits, facts.software)  # fmt: skip
    post, region, rank, more = tail(group)
    reads = [a, b, *post.reads]
    if wide([*reads, *group.outs], facts):
        raise too_wide("matmul", [*reads, *group.outs], facts, "whole operands")
    kind = core.dtype.kind
    sig = Product(kind, region, rank, len(post.reads), (("params", tuple(choice["params"].items())), ("unroll", tuple(choice["unroll"].items()))))  # fmt: skip
    kernel = kernel_for(sig, codegen.product, f"gemm_{kind}32_{choice['name']}", 0)
    u = 0xFFFFFFFF
    words = [m, n, k, count, la.offset, la.strides[-2] & u, la.strides[-1] & u, 0, lb.offset, lb.strides[-2] & u, lb.strides[-1] & u, 0]  # fmt: skip
    words += [sa[0] & u, sa[1] & u, sa[2] & u, d[1], sb[0] & u, sb[1] & u, sb[2] & u, d[2]]
    return [
        Launch(kernel, tuple(reads), tuple(group.outs), grid(choice["tiles"], facts.groups), words + more)
    ]
