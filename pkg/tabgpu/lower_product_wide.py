"""A matrix product whose buffers are larger than a binding -> gemm launches over blocks of rows, batches and k.

Each block binds windows of A, B and C. Pieces of k are added up in the epilogue, one set of launches a piece. Columns
are not cut: one row of B must fit a binding.
"""

from __future__ import annotations

from typing import NamedTuple

from . import windows
from .codegen import Region
from .dtypes import DType
from .graph import SCALAR, Fn, Op
from .kernels.gemm_tiles import LONG_K
from .launch import Launch
from .layout import Layout, Shape, collapse, contiguous, is_contiguous
from .lower_product import Walk, batches, chosen, kernel_of
from .lower_wide import Span, TooWide, Walks, begin, gather, refused, spread, wide, window
from .plan import Group
from .region import Facts, Numbering, grid

_adds: dict[DType, Fn] = {}


class Block(NamedTuple):
    """Part of the output: where it begins along three batch axes and m, and its sizes."""

    start: tuple[int, int, int, int]
    sizes: tuple[int, int, int, int]


class Sides(NamedTuple):
    """Both operands: sizes (d0, d1, d2, m, n, k), and (Op, offset, strides along d0 d1 d2 and its two axes) of each."""

    dims: Shape
    a: tuple[Op, int, Shape]
    b: tuple[Op, int, Shape]


def lower_wide_product(group: Group, post: Numbering, facts: Facts) -> list[Launch]:
    """As lower_product, for any size of buffers; operands that cannot be cut as they lie are gathered first."""
    core = group.core
    assert core is not None
    batch, m, n, k = core.extra
    la, lb = core.views
    assert la is not None and lb is not None
    operands: list[tuple[Op, Layout, Shape]] = [
        (core.args[0], la, (*batch, m, k)), (core.args[1], lb, (*batch, k, n))
    ]  # fmt: skip
    first: list[Launch] = []
    for gathered in (False, True):
        if gathered:
            for at, (op, layout, shape) in enumerate(operands):
                if wide([op], facts) and not is_contiguous(layout):
                    copy, made = gather(op, layout, shape, facts)
                    operands[at] = copy, contiguous(shape), shape
                    first += made
            made, post = spread(post, group.shape, facts)
            first += made
            if not first:
                break
        (a, la, _), (b, lb, _) = operands
        dims, sa, sb = batches(batch, la.strides[:-2], lb.strides[:-2])
        sides = Sides(
            (*dims, m, n, k), (a, la.offset, (*sa, *la.strides[-2:])), (b, lb.offset, (*sb, *lb.strides[-2:]))
        )
        try:
            return first + _pieces(group, post, sides, facts)
        except TooWide as error:
            problem = error
    raise refused("matmul", [a, b, *post.reads, *group.outs], facts, problem) from None


def _pieces(group: Group, post: Numbering, sides: Sides, facts: Facts) -> list[Launch]:
    """All launches: for each piece of k, over blocks of the output."""
    core = group.core
    assert core is not None
    n, k = sides.dims[4:]
    step = min(k, LONG_K)
    whole = Block((0, 0, 0, 0), (1, 1, 1, 1))
    while any(size > facts.binding - windows.ALIGN for _, size in _spans(sides, whole, 0, step)):
        if step == 1:
            raise TooWide(f"a row of {n:,} columns")
        step = max(1, step // 8 * 4 if step > 4 else step // 2)
    launches: list[Launch] = []
    before: Op | None = None
    for first in range(0, k, step):
        end = min(first + step, k)
        last = end == k
        into = group.outs if last else [Op(SCALAR, None, (), (), group.shape, core.dtype)]
        work = _Piece(group, post if last else Numbering(group), before, into, sides, (first, end), facts)
        launches += work.launches()
        before = into[0]
    return launches


def _spans(sides: Sides, block: Block, k0: int, k1: int) -> list[Span]:
    """The windows of A and B for a block."""
    n = sides.dims[4]
    d, m = block.sizes[:3], block.sizes[3]
    out = []
    for (op, offset, strides), shape, start in (
        (sides.a, (*d, m, k1 - k0), (*block.start, k0)),
        (sides.b, (*d, k1 - k0, n), (*block.start[:3], k0, 0)),
    ):
        at = offset + sum(s * p for s, p in zip(strides, start, strict=True))
        size = 1
        for length in shape:
            size *= length
        out.append(window(op, *windows.reach(shape, strides, at, 0, size - 1)))
    return out


class _Piece:
    """The launches of one piece of k."""

    def __init__(
        self,
        group: Group,
        post: Numbering,
        before: Op | None,
        outs: list[Op],
        sides: Sides,
        ks: Span,
        facts: Facts,
    ) -> None:
        self.post, self.before, self.outs, self.sides, self.ks, self.facts = (
            post,
            before,
            outs,
            sides,
            ks,
            facts,
        )
        core = group.core
        assert core is not None
        self.kind = core.dtype.kind
        layouts = post.layouts() + ([contiguous(group.shape)] if before else [])
        self.walks = Walks(post, group.shape)
        dims, strides = collapse(group.shape, [v.strides for v in layouts]) if layouts else ((), [])
        own = len(post.accesses)
        self.walks.dims = dims
        self.walks.each = [(v.offset, s) for v, s in zip(layouts[:own], strides, strict=False)]
        self.mine = strides[-1] if before else ()
        self.region = (
            post.region(post.outs(outs)) if post.nodes or own else Region((), (), ((3, core.dtype),), 0)
        )
        if before is not None:
            self.region = _added(self.region, len(post.reads), core.dtype)

    def launches(self) -> list[Launch]:
        d0, d1, d2, m = self.sides.dims[:4]
        found = []
        stack = [Block((0, 0, 0, 0), (d0, d1, d2, m))]
        while stack:
            block = stack.pop()
            bound = self.spans(block)
            if all(size <= self.facts.binding for _, size in bound):
                found.append(self.launch(block, bound))
                continue
            axis = next((k for k in range(4) if block.sizes[k] > 1), None)
            if axis is None:
                raise TooWide("one row of the result and what it is made of")
            half = block.sizes[axis] // 2
            if axis == 3 and half > 8:
                half = half // 8 * 8
            for at, size in ((half, block.sizes[axis] - half), (0, half)):  # the first half is taken next
                start, sizes = list(block.start), list(block.sizes)
                start[axis] += at
                sizes[axis] = size
                stack.append(Block(tuple(start), tuple(sizes)))  # type: ignore[arg-type]
        return found

    def place(self, block: Block) -> Span:
        """First element of the output and number of elements of a block: batch axes are cut from the front."""
        _, d1, d2, m, n, _ = self.sides.dims
        z0, z1, z2, row = block.start
        first = (((z0 * d1 + z1) * d2 + z2) * m + row) * n
        s0, s1, s2, rows = block.sizes
        return first, s0 * s1 * s2 * rows * n

    def spans(self, block: Block) -> list[Span]:
        first, size = self.place(block)
        bound = _spans(self.sides, block, *self.ks) + self.walks.spans(first, first + size)
        if self.before is not None:
            bound.append(window(self.before, first, first + size - 1))
        return bound + [window(op, first, first + size - 1) for op in self.outs]

    def launch(self, block: Block, bound: list[Span]) -> Launch:
        first, _ = self.place(block)
        k0, k1 = self.ks
        walks = []
        for (op, offset, strides), start, span in (
            (self.sides.a, (*block.start, k0), bound[0]),
            (self.sides.b, (*block.start[:3], k0, 0), bound[1]),
        ):
            at = offset + sum(s * p for s, p in zip(strides, start, strict=True)) - begin(op, span)
            walks.append(Walk(at, strides, op.dtype.name))
        inputs = len(self.post.reads) + (self.before is not None)
        n = self.sides.dims[4]
        rows = block.sizes[3]
        a, b = walks
        choice, words = chosen((rows, n, k1 - k0), block.sizes[:3], a, b, self.facts, cut=False)
        kernel = kernel_of(choice, self.kind, a, b, self.region, len(self.walks.dims), inputs)
        words[7], words[11] = first, begin(self.outs[0], bound[-1])
        own = 2 + len(self.post.reads)
        words += self.walks.words(bound[2:own])
        reads = [self.sides.a[0], self.sides.b[0], *self.post.reads]
        if self.before is not None:
            reads.append(self.before)
            words += [-begin(self.before, bound[own]) & 0xFFFFFFFF, *self.mine]
        words += self.post.scalars
        dispatch = grid(choice.groups, self.facts.groups)
        return Launch(kernel, tuple(reads), tuple(self.outs), dispatch, words, tuple(bound))


def _added(region: Region, binding: int, dtype: DType) -> Region:
    """The region with the sum so far, read from a binding, added to the kernel's value first."""
    add = _adds.get(dtype)
    if add is None:
        add = _adds[dtype] = Fn(f"add_{dtype.name}", "x + y", (dtype, dtype), dtype)

    def moved(ref: int) -> int:
        return 0 if ref == 3 else ref + 4 if ref & 3 == 0 else ref

    nodes: list[tuple[Fn, tuple[int, ...]]] = [(add, (3, 4 * len(region.accesses) + 1))]
    nodes += [(fn, tuple(moved(r) for r in refs)) for fn, refs in region.nodes]
    accesses = (*region.accesses, (binding, dtype, False))
    outs = tuple((moved(ref), kind) for ref, kind in region.outs)
    return Region(accesses, tuple(nodes), outs, region.scalars)
