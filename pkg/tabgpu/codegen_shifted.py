"""WGSL of tiles whose results are packed and whose rows begin inside words (a transposed image of odd width).

Each row of a tile is moved to where its first whole word begins, so every word has one thread that writes it. Tiles
overlap by four columns. The last word of a row reaches into the next one, whose elements are read where they are.
"""

from __future__ import annotations

from typing import NamedTuple

from .codegen import (
    LANES,
    Region,
    Writer,
    address,
    bindings,
    decode,
    locator,
    parameters,
    store_four,
    with_library,
    word,
)
from .codegen_strided import HEAD, TURNED, TURNED_STEP, bits_at, four_at, sorts_of, stage, threads
from .dtypes import DType


class Shifted(NamedTuple):
    """As codegen_strided.Tiled; turned accesses are not complex."""

    region: Region
    rank: int
    inputs: int
    tile: int


def lanes(k: int, dtype: DType, tile: int) -> list[str]:
    """The bits of four neighbours from column c of a turned tile on, any c."""
    found = []
    for j in range(4):
        held = f"t{k}[(ly * 4u + k) * {tile // 4}u + (((c + {j}u) >> 2u) ^ ly)]"
        found.append(
            {4: f"byte({held}, c + {j}u)", 2: f"half_word({held}[((c + {j}u) >> 1u) & 1u], c + {j}u)"}.get(
                dtype.per_word, f"{held}[(c + {j}u) & 3u]"
            )
        )
    return found


def shifted(sig: Shifted) -> tuple[str, str]:
    """(WGSL, access string). Words as of the tiled class, but that all sizes of the result follow those of the other
    axes, and all strides of an access those by tile."""
    region, rank, tile = sig.region, sig.rank, sig.tile
    full, pitch = rank + 2, tile - 4
    out = Writer(region, 8, 4)
    sizes, steps, dims = out.take(rank), out.take(rank), out.take(full)
    places = [out.take(3 + rank + full) for _ in region.accesses]
    out.scalar_at = out.take(region.scalars)
    sorts, words = sorts_of(region, sig.inputs)
    memory, before, lines = "", [], out.lines
    for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
        binding, dtype, form = access
        before.append(f"let base{k} = {address('p', rank, word(at), at + 1)};")
        turned = form in (TURNED, TURNED_STEP)
        if turned:
            declared, staging = stage(k, access, at, rank, tile, words, pitch)
            memory += declared
            before += staging
            lines.append(f"var v{k} = vec4u({', '.join(lanes(k, dtype, tile))});")
        else:
            row, across = word(at + 1 + rank), word(at + 2 + rank)
            lines += [f"var d{k}_{j} = base{k} + y * {row} + (x + {j}u) * {across};" for j in range(4)]
        for j in (1, 2, 3):  # what lies in the next row
            there = address("q", full, word(at), at + 3 + rank)
            become = (
                f"let e = {there}; v{k}.{LANES[j]} = {bits_at(binding, dtype, 'e', words)};"
                if turned
                else f"d{k}_{j} = {there};"
            )
            lines.append(f"if (x + {j}u >= {word(3)}) {{ let q = whole(f + {j}u); {become} }}")
        value = (
            decode(dtype, f"v{k}", 4) if turned else four_at(access, [f"d{k}_{j}" for j in range(4)], words)
        )
        lines.append(f"let a{k} = {value};")
    before.append(f"let base = {address('p', rank, None, steps)};")
    if memory:
        before.append("workgroupBarrier();")
    out.compute(packing=True)
    for k, (ref, dtype) in enumerate(region.outs):
        lines.append(f"let o{k} = {out.value(ref, dtype.kind)};")
        lines += store_four(f"w{k}", dtype, f"o{k}", "f", ref in out.loose)
    body, first = "\n    ".join(lines), "\n  ".join(before)
    text = (
        bindings(sorts) + parameters(out.at) + locator("locate", rank, sizes) + locator("whole", full, dims) + memory
        + f"@compute @workgroup_size({threads(tile)})\n" + HEAD
        + f"  let w = {word(0)} + g.x + ng.x * (g.y + ng.y * g.z);\n"
        + f"  if (w >= {word(1)}) {{ return; }}\n"
        + f"  let tb = w % {word(5)};\n  let high = w / {word(5)};\n"
        + f"  let ta = high % {word(4)};\n  let p = locate(high / {word(4)});\n"
        + f"  let lx = l % {tile // 4}u;\n  let ly = l / {tile // 4}u;\n  {first}\n"
        + f"  if (lx >= {pitch // 4}u) {{ return; }}\n"
        + "  for (var k = 0u; k < 4u; k++) {\n    let y = ta * " + f"{tile}u + ly * 4u + k;\n"
        + f"    if (y >= {word(2)}) {{ return; }}\n"
        + f"    let start = base + y * {word(6)};\n    let c = ((0u - start) & 3u) + lx * 4u;\n"
        + f"    let x = tb * {pitch}u + c;\n    if (x >= {word(3)}) {{ continue; }}\n    let f = start + x;\n"
        + f"    {body}\n  }}\n}}\n"
    )  # fmt: skip
    return with_library(text), "r" * sig.inputs + "w" * len(region.outs)
