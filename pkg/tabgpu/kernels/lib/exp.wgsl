// exp, exp2, expm1 and the pieces other functions build on. Reduction x = k ln2 + r after Cody and Waite (1980) with
// explicit fma(): the high part of ln2 has 15 bits, so k * hi is exact whether or not the fma is fused. The
// polynomials are minimax fits (Lawson's iteration) on the reduced interval.
// use ieee
// use bits

// Nearest integer to x * log2(e) for |x| < 2^20. The sum is only read as bits, so nothing can be reassociated.
fn exp_quotient_f32(x: f32) -> i32 { return bitcast<i32>(fma(x, 1.442695f, 12582912.0f)) - 0x4b400000; }

fn exp_remainder_f32(x: f32, k: i32) -> f32 {
  let n = f32(k);
  // The select keeps a compiler that reassociates from adding the two parts of ln2 first.
  let high = select(fma(n, -0.69314575f, x), x, k == 0);
  return fma(n, -1.4286068e-6f, high);
}

// e^r and e^r - 1 for |r| <= ln2 / 2.
fn exp_poly_f32(r: f32) -> f32 {
  let q = fma(fma(fma(fma(0.0013950538f, r, 0.008368918f), r, 0.041666206f), r, 0.16666518f), r, 0.5f);
  return opaque_f32(fma(r * r, q, r), r) + 1.0f;
}
fn expm1_poly_f32(r: f32) -> f32 {
  let q = fma(fma(fma(fma(fma(0.00019913634f, r, 0.0013941064f), r, 0.008333274f), r, 0.041666355f), r, 0.16666667f), r, 0.5f);
  return fma(r * r, q, r);
}

// e^x * 2^shift for x in [-200, 100]; NaN in, anything out.
fn exp_shifted_f32(x: f32, shift: i32) -> f32 {
  let k = exp_quotient_f32(x);
  return scale_f32(exp_poly_f32(exp_remainder_f32(x, k)), k + shift);
}

fn exp_f32(x: f32) -> f32 { return keep_nan_f32(exp_shifted_f32(min(max(x, -110.0f), 89.0f), 0), x); }

// 2^r for |r| <= 1/2.
fn exp2_poly_f32(r: f32) -> f32 {
  let q = fma(fma(fma(fma(fma(0.00015476045f, r, 0.0013400416f), r, 0.009618005f), r, 0.055503275f), r, 0.2402265f), r, 0.6931472f);
  return fma(r, q, 1.0f);
}

fn exp2_f32(x: f32) -> f32 {
  let c = min(max(x, -160.0f), 130.0f);
  let k = bitcast<i32>(c + 12582912.0f) - 0x4b400000;
  return keep_nan_f32(scale_f32(exp2_poly_f32(c - f32(k)), k), x);
}

// 2^k p + (2^k - 1) with p = e^r - 1. Tiny x is its own answer (keeps -0 and denormals).
fn expm1_f32(x: f32) -> f32 {
  let c = min(max(x, -20.0f), 89.0f);
  let k = exp_quotient_f32(c);
  let s = bitcast<f32>((k + 126) << 23u);
  let v = 2.0f * fma(s, expm1_poly_f32(exp_remainder_f32(c, k)), s - 0.5f);
  return pick_f32(v, x, ((bitcast<u32>(x) & 0x7fffffffu) < 0x33000000u) | isnan_f32(x));
}
