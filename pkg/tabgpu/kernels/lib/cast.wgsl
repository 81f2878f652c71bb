// Conversions between f32, i32, u32 and bool: float to integer truncates, saturates and takes NaN to 0;
// integer to float rounds to nearest even (WGSL leaves the direction open, and SwiftShader's f32(u32) truncates).

fn f32_to_i32(x: f32) -> i32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  let fits = m < 0x4f000000u;
  let v = i32(bitcast<f32>(select(0u, b, fits)));
  let limit = bitcast<i32>(0x7fffffffu + (b >> 31u));
  return select(select(limit, v, fits), 0, m > 0x7f800000u);
}

fn f32_to_u32(x: f32) -> u32 {
  let b = bitcast<u32>(x);
  let fits = b < 0x4f800000u;
  let v = u32(bitcast<f32>(select(0u, b, fits)));
  return select(select(0u, 0xffffffffu, b <= 0x7f800000u), v, fits);
}

fn f32_to_bool(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) != 0u; }

// Both halves convert exactly, so the addition (or the fma it may become) rounds once.
fn u32_to_f32(x: u32) -> f32 { return f32(x >> 16u) * 65536.0f + f32(x & 0xffffu); }
fn i32_to_f32(x: i32) -> f32 { return f32(x >> 16u) * 65536.0f + f32(x & 0xffff); }
