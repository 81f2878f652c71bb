// show: an image drawn from the words of its array by a render pass: one triangle over a canvas, a colour each pixel.
//
// Parameters (group 1, u32 words): 0 rows 1 columns 2 channels (1, 3 or 4)   3 and 4 width and height of the canvas
//   5 bits of the value that is dark   6 bits of what differences from it are multiplied by
// Hook: load.

const PV = 2u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> f32 { return bitcast<f32>(src[at]); }

fn shade(at: u32) -> f32 {
  return clamp((load(at) - bitcast<f32>(P[1].y)) * bitcast<f32>(P[1].z), 0.0f, 1.0f);
}

@vertex fn corner(@builtin(vertex_index) k: u32) -> @builtin(position) vec4f {
  return vec4f(f32(k & 1u) * 4.0f - 1.0f, f32(k >> 1u) * 4.0f - 1.0f, 0.0f, 1.0f);
}

@fragment fn colour(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let x = min(u32(at.x) * P[0].y / P[0].w, P[0].y - 1u);
  let y = min(u32(at.y) * P[0].x / P[1].x, P[0].x - 1u);
  let place = (y * P[0].y + x) * P[0].z;
  let first = shade(place);
  if (P[0].z == 1u) { return vec4f(first, first, first, 1.0f); }
  var alpha = 1.0f;
  if (P[0].z == 4u) { alpha = shade(place + 3u); }
  return vec4f(vec3f(first, shade(place + 1u), shade(place + 2u)) * alpha, alpha);
}
