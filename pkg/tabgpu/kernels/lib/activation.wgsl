// Activation functions of neural networks, saturating without NaN at +-inf. (sigmoid, softplus: logistic.wgsl.)
// use ieee
// use bits
// use exp
// use hyperbolic
// use logistic
// use erf

// Bits, not arithmetic: relu(-0) is +0 and NaN stays.
fn relu_f32(x: f32) -> f32 { return keep_nan_f32(pick_f32(x, 0.0f, signbit_f32(x)), x); }

fn relu6_f32(x: f32) -> f32 { return keep_nan_f32(pick_f32(relu_f32(x), 6.0f, x > 6.0f), x); }

// A factor in [0, 1]. The minimum keeps drivers from taking the factor apart: x times a part of it may be denormal.
fn activation_unit(g: f32) -> f32 { return bitcast<f32>(min(bitcast<u32>(g), 0x3f800000u)); }

// x above 0, slope * x below (leaky_relu, prelu).
fn leaky_relu_f32(x: f32, slope: f32) -> f32 {
  return keep_nan_f32(pick_f32(x, slope * x, signbit_f32(x)), x);
}

fn elu_f32(x: f32, alpha: f32) -> f32 { return pick_f32(x, alpha * expm1_f32(x), bitcast<u32>(x) > 0x80000000u); }

fn celu_f32(x: f32, alpha: f32) -> f32 {
  let bend = absolute_f32(x) > 1e-8f * absolute_f32(alpha);
  return pick_f32(x, alpha * expm1_f32(x / alpha), signbit_f32(x) & (bend | isnan_f32(x)));
}

// Klambauer et al., Self-Normalizing Neural Networks (2017).
fn selu_f32(x: f32) -> f32 { return 1.050701f * elu_f32(x, 1.6732632f); }

// x where the gate has not decayed to 0, else -0: keeps -inf * 0 away.
fn activation_gated(r: f32, x: f32, floor: f32) -> f32 { return keep_nan_f32(pick_f32(r, -0.0f, x < floor), x); }

fn silu_f32(x: f32) -> f32 { return activation_gated(logistic_gate(x, x), x, -110.0f); }

// x ndtr(x) = max(x, 0) - |x| ndtr(-|x|), the tail carried 2^24 times larger.
fn gelu_f32(x: f32) -> f32 {
  let a = erf_clamp_f32(x, 15.0f);
  if (a < 0.71f) { return keep_nan_f32(x * fma(0.5f, erf_near_f32(x * 0.70710677f), 0.5f), x); }
  let t = lower_f32(-0.5f * a * erf_gauss_f32(a, -0.5f, 24) * erf_tail_f32(a * 0.70710677f), 24u);
  return activation_gated(select(x + t, t, signbit_f32(x)), x, -15.0f);
}

// 0.5 x (1 + tanh(u)) = x expit(2u), which keeps its relative precision on the left.
fn gelu_tanh_f32(x: f32) -> f32 {
  let c = min(max(x, -20.0f), 20.0f);
  return activation_gated(logistic_gate(x, 1.5957691f * c * fma(0.044715f, c * c, 1.0f)), x, -15.0f);
}

// x tanh(softplus(x)), a quotient of polynomials in e = exp(-|x|).
fn mish_f32(x: f32) -> f32 {
  let s = exp_shifted_f32(-min(absolute_f32(x), 110.0f), 24);  // e * 2^24
  let e = s * 5.9604645e-08f;
  let m = fma(2.0f, e, 1.0f);
  let right = x * activation_unit(m / fma(2.0f * e, e, m));
  let left = lower_f32(x * s * (e + 2.0f) / fma(e, e + 2.0f, 2.0f), 24u);
  return activation_gated(select(select(right, left, signbit_f32(x)), x, x > 30.0f), x, -110.0f);
}

// x + 3 clamped to [0, 6], as an integer: drivers turn (x + 3) / 6 into x / 6 + 1/2, which is not 0 at -3.
fn activation_ramp(x: f32) -> f32 { return bitcast<f32>(clamp(bitcast<i32>(x + 3.0f), 0, 0x40c00000)); }

fn hardsigmoid_f32(x: f32) -> f32 { return keep_nan_f32(activation_ramp(x) * 0.16666667f, x); }

fn hardswish_f32(x: f32) -> f32 {
  let r = x * activation_unit(activation_ramp(x) * 0.16666667f);
  return activation_gated(pick_f32(r, x, x >= 3.0f), x, -3.0f);
}

fn hardtanh_f32(x: f32, low: f32, high: f32) -> f32 {
  return keep_nan_f32(pick_f32(pick_f32(x, high, x > high), low, x < low), x);
}

fn hardshrink_f32(x: f32, lambd: f32) -> f32 {
  return keep_nan_f32(pick_f32(x, 0.0f, (x >= -lambd) & (x <= lambd)), x);
}

fn softshrink_f32(x: f32, lambd: f32) -> f32 {
  let r = pick_f32(0.0f, x + lambd, x < -lambd);
  return keep_nan_f32(pick_f32(r, x - lambd, x > lambd), x);
}

// x - tanh(x); x^3 Q(x^2) (minimax) below 1, where the difference would cancel.
fn tanhshrink_f32(x: f32) -> f32 {
  let z = x * x;
  var p = fma(fma(fma(-0.00020567834f, z, 0.0011494457f), z, -0.0035273728f), z, 0.008924946f);
  p = fma(fma(fma(fma(p, z, -0.021912944f), z, 0.053978212f), z, -0.13333412f), z, 0.33333334f);
  return keep_nan_f32(select(x - tanh_f32(x), x * z * p, absolute_f32(x) < 1.0f), x);
}

fn threshold_f32(x: f32, limit: f32, value: f32) -> f32 {
  return keep_nan_f32(pick_f32(value, x, x > limit), x);
}

fn softsign_f32(x: f32) -> f32 {
  let a = bitcast<f32>(min(bitcast<u32>(x) & 0x7fffffffu, 0x7149f2cau));  // at most 1e30
  return keep_nan_f32(copysign_f32(activation_unit(a / (1.0f + a)), x), x);
}

// SwiGLU: silu(x) * y
fn silu_mul_f32(x: f32, y: f32) -> f32 { return silu_f32(x) * y; }

// Huber's function, scaled: scale x^2 / 2 within [-bend, bend], a line beyond.
fn bent_loss_f32(x: f32, bend: f32, scale: f32) -> f32 {
  let a = absolute_f32(x);
  return pick_f32(0.5f * scale * a * a, scale * bend * (a - 0.5f * bend), a > bend);
}
