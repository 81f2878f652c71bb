// Modified Bessel functions of the first kind, orders 0 and 1, plain and scaled by exp(-|x|).
// use ieee
// use bits
// use exp
//
// Minimax fits of our own (Lawson's iteration): I0(x) and I1(x)/x in x^2 up to 6, sqrt(x) exp(-x) I in 1/x above.

fn bessel_i0_near(a: f32) -> f32 {
  let z = a * a;
  var p = fma(fma(fma(1.4530088e-14f, z, 2.0824497e-12f), z, 4.8107157e-10f), z, 6.763927e-08f);
  p = fma(fma(fma(p, z, 6.7834185e-06f), z, 0.0004340189f), z, 0.01562502f);
  return fma(fma(p, z, 0.24999999f), z, 1.0f);
}

fn bessel_i1_near(a: f32) -> f32 {
  let z = a * a;
  var p = fma(fma(fma(7.731301e-16f, z, 1.3468104e-13f), z, 3.4120956e-11f), z, 5.6432015e-09f);
  p = fma(fma(fma(p, z, 6.7824385e-07f), z, 5.4253134e-05f), z, 0.0026041672f);
  return a * fma(fma(p, z, 0.0625f), z, 0.5f);
}

// exp(-a) I0(a) and exp(-a) I1(a) for a >= 6.
fn bessel_i0_far(a: f32) -> f32 {
  let t = 1.0f / a;
  let p = fma(fma(fma(-0.40367228f, t, 0.7742156f), t, -0.10994828f), t, 0.043454207f);
  return fma(fma(fma(p, t, 0.027486226f), t, 0.049875822f), t, 0.39894226f) / sqrt(a);
}

fn bessel_i1_far(a: f32) -> f32 {
  let t = 1.0f / a;
  let p = fma(fma(fma(-0.88916713f, t, -0.24517761f), t, 0.0031929656f), t, -0.047641527f);
  return fma(fma(fma(p, t, -0.046456892f), t, -0.1496079f), t, 0.3989423f) / sqrt(a);
}

fn bessel_magnitude(x: f32, top: f32) -> f32 {
  return bitcast<f32>(min(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(top)));
}

// far * exp(a) for a <= 92.5, inf where that overflows. exp(a) alone overflows earlier: it is carried 2^8 times smaller.
fn bessel_grow(a: f32, far: f32) -> f32 { return raise_f32(exp_shifted_f32(a, -8) * far, 8u); }

fn i0_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 92.5f);
  if (a < 6.0f) { return keep_nan_f32(bessel_i0_near(a), x); }
  return keep_nan_f32(bessel_grow(a, bessel_i0_far(a)), x);
}

fn i1_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 92.5f);
  if (a < 6.0f) { return keep_nan_f32(copysign_f32(bessel_i1_near(a), x), x); }
  return keep_nan_f32(copysign_f32(bessel_grow(a, bessel_i1_far(a)), x), x);
}

// exp(-|x|) I0(x)
fn i0e_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 0x1.fffffep127f);
  if (a < 6.0f) { return keep_nan_f32(bessel_i0_near(a) * exp_shifted_f32(-a, 0), x); }
  return keep_nan_f32(pick_f32(bessel_i0_far(a), 0.0f, isinf_f32(x)), x);
}

// exp(-|x|) I1(x)
fn i1e_f32(x: f32) -> f32 {
  let a = bessel_magnitude(x, 0x1.fffffep127f);
  if (a < 6.0f) { return keep_nan_f32(copysign_f32(bessel_i1_near(a) * exp_shifted_f32(-a, 0), x), x); }
  return keep_nan_f32(copysign_f32(pick_f32(bessel_i1_far(a), 0.0f, isinf_f32(x)), x), x);
}
