// The gamma function, its reciprocal, logarithm and logarithmic derivative, on the real line.
// use ieee
// use div
// use bits
// use log
// use round
// use trig
//
// gamma: Gamma on [2, 3] times or divided by the recurrence's factors x +- k, each exact. lgamma, digamma: one
// polynomial on [1, 3] with the zeros factored out, Stirling's series (fitted) above 3, reflection below 0.
// Polynomials are minimax fits of our own (Lawson's iteration).

// Gamma(x) = value * factor above 3, value / factor * scale below.
struct GammaParts {
  value: f32,
  factor: f32,
  scale: f32,  // keeps the factor finite for x below -20
}

// For x in [-45, 36].
fn gamma_parts(x: f32) -> GammaParts {
  let deep = x < -20.0f;
  var y = x;
  var p = select(1.0f, 8.6736174e-19f, deep);  // 2^-60
  while (y > 3.0f) {
    y = y - 1.0f;
    p = p * y;
  }
  while (y < 2.0f) {
    p = p * y;
    y = y + 1.0f;
  }
  let t = y - 2.0f;
  var g = fma(fma(fma(0.0007949859f, t, -0.0015744761f), t, 0.010328842f), t, 7.615689e-05f);
  g = fma(fma(fma(fma(fma(g, t, 0.074160874f), t, 0.08158986f), t, 0.4118394f), t, 0.42278436f), t, 1.0f);
  return GammaParts(g, p, select(1.0f, 8.6736174e-19f, deep));
}

// Whether x is an integer of magnitude 1 or more.
fn gamma_integer(x: f32) -> bool { return (floor(x) == x) & ((bitcast<u32>(x) & 0x7fffffffu) >= 0x3f800000u); }

// +-0: the sign of Gamma between two poles far to the left.
fn gamma_left_zero(x: f32) -> f32 {
  let h = 0.5f * floor(x);
  return bitcast<f32>(select(0u, 0x80000000u, floor(h) != h));
}

// scipy.special.gamma: +-inf at +-0, NaN at the negative integers and at -inf.
fn gamma_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  if (m < 0x1e000000u) { return div_f32(1.0f, x); }
  let low = x < -44.0f;
  let high = x > 35.040096f;
  let parts = gamma_parts(select(x, 1.0f, low | high | (m >= 0x7f800000u)));
  let below = lower_f32(parts.value / parts.factor, select(0u, 60u, parts.scale < 1.0f));
  var r = select(below, parts.value * parts.factor, x > 3.0f);
  r = pick_f32(r, gamma_left_zero(x), low);
  r = bitcast<f32>(select(bitcast<u32>(r), 0x7f800000u, high));
  let pole = (b > 0x80000000u) & (gamma_integer(x) | (m == 0x7f800000u));
  return nan_if_f32(r, pole | (m > 0x7f800000u));
}

// 1 / Gamma(x), 0 at the poles.
fn rgamma_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  if (m < 0x1e000000u) { return x; }
  let low = x < -44.0f;
  let high = x > 36.0f;
  let parts = gamma_parts(select(x, 1.0f, low | high | (m >= 0x7f800000u)));
  let above = 1.0f / parts.value / parts.factor;
  let below = parts.factor / parts.value;
  let raised = copysign_f32(raise_f32(absolute_f32(below), select(0u, 60u, parts.scale < 1.0f)), below);
  var r = pick_f32(raised, above, x > 3.0f);
  r = bitcast<f32>(select(bitcast<u32>(r), (bitcast<u32>(gamma_left_zero(x)) | 0x7f800000u), low));
  let pole = (b > 0x80000000u) & (gamma_integer(x) | (m == 0x7f800000u));
  return keep_nan_f32(pick_f32(r, 0.0f, high | pole), x);
}

// scipy.special.factorial(exact=False): Gamma(x + 1), 0 below 0. x Gamma(x) needs no rounded x + 1.
fn factorial_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let high = x > 34.040096f;
  let parts = gamma_parts(select(select(x + 1.0f, x, x > 3.0f), 1.0f, high | signbit_f32(x) | (b >= 0x7f800000u)));
  let above = parts.value * parts.factor * select(1.0f, x, x > 3.0f);
  var r = select(parts.value / parts.factor, above, x > 2.0f);
  r = bitcast<f32>(select(bitcast<u32>(r), 0x7f800000u, high));
  return keep_nan_f32(pick_f32(r, 0.0f, b > 0x80000000u), x);
}

// The sign of Gamma(x): NaN at the poles, -1 at -0, 1 at inf.
fn gammasgn_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let left = b > 0x80000000u;
  let below = select(gamma_left_zero(x), -1.0f, (b & 0x7fffffffu) < 0x3f800000u);
  let r = copysign_f32(1.0f, pick_f32(x, below, left));
  return nan_if_f32(r, isnan_f32(x) | (left & (gamma_integer(x) | (b == 0xff800000u))));
}

// log Gamma(x) - [(x - 1/2) log(x) - x + log(2 pi) / 2] for x >= 3.
fn gamma_stirling(x: f32) -> f32 {
  let v = 1.0f / x;
  let z = v * v;
  return v * fma(fma(0.0006972338f, z, -0.0027728085f), z, 0.08333327f);
}

// log Gamma(y) / ((y - 1) (y - 2)) in t = y - 2, |t| <= 1.
fn gamma_log_poly(t: f32) -> f32 {
  var p = fma(fma(fma(-3.8546674e-05f, t, 7.798165e-05f), t, -5.296393e-05f), t, 0.00013117088f);
  p = fma(fma(fma(fma(p, t, -0.00042498586f), t, 0.0009437521f), t, -0.0021023455f), t, 0.0049918024f);
  return fma(fma(fma(fma(p, t, -0.012384916f), t, 0.032965582f), t, -0.10031728f), t, 0.42278433f);
}

// log Gamma(x) for x > 0.
fn gamma_log_positive(x: f32) -> f32 {
  if (x > 3.0f) {
    return fma(x - 0.5f, log_shifted_f32(x, 0) - 1.0f, 0.41893853f + gamma_stirling(x));
  }
  // (y - 1) (y - 2) R(y - 2), where y = x or x + 1
  let below = x < 1.0f;
  let one = select(x - 1.0f, x, below);
  let t = select(x - 2.0f, x - 1.0f, below);
  return fma(one * t, gamma_log_poly(t), select(0.0f, -log_shifted_f32(x, 0), below));
}

// log Gamma(1 + x) for x in [0, 2], with its relative accuracy near 0.
fn gamma_log1p(x: f32) -> f32 { return x * (x - 1.0f) * gamma_log_poly(x - 1.0f); }

// log |Gamma(x)|: relative error for x > 0; for x < 0 absolute, since the zeros there are not factored out.
fn gammaln_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  let a = bitcast<f32>(m);
  var r = gamma_log_positive(bitcast<f32>(min(m, 0x7e000000u)));
  if (b > 0x80000000u) {
    let tiny = m < 0x2f800000u;
    r = select(log_shifted_f32(0.31830987f * a * sinpi_f32(a), 0) + r, log_shifted_f32(a, 0), tiny);
    r = -r;
  }
  let edge = (m == 0u) | (m > 0x7c44af8du) | ((b > 0x80000000u) & gamma_integer(a));
  let infinite = select(0x7f800000u, 0xff800000u, b == 0xff800000u);
  return keep_nan_f32(bitcast<f32>(select(bitcast<u32>(r), infinite, edge)), x);
}

// scipy.special.loggamma of a real argument: NaN below 0.
fn loggamma_f32(x: f32) -> f32 { return nan_if_f32(gammaln_f32(x), bitcast<u32>(x) > 0x80000000u); }

// digamma(x) for x >= 1.
fn gamma_psi(x: f32) -> f32 {
  if (x > 3.0f) {
    let v = 1.0f / x;
    let z = v * v;
    let p = fma(fma(0.003264926f, z, -0.008291668f), z, 0.083332606f);
    return log_shifted_f32(x, 0) - fma(0.5f, v, z * p);
  }
  let t = x - 2.0f;
  var p = fma(fma(fma(0.00021224379f, t, -0.00040991008f), t, 0.0001394659f), t, -0.00032323983f);
  p = fma(fma(fma(fma(p, t, 0.0014914614f), t, -0.0029638028f), t, 0.0055100974f), t, -0.0112721445f);
  p = fma(fma(fma(fma(fma(p, t, 0.023452578f), t, -0.049559064f), t, 0.108999856f), t, -0.2607387f), t, 0.7853075f);
  // The zero, 1.46163214496836, in two steps that no compiler can merge: the first one on integers, exact.
  let d = fma(f32(i32(x * 8388608.0f) - 12261059), 1.1920929e-07f, -1.243815e-08f);
  return d * p;
}

// Relative error for x > 0; for x < 0 absolute (times 1 + |pi / tan(pi x)|).
fn digamma_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  if (m < 0x1e000000u) { return div_f32(-1.0f, x); }
  let a = bitcast<f32>(min(m, 0x7f7fffffu));
  let r = gamma_psi(select(a, a + 1.0f, (a < 1.0f) | (b > 0x80000000u)));
  let left = fma(3.1415927f, cospi_f32(a) / sinpi_f32(a), r);
  let right = select(r, r - div_core_f32(1.0f, a), a < 1.0f);
  let v = bitcast<f32>(select(bitcast<u32>(pick_f32(right, left, b > 0x80000000u)), 0x7f800000u, b == 0x7f800000u));
  return nan_if_f32(v, ((b > 0x80000000u) & gamma_integer(a)) | (m > 0x7f800000u));
}
