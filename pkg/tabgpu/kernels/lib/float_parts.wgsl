// Functions on exponent and significand: frexp, ldexp, nextafter, spacing, nextpow2. Exact, denormals included.
// use ieee
// use bits
// use order

fn frexp_mantissa_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  let r = (b & 0x80000000u) | (u32(extend_f32(m)) & 0x7fffffu) | 0x3f000000u;
  return bitcast<f32>(select(r, b, (m == 0u) | (m >= 0x7f800000u)));
}

fn frexp_exponent_f32(x: f32) -> i32 {
  let m = bitcast<u32>(x) & 0x7fffffffu;
  return select((extend_f32(m) >> 23u) - 126, 0, (m == 0u) | (m >= 0x7f800000u));
}

// x * 2^n, rounded once.
fn ldexp_f32(x: f32, n: i32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  let i = extend_f32(m);
  let k = (i >> 23u) + clamp(n, -1000, 1000);
  let r = assemble_f32((u32(i) & 0x7fffffu) | 0x800000u, k) | (b & 0x80000000u);
  return bitcast<f32>(select(r, b, (m == 0u) | (m >= 0x7f800000u)));
}

fn nextafter_f32(x: f32, y: f32) -> f32 {
  let b = bitcast<u32>(x);
  let up = order_key_f32(y) > order_key_f32(x);
  let away = up != signbit_f32(x);
  let step = select(b - 1u, b + 1u, away);
  let from_zero = (bitcast<u32>(y) & 0x80000000u) | 1u;
  let r = select(select(step, from_zero, !truth_f32(x)), bitcast<u32>(y), order_key_f32(x) == order_key_f32(y));
  return nan_if_f32(bitcast<f32>(r), unordered_f32(x, y));
}

// Distance to the next number away from zero, with the sign of x; NaN for infinities (numpy.spacing).
fn spacing_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let e = (b >> 23u) & 0xffu;
  let normal = (max(e, 24u) - 23u) << 23u;
  let denormal = 1u << (max(e, 1u) - 1u);
  let r = select(select(normal, denormal, e < 24u), 0x7f800000u, (b & 0x7fffffffu) == 0x7f7fffffu);
  let sign = select(0u, b & 0x80000000u, truth_f32(x));
  return nan_if_f32(bitcast<f32>(r | sign), e == 255u);
}

// ceil(log2(|x|)), 0 for 0 (MATLAB's nextpow2); inf and NaN stay.
fn nextpow2_f32(x: f32) -> f32 {
  let m = bitcast<u32>(x) & 0x7fffffffu;
  let i = extend_f32(m);
  let k = f32((i >> 23u) - 127 + select(0, 1, (i & 0x7fffff) != 0));
  return bitcast<f32>(select(select(bitcast<u32>(k), 0u, m == 0u), m, m >= 0x7f800000u));
}
