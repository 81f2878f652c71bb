// x log(y) and the entropy functions of scipy.special, with 0 log 0 = 0.
// use ieee
// use div
// use log

// x l, but infinite for an infinite l even where x is denormal and may be flushed.
fn entropy_times(x: f32, l: f32) -> f32 {
  let end = keep_nan_f32(bitcast<f32>(bitcast<u32>(l) ^ (bitcast<u32>(x) & 0x80000000u)), x);
  return pick_f32(x * l, end, isinf_f32(l));
}

fn xlogy_f32(x: f32, y: f32) -> f32 {
  return pick_f32(keep_nan_f32(entropy_times(x, log_f32(y)), y), 0.0f, !truth_f32(x) & !isnan_f32(y));
}

fn xlog1py_f32(x: f32, y: f32) -> f32 {
  return pick_f32(keep_nan_f32(entropy_times(x, log1p_f32(y)), y), 0.0f, !truth_f32(x) & !isnan_f32(y));
}

// -x log(x); 0 at 0, -inf below.
fn entr_f32(x: f32) -> f32 {
  let r = pick_f32(-x * log_f32(x), 0.0f, !truth_f32(x));
  return keep_nan_f32(bitcast<f32>(select(bitcast<u32>(r), 0xff800000u, bitcast<u32>(x) > 0x80000000u)), x);
}

// log(x / y) for positive x and y.
fn entropy_log_ratio(x: f32, y: f32) -> f32 {
  if ((0.5f * x < y) & (0.5f * y < x)) { return log1p_f32(div_f32(x - y, y)); }
  let q = div_f32(x, y);
  if ((q > 1e-37f) & (q < 1e38f)) { return log_shifted_f32(q, 0); }
  return log_f32(x) - log_f32(y);
}

// r where x > 0 and y > 0, `zero` where x = 0 and y >= 0, inf elsewhere, NaN for NaN.
fn entropy_domain(r: f32, zero: f32, x: f32, y: f32) -> f32 {
  let xb = bitcast<u32>(x);
  let yb = bitcast<u32>(y);
  let none = (xb & 0x7fffffffu) == 0u;
  let below = ((xb > 0x80000000u) | (yb > 0x80000000u)) | (((yb & 0x7fffffffu) == 0u) & !none);
  let v = select(bitcast<u32>(pick_f32(r, zero, none)), 0x7f800000u, below);
  return nan_if_f32(bitcast<f32>(v), isnan_f32(x) | isnan_f32(y));
}

// x log(x / y)
fn rel_entr_f32(x: f32, y: f32) -> f32 { return entropy_domain(entropy_times(x, entropy_log_ratio(x, y)), 0.0f, x, y); }

// x log(x / y) - x + y. With t = (y - x) / x that is x (t - log1p(t)), a polynomial (minimax) for t near 0.
fn kl_div_f32(x: f32, y: f32) -> f32 {
  let t = div_f32(y - x, x);  // the hardware's division may give 0 for divisors above 2^126
  if ((t > -0.34f) & (t < 0.5f)) {
    var p = fma(fma(fma(0.0552125f, t, -0.109444074f), t, 0.11296587f), t, -0.1104506f);
    p = fma(fma(fma(fma(p, t, 0.12349887f), t, -0.14278278f), t, 0.16673186f), t, -0.20000452f);
    p = fma(fma(fma(p, t, 0.24999914f), t, -0.33333328f), t, 0.5f);
    return entropy_domain((y - x) * t * p, y, x, y);
  }
  let far = pick_f32(fma(x, entropy_log_ratio(x, y), y - x), y, isinf_f32(y));
  return entropy_domain(far, y, x, y);
}
