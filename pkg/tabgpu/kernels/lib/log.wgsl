// log, log2, log10, log1p. x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); k comes from the bits, f is exact.
// log(1 + f) = f - f^2/2 + f^3 P(f) as in Cephes' logf; P, R are minimax fits (Lawson's iteration).
// use ieee
// use bits

// Exponent and significand of an extended pattern, split at sqrt(1/2).
fn log_exponent_f32(i: i32) -> i32 { return (i - 0x3f3504f3) >> 23u; }
fn log_fraction_f32(i: i32) -> f32 { return bitcast<f32>(((i - 0x3f3504f3) & 0x7fffff) + 0x3f3504f3) - 1.0f; }

// log(1 + f) + n ln2; the high part of ln2 has 9 bits, so n * hi is exact.
fn log_sum_f32(f: f32, n: f32) -> f32 {
  var p = fma(fma(fma(-0.07860874f, f, 0.12883471f), f, -0.13129114f), f, 0.14180961f);
  p = fma(fma(fma(fma(p, f, -0.16624498f), f, 0.20002295f), f, -0.2500081f), f, 0.33333316f);
  let z = f * f;
  let y = fma(n, -2.1219444e-4f, fma(f * z, p, -0.5f * z));
  return fma(n, 0.69335938f, f + y);
}

// r where x is a positive finite number; else the logarithm's special values: -inf at 0, inf at inf, NaN.
fn log_special_f32(r: f32, x: f32) -> f32 {
  let b = bitcast<u32>(x);
  var s = select(0x7fc00000u, 0x7f800000u, b == 0x7f800000u);
  s = select(s, 0xff800000u, (b & 0x7fffffffu) == 0u);
  return bitcast<f32>(select(bitcast<u32>(r), s, b - 1u >= 0x7f7fffffu));
}

// log(x * 2^shift) of the magnitude of x.
fn log_shifted_f32(x: f32, shift: i32) -> f32 {
  let i = extend_f32(bitcast<u32>(x) & 0x7fffffffu);
  return log_sum_f32(log_fraction_f32(i), f32(log_exponent_f32(i) + shift));
}

fn log_f32(x: f32) -> f32 { return log_special_f32(log_shifted_f32(x, 0), x); }

// f * log2(e) (and f * log10(e), n * log10(2)) in two parts: factors of 12 bits make the high part exact.
fn log2_f32(x: f32) -> f32 {
  let i = extend_f32(bitcast<u32>(x) & 0x7fffffffu);
  let f = log_fraction_f32(i);
  var p = fma(fma(fma(fma(-0.11288547f, f, 0.18764721f), f, -0.19056849f), f, 0.20433195f), f, -0.2396472f);
  p = fma(fma(fma(fma(p, f, 0.28858268f), f, -0.36069575f), f, 0.480898f), f, -0.7213474f);
  let h = head_f32(f);
  let y = fma(f * f, p, fma(f, -1.7605285e-4f, (f - h) * 1.4428711f));
  return log_special_f32(fma(h, 1.4428711f, y) + f32(log_exponent_f32(i)), x);
}

fn log10_f32(x: f32) -> f32 {
  let i = extend_f32(bitcast<u32>(x) & 0x7fffffffu);
  let f = log_fraction_f32(i);
  let n = f32(log_exponent_f32(i));
  var p = fma(fma(fma(fma(-0.03398191f, f, 0.05648744f), f, -0.057366833f), f, 0.06151005f), f, -0.07214099f);
  p = fma(fma(fma(fma(p, f, 0.08687204f), f, -0.10858025f), f, 0.14476472f), f, -0.21714719f);
  let h = head_f32(f);
  let y = fma(f * f, p, fma(n, 4.605039e-6f, fma(f, -3.168997e-5f, (f - h) * 0.43432617f)));
  return log_special_f32(fma(n, 0.3010254f, fma(h, 0.43432617f, y)), x);
}

// log(1 + x): k from the rounded sum, then f = x 2^-k + (2^-k - 1), which needs no correction for its rounding.
fn log1p_f32(x: f32) -> f32 {
  let i = bitcast<i32>(1.0f + x) & 0x7fffffff;
  let k = log_exponent_f32(i);
  let s = bitcast<f32>((127 - clamp(k, -30, 30)) << 23u);
  let f = pick_f32(fma(x, s, s - 1.0f), log_fraction_f32(i), k > 30);
  let r = log_special_f32(log_sum_f32(f, f32(k)), pick_f32(1.0f + x, x, isnan_f32(x)));
  return pick_f32(r, x, (bitcast<u32>(x) & 0x7fffffffu) < 0x33000000u);
}
