"""How resize.wgsl samples: the taps of an axis and their weights, for each mode, and the sum over up to three axes."""

from __future__ import annotations

NAMES = ("nearest", "linear", "cubic", "linear_filter", "cubic_filter")

_NEAREST = """struct Taps { at: u32, stray: bool }
fn taps(axis: u32, o: u32) -> Taps {
  let a = P[2u + 2u * axis];
  let b = P[3u + 2u * axis];
  if (b.w != 0u) {
    let i = i32((a.w * o + b.x) / b.w) - i32(b.z);
    return Taps(u32(clamp(i, 0, i32(a.y) - 1)) * a.z, false);
  }
  let x = coordinate(axis, o);
  var k = floor(x);
  if (b.z == 1u) { k = ceil(x); }
  if (b.z == 2u) { k = ceil(x - 0.5f); }
  if (b.z == 3u) { k = floor(x + 0.5f); }
  return Taps(u32(clamp(k, 0.0f, f32(a.y - 1u))) * a.z, strays(axis, x));
}
"""
_LINEAR = """struct Taps { at: vec2u, w: vec2f, stray: bool }
fn taps(axis: u32, o: u32) -> Taps {
  let n = P[2u + 2u * axis].y;
  let x = coordinate(axis, o);
  let first = min(u32(max(x, 0.0f)), n - 1u);
  let w = clamp(x - f32(first), 0.0f, 1.0f);
  return Taps(vec2u(first, min(first + 1u, n - 1u)) * P[2u + 2u * axis].z, vec2f(1.0f - w, w), strays(axis, x));
}
"""
# Keys' cubic by its four taps, at distances 1 + t, t, 1 - t and 2 - t.
_CUBIC = """struct Taps { at: vec4u, w: vec4f, stray: bool }
fn taps(axis: u32, o: u32) -> Taps {
  let n = i32(P[2u + 2u * axis].y);
  let x = coordinate(axis, o);
  let k = min(floor(x), f32(n - 1));
  let t = clamp(x - k, 0.0f, 1.0f);
  let a = bitcast<f32>(P[1].z);
  let inner = vec2f(t, 1.0f - t);
  let outer = inner + 1.0f;
  let near = ((a + 2.0f) * inner - (a + 3.0f)) * inner * inner + 1.0f;
  let far = ((a * outer - 5.0f * a) * outer + 8.0f * a) * outer - 4.0f * a;
  var w = vec4f(far.x, near.x, near.y, far.y);
  let i = vec4i(i32(k)) + vec4i(-1, 0, 1, 2);
  let inside = clamp(i, vec4i(), vec4i(n - 1));
  if ((P[1].y & 1u) != 0u) {
    w = select(vec4f(), w, i == inside);
    w /= (w.x + w.y) + (w.z + w.w);
  }
  return Taps(vec4u(inside) * P[2u + 2u * axis].z, w, strays(axis, x));
}
"""
_FILTER = """struct Taps {{ x: f32, lo: i32, hi: i32, top: i32, stride: u32, inverse: f32, stray: bool }}
fn taps(axis: u32, o: u32) -> Taps {{
  let a = P[2u + 2u * axis];
  let b = bitcast<vec4f>(P[3u + 2u * axis]);
  let x = coordinate(axis, o);
  let top = i32(a.y) - 1;
  let lo = i32(ceil(x - b.w));
  let hi = i32(floor(x + b.w));
  let cut = (P[1].y & 1u) != 0u;
  return Taps(x, select(lo, max(lo, 0), cut), select(hi, min(hi, top), cut), top, a.z, b.z, strays(axis, x));
}}
fn weight(a: Taps, i: i32) -> f32 {{
  let t = abs((f32(i) - a.x) * a.inverse);
  {weight}
}}
fn place(a: Taps, i: i32) -> u32 {{ return u32(clamp(i, 0, a.top)) * a.stride; }}
fn sample(base: u32, z: Taps, y: Taps, x: Taps) -> V {{
  var total = 0.0f;
  var sum = 0.0f;
{loops}  return div_f32(total, sum);
}}
"""
_TRIANGLE = "return max(1.0f - t, 0.0f);"
_KEYS = """let a_ = bitcast<f32>(P[1].z);
  if (t < 1.0f) { return ((a_ + 2.0f) * t - (a_ + 3.0f)) * t * t + 1.0f; }
  return select(0.0f, ((a_ * t - 5.0f * a_) * t + 8.0f * a_) * t - 4.0f * a_, t < 2.0f);"""


def _loops(rank: int) -> str:
    lines, base, weight = [], "base", ""
    for name in "zyx"[3 - rank :]:
        lines.append(f"for (var i{name} = {name}.lo; i{name} <= {name}.hi; i{name}++) {{")
        lines.append(f"let w{name} = {weight}weight({name}, i{name});")
        lines.append(f"let at{name} = {base} + place({name}, i{name});")
        base, weight = f"at{name}", f"w{name} * "
    lines += ["total += wx * load(atx);", "sum += wx;", *["}"] * rank]
    return "".join(f"  {line}\n" for line in lines)


def _sums(rank: int, lanes: str) -> str:
    """row, plane and sample: weighted sums over one axis, two and all."""

    def over(name: str, inner: str) -> str:
        return " + ".join(f"{name}.w.{c} * {inner.format(at=f'base + {name}.at.{c}')}" for c in lanes)

    row = f"fn row(base: u32, x: Taps) -> f32 {{ return {over('x', 'load({at})')}; }}\n"
    plane = f"fn plane(base: u32, y: Taps, x: Taps) -> f32 {{ return {over('y', 'row({at}, x)')}; }}\n"
    last = ("row(base, x)", "plane(base, y, x)", over("z", "plane({at}, y, x)"))[rank - 1]
    return (
        row
        + plane * (rank > 1)
        + f"fn sample(base: u32, z: Taps, y: Taps, x: Taps) -> V {{ return {last}; }}\n"
    )


def text(name: str, rank: int) -> str:
    """The block `mode` of resize.wgsl."""
    if name == "nearest":
        at = " + ".join(f"{c}.at" for c in "zyx"[3 - rank :])
        return (
            _NEAREST
            + f"fn sample(base: u32, z: Taps, y: Taps, x: Taps) -> V {{ return load(base + {at}); }}\n"
        )
    if name in ("linear", "cubic"):
        return (_LINEAR if name == "linear" else _CUBIC) + _sums(rank, "xy" if name == "linear" else "xyzw")
    return _FILTER.format(weight=_TRIANGLE if name == "linear_filter" else _KEYS, loops=_loops(rank))
