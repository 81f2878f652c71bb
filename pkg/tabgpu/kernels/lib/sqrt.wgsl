// Square root, reciprocal square root, cube root, hypotenuse.
// use ieee
// use bits

// sqrt of x in [1, 4), correctly rounded but for rare cases: WGSL's sqrt may be some ULP off, so one Newton step
// with an exact remainder (12-bit halves, exact fused or not).
fn sqrt_core_f32(x: f32) -> f32 {
  let s = sqrt(x);
  let h = head_f32(s);
  let l = s - h;
  var r = fma(-h, h, x);
  r = fma(-2.0f * h, l, r);
  r = fma(-l, l, r);
  return fma(r, 0.5f / s, s);
}

// x = v * 4^k with v in [1, 4), for any x > 0: i holds exponent and significand, its lowest exponent bit stays in v.
fn sqrt_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let i = extend_f32(b & 0x7fffffffu) - 0x3f800000;
  let v = bitcast<f32>((i & 0xffffff) + 0x3f800000);
  let s = sqrt_core_f32(v);
  let r = bitcast<u32>(bitcast<i32>(s) + ((i >> 24u) << 23u));
  let whole = select(r, b, (b & 0x7fffffffu) == 0u);
  return bitcast<f32>(select(whole, select(0x7fc00000u, 0x7f800000u, b == 0x7f800000u), (b >= 0x7f800000u) & (b != 0x80000000u)));
}

// 1 / sqrt(x); +-0 gives +-inf, negatives NaN.
fn rsqrt_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let i = extend_f32(b & 0x7fffffffu) - 0x3f800000;
  let v = bitcast<f32>((i & 0xffffff) + 0x3f800000);
  let y = inverseSqrt(v);
  let s = fma(0.5f * y, fma(-v * y, y, 1.0f), y);
  let r = bitcast<u32>(bitcast<i32>(s) - ((i >> 24u) << 23u));
  let whole = select(r, 0x7f800000u | b, (b & 0x7fffffffu) == 0u);
  return bitcast<f32>(select(whole, select(0x7fc00000u, 0u, b == 0x7f800000u), (b >= 0x7f800000u) & (b != 0x80000000u)));
}

// x = v * 8^k with v in [1, 8). A cubic (minimax) on the significand, 7e-5 off, then one Newton step.
fn cbrt_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  let i = extend_f32(m);
  let e = u32((i >> 23u) - 127 + 300);
  let k = e / 3u;
  let part = e - 3u * k;
  let w = 0.5f * significand_f32(i);
  let c = select(select(1.2599211f, 1.587401f, part == 1u), 2.0f, part == 2u);
  let v = w * select(select(2.0f, 4.0f, part == 1u), 8.0f, part == 2u);
  let t = c * fma(fma(fma(0.14670621f, w, -0.5173938f), w, 0.93198395f), w, 0.43877667f);
  let s = t - fma(t * t, t, -v) / (3.0f * t * t);
  let r = bitcast<u32>(bitcast<i32>(s) + ((i32(k) - 100) << 23u)) | (b & 0x80000000u);
  return bitcast<f32>(select(r, b, (m == 0u) | (m >= 0x7f800000u)));
}

// sqrt(x*x + y*y) without overflow: both scaled by the exponent of the larger; inf wins over NaN.
fn hypot_f32(x: f32, y: f32) -> f32 {
  let p = bitcast<u32>(x) & 0x7fffffffu;
  let q = bitcast<u32>(y) & 0x7fffffffu;
  let big = max(p, q);
  let i = extend_f32(big);
  let j = extend_f32(min(p, q));
  let d = (i >> 23u) - (j >> 23u);
  let a = significand_f32(i);
  let c = bitcast<f32>(select(0, (j & 0x7fffff) + ((127 - d) << 23u), (d < 100) & (min(p, q) != 0u)));
  let v = fma(a, a, c * c);
  let odd = v >= 4.0f;
  let s = sqrt_core_f32(select(v, 0.25f * v, odd)) * select(1.0f, 2.0f, odd);
  var r = bitcast<u32>(scale_f32(s, (i >> 23u) - 127));
  r = select(r, big, (big == 0u) | (big == 0x7f800000u));
  r = select(r, 0x7fc00000u, big > 0x7f800000u);
  return bitcast<f32>(select(r, 0x7f800000u, (p == 0x7f800000u) | (q == 0x7f800000u)));
}
