"""The texts of scans: what they combine, and the hooks of scan_tiles, scan_columns and scan_serial."""

from __future__ import annotations

from typing import NamedTuple

from . import called, enabled, library, replace_function, specialise

# combine(a, b) and the bits of its identity and of the initial value, by name and kind; complex64 takes two words
COMBINE: dict[tuple[str, str], tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    ("sum", "f"): ("a + b", (0x80000000,), (0,)),  # -0, so that a running sum of -0 stays -0
    ("sum", "i"): ("a + b", (0,), (0,)),
    ("sum", "u"): ("a + b", (0,), (0,)),
    ("sum", "c"): ("a + b", (0x80000000, 0x80000000), (0, 0)),
    ("prod", "f"): ("a * b", (0x3F800000,), (0x3F800000,)),
    ("prod", "i"): ("a * b", (1,), (1,)),
    ("prod", "u"): ("a * b", (1,), (1,)),
    ("prod", "c"): ("vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)", (0x3F800000, 0), (0x3F800000, 0)),
    ("max", "f"): ("maximum_f32(a, b)", (0xFF800000,), (0xFF800000,)),
    ("max", "i"): ("max(a, b)", (0x80000000,), (0x80000000,)),
    ("max", "u"): ("max(a, b)", (0,), (0,)),
    ("min", "f"): ("minimum_f32(a, b)", (0x7F800000,), (0x7F800000,)),
    ("min", "i"): ("min(a, b)", (0x7FFFFFFF,), (0x7FFFFFFF,)),
    ("min", "u"): ("min(a, b)", (0xFFFFFFFF,), (0xFFFFFFFF,)),
    # pairs (sum since the last flag, flag): the sums of segments, each begun by a flag of 1
    ("segments", "c"): ("vec2f(select(a.x + b.x, b.x, b.y != 0.0f), max(a.y, b.y))", (0x80000000, 0), (0, 0)),
    ("logaddexp", "f"): ("logaddexp_f32(a, b)", (0xFF800000,), (0xFF800000,)),
}
ORDERED = {"segments"}  # those that do not commute
ALIAS = {"f": "f32", "i": "i32", "u": "u32", "c": "vec2f"}


class Form(NamedTuple):
    """A variant of a scanning kernel."""

    file: str  # scan_tiles, scan_columns or scan_serial
    name: str
    kind: str
    params: tuple[tuple[str, int], ...]
    switch: str  # "", "TOTALS", "CARRY" or "GATHER" (as CARRY, from what TOTALS wrote)
    quads: bool = True  # scan_tiles: rows begin at multiples of four elements in src
    quads_out: bool = True  # and in dst, with no initial value


def text(form: Form) -> tuple[str, str]:
    """(WGSL, access) of a variant."""
    params: dict[str, object] = {"T": ALIAS[form.kind], **dict(form.params)}
    if form.switch:
        params |= {form.switch: True, **({"CARRY": True} if form.switch == "GATHER" else {})}
    tiles = form.file == "scan_tiles"
    if tiles:
        params |= {"S": _word(form, form.quads), "D": _word(form, form.quads_out)}
        params["COMMUTES"] = form.name not in ORDERED
    code = specialise(form.file, **params)
    body = f"fn combine(a: T, b: T) -> T {{ return {COMBINE[form.name, form.kind][0]}; }}"
    code = replace_function(code, "combine", body)
    if form.kind == "c":
        code = replace_function(code, "from_bits", "fn from_bits(b: vec2u) -> T { return bitcast<T>(b); }")
    if tiles:
        code = _tiles(code, form)
    return enabled(library(called(body)) + "\n" + code), "rrw"


def _word(form: Form, quads: bool) -> str:
    """What a buffer of rows holds: four elements, two complex ones, or one."""
    if not quads:
        return "T"
    return "vec4f" if form.kind == "c" else f"vec4<{ALIAS[form.kind]}>"


def _tiles(code: str, form: Form) -> str:
    if not form.quads:
        code = replace_function(code, "load", LOAD_ONE)
    elif form.kind == "c":
        code = replace_function(code, "load", LOAD_COMPLEX)
    if form.switch == "TOTALS":
        code = replace_function(code, "store", "fn store(row: u32, p: u32, x: Quad) {}")
    elif not form.quads_out:
        code = replace_function(code, "store", STORE_ONE)
    elif form.kind == "c":
        code = replace_function(code, "store", STORE_COMPLEX)
    if form.switch != "TOTALS":
        code = replace_function(code, "put", "fn put(i: u32, x: T) {}")
    return code


LOAD_ONE = """fn load(row: u32, p: u32) -> Quad {
  let n = P[0].x;
  if (P[0].w != 0u) {
    let at = row * n + n - 1u - p;
    return Quad(src[at], src[at - 1u], src[at - 2u], src[at - 3u]);
  }
  let at = row * n + p;
  return Quad(src[at], src[at + 1u], src[at + 2u], src[at + 3u]);
}"""
LOAD_COMPLEX = """fn load(row: u32, p: u32) -> Quad {
  let n = P[0].x;
  if (P[0].w != 0u) {
    let at = (row * n + n + P[1].w - 4u - p) / 2u;
    let u = src[at];
    let v = src[at + 1u];
    return Quad(v.zw, v.xy, u.zw, u.xy);
  }
  let at = (row * n + p) / 2u;
  let u = src[at];
  let v = src[at + 1u];
  return Quad(u.xy, u.zw, v.xy, v.zw);
}"""
STORE_COMPLEX = """fn store(row: u32, p: u32, x: Quad) {
  let n = P[0].x;
  if (P[0].w != 0u) {
    let at = (row * n + n + P[1].w - 4u - p) / 2u;
    dst[at] = vec4f(x.d, x.c);
    dst[at + 1u] = vec4f(x.b, x.a);
  } else {
    let at = (row * n + p) / 2u;
    dst[at] = vec4f(x.a, x.b);
    dst[at + 1u] = vec4f(x.c, x.d);
  }
}"""
STORE_ONE = """fn store_one(row: u32, place: u32, x: T) {
  let m = P[1].x;
  let first = P[1].w * P[0].w;
  if (place < first || place >= P[0].x + first) { return; }
  let to = place - first + P[1].y;
  if (to < m) { dst[row * m + select(to, m - 1u - to, P[0].w != 0u)] = x; }
  if (place == first && P[1].y > 0u) { dst[row * m + select(0u, m - 1u, P[0].w != 0u)] = from_bits(P[2].zw); }
}

fn store(row: u32, p: u32, x: Quad) {
  store_one(row, p, x.a);
  store_one(row, p + 1u, x.b);
  store_one(row, p + 2u, x.c);
  store_one(row, p + 3u, x.d);
}"""
