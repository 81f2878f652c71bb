// Exponential integrals E1 and Ei of real arguments.
// use ieee
// use bits
// use exp
// use log
// use div
//
// Minimax fits of our own (Lawson's iteration): E1 is -log(x) + P below 1 and exp(-x) / x times a polynomial in
// (x - 4) / (x + 2) above; Ei is log(x / z) + (x - z) R(x) below 5 with its zero z in two parts, exp(x) / x times
// polynomials in 1 / x above.

fn expint_e1(x: f32) -> f32 {
  if (x <= 1.0f) {
    let p = fma(fma(fma(-0.00014581536f, x, 0.0015455649f), x, -0.010325474f), x, 0.0555181f);
    return fma(fma(fma(p, x, -0.24999206f), x, 0.9999993f), x, -0.5772157f) - log_shifted_f32(x, 0);
  }
  let q = 1.0f - 6.0f / (x + 2.0f);
  var p = fma(fma(fma(-0.000017478791f, q, 0.000045893852f), q, -0.00003851979f), q, 0.0001399769f);
  p = fma(fma(fma(fma(p, q, -0.00034724278f), q, 0.0011390616f), q, -0.0025050628f), q, 0.010131784f);
  return exp_shifted_f32(-x, 0) * div_core_f32(fma(fma(fma(p, q, -0.024300622f), q, 0.19036959f), q, 0.8253826f), x);
}

// exp(-x) x Ei(x) for x > 5
fn expint_ei_far(x: f32) -> f32 {
  let t = 1.0f / x;
  if (x > 24.0f) {
    let s = t - 0.02f;
    let p = fma(fma(fma(3157.4282f, s, 297.73047f), s, 42.079334f), s, 8.549662f);
    return fma(fma(fma(p, s, 2.429398f), s, 1.0880808f), s, 1.0208523f);
  }
  if (x > 12.0f) {
    let s = t - 0.0625f;
    let p = fma(fma(fma(-116908.63f, s, -52654.586f), s, -1374.7495f), s, 207.58385f);
    return fma(fma(fma(fma(p, s, 29.684135f), s, 4.470687f), s, 1.3627944f), s, 1.072345f);
  }
  let s = t - 0.125f;
  let p = fma(fma(fma(563042.7f, s, -188393.39f), s, 8813.71f), s, 2942.4106f);
  return fma(fma(fma(fma(fma(p, s, -374.10178f), s, -46.343086f), s, 5.8507543f), s, 2.1834855f), s, 1.1818479f);
}

// scipy.special.exp1 of real x: inf at 0, NaN below.
fn exp1_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let r = expint_e1(bitcast<f32>(min(b & 0x7fffffffu, 0x42d00000u)));  // 104, where it is 0
  let v = select(bitcast<u32>(r), 0x7f800000u, (b & 0x7fffffffu) == 0u);
  return nan_if_f32(bitcast<f32>(v), (b > 0x80000000u) | isnan_f32(x));
}

// scipy.special.expi: -inf at 0, -E1(-x) below.
fn expi_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  var r = 0.0f;
  if (b > 0x80000000u) {
    r = negative_f32(expint_e1(bitcast<f32>(min(m, 0x42d00000u))));
  } else if (m <= 0x40c00000u) {
    let d = opaque_f32(x - 0.37250742f, x) + 1.2381094e-08f;
    var p = fma(fma(fma(fma(2.4064952e-09f, x, -4.450933e-08f), x, 5.0161884e-07f), x, -2.5057457e-06f), x, 0.0000139130425f);
    p = fma(fma(fma(fma(p, x, 3.2042174e-06f), x, 0.00028434393f), x, 0.0017155422f), x, 0.011094999f);
    p = fma(fma(fma(p, x, 0.059672672f), x, 0.2722319f), x, 1.1014081f);
    let near = log1p_f32(2.6845104f * d);
    r = fma(d, p, pick_f32(log_shifted_f32(x, 0) + 0.98749835f, near, (x > 0.2f) & (x < 0.7f)));
  } else {
    let a = bitcast<f32>(min(m, 0x42c00000u));  // 96, where it overflows
    r = raise_f32(exp_shifted_f32(a, -16) * div_core_f32(expint_ei_far(a), a), 16u);
  }
  let v = select(bitcast<u32>(r), 0xff800000u, m == 0u);
  return keep_nan_f32(bitcast<f32>(v), x);
}
