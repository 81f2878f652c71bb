// Elements narrower than a word, and complex ones: out of the words that hold them, and back.

fn byte(word: u32, address: u32) -> u32 { return (word >> ((address & 3u) * 8u)) & 255u; }
fn half_word(word: u32, address: u32) -> u32 { return (word >> ((address & 1u) * 16u)) & 65535u; }

// One element of four neighbours.
fn pick(q: vec4u, offset: u32) -> u32 {
  let half = select(q.xy, q.zw, (offset & 2u) != 0u);
  return select(half.x, half.y, (offset & 1u) != 0u);
}
fn pick_half(q: vec2u, offset: u32) -> u32 { return select(q.x, q.y, (offset & 2u) != 0u); }

fn spread_bytes(word: u32) -> vec4u { return (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u); }
fn spread_halves(q: vec2u) -> vec4u { return (q.xxyy >> vec4u(0u, 16u, 0u, 16u)) & vec4u(65535u); }
fn signed_bytes(word: u32) -> vec4i { return bitcast<vec4i>(vec4u(word) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u); }
fn signed_halves(q: vec2u) -> vec4i { return bitcast<vec4i>(q.xxyy << vec4u(16u, 0u, 16u, 0u)) >> vec4u(16u); }
fn pack_bytes(v: vec4u) -> u32 {
  return (v.x & 255u) | ((v.y & 255u) << 8u) | ((v.z & 255u) << 16u) | (v.w << 24u);
}
fn pack_halves(v: vec4u) -> vec2u { return (v.xz & vec2u(65535u)) | (v.yw << vec2u(16u)); }

// Four complex numbers are the columns of a matrix.
fn complex4(p: vec4u, q: vec4u) -> mat4x2f {
  let a = bitcast<vec4f>(p);
  let b = bitcast<vec4f>(q);
  return mat4x2f(a.xy, a.zw, b.xy, b.zw);
}
fn pick_complex(q: vec4u, offset: u32) -> mat4x2f {
  let v = bitcast<vec2f>(select(q.xy, q.zw, (offset & 1u) != 0u));
  return mat4x2f(v, v, v, v);
}
fn complex_all(v: vec2f) -> mat4x2f { return mat4x2f(v, v, v, v); }
