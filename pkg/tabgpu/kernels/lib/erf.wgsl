// The error function, its complements and inverses, and the normal distribution's functions made of them.
// use ieee
// use bits
// use exp
// use log
//
// Polynomials are minimax fits of our own (Lawson's iteration). Tails are exp(-x^2) times erfcx, after M. Shepherd and
// J. Laframboise (Math. Comp. 36, 1981); the inverses follow M. Giles (GPU Computing Gems 2, 2012) in -log(1 - x^2).

// erf(x) for |x| <= 0.85.
fn erf_near_f32(x: f32) -> f32 {
  let z = x * x;
  var p = fma(fma(fma(-0.00063642144f, z, 0.0050604716f), z, -0.02680897f), z, 0.11282905f);
  p = fma(fma(p, z, -0.37612593f), z, 0.12837917f);
  // Below 1e-4 x^3 does not count, and x * 0.128 might be denormal.
  return select(fma(x, p, x), x * 1.1283792f, z < 1e-8f);
}

// exp(s x^2) * 2^shift for s a power of two: x = h + d with an exact h^2, so the exponent has no rounding error to speak of.
fn erf_gauss_f32(x: f32, s: f32, shift: i32) -> f32 {
  let h = head_f32(x);
  let u = s * (x - h) * (x + h);
  let tail = fma(u, fma(u, fma(u, fma(u, 0.041666668f, 0.16666667f), 0.5f), 1.0f), 1.0f);
  return exp_shifted_f32(s * h * h, shift) * tail;
}

// erfcx(a) for a >= 1/2.
fn erf_tail_f32(a: f32) -> f32 {
  let q = 1.0f - 6.0f / (a + 3.0f);
  var p = fma(fma(fma(fma(-0.00030177427f, q, 0.00085909787f), q, 0.001215408f), q, -0.011834548f), q, 0.034165964f);
  p = fma(fma(fma(fma(fma(p, q, -0.059649654f), q, 0.06482154f), q, -0.023779916f), q, -0.06781055f), q, 0.626504f);
  // Not p / (2a + 1): the hardware's division may give 0 for divisors above 2^126.
  return p / (a + 0.5f);
}

// |x|, at most `top`: keeps the arithmetic finite where the result is already saturated.
fn erf_clamp_f32(x: f32, top: f32) -> f32 {
  return bitcast<f32>(min(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(top)));
}

fn erf_f32(x: f32) -> f32 {
  let a = erf_clamp_f32(x, 4.0f);
  if (a < 0.85f) { return keep_nan_f32(erf_near_f32(x), x); }
  // -log(erfc(a)) / a
  var p = fma(fma(fma(8.214325e-06f, a, -0.00029313748f), a, 0.0035241167f), a, -0.023516836f);
  p = fma(fma(fma(p, a, 0.10595832f), a, 0.6353159f), a, 1.128609f);
  return keep_nan_f32(copysign_f32(1.0f - exp_shifted_f32(-a * p, 0), x), x);
}

fn erfc_f32(x: f32) -> f32 {
  let a = erf_clamp_f32(x, 11.0f);
  if (a < 0.5f) { return keep_nan_f32(1.0f - erf_near_f32(x), x); }
  let t = erf_gauss_f32(a, -1.0f, 0) * erf_tail_f32(a);
  return keep_nan_f32(select(t, 2.0f - t, signbit_f32(x)), x);
}

// exp(x^2) erfc(x)
fn erfcx_f32(x: f32) -> f32 {
  let a = erf_clamp_f32(x, 1e38f);
  let g = erf_gauss_f32(min(a, 9.5f), 1.0f, 0);
  if (a < 0.5f) { return keep_nan_f32(g * (1.0f - erf_near_f32(x)), x); }
  let t = pick_f32(erf_tail_f32(a), 0.0f, isinf_f32(x));
  let r = fma(2.0f, g, -t);
  let left = bitcast<f32>(select(bitcast<u32>(r), 0x7f800000u, a > 9.39f));
  return keep_nan_f32(pick_f32(t, left, signbit_f32(x)), x);
}

// erfinv(x) / x as a function of w = -log(1 - x^2).
fn erf_inverse_f32(w: f32) -> f32 {
  if (w < 5.0f) {
    let t = w - 2.5f;
    let p = fma(fma(fma(fma(2.8495759e-08f, t, 3.4403797e-07f), t, -3.5280464e-06f), t, -4.4005164e-06f), t, 0.00021859667f);
    return fma(fma(fma(fma(p, t, -0.001253694f), t, -0.0041776937f), t, 0.24664071f), t, 1.5014094f);
  }
  let s = sqrt(w);
  if (s < 4.0f) {
    let t = s - 3.0f;
    let p = fma(fma(fma(fma(0.0001306742f, t, -0.00031647825f), t, -8.2596445e-05f), t, 0.0014928159f), t, -0.0035815742f);
    return fma(fma(fma(fma(fma(p, t, 0.005684719f), t, -0.0076411436f), t, 0.009445346f), t, 1.0016752f), t, 2.8329768f);
  }
  let t = 1.0f / s;
  let p = fma(fma(fma(-9.838059f, t, 13.574175f), t, -8.863532f), t, 3.9948826f);
  return s * fma(fma(fma(p, t, -1.1368684f), t, -0.032306526f), t, 1.0004258f);
}

// The inverse for a probability that is v * 2^shift = 1 - x^2; exact 0 and what lies outside give +-inf and NaN.
fn erf_inverse_end_f32(r: f32, edge: bool, outside: bool) -> f32 {
  let end = (bitcast<u32>(r) & 0x80000000u) | 0x7f800000u;
  return nan_if_f32(bitcast<f32>(select(bitcast<u32>(r), end, edge)), outside);
}

fn erfinv_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let r = x * erf_inverse_f32(-log_shifted_f32((1.0f - x) * (1.0f + x), 0));
  return erf_inverse_end_f32(copysign_f32(r, x), bits == 0x3f800000u, bits > 0x3f800000u);
}

fn erfcinv_f32(y: f32) -> f32 {
  let bits = bitcast<u32>(y) & 0x7fffffffu;
  let tiny = bits < 0x0d800000u;
  let w = -log_shifted_f32(pick_f32(y * (2.0f - y), y, tiny), select(0, 1, tiny));
  let x = 1.0f - y;
  let outside = (bits > 0x40000000u) | (signbit_f32(y) & (bits != 0u));
  return erf_inverse_end_f32(x * erf_inverse_f32(w), (bits == 0u) | (bits == 0x40000000u), outside);
}

// The normal distribution function.
fn ndtr_f32(x: f32) -> f32 {
  let a = erf_clamp_f32(x, 15.0f);
  if (a < 0.71f) { return keep_nan_f32(fma(0.5f, erf_near_f32(x * 0.70710677f), 0.5f), x); }
  let t = 0.5f * erf_gauss_f32(a, -0.5f, 0) * erf_tail_f32(a * 0.70710677f);
  return keep_nan_f32(select(1.0f - t, t, signbit_f32(x)), x);
}

fn log_ndtr_f32(x: f32) -> f32 {
  if (x > -1.0f) { return keep_nan_f32(log1p_f32(-ndtr_f32(-x)), x); }
  let a = erf_clamp_f32(x, 2.7e19f);
  let h = bitcast<f32>(bitcast<u32>(a) - 0x00800000u);  // a / 2, not to be multiplied after a * a has overflowed
  let r = fma(-h, a, log_shifted_f32(erf_tail_f32(a * 0.70710677f), -1));
  return keep_nan_f32(bitcast<f32>(select(bitcast<u32>(r), 0xff800000u, a > 2.6087634e19f)), x);
}

// The inverse of ndtr.
fn ndtri_f32(p: f32) -> f32 {
  let bits = bitcast<u32>(p) & 0x7fffffffu;
  let tiny = bits < 0x0d800000u;
  let w = -log_shifted_f32(pick_f32(p * (1.0f - p), p, tiny), 2);
  let x = fma(2.0f, p, -1.0f);
  let outside = (bits > 0x3f800000u) | (signbit_f32(p) & (bits != 0u));
  return erf_inverse_end_f32(1.4142135f * x * erf_inverse_f32(w), (bits == 0u) | (bits == 0x3f800000u), outside);
}
