// Narrow types as 32-bit values: integers wrapped, f32 rounded to float16 and bfloat16, and their bits. All by integers:
// WGSL's own pack2x16float and unpack2x16float may flush or round as they like.
// use ieee, order

fn wrap_i8(x: i32) -> i32 { return (x << 24u) >> 24u; }
fn wrap_i16(x: i32) -> i32 { return (x << 16u) >> 16u; }
fn wrap_u8(x: u32) -> u32 { return x & 255u; }
fn wrap_u16(x: u32) -> u32 { return x & 65535u; }

// Nearest float16, halves to even; inf from 65520 on. Below 2^-14 float16 counts in steps of 2^-24, as float32 does from
// 0.5 on: there the sum with 0.5 rounds, and its bits count. (Conversions to integers would cost a GPU several times more.)
fn round_f16(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  let count = bitcast<u32>(bitcast<f32>(min(m, 0x38800000u)) + 0.5f) - 0x3f000000u;
  let small = bitcast<u32>(bitcast<f32>(count | 0x3f000000u) - 0.5f);
  let normal = (m + 0xfffu + ((m >> 13u) & 1u)) & 0xffffe000u;
  let big = select(0x7f800000u, (m & 0xffffe000u) | 0x400000u, m > 0x7f800000u);
  return bitcast<f32>((b & 0x80000000u) | select(select(normal, small, m < 0x38800000u), big, m >= 0x477ff000u));
}

// Nearest bfloat16, halves to even.
fn round_bf16(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let nan = (b & 0x7fffffffu) > 0x7f800000u;
  return bitcast<f32>(select(b + 0x7fffu + ((b >> 16u) & 1u), b | 0x400000u, nan) & 0xffff0000u);
}

fn f16_decode4(h: vec4u) -> vec4f {
  let m = h & vec4u(0x7fffu);
  let normal = (m << vec4u(13u)) + vec4u(0x38000000u);
  let small = bitcast<vec4u>(bitcast<vec4f>(m | vec4u(0x3f000000u)) - vec4f(0.5f));
  let b = select(select(normal, small, m < vec4u(0x400u)), (m << vec4u(13u)) | vec4u(0x7f800000u), m >= vec4u(0x7c00u));
  return bitcast<vec4f>(((h & vec4u(0x8000u)) << vec4u(16u)) | b);
}
fn f16_decode(h: u32) -> f32 { return f16_decode4(vec4u(h)).x; }

// Of values that are float16 numbers already.
fn f16_encode4(x: vec4f) -> vec4u {
  let b = bitcast<vec4u>(x);
  let m = b & vec4u(0x7fffffffu);
  let small = bitcast<vec4u>(bitcast<vec4f>(min(m, vec4u(0x38800000u))) + vec4f(0.5f)) - vec4u(0x3f000000u);
  let h = select((m - vec4u(0x38000000u)) >> vec4u(13u), small, m < vec4u(0x38800000u));
  let payload = max((m >> vec4u(13u)) & vec4u(0x3ffu), vec4u(1u));
  let big = vec4u(0x7c00u) | select(vec4u(), payload, m > vec4u(0x7f800000u));
  return ((b >> vec4u(16u)) & vec4u(0x8000u)) | select(h, big, m >= vec4u(0x7f800000u));
}
fn f16_encode(x: f32) -> u32 { return f16_encode4(vec4f(x)).x; }

// The bits of the nearest float16 of any values: round_f16 and f16_encode in one.
fn f16_round4(x: vec4f) -> vec4u {
  let b = bitcast<vec4u>(x);
  let m = b & vec4u(0x7fffffffu);
  let small = bitcast<vec4u>(bitcast<vec4f>(min(m, vec4u(0x38800000u))) + vec4f(0.5f)) - vec4u(0x3f000000u);
  let normal = min((m - vec4u(0x37fff001u) + ((m >> vec4u(13u)) & vec4u(1u))) >> vec4u(13u), vec4u(0x7c00u));
  let nan = vec4u(0x7e00u) | ((m >> vec4u(13u)) & vec4u(0x3ffu));
  let h = select(select(normal, nan, m > vec4u(0x7f800000u)), small, m < vec4u(0x38800000u));
  return ((b >> vec4u(16u)) & vec4u(0x8000u)) | h;
}

fn bf16_round4(x: vec4f) -> vec4u {
  let b = bitcast<vec4u>(x);
  let near = b + vec4u(0x7fffu) + ((b >> vec4u(16u)) & vec4u(1u));
  return select(near, b | vec4u(0x400000u), (b & vec4u(0x7fffffffu)) > vec4u(0x7f800000u)) >> vec4u(16u);
}

fn bf16_decode4(h: vec4u) -> vec4f { return bitcast<vec4f>(h << vec4u(16u)); }
fn bf16_decode(h: u32) -> f32 { return bitcast<f32>(h << 16u); }
fn bf16_encode4(x: vec4f) -> vec4u { return bitcast<vec4u>(x) >> vec4u(16u); }
fn bf16_encode(x: f32) -> u32 { return bitcast<u32>(x) >> 16u; }

// The bits of the next 16-bit float after h towards the sign of `up`: h in sign and magnitude, not NaN.
fn next_half(h: u32, up: bool) -> u32 {
  let m = h & 0x7fffu;
  let away = ((h & 0x8000u) == 0u) == up;
  let zero = select(0x8001u, 1u, up);
  return select(select(h - 1u, h + 1u, away), zero, m == 0u);
}
fn nextafter_f16(x: f32, y: f32) -> f32 {
  if (isnan_f32(x) | isnan_f32(y)) { return nan_if_f32(x, true); }
  if (equal_f32(x, y)) { return y; }
  return f16_decode(next_half(f16_encode(x), less_f32(x, y)));
}
fn nextafter_bf16(x: f32, y: f32) -> f32 {
  if (isnan_f32(x) | isnan_f32(y)) { return nan_if_f32(x, true); }
  if (equal_f32(x, y)) { return y; }
  return bf16_decode(next_half(bf16_encode(x), less_f32(x, y)));
}
fn spacing_f16(x: f32) -> f32 {
  if (isnan_f32(x) | isinf_f32(x)) { return nan_if_f32(x, true); }
  let h = f16_encode(x);
  return f16_decode(select(h + 1u, 1u, (h & 0x7fffu) == 0u)) - x;
}
fn spacing_bf16(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let e = (b >> 23u) & 0xffu;
  let step = select((e - 7u) << 23u, 1u << (15u + max(e, 1u)), e <= 7u);
  let r = select(step, 0x7f800000u, (b & 0x7fffffffu) == 0x7f7f0000u);
  return nan_if_f32(bitcast<f32>(r | select(0u, b & 0x80000000u, truth_f32(x))), e == 255u);
}
