"""Which kernel computes a product: lists of variants, the table that picks one by size, and the tuner's hook; no WGSL.

A *plan* is a row of PLANS under a short name, the same on every adapter:
  t64x64s2   gemm.wgsl: a tile of C per workgroup; s2: two groups of threads share the tile and each takes half of k;
             w: a thread makes 8 x 16 outputs, not 8 x 8
  v8         gemv.wgsl: up to 8 rows (or columns), the big operand read once
  x128x128   gemm_matrix.wgsl: float16 operands through the matrix units
`name/4` is the same with k cut in 4 pieces, which a second launch adds up. How the operands are read (scalars, vec4s
along k or along m and n, packed halves) follows from strides, offsets and dtypes alone, so a plan has few texts.

For a tuner:
  size_class(m, n, k, batch)             the key under which a measurement is worth keeping: sizes by powers of two
  candidates(m, n, k, batch, ...)        names of the plans that a device can run for such a product, the default first
  overrides[halves, *size_class(...)]    a name from candidates; `choose` takes it wherever it fits (halves: whether
                                         both operands are float16). Whoever changes it clears region.recipes and the
                                         programs, which remember choices, and empties it for another adapter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .gemm_matrix_inner import memory as matrix_memory


@dataclass(frozen=True)
class Tile:
    """One workgroup's block of C (bm x bn, bk of k at a time) and one thread's part of it (tm x tn).

    lx: 32 threads cover lx columns of the grid of threads. slices: groups of threads that each take a part of bk.
    """

    bm: int
    bn: int
    bk: int
    tm: int
    tn: int
    lx: int
    slices: int = 1

    @property
    def name(self) -> str:
        wide = "w" if self.tm * self.tn > 64 else ""
        return f"t{self.bm}x{self.bn}{wide}" + (f"s{self.slices}" if self.slices > 1 else "")

    @property
    def threads(self) -> int:
        return self.bm // self.tm * (self.bn // self.tn) * self.slices

    @property
    def memory(self) -> int:
        """Bytes of workgroup memory, without padding."""
        return 4 * self.bk * (self.bm + self.bn)

    @property
    def pad(self) -> int:
        """vec4s behind each four of k that keep threads which stage neighbouring fours out of each other's banks."""
        return 8 // min(8, self.bk // 4)

    def count(self, m: int, n: int, batch: int) -> int:
        """Workgroups for a product."""
        return -(-m // self.bm) * -(-n // self.bn) * batch


@dataclass(frozen=True)
class Vectors:
    """A product with few rows or columns: up to `vectors` of them against one matrix."""

    vectors: int

    @property
    def name(self) -> str:
        return f"v{self.vectors}"


@dataclass(frozen=True)
class Units:
    """One workgroup's block of C by the matrix units (bm x bn, bk of k at a time) and one subgroup's part (sm x sn)."""

    bm: int
    bn: int
    bk: int
    sm: int
    sn: int
    depth: int = 1

    @property
    def name(self) -> str:
        return f"x{self.bm}x{self.bn}"

    @property
    def threads(self) -> int:
        return 32 * (self.bm // self.sm) * (self.bn // self.sn)

    @property
    def memory(self) -> int:
        """Bytes of workgroup memory."""
        return matrix_memory(self.bm, self.bn, self.bk, self.sm, self.sn, self.depth)

    def count(self, m: int, n: int, batch: int) -> int:
        return -(-m // self.bm) * -(-n // self.bn) * batch


class Side(NamedTuple):
    """How a product reads an operand: batch strides, then row and column, in elements; the first element; its form."""

    strides: Sequence[int]
    offset: int
    dtype: str = ""  # "float16" or "bfloat16" for packed halves, else "" (32-bit words)


class Choice(NamedTuple):
    """A variant: label, file, values of its const and alias lines, arguments of its inner block, what to dispatch."""

    name: str
    kernel: str
    params: dict[str, Any]
    unroll: dict[str, Any]
    groups: int  # workgroups, of all pieces together
    pieces: int  # of k, to be added up by a second launch
    piece: int  # terms of each


# Largest first.
TILES = (
    Tile(128, 128, 16, 8, 16, 8),
    Tile(128, 128, 16, 8, 8, 8),
    Tile(64, 128, 16, 8, 16, 4),
    Tile(64, 64, 16, 8, 8, 8),
    Tile(64, 64, 16, 8, 16, 4),
    Tile(64, 64, 32, 8, 8, 8, 2),
    Tile(32, 64, 64, 4, 8, 8, 4),
    Tile(32, 32, 64, 4, 4, 8, 4),
    Tile(16, 32, 64, 4, 4, 8, 8),
    Tile(32, 16, 64, 4, 4, 4, 8),
    Tile(32, 32, 16, 4, 4, 8),
    Tile(16, 64, 16, 4, 4, 16),
    Tile(64, 16, 16, 4, 4, 4),
    Tile(16, 16, 16, 4, 4, 4),
)
VECTORS = (Vectors(1), Vectors(2), Vectors(4), Vectors(8))
UNITS = (Units(128, 128, 32, 64, 64), Units(64, 64, 32, 32, 32))
PLANS: dict[str, Tile | Vectors | Units] = {p.name: p for p in (*TILES, *VECTORS, *UNITS)}
T16 = PLANS["t16x16"]

# The default table for GPUs: a plan is taken if it makes at least so many workgroups and at most so many, else the next
# is asked. Measured on an NVIDIA H200; the first row is for adapters of that class only (see _roomy).
MANY = 1 << 32
TABLE: tuple[tuple[str, int, int], ...] = (
    ("t128x128w", 200, MANY),
    ("t128x128", 200, MANY),
    ("t64x64s2", 200, 300),
    ("t64x64", 200, MANY),
    ("t32x64s4", 100, MANY),
    ("t32x32s4", 24, MANY),
    ("t16x32s8", 1, MANY),
    ("t32x32", 0, MANY),
)
SHORT_K = 512  # terms that the largest tiles do not pay off with, where B lies along n
WAVE = 132  # of the largest tiles a GPU of that class runs so many workgroups at a time
BUSY = 264  # workgroups that keep a large GPU busy: fewer, and a long k is cut
FEW = 64  # the same of a gemv, whose workgroups are larger
SHORT = 256  # terms of k that a piece has at least
MOST_PIECES = 64
LONG_K = 32768  # terms that one launch adds: the error of a sum grows with them
SHARES = (256, 64, 16, 4)  # threads that may share an output of a gemv: each has four fours of k or more
ROWS, COLUMNS = 256, 512  # threads of a gemv whose matrix lies along k, or along the outputs

# What the matrix units take: the last one is bridge.js's word for 16 x 16 x 16 float16 -> float32 in subgroups of 32.
MATRIX = frozenset(
    ("shader-f16", "subgroups", "chromium-experimental-subgroup-matrix", "matrix-f16-f32-16x16x16")
)

overrides: dict[tuple[object, ...], str] = {}


def size_class(m: int, n: int, k: int, batch: int) -> tuple[int, int, int, int]:
    """Sizes by powers of two: 1, 2, 3 to 4, 5 to 8, ... share a class."""
    return (m - 1).bit_length(), (n - 1).bit_length(), (k - 1).bit_length(), (batch - 1).bit_length()


def candidates(
    m: int,
    n: int,
    k: int,
    batch: int,
    limits: Mapping[str, int],
    *,
    features: frozenset[str] = frozenset(),
    halves: bool = False,
) -> list[str]:
    """Names of the plans that a GPU with these limits and features can run for such a product, the default first.

    Left out is what cannot win: tiles twice as wide or high as the result or far too small for it, vectors for more
    rows than they hold. `name/p` cuts k in p pieces, where there are few workgroups and many terms.
    """
    plan, pieces = _default(m, n, k, batch, limits, features if halves else frozenset(), False, False)
    found = [_called(plan, pieces)]
    for name, plan in PLANS.items():
        if not _fits(plan, limits, features if halves else frozenset()) or not _sensible(plan, m, n):
            continue
        groups = _groups(plan, m, n, batch)
        if groups > 32 * BUSY:
            continue
        names = [name]
        for pieces in (2, 4, 8, 16):
            if groups * pieces <= 4 * BUSY and k >= pieces * SHORT and not isinstance(plan, Units):
                names.append(f"{name}/{pieces}")
        found += [x for x in names if x not in found]
    return found


def choose(
    m: int,
    n: int,
    k: int,
    batch: int,
    a: Side,
    b: Side,
    limits: Mapping[str, int],
    software: bool,
    *,
    features: frozenset[str] = frozenset(),
    cut: bool = True,
) -> Choice:
    """The variant for C[batch, m, n] = A[batch, m, k] @ B[batch, k, n].

    `limits` are WebGPU's limits by their WebGPU names (missing ones: the guaranteed values). `software`: the adapter is
    a CPU, which wants little work wasted at the edges and pays for barriers.
    `features` are the device's. `cut`: k may be cut in pieces.
    """
    halves = a.dtype == b.dtype == "float16"
    units = features if halves and _even(m, n, k, a, b) else frozenset()
    plan, pieces = None, 1
    wanted = overrides.get((halves, *size_class(m, n, k, batch))) if overrides and not software else None
    if wanted is not None:
        name, _, p = wanted.partition("/")
        plan, pieces = PLANS.get(name), int(p or 1)
        if plan is None or not _fits(plan, limits, units) or not _sensible(plan, m, n):
            plan = None
    if plan is None:
        turned = b.strides[-2] == 1 and b.strides[-1] != 1
        plan, pieces = _default(m, n, k, batch, limits, units, software, turned)
    if not cut:
        pieces = 1
    pieces = max(1, min(pieces, -(-k // 64)))
    piece = (k + 64 * pieces - 1) // (64 * pieces) * 64 if pieces > 1 else k + 3 & ~3
    pieces = -(-k // piece)
    if isinstance(plan, Vectors):
        return _vectors(plan, m, n, k, batch, a, b, 0 if software else _threads(limits), pieces, piece)
    if isinstance(plan, Units):
        return _units(plan, m, n, k, batch, a, b)
    return _tiled(plan, m, n, k, batch, a, b, _memory(limits), software, pieces, piece)


def _default(
    m: int,
    n: int,
    k: int,
    batch: int,
    limits: Mapping[str, int],
    units: frozenset[str],
    software: bool,
    turned: bool,
) -> tuple[Tile | Vectors | Units, int]:
    """The plan of the table for the sizes, and the pieces of k. turned: B lies along k."""
    small = min(m, n)
    fits = [p for p in PLANS.values() if _fits(p, limits, units)]
    if not any(isinstance(p, Tile) for p in fits):
        room = f"{_threads(limits)} invocations and {_memory(limits)} bytes of workgroup memory"
        raise ValueError(f"gemm: no tile fits {room}")
    wanted: list[str] = []
    if software:
        if small <= 4:
            wanted = [f"v{1 << (small - 1).bit_length()}"]
        else:
            wanted = ["t64x64w"] if small >= 64 else ["t32x32"] if small > 16 else ["t16x16"]
    elif small <= 8:
        wanted = [f"v{1 << (small - 1).bit_length()}"]
    else:
        wanted = [p.name for p in UNITS if p.count(m, n, batch) >= 64 and min(m, n) >= p.bm]
        if small <= 16:
            wanted += ["t16x32s8", "t16x64"] if m <= 16 else ["t32x16s8", "t64x16"]
        wanted += [
            name
            for name, enough, most in TABLE
            if _sensible(PLANS[name], m, n)
            and enough <= (groups := _groups(PLANS[name], m, n, batch)) <= most
            and (not name.startswith("t128") or (_filled(groups) and (k > SHORT_K or turned)))
            and (not name.endswith("w") or (_roomy(limits) and not turned))
        ]
    plan = next((p for name in [*wanted, "t16x16"] if (p := PLANS[name]) in fits), fits[-1])
    pieces = -(-k // LONG_K)
    if not software and not isinstance(plan, Units):
        groups = _groups(plan, m, n, batch)
        busy = BUSY if isinstance(plan, Tile) else FEW
        if groups * 2 <= busy and k >= 4 * SHORT:
            pieces = max(pieces, min(busy // groups, k // (2 * SHORT), MOST_PIECES))
    if m * n * batch > 1 << 22:  # the pieces would fill the memory
        pieces = 1
    return plan, pieces


def _filled(groups: int) -> bool:
    """Whether the last wave of workgroups is not mostly idle."""
    waves = -(-groups // WAVE)
    return waves > 4 or groups >= 0.8 * waves * WAVE


def _roomy(limits: Mapping[str, int]) -> bool:
    """Whether an adapter is of a class with registers for 8 x 16 outputs a thread, as far as its limits show that."""
    return _memory(limits) >= 49152


def _called(plan: Tile | Vectors | Units, pieces: int) -> str:
    return plan.name + (f"/{pieces}" if pieces > 1 else "")


def _threads(limits: Mapping[str, int]) -> int:
    return min(
        limits.get("maxComputeInvocationsPerWorkgroup", 256), limits.get("maxComputeWorkgroupSizeX", 256)
    )


def _memory(limits: Mapping[str, int]) -> int:
    return limits.get("maxComputeWorkgroupStorageSize", 16384)


def _fits(plan: Tile | Vectors | Units, limits: Mapping[str, int], features: frozenset[str]) -> bool:
    """Whether a device can run a plan."""
    threads, memory = _threads(limits), _memory(limits)
    if isinstance(plan, Tile):
        return plan.threads <= threads and plan.memory <= memory
    if isinstance(plan, Vectors):
        return threads >= 64 and memory >= 16384
    return features >= MATRIX and plan.threads <= threads and plan.memory <= memory


def _sensible(plan: Tile | Vectors | Units, m: int, n: int) -> bool:
    """Whether a plan is made for such sizes at all."""
    if isinstance(plan, Vectors):
        return plan.vectors >= min(m, n) > plan.vectors // 2
    if isinstance(plan, Units):
        return m >= plan.bm and n >= plan.bn
    return plan.bm < 2 * max(m, 16) and plan.bn < 2 * max(n, 16)


def _groups(plan: Tile | Vectors | Units, m: int, n: int, batch: int) -> int:
    """About how many workgroups a plan makes."""
    if isinstance(plan, Vectors):
        return -(-max(m, n) // 32) * batch
    return plan.count(m, n, batch)


def _tiled(
    tile: Tile,
    m: int,
    n: int,
    k: int,
    batch: int,
    a: Side,
    b: Side,
    memory: int,
    software: bool,
    pieces: int,
    piece: int,
) -> Choice:
    a_way = b_way = None
    if tile is not T16:
        a_way = _way(k, m, a.strides[-1], a.strides[-2], [*a.strides[:-2], a.offset])
        b_way = _way(k, n, b.strides[-2], b.strides[-1], [*b.strides[:-2], b.offset])
    params: dict[str, Any] = {"BM": tile.bm, "BN": tile.bn, "BK": tile.bk, "TM": tile.tm, "TN": tile.tn}
    params |= {
        "LX": tile.lx,
        "SLICES": tile.slices,
        "A_VEC": bool(a_way),
        "B_VEC": bool(b_way),
        "N4": n % 4 == 0,
    }
    spare = not software and "k" in (a_way, b_way) and tile.memory + 4 * tile.bk * tile.pad <= memory
    params["PAD"] = tile.pad if spare else 0
    name = tile.name
    if a_way:
        params["A_ALONG_K"] = a_way == "k"
    if b_way:
        params["B_ALONG_K"] = b_way == "k"
    if a_way or b_way:
        name += "_" + {"k": "k", "x": "m", None: "s"}[a_way] + {"k": "k", "x": "n", None: "s"}[b_way]
    if software:
        params["BK"] = 4
    unroll = {
        "bm": tile.bm,
        "bn": tile.bn,
        "bk": params["BK"],
        "tm": tile.tm,
        "tn": tile.tn,
        "slices": tile.slices,
        "pad": params["PAD"],
        "direct": software,
    }
    return Choice(name, "gemm", params, unroll, tile.count(m, n, batch) * pieces, pieces, piece)


def _vectors(
    plan: Vectors,
    m: int,
    n: int,
    k: int,
    batch: int,
    a: Side,
    b: Side,
    most: int,
    pieces: int,
    piece: int,
) -> Choice:
    matrix_a = n < m
    if matrix_a:
        outputs, along, across, rest = m, a.strides[-1], a.strides[-2], [*a.strides[:-2], a.offset]
        x_along, x_across, x_rest = b.strides[-2], b.strides[-1], [*b.strides[:-2], b.offset]
    else:
        outputs, along, across, rest = n, b.strides[-2], b.strides[-1], [*b.strides[:-2], b.offset]
        x_along, x_across, x_rest = a.strides[-1], a.strides[-2], [*a.strides[:-2], a.offset]
    way = _way(k, outputs, along, across, rest)
    along_k = way == "k" if way else abs(along) <= abs(across) or outputs < 4
    x_vec = _way(k, 4, x_along, x_across, x_rest) == "k"
    vectors = plan.vectors
    share = next(x for x in SHARES if piece >= 16 * x or x == SHARES[-1])
    if not most:  # a CPU adapter
        threads, lanes, outs, ahead = 16, 1, min(4, 8 // vectors), 1
    elif along_k:
        threads = 1 << min(ROWS, most).bit_length() - 1
        lanes = min(threads, share if vectors <= 2 else min(share, 64))
        outs, ahead = 1 if vectors <= 2 else 2, 4 if vectors <= 2 else 1
    else:
        threads = 1 << min(COLUMNS, most).bit_length() - 1
        lanes, outs, ahead = min(threads // 8, share), 1, 2 if vectors <= 2 else 1
    params: dict[str, Any] = {
        "NT": threads,
        "LANES": lanes,
        "OUTS": outs,
        "VECS": vectors,
        "MATRIX_A": matrix_a,
    }
    params |= {"ALONG_K": along_k, "M_VEC": way is not None, "X_VEC": x_vec}
    params["N4"] = n % 4 == 0 and not matrix_a and not along_k
    unroll = {
        "nt": threads, "lanes": lanes, "outs": outs, "vecs": vectors, "along_k": along_k, "ahead": ahead
    }  # fmt: skip
    per = threads // lanes * (outs if along_k else 4)
    name = f"{plan.name}_{'rows' if matrix_a else 'columns'}_{'k' if along_k else 'x'}{'_vec' if way else ''}"
    return Choice(name, "gemv", params, unroll, -(-outputs // per) * batch * pieces, pieces, piece)


def _units(plan: Units, m: int, n: int, k: int, batch: int, a: Side, b: Side) -> Choice:
    a_way = _way(k, m, a.strides[-1], a.strides[-2], [*a.strides[:-2], a.offset], 8)
    b_way = _way(k, n, b.strides[-2], b.strides[-1], [*b.strides[:-2], b.offset], 8)
    unroll = {
        "bm": plan.bm, "bn": plan.bn, "bk": plan.bk, "sm": plan.sm, "sn": plan.sn, "depth": plan.depth,
        "a_along_k": a_way == "k", "b_along_k": b_way == "k",
    }  # fmt: skip
    name = f"{plan.name}_{'k' if a_way == 'k' else 'm'}{'k' if b_way == 'k' else 'n'}"
    params: dict[str, Any] = {"BM": plan.bm, "BN": plan.bn, "NT": plan.threads, "N4": True}
    return Choice(name, "gemm_matrix", params, unroll, plan.count(m, n, batch), 1, k)


def _even(m: int, n: int, k: int, a: Side, b: Side) -> bool:
    """Whether the matrix units can read both operands: whole vectors of 8 halves, whole steps of k."""
    return (
        k % 32 == 0
        and n % 8 == 0
        and _way(k, m, a.strides[-1], a.strides[-2], [*a.strides[:-2], a.offset], 8) is not None
        and _way(k, n, b.strides[-2], b.strides[-1], [*b.strides[:-2], b.offset], 8) is not None
    )


def _way(k: int, x: int, k_stride: int, x_stride: int, rest: Sequence[int], width: int = 4) -> str | None:
    """The axis along which aligned vectors can be read: "k", "x" (the axis that is not summed) or None."""
    if any(v % width for v in rest):
        return None
    if k_stride == 1 and k % width == 0 and x_stride % width == 0:
        return "k"
    if x_stride == 1 and x % width == 0 and k_stride % width == 0:
        return "x"
    return None
