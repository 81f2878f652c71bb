// Complex logarithms and powers: (log |z|, arg z), cut along the negative reals, signed zeros telling its sides (C99).
// use complex, log, trig, complex_exp

// (1 + d)^2 + b^2 - 1 for small results to about 2^-36: products of 12-bit halves are exact.
fn norm_less_one_f32(d: f32, b: f32) -> f32 {
  let dh = head_f32(d);
  let bh = head_f32(b);
  let dl = d - dh;
  let bl = b - bh;
  let heads = fma(dh, dh, fma(bh, bh, d + d));
  return fma(bl, bl, fma(dl, dl, fma(2.0f * bh, bl, fma(2.0f * dh, dl, heads))));
}

// log(|z| 2^shift): inf if either part is, else NaN if either is; -inf at 0.
fn log_abs_c64(x: vec2f, shift: i32) -> f32 {
  let big = larger_c64(x);
  let p = bitcast<f32>(big);
  let q = bitcast<f32>(min(bitcast<u32>(x.x) & 0x7fffffffu, bitcast<u32>(x.y) & 0x7fffffffu));
  let e = (extend_f32(big) >> 23u) - 127;
  let far = log_shifted_f32(hypot_f32(ldexp_f32(p, -e), ldexp_f32(q, -e)), e + shift);
  let v = norm_less_one_f32(p - 1.0f, q);
  let near = (shift == 0) & (big > 0x3f000000u) & (big < 0x3fc00000u) & (v > -0.5f) & (v < 2.0f);
  var r = bitcast<u32>(pick_f32(far, 0.5f * log1p_f32(v), near));
  r = select(r, 0xff800000u, big == 0u);
  r = select(r, 0x7fc00000u, isnan_c64(x));
  return bitcast<f32>(select(r, 0x7f800000u, isinf_c64(x)));
}

fn log_c64(x: vec2f) -> vec2f { return vec2f(log_abs_c64(x, 0), atan2_f32(x.y, x.x)); }
fn log2_c64(x: vec2f) -> vec2f {
  let r = log_c64(x);
  return vec2f(r.x * 1.442695f, r.y * 1.442695f);
}
fn log10_c64(x: vec2f) -> vec2f {
  let r = log_c64(x);
  return vec2f(r.x * 0.4342945f, r.y * 0.4342945f);
}

// Near 0: log1p(|1 + z|^2 - 1) / 2.
fn log1p_c64(x: vec2f) -> vec2f {
  let v = norm_less_one_f32(x.x, x.y);
  let near = (larger_c64(x) < 0x3f800000u) & (v > -0.5f);
  let w = vec2f(1.0f + x.x, x.y);
  return vec2f(pick_f32(log_abs_c64(w, 0), 0.5f * log1p_f32(v), near), atan2_f32(w.y, w.x));
}

// x^n by squaring for 0 < n < 100.
fn power_whole_c64(x: vec2f, n: u32) -> vec2f {
  var r = vec2f(1.0f, 0.0f);
  var b = x;
  var left = n;
  var first = true;
  while (left != 0u) {
    if ((left & 1u) == 1u) {
      r = pick_c64(multiply_c64(r, b), b, first);
      first = false;
    }
    left = left >> 1u;
    if (left != 0u) { b = square_c64(b); }
  }
  return r;
}

// e^(y log x), integers below 100 by squaring (as NumPy) unless that overflows. x^0 is 1 for every x; 0^y is 0 for
// positive real parts, else NaN.
fn power_c64(x: vec2f, y: vec2f) -> vec2f {
  if (!c64_to_bool(y)) { return vec2f(1.0f, 0.0f); }
  if (!c64_to_bool(x)) { return nan_if_c64(vec2f(), signbit_f32(y.x) | !truth_f32(y.x) | isnan_f32(y.x)); }
  let m = absolute_f32(y.x);
  let n = u32(min(pick_f32(m, 0.0f, isnan_f32(m)), 100.0f));
  if (!truth_f32(y.y) & (n < 100u) & (bitcast<u32>(f32(n)) == bitcast<u32>(m))) {
    var r = power_whole_c64(x, n);
    if (signbit_f32(y.x)) { r = divide_c64(vec2f(1.0f, 0.0f), r); }
    if ((isfinite_c64(r) & c64_to_bool(r)) | !isfinite_c64(x)) { return r; }
  }
  let l = log_abs_c64(x, 0);
  let a = atan2_f32(x.y, x.x);
  return exp_c64(vec2f(y.x * l - y.y * a, y.y * l + y.x * a));
}
