"""The functions that make hessenberg, schur and schur_finish.wgsl work on complex elements, by name."""

from __future__ import annotations

COMPLEX = {
    "times": "fn times(a: E, b: E) -> E { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }",
    "turned": "fn turned(a: E) -> E { return vec2f(a.x, -a.y); }",
    "square": "fn square(a: E) -> f32 { return dot(a, a); }",
    "inverse": """fn inverse(a: E) -> E {
  let m = max(abs(a.x), abs(a.y));
  let b = a / m;
  return vec2f(b.x, -b.y) / (m * dot(b, b));
}""",
    "real_part": "fn real_part(a: E) -> f32 { return a.x; }",
    "number": "fn number(a: f32) -> E { return vec2f(a, 0.0f); }",
    "size": "fn size(a: E) -> f32 { return abs(a.x) + abs(a.y); }",
    "chosen": "fn chosen(s: Shifts) -> Shifts { return s; }",
    "complex": "fn complex(a: E) -> vec2f { return a; }",
}
