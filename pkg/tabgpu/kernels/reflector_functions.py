"""The arithmetic that orthogonal factorisations are written in (qr_*, jacobi_*): real as it stands there, or
complex."""

from __future__ import annotations

from . import replace_function, specialise
from .unroll import unrolled

COMPLEX = {
    "mul": "fn mul(a: T, b: T) -> T { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }",
    "cmul": "fn cmul(a: T, b: T) -> T { return vec2f(a.x * b.x + a.y * b.y, a.x * b.y - a.y * b.x); }",
    "cj": "fn cj(a: T) -> T { return vec2f(a.x, -a.y); }",
    "re": "fn re(a: T) -> f32 { return a.x; }",
    "lift": "fn lift(a: f32) -> T { return vec2f(a, 0.0); }",
    "size2": "fn size2(a: T) -> f32 { return dot(a, a); }",
    "size": """fn size(a: T) -> f32 {
  let m = max(abs(a.x), abs(a.y));
  let q = min(abs(a.x), abs(a.y)) / max(m, 1e-37);
  return m * sqrt(fma(q, q, 1.0));
}""",
    "inverse": "fn inverse(a: T) -> T { return vec2f(a.x, -a.y) / dot(a, a); }",
    "imaginary": "fn imaginary(a: T) -> f32 { return a.y; }",
}


def text(name: str, kind: str, loops: dict[str, int], **params: object) -> str:
    """kernels/NAME.wgsl for real ("f") or complex ("c") elements, with some loops written out."""
    if kind == "c":
        params["T"] = "vec2f"
    made = specialise(name, **params)
    if kind == "c":
        for function, body in COMPLEX.items():
            if f"fn {function}(" in made:
                made = replace_function(made, function, body)
    for loop, count in loops.items():
        made = unrolled(made, loop, count)
    return made
