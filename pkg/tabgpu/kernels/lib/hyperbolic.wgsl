// sinh, cosh, tanh and their inverses, on |x| with the sign put back by bits.
// use ieee
// use bits
// use exp
// use log
// use sqrt

// (e^2|x| - 1) / (e^2|x| + 1) by expm1; past 1 as 1 - 2 / (e^2|x| + 1), which ends in exactly 1.
fn tanh_f32(x: f32) -> f32 {
  let c = min(2.0f * absolute_f32(x), 40.0f);
  let k = exp_quotient_f32(c);
  let s = bitcast<f32>((k + 127) << 23u);
  let u = fma(s, expm1_poly_f32(exp_remainder_f32(c, k)), s - 1.0f);
  let d = u + 2.0f;
  let w = 1.0f / d;
  let v = fma(fma(-d, w, 1.0f), w, w);
  let r = copysign_f32(select(u * v, fma(-2.0f, v, 1.0f), c > 2.0f), x);
  let b = bitcast<u32>(x) & 0x7fffffffu;
  return pick_f32(r, x, (b < 0x39000000u) | (b > 0x7f800000u));
}

// For a in [0, 1].
fn sinh_small_f32(a: f32) -> f32 {
  let z = a * a;
  let p = fma(fma(fma(2.8174397e-6f, z, 1.9836066e-4f), z, 0.0083333505f), z, 0.16666667f);
  return fma(a * z, p, a);
}

fn sinh_f32(x: f32) -> f32 {
  let a = min(absolute_f32(x), 91.0f);
  let h = exp_shifted_f32(a, -1);
  let r = select(sinh_small_f32(a), h - 0.25f / h, a > 1.0f);
  let tiny = (bitcast<u32>(x) & 0x7fffffffu) < 0x39000000u;
  return pick_f32(copysign_f32(r, x), x, tiny | isnan_f32(x));
}

fn cosh_f32(x: f32) -> f32 {
  let h = exp_shifted_f32(min(absolute_f32(x), 91.0f), -1);
  return keep_nan_f32(h + 0.25f / h, x);
}

// log1p(a + a^2 / (1 + sqrt(1 + a^2))); log(2a) once a^2 swallows the 1 (Kahan; fdlibm's s_asinh.c).
fn asinh_f32(x: f32) -> f32 {
  let a = absolute_f32(x);
  let c = min(a, 4096.0f);
  let z = c * c;
  let near = log1p_f32(c + z / (1.0f + sqrt(1.0f + z)));
  let far = pick_f32(log_shifted_f32(a, 1), a, isinf_f32(a));
  let r = copysign_f32(pick_f32(near, far, a >= 4096.0f), x);
  return pick_f32(r, x, ((bitcast<u32>(x) & 0x7fffffffu) < 0x39000000u) | isnan_f32(x));
}

// log1p(t + sqrt(2t + t^2)) with t = x - 1, exact near 1; NaN below 1.
fn acosh_f32(x: f32) -> f32 {
  let t = min(max(x - 1.0f, 0.0f), 4096.0f);
  let s = pick_f32(sqrt_core_f32(fma(t, t, 2.0f * t)), 0.0f, t == 0.0f);
  let near = log1p_f32(t + s);
  let far = log_special_f32(log_shifted_f32(x, 1), x);
  return nan_if_f32(pick_f32(near, far, t >= 4096.0f), bitcast<u32>(x) - 0x3f800000u > 0x40000000u);
}

// Odd polynomial to 1/2, then log((1 + a) / (1 - a)) / 2; inf at 1, NaN beyond.
fn atanh_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x) & 0x7fffffffu;
  let a = bitcast<f32>(min(b, 0x3f7fffffu));
  let z = a * a;
  var p = fma(fma(0.17719632f, z, 0.05098562f), z, 0.118339576f);
  p = fma(fma(fma(p, z, 0.14221488f), z, 0.20002587f), z, 0.333333f);
  let r = select(fma(a * z, p, a), 0.5f * log_shifted_f32((1.0f + a) / (1.0f - a), 0), a > 0.5f);
  let v = copysign_f32(bitcast<f32>(select(bitcast<u32>(r), 0x7f800000u, b == 0x3f800000u)), x);
  return pick_f32(nan_if_f32(v, b > 0x3f800000u), x, b < 0x39000000u);
}
