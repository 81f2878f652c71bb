"""Radix sorts of long rows, least digit first: count, add up, move. Stable. Which adapters and lengths take them."""

from __future__ import annotations

from typing import NamedTuple

from .. import kernels
from ..dtypes import uint32
from ..graph import Op
from ..kernels.unroll import unrolled
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import kernel, launch, temporary

THREADS = 128  # of a workgroup
LEAST = 8192  # elements of a row, and of all rows: fewer are merged
LEAST_IN_ALL = 1 << 18
ITEMS = ((1 << 19, 4), (1 << 22, 8))  # up to so many elements in all, so many a thread; then MOST_ITEMS
MOST_ITEMS = 16
MEMORY = 8192  # bytes of workgroup memory for the subgroups' counts
SERIAL_LEAST = 4096  # the same on a CPU adapter
SERIAL_BLOCK = 1024  # elements that a thread of it moves, unless that takes too many threads
SERIAL_MOST = 256


class Keys(NamedTuple):
    """Rows of 32-bit elements, the form of their keys (lib/sorting) and which of the keys' bits may differ."""

    rows: int
    n: int
    form: list[int]
    bits: tuple[int, int]


def threads(facts: Facts) -> int:
    """Of a workgroup: whole subgroups."""
    return min(facts.workgroup, max(THREADS, facts.subgroups[1]))


def digit_bits(facts: Facts) -> int:
    """Bits of a digit: as many as give each subgroup a count of each digit in workgroup memory; 0 without subgroups."""
    if facts.software:
        return 8
    least, most = facts.subgroups
    wg = threads(facts)
    room = facts.limits["maxComputeWorkgroupStorageSize"] - 4 * MOST_ITEMS * wg - 2048
    if not least or most > 128 or wg < most or room < 1024:
        return 0
    return min(8, (min(room, MEMORY) * least // (4 * wg)).bit_length() - 1)


def suits(rows: int, n: int, facts: Facts) -> bool:
    """Whether rows of n elements are sorted here rather than by merging."""
    if facts.software:
        return n >= SERIAL_LEAST
    return n > LEAST and rows * n > LEAST_IN_ALL and digit_bits(facts) >= 4


def lower(source: Op, result: Op, keys: Keys, places: bool, facts: Facts) -> list[Launch]:
    """The launches that write sorted elements, or (places) the positions in their rows that sort them, to result."""
    begin, end = keys.bits
    step = digit_bits(facts)
    move = _serial if facts.software else _blocks
    made: list[Launch] = []
    elements = along = source
    for shift in range(begin, end, step):
        last = shift + step >= end
        payload = 0 if not places else 1 if shift == begin else 2
        key, moved = (temporary((keys.rows, keys.n), uint32) for _ in range(2))
        if not places or last:
            moved = temporary((1,), uint32)
        if last:
            key, moved = (temporary((1,), uint32), result) if places else (result, moved)
        made += move((elements, along), (key, moved), keys, shift, payload, not (places and last), facts)
        elements, along = key, moved if places else source
    return made


def _blocks(
    read: tuple[Op, Op], into: tuple[Op, Op], keys: Keys, shift: int, payload: int, whole: bool, facts: Facts
) -> list[Launch]:
    """One pass on a GPU. payload: as PAYLOAD of radix_scatter; whole: whether elements are written."""
    wg, bits = threads(facts), digit_bits(facts)
    items = next((k for most, k in ITEMS if keys.rows * keys.n <= most), MOST_ITEMS)
    blocks = -(-keys.n // (wg * items))
    places = -(-blocks // 4) * 4
    total, rows = keys.rows * blocks, keys.rows << bits
    greatest = (1 << min(bits, keys.bits[1] - shift)) - 1
    words = [keys.n, blocks, shift, total, *keys.form, greatest, places, 0, 0, 0]
    table, before = temporary((rows, places), uint32), temporary((rows, places), uint32)
    totals = temporary((rows,), uint32)
    count = _count(wg, items, bits, keys.rows == 1 or not keys.n % 4)
    add = kernel("radix_offsets", "rww", WG=facts.workgroup)
    move = _scatter(wg, items, bits, payload, whole, facts.subgroups)
    return [
        launch(count, (read[0],), (table,), total, words, facts),
        launch(add, (table,), (before, totals), rows, [blocks, rows, places, 0], facts),
        launch(move, (*read, before, totals), into, total, words, facts),
    ]


def _count(wg: int, items: int, bits: int, quads: bool) -> Kernel:
    return kernel_for(("radix_count", wg, items, bits, quads), count_text, "radix_count", wg)


def count_text(key: tuple[str, int, int, int, bool]) -> tuple[str, str]:
    name, wg, items, bits, quads = key
    text = kernels.specialise(name, WG=wg, BITS=bits, ITEMS=items, S="vec4u" if quads else "u32")
    return text if quads else kernels.replace_function(text, "load4", ONE_BY_ONE), "rw"


ONE_BY_ONE = """fn load4(row: u32, p: u32) -> vec4u {
  let at = row * P[0].x + p;
  return vec4u(src[at], src[at + 1u], src[at + 2u], src[at + 3u]);
}"""


def _scatter(wg: int, items: int, bits: int, payload: int, whole: bool, sizes: tuple[int, int]) -> Kernel:
    label = f"radix_{'positions' if payload else 'values'}"
    return kernel_for(("radix_scatter", wg, items, bits, payload, whole, sizes), scatter_text, label, wg)


def scatter_text(key: tuple[str, int, int, int, int, bool, tuple[int, int]]) -> tuple[str, str]:
    name, wg, items, bits, payload, whole, (least, most) = key
    params: dict[str, object] = {"PAYLOAD": payload, "KEYS": whole, "SIZE_LEAST": least}
    words = -(-most // 32)
    if words > 1:
        params["MASK"] = f"vec{1 << (words - 1).bit_length()}u"
    text = kernels.specialise(name, WG=wg, BITS=bits, ITEMS=items, **params)
    for hook in MASKS[words - 1] if words > 1 else ():
        text = kernels.replace_function(text, hook.split("(")[0][3:], hook)
    return unrolled(text, "ITEMS", items), "rrrrww"


# Hooks for masks of two and of four words
_MASKS_2 = (
    "fn ballot(b: bool) -> MASK { return subgroupBallot(b).xy; }",
    "fn ones(m: MASK) -> u32 { return countOneBits(m.x) + countOneBits(m.y); }",
    """fn below(id: u32) -> MASK {
  let part = (1u << (id & 31u)) - 1u;
  return select(MASK(part, 0u), MASK(0xffffffffu, part), id >= 32u);
}""",
    """fn lowest(m: MASK) -> u32 {
  let at = countTrailingZeros(m);
  return select(32u + at.y, at.x, m.x != 0u);
}""",
)
_MASKS_4 = (
    "fn ballot(b: bool) -> MASK { return subgroupBallot(b); }",
    "fn ones(m: MASK) -> u32 { return dot(countOneBits(m), MASK(1u)); }",
    """fn below(id: u32) -> MASK {
  let word = MASK(0u, 1u, 2u, 3u);
  let own = MASK(id / 32u);
  let part = MASK((1u << (id & 31u)) - 1u);
  return select(select(MASK(0u), part, word == own), MASK(0xffffffffu), word < own);
}""",
    """fn lowest(m: MASK) -> u32 {
  let at = countTrailingZeros(m) + MASK(0u, 32u, 64u, 96u);
  return select(select(select(at.w, at.z, m.z != 0u), at.y, m.y != 0u), at.x, m.x != 0u);
}""",
)
MASKS = ((), _MASKS_2, _MASKS_4, _MASKS_4)


def _serial(
    read: tuple[Op, Op], into: tuple[Op, Op], keys: Keys, shift: int, payload: int, whole: bool, facts: Facts
) -> list[Launch]:
    """One pass on a CPU adapter."""
    wg = min(8, facts.workgroup)
    blocks = max(1, min(SERIAL_MOST // min(keys.rows, SERIAL_MOST), -(-keys.n // SERIAL_BLOCK)))
    each = -(-keys.n // blocks)
    blocks = -(-keys.n // each)
    table, totals = temporary((keys.rows, blocks, 256), uint32), temporary((keys.rows, 256), uint32)
    nothing = temporary((1,), uint32)
    words = [keys.n, blocks, shift, keys.rows, *keys.form, each, whole, payload, 0, 0]
    source = read[0]

    def step(k: int, reads: tuple[Op, ...], writes: tuple[Op, ...], threads: int) -> Launch:
        made = kernel("radix_serial", "rrrwww", f"radix_serial_{k}", WG=wg, STEP=k)
        return launch(made, reads, writes, -(-threads // wg), words, facts)

    return [
        step(0, (source, source, source), (table, nothing, temporary((1,), uint32)), keys.rows * blocks),
        step(1, (source, source, source), (table, totals, nothing), keys.rows * 256),
        step(2, (source, read[1], totals), (table, *into), keys.rows * blocks),
    ]
