"""The marked block of conv.wgsl: gemm's text with other loads for tiles, or a thread that works alone."""

from __future__ import annotations

import re

from .gemm_inner import gemm_inner

_LOAD = re.compile(r"(next(\d+)) = (load|fetch)(_a|_b)?\((.*)\);")
ROUNDS = 32768  # Mesa's CPU driver ends all loops of a thread together after 65,535
_PLACE = """  let slice = li / NS;
  let lj = li % NS;
  let tx = lj % LX + LX * (lj / 32u % (TX / LX));
  let ty = lj / LX % LY + LY * (lj / (LY * TX));
"""


def tiled(bm: int, bn: int, bk: int, tm: int, tn: int, slices: int, pad: int) -> str:
    """A workgroup's tile. Blocks begin at what `start` gives for them, and are loaded by that and k."""
    text = gemm_inner(bm, bn, bk, tm, tn, slices=slices, pad=pad)
    sides = dict(re.findall(r"let (w\d+) = start(_a|_b|)\(", text))

    def load(found: re.Match[str]) -> str:
        name, pass_, kind, _, rest = found.groups()
        k = "begin" if kind == "load" and "begin" in rest else "k0 + BK"
        walk = f"w{pass_}"
        side = sides[walk]
        block = "" if side else rest.split(",")[0] + ", "
        return f"{name} = load{side}({block}{walk}, {k});"

    return _PLACE + _LOAD.sub(load, text)


def alone(bm: int, bn: int, fours: bool) -> str:
    """A thread's bm x bn outputs, in registers. fours: terms are read four at a time (bm a multiple of 4)."""
    quads, rows = range(bn // 4), range(bm)
    lanes = "xyzw"
    out = [f"let y{j} = columns(at.col + {4 * j}u);" for j in quads]
    out += [f"var s{i}_{j} = vec4<T>();" for i in rows for j in quads]
    out += ["let first = at.a + at.row * P[2].x;"]
    if fours:
        out += [f"let x{i} = row_walk(first + {4 * i}u * P[2].x);" for i in range(bm // 4)]
    out += [f"for (var k0 = begin; k0 < end; k0 += {ROUNDS}u) {{"]
    if fours:
        out += [f"for (var k = k0; k < min(end, k0 + {ROUNDS}u); k += 4u) {{"]
        out += [f"  let x{i}_ = masked(load_a(x{i}, k));" for i in range(bm // 4)]
    else:
        out += [f"for (var k = k0; k < min(end, k0 + {ROUNDS}u); k++) {{"]
    for e in range(4) if fours else [0]:
        out += ["  {", f"    let t = term(k + {e}u);"]
        out += [f"    let b{j} = gather(y{j}, t);" for j in quads]
        if not fours:
            out += ["    let from_ = first + t.a;"]
            out += [f"    let a{i} = a_one(from_ + {i}u * P[2].x);" for i in rows]
        a = [f"x{i // 4}_.k{e}.{lanes[i % 4]}" if fours else f"a{i}" for i in rows]
        out += [f"    s{i}_{j} += {a[i]} * b{j};" for i in rows for j in quads]
        out += ["  }"]
    cells = bm * bn // 4
    out += [
        "}",
        "}",
        f"var sums = array<vec4<T>, {cells}>({', '.join(f's{i}_{j}' for i in rows for j in quads)});",
    ]
    out += [f"for (var e = 0u; e < {cells}u; e++) {{"]
    out += [f"  put(sums[e], z, at.row + e / {bn // 4}u, at.col + e % {bn // 4}u * 4u);", "}"]
    return "\n".join("  " + line for line in out) + "\n"
