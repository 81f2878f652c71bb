// The logistic function, its inverse and logarithm, softplus, and (e^x - 1) / x.
// use ieee
// use bits
// use div
// use exp
// use log

// e^-|x|, for saturating forms that never see an overflow.
fn logistic_decay(x: f32) -> f32 { return exp_shifted_f32(-min(absolute_f32(x), 110.0f), 0); }

// 1 / (1 + e^-x)
fn expit_f32(x: f32) -> f32 {
  let e = logistic_decay(x);
  return keep_nan_f32(select(1.0f, e, signbit_f32(x)) / (1.0f + e), x);
}

// x expit(u). Where e^-|u| is near the bottom of the range it is carried 2^24 times larger.
fn logistic_gate(x: f32, u: f32) -> f32 {
  let s = exp_shifted_f32(-min(absolute_f32(u), 110.0f), 24);
  let d = 1.0f + s * 5.9604645e-08f;
  return select(x / d, lower_f32(x * s / d, 24u), signbit_f32(u));
}

// log(p / (1 - p)); near 1/2 by log1p, whose argument is then free of cancellation. +-inf at 1 and 0.
fn logit_f32(p: f32) -> f32 {
  let b = bitcast<u32>(p);
  let q = 1.0f - p;
  let middle = (p > 0.3f) & (p < 0.65f);
  let ratio = div_core_f32(select(p, fma(2.0f, p, -1.0f), middle), q);
  let far = log_shifted_f32(pick_f32(ratio, p, p < 1e-30f), 0);
  let r = select(far, log1p_f32(ratio), middle);
  let edge = select(bitcast<u32>(r), 0xff800000u, (b & 0x7fffffffu) == 0u);
  let outside = ((b & 0x7fffffffu) > 0x3f800000u) | (b > 0x80000000u);
  return nan_if_f32(bitcast<f32>(select(edge, 0x7f800000u, b == 0x3f800000u)), outside);
}

// log(expit(x)) = min(x, 0) - log(1 + e^-|x|)
fn log_expit_f32(x: f32) -> f32 {
  let low = pick_f32(0.0f, x, signbit_f32(x));
  let r = negative_f32(log1p_f32(logistic_decay(x)) - low);
  return keep_nan_f32(pick_f32(r, x, isinf_f32(x) & signbit_f32(x)), x);
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
fn softplus_f32(x: f32) -> f32 {
  let high = pick_f32(x, 0.0f, signbit_f32(x));
  return keep_nan_f32(high + log1p_f32(logistic_decay(x)), x);
}

// torch's softplus: log(1 + e^(beta x)) / beta, x itself where beta x > threshold.
fn softplus_torch_f32(x: f32, beta: f32, threshold: f32) -> f32 {
  let z = x * beta;
  return keep_nan_f32(pick_f32(softplus_f32(z) / beta, x, z > threshold), x);
}

// (e^x - 1) / x. Beyond 80 e^x is carried 2^16 times smaller: it may overflow where e^x / x does not.
fn exprel_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x) & 0x7fffffffu;
  let small = expm1_f32(x) / x;
  let c = min(max(x, 80.0f), 94.0f);
  let r = pick_f32(small, raise_f32(exp_shifted_f32(c, -16) / c, 16u), x > 80.0f);
  let end = pick_f32(r, 0.0f, bitcast<u32>(x) == 0xff800000u);
  return keep_nan_f32(select(end, 1.0f, b < 0x33000000u), x);
}
