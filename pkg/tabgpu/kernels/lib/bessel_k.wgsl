// Modified Bessel functions of the second kind, orders 0 and 1, plain and scaled by exp(x).
// use ieee
// use bits
// use exp
// use log
// use bessel
// use div
//
// Minimax fits of our own (Lawson's iteration): -log(x) I0 + P and 1/x + log(x) I1 + x P below 1, exp(-x) / sqrt(x)
// times a polynomial in 1 / x above.

fn bessel_k0_near(a: f32) -> f32 {
  let z = a * a;
  let p = fma(fma(fma(fma(0.000015326596f, z, 0.00084567314f), z, 0.02524906f), z, 0.27898285f), z, 0.11593152f);
  return fma(-log_shifted_f32(a, 0), bessel_i0_near(a), p);
}

fn bessel_k1_near(a: f32) -> f32 {
  let z = a * a;
  let p = fma(fma(fma(fma(-1.5946907e-06f, z, -0.00011250505f), z, -0.0046421937f), z, -0.08537072f), z, -0.30796576f);
  let v = div_f32(1.0f, a);
  return pick_f32(v + fma(log_shifted_f32(a, 0), bessel_i1_near(a), a * p), v, a < 1e-20f);
}

// exp(a) K0(a) and exp(a) K1(a) for a >= 1.
fn bessel_k0_far(a: f32) -> f32 {
  let t = 1.0f / a;
  var p = fma(fma(fma(fma(-0.008528151f, t, 0.04567596f), t, -0.108311296f), t, 0.15282144f), t, -0.14894545f);
  p = fma(fma(fma(p, t, 0.11609303f), t, -0.08893967f), t, 0.08794274f);
  return fma(fma(p, t, -0.15665966f), t, 1.2533141f) / sqrt(a);
}

fn bessel_k1_far(a: f32) -> f32 {
  let t = 1.0f / a;
  var p = fma(fma(fma(fma(0.010959765f, t, -0.058378313f), t, 0.13783644f), t, -0.19426715f), t, 0.19066563f);
  p = fma(fma(fma(p, t, -0.15256536f), t, 0.12527198f), t, -0.14667144f);
  return fma(fma(p, t, 0.4699878f), t, 1.2533141f) / sqrt(a);
}

// inf at 0, NaN below, 0 at inf.
fn bessel_k_end(r: f32, x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let v = select(select(bitcast<u32>(r), 0u, b == 0x7f800000u), 0x7f800000u, (b & 0x7fffffffu) == 0u);
  return nan_if_f32(bitcast<f32>(v), (b > 0x80000000u) | isnan_f32(x));
}

fn k0_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 110.0f);
  if (a <= 1.0f) { return bessel_k_end(bessel_k0_near(a), x); }
  return bessel_k_end(exp_shifted_f32(-a, 0) * bessel_k0_far(a), x);
}

fn k1_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 110.0f);
  if (a <= 1.0f) { return bessel_k_end(bessel_k1_near(a), x); }
  return bessel_k_end(exp_shifted_f32(-a, 0) * bessel_k1_far(a), x);
}

// exp(x) K0(x)
fn k0e_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 0x1.fffffep127f);
  if (a <= 1.0f) { return bessel_k_end(bessel_k0_near(a) * exp_shifted_f32(a, 0), x); }
  return bessel_k_end(bessel_k0_far(a), x);
}

// exp(x) K1(x)
fn k1e_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 0x1.fffffep127f);
  if (a <= 1.0f) { return bessel_k_end(bessel_k1_near(a) * exp_shifted_f32(a, 0), x); }
  return bessel_k_end(bessel_k1_far(a), x);
}
