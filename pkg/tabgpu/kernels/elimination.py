"""What the kernels of factorisations have for a type and a size: complex arithmetic, rows and columns in registers."""

from __future__ import annotations

from .. import kernels

# Blocks "arithmetic" for complex64, by kernel.
_PRODUCT = """fn times(a: E, b: E) -> E { return E(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
fn less(s: E, a: E, b: E) -> E { return s - times(a, b); }
"""
_FOURS = (
    _PRODUCT
    + """fn conjugate(a: E) -> E { return E(a.x, negative_f32(a.y)); }
fn four(a: E, b: E, c: E, d: E) -> Q { return Q(a, b, c, d); }
fn less_four(y: Q, t: E, c: Q) -> Q {
  return Q(less(y[0], t, c[0]), less(y[1], t, c[1]), less(y[2], t, c[2]), less(y[3], t, c[3]));
}
"""
)
COMPLEX = {
    "eliminate": _FOURS
    + """fn less_dot(s: E, a: Q, b: Q) -> E {
  return less(less(less(less(s, a[0], b[0]), a[1], b[1]), a[2], b[2]), a[3], b[3]);
}
fn one() -> E { return E(1.0f, 0.0f); }
fn inverse(d: E) -> E { return divide_c64(one(), d); }
fn over(y: E, d: E, r: E) -> E { return times(y, r); }
""",
    "cholesky_panel": _FOURS
    + """fn real(a: E) -> f32 { return a.x; }
fn number(a: f32) -> E { return E(a, 0.0f); }
fn on_diagonal(a: E, on: bool) -> E { return E(a.x, select(a.y, 0.0f, on)); }
fn over(y: E, d: f32, r: f32) -> E {
  let q = y * r;
  return fma(fma(-q, E(d), y), E(r), q);
}
""",
    "eliminate_serial": _PRODUCT
    + """fn conjugate(a: E) -> E { return E(a.x, negative_f32(a.y)); }
fn divided(y: E, d: E) -> E { return divide_c64(y, d); }
""",
    "eliminate_small": _PRODUCT
    + """fn divided(y: E, d: E) -> E { return divide_c64(y, d); }
fn magnitude(a: E) -> u32 { return bitcast<u32>(absolute_f32(a.x) + absolute_f32(a.y)) & 0x7fffffffu; }
fn number(a: u32) -> E { return E(f32(a), 0.0f); }
""",
    "lu_panel": _PRODUCT
    + """fn over(y: E, d: E) -> E { return divide_c64(y, d); }
fn magnitude(a: E) -> u32 { return bitcast<u32>(absolute_f32(a.x) + absolute_f32(a.y)) & 0x7fffffffu; }
""",
    "lu_ends": "fn number(a: u32) -> E { return E(f32(a), 0.0f); }\n",
}

# Block "winner" of lu_panel with subgroups: each leaves its best candidate, and all of them find the best of those.
_WINNER = """fn best_of(b: Best) -> Best {
  let key = subgroupMax(b.key);
  let spot = subgroupMin(select(0xffffffffu, b.spot, b.key == key));
  return Best(key, spot, subgroupMin(select(0xffffffffu, b.row, b.key == key && b.spot == spot)));
}
fn winner(li: u32, b: Best) -> Best {
  let own = best_of(b);
  if (lane == 0u) {
    keys[li / size] = own.key;
    spots[li / size] = own.spot;
    owners[li / size] = own.row;
  }
  workgroupBarrier();
  var all = Best(0u, 0xffffffffu, 0u);
  for (var k = lane; k < WG / size; k += size) {
    if (better(keys[k], spots[k], all)) { all = Best(keys[k], spots[k], owners[k]); }
  }
  return best_of(all);
}
"""


def text(name: str, kind: str, subgroups: bool = False, **params: object) -> str:
    """kernels/NAME.wgsl for float32 ("f") or complex64 ("c"): a whole module."""
    body = kernels.read(name)
    if kind == "c":
        params["E"] = "vec2f"
        body = kernels.replace_block(body, "arithmetic", COMPLEX[name])
        if name in ("eliminate", "cholesky_panel"):
            params["Q"] = "mat4x2f"
    if name == "eliminate":
        body = _update(body, bool(params["LU"]), bool(params["SOLVE"]), int(str(params["K"])))
    elif name == "eliminate_serial":
        body = _serial(body, bool(params["LU"]), bool(params["SOLVE"]))
    elif name == "eliminate_small" and params["LANES"] == 1:
        own = "@group(0) @binding(3) var<storage, read_write> m: array<E>;\n"
        body = kernels.replace_block(body, "memory", own)
        body = kernels.replace_function(body, "barrier", "fn barrier() {}")
    elif name == "cholesky_panel":
        body = kernels.replace_block(body, "rows", _rows(int(str(params["K"])), kind))
    elif subgroups:
        body = kernels.replace_block(body, "winner", _WINNER)
        more = "index) li: u32,\n        @builtin(subgroup_size) sg: u32, @builtin(subgroup_invocation_id) id: u32)"
        body = body.replace("index) li: u32)", more).replace(
            "  let z = g.x", "  size = sg;\n  lane = id;\n  let z = g.x"
        )
        body = "enable subgroups;\nvar<private> size: u32;\nvar<private> lane: u32;\n" + body
    body = kernels.rewrite(body, params)
    files = sorted({*kernels.uses(body), *kernels.called(body)})
    return kernels.enabled(kernels.library(files) + "\n" + body)


def _lines(out: list[str], indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in out)


def _fours(name: str, k: int) -> list[str]:
    """Four calls of a function for each of k / 4 variables."""
    return [f"var y{q} = four({', '.join(name.format(4 * q + h) for h in range(4))});" for q in range(k // 4)]


def _update(body: str, lu: bool, solve: bool, k: int) -> str:
    """eliminate with one variable for each four of a column and for each sum."""
    out = _fours("right(live, {}u, wbase + col)", k)
    out += ["for (var g = 0u; g < KQ; g++) {"]
    for h in range(4):
        out += [f"  let d{h} = lt[K * KQ + 4u * g + {h}u];", f"  let t{h} = over(y0[{h}], d{h}[0], d{h}[1]);"]
        out += [f"  y0[{h}] = t{h};", f"  let i{h} = (4u * g + {h}u) * KQ + g;"]
        # What is solved already is not even given 0 * t, which may be NaN.
        out += [f"  y0[{c}] = less(y0[{c}], t{h}, lt[i{h}][{c}]);" for c in range(h + 1, 4)]
        some = range(1, k // 4)
        out += [f"  if (g + {q}u < KQ) {{ y{q} = less_four(y{q}, t{h}, lt[i{h} + {q}u]); }}" for q in some]
    out += ["  ut[slot(li, g)] = y0;", "  if (final_) { put(4u * g, xbase, y0); }", *_moved(k), "}"]
    drop = [] if lu else [*_LU, "chosen"]
    if solve:
        body = kernels.replace_block(body, "columns", _lines(out, 6))
    else:
        drop += ["solved", "put", "solving"]
    cells = [(h, c) for h in range(4) for c in range(4)]
    out = [f"let on{h} = living(row + {h}u * TY, posts);" for h in range(4)]
    out += [f"var s{h}{c} = old(on{h}, at, col, {4 * h + c}u);" for h, c in cells]
    out += ["for (var q = 0u; q < KQ; q++) {"]
    out += [f"  let a{h} = lt[slot(ty + {h}u * TY, q)];" for h in range(4)]
    out += [f"  let b{h} = ut[slot(tx + {h}u * TX, q)];" for h in range(4)]
    out += [f"  s{h}{c} = less_dot(s{h}{c}, a{h}, b{c});" for h, c in cells]
    out += ["}", *(f"keep(s{h}{c}, on{h}, at, row, col, {4 * h + c}u, base);" for h, c in cells)]
    return _less(kernels.replace_block(body, "multiply", _lines(out, 2)), drop, lu)


_LU = ["pivots", "active", "next", "place"]


def _less(body: str, drop: list[str], lu: bool) -> str:
    """Without blocks that are for other uses."""
    for name in drop:
        body = kernels.replace_block(body, name, "")
    return body if lu else body.replace("read_write> l:", "read> l:")


def _serial(body: str, lu: bool, solve: bool) -> str:
    """eliminate_serial with one variable for each sum."""
    cells = [(h, c) for h in range(4) for c in range(4)]
    out = [f"var s{h}{c} = old(row + {h}u, col + {c}u, on{h});" for h, c in cells]
    out += ["for (var k = 0u; k < P[0].w; k++) {"]
    out += [f"  let a{h} = side(row + {h}u, k);" for h in range(4)]
    out += [f"  let b{h} = top(k, col + {h}u);" for h in range(4)]
    out += [f"  s{h}{c} = less(s{h}{c}, a{h}, b{c});" for h, c in cells]
    out += ["}", *(f"keep(s{h}{c}, row + {h}u, col + {c}u, on{h});" for h, c in cells)]
    drop = ([] if lu else _LU) + ([] if solve else ["solved", "solving", "above"])
    return _less(kernels.replace_block(body, "multiply", _lines(out, 2)), drop, lu)


def _rows(k: int, kind: str) -> str:
    """The elimination of cholesky_panel with one variable for each four of a row."""
    out = _fours("at(live, i, {}u, base)", k)
    out += ["for (var g = 0u; g < KQ; g++) {"]
    for h in range(4):
        b = f"{h % 2 * k}u + 4u * g"
        out += [f"  if (li < K) {{ column[{h % 2 * k}u + li] = y0[{h}]; }}", "  workgroupBarrier();"]
        out += [f"  let a{h} = real(column[{b} + {h}u]);", f"  let d{h} = root(a{h});"]
        out += [f"  bad = select(bad, 4u * g + {h + 1}u, bad == 0u && !good(a{h}));"]
        out += [f"  y0[{h}] = over(y0[{h}], d{h}.d, d{h}.r);", f"  let t{h} = y0[{h}] * d{h}.r;"]
        out += [f"  y0[{c}] = less(y0[{c}], t{h}, conjugate(column[{b} + {c}u]));" for c in range(h + 1, 4)]
        for q in range(1, k // 4):
            parts = ", ".join(f"conjugate(column[{b} + {4 * q + c}u])" for c in range(4))
            out.append(f"  if (g + {q}u < KQ) {{ y{q} = less_four(y{q}, t{h}, four({parts})); }}")
    kept = "    if (c + {h}u < P[0].z && c + {h}u <= i) {{ l[to + c + {h}u] = on_diagonal(y0[{h}], c + {h}u == i); }}"
    out += ["  let c = 4u * g;", "  if (stored) {", *(kept.format(h=h) for h in range(4)), "  }"]
    return _lines([*out, *_moved(k), "}"], 2)


def _moved(k: int) -> list[str]:
    """The next four in the place of those that are done: the loop's text then is that of four columns, not of k."""
    return [f"  y{q} = y{q + 1};" for q in range(k // 4 - 1)]
