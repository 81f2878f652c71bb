"""The hooks of piecewise.wgsl: what a function is between two knots."""

from __future__ import annotations

from .. import kernels

_ROW = "{ return table[%s * P[0].z + m]; }"
_MIDDLE = "let b = min(j + 1u, P[0].x - 1u); let c = fma(0.5f, knots[j], 0.5f * knots[b]);"
_HEAD = "fn value(j: u32, last: u32, x: f32, m: u32) -> f32 "
VALUES = {
    "linear": "",  # as the file has it
    "previous": _HEAD + _ROW % "last",
    "next": _HEAD
    + "{ let k = select(min(last + 1u, P[0].x - 1u), last, order_key_f32(x) <= order_key_f32(knots[last]));"
    + " return table[k * P[0].z + m]; }",
    "nearest": _HEAD
    + "{ "
    + _MIDDLE
    + " return table[select(j, b, order_key_f32(x) > order_key_f32(c)) * P[0].z + m]; }",
    "nearest-up": _HEAD
    + "{ "
    + _MIDDLE
    + " return table[select(j, b, order_key_f32(x) >= order_key_f32(c)) * P[0].z + m]; }",
    "polynomial": _HEAD
    + """{
  let row = (P[0].x - 1u) * P[0].z;
  let at = j * P[0].z + m;
  let s = x - knots[j];
  var v = table[at];
  for (var k = 1u; k < P[0].w; k++) { v = fma(v, s, table[k * row + at]); }
  return v;
}""",
}


def text(key: tuple[str, str, int]) -> tuple[str, str]:
    """(WGSL, access) for ("piecewise", a name of VALUES, threads of a workgroup)."""
    name, kind, wg = key
    made = kernels.specialise(name, WG=wg)
    return kernels.replace_function(made, "value", VALUES[kind]) if VALUES[kind] else made, "rrrw"
