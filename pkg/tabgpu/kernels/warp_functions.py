"""What warp.wgsl weighs its taps with: B-splines; t is the part behind an element, u = 1 - t, y a signed one."""

from __future__ import annotations

WEIGHTS = {
    0: ("1.0f",),
    1: ("u", "t"),
    2: ("0.5f * (0.5f - y) * (0.5f - y)", "0.75f - y * y", "0.5f * (0.5f + y) * (0.5f + y)"),
    3: (
        "u * u * u * (1.0f / 6.0f)",
        "0.5f * t * t * (t - 2.0f) + 2.0f / 3.0f",
        "0.5f * u * u * (u - 2.0f) + 2.0f / 3.0f",
        "t * t * t * (1.0f / 6.0f)",
    ),
    4: (
        "pow4(0.5f - y) * (1.0f / 24.0f)",
        "19.0f / 96.0f + y * (-11.0f / 24.0f + y * (0.25f + y * (1.0f - y) * (1.0f / 6.0f)))",
        "115.0f / 192.0f + y * y * (0.25f * y * y - 0.625f)",
        "19.0f / 96.0f + y * (11.0f / 24.0f + y * (0.25f - y * (1.0f + y) * (1.0f / 6.0f)))",
        "pow4(0.5f + y) * (1.0f / 24.0f)",
    ),
    5: (
        "pow4(u) * u * (1.0f / 120.0f)",
        "(1.0f + u * (5.0f + u * (10.0f + u * (10.0f + u * (5.0f - 5.0f * u))))) * (1.0f / 120.0f)",
        "(66.0f + t * t * (-60.0f + t * t * (30.0f - 10.0f * t))) * (1.0f / 120.0f)",
        "(66.0f + u * u * (-60.0f + u * u * (30.0f - 10.0f * u))) * (1.0f / 120.0f)",
        "(1.0f + t * (5.0f + t * (10.0f + t * (10.0f + t * (5.0f - 5.0f * t))))) * (1.0f / 120.0f)",
        "pow4(t) * t * (1.0f / 120.0f)",
    ),
}  # fmt: skip
POW4 = "fn pow4(v: f32) -> f32 { return v * v * (v * v); }\n"

# Places that an array gives: float32, one row an axis. NaN lies outside.
GIVEN = """fn where_(axis: u32, i: u32, o: vec3u) -> Place {
  let c = bitcast<f32>(places[axis * P[1].z + i]);
  let at = select(clamp(c, -1e9f, 1e9f), -1e9f, isnan_f32(c));
  let k = floor(at);
  return Place(i32(k) + bitcast<i32>(P[4u + 3u * axis].y), at - k);
}
"""


def weights(order: int) -> str:
    """Statements that fill out.w."""
    return "".join(f"    out.w[{k}] = {text};\n" for k, text in enumerate(WEIGHTS[order]))
