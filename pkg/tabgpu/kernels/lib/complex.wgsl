// Complex numbers as vec2f (real, imaginary part): arithmetic that is a few real operations. Values move as bits.
// use order

fn negative_c64(x: vec2f) -> vec2f { return bitcast<vec2f>(bitcast<vec2u>(x) ^ vec2u(0x80000000u)); }
fn conjugate_c64(x: vec2f) -> vec2f { return bitcast<vec2f>(bitcast<vec2u>(x) ^ vec2u(0u, 0x80000000u)); }
fn multiply_c64(x: vec2f, y: vec2f) -> vec2f { return vec2f(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }
fn equal_c64(x: vec2f, y: vec2f) -> bool { return equal_f32(x.x, y.x) & equal_f32(x.y, y.y); }
fn c64_to_bool(x: vec2f) -> bool { return ((bitcast<u32>(x.x) | bitcast<u32>(x.y)) & 0x7fffffffu) != 0u; }
fn pick_c64(no: vec2f, yes: vec2f, c: bool) -> vec2f {
  return bitcast<vec2f>(select(bitcast<vec2u>(no), bitcast<vec2u>(yes), c));
}
fn complex_f32(x: f32, y: f32) -> vec2f { return vec2f(x, y); }
fn imag_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0u); }
