// Complex exponential, hyperbolic and trigonometric functions. All are (c cos y, s sin y) 2^k with real c, s of x (tanh is
// a quotient of such): parts do not cancel and overflow only where the result does. Special values as in C99's annex G;
// sin z = -i sinh iz and tan z = -i tanh iz exchange the parts.
// use complex, exp, hyperbolic, trig

struct Polar {
  c: f32,
  s: f32,
  k: i32,
}

// (cos y, sin y); NaN of infinities.
fn cis_f32(y: f32) -> vec2f {
  let m = bitcast<u32>(y) & 0x7fffffffu;
  let t = trig_reduce(y);
  let r = vec2f(trig_quadrant(t, t.q + 1u), pick_f32(trig_quadrant(t, t.q), y, m < 0x39000000u));
  return nan_if_c64(r, m >= 0x7f800000u);
}

// x y, but a zero wins against infinity and NaN.
fn product_c64(x: f32, y: f32) -> f32 {
  let zero = bitcast<f32>((bitcast<u32>(x) ^ bitcast<u32>(y)) & 0x80000000u);
  return pick_f32(x * y, zero, !(truth_f32(x) & truth_f32(y)));
}

// (c cos y, s sin y) 2^k for w = cis(y); an infinite c keeps the real part infinite where y is not finite.
fn turn_c64(t: Polar, w: vec2f) -> vec2f {
  let r = ldexp_c64(vec2f(product_c64(t.c, w.x), product_c64(t.s, w.y)), t.k);
  return pick_c64(r, vec2f(t.c, r.y), isinf_f32(t.c) & isnan_f32(w.y));
}
fn polar_c64(t: Polar, y: f32) -> vec2f { return turn_c64(t, cis_f32(y)); }

// e^x as c 2^k with c in [0.7, 1.5] (0, inf and NaN of -inf, inf and NaN).
fn exp_parts_f32(x: f32) -> Polar {
  let v = min(max(pick_f32(x, 0.0f, isnan_f32(x)), -300.0f), 300.0f);
  let k = exp_quotient_f32(v);
  let p = exp_poly_f32(exp_remainder_f32(v, k));
  let q = bitcast<f32>(select(bitcast<u32>(x), 0u, isneginf_f32(x)));
  let c = pick_f32(p, q, !isfinite_f32(x));
  return Polar(c, c, k);
}

fn exp_c64(x: vec2f) -> vec2f { return polar_c64(exp_parts_f32(x.x), x.y); }

// e^x cos y - 1 = (e^x - 1) cos y - (1 - cos y) while e^x is not large; 1 - cos is sin^2 / (1 + cos) next to 0.
fn expm1_c64(x: vec2f) -> vec2f {
  let w = cis_f32(x.y);
  let r = turn_c64(exp_parts_f32(x.x), w);
  let v = pick_f32(1.0f - w.x, w.y * w.y / (1.0f + w.x), w.x > 0.0f);
  let near = product_c64(expm1_f32(x.x), w.x) - v;
  let re = pick_f32(near, r.x, greater_or_nan_f32(x.x, 0x41a00000u));
  // A zero is +0, of -0 too (the array API); NumPy says -0.
  return vec2f(pick_f32(pick_f32(0.0f, re, truth_f32(re)), -1.0f, isneginf_f32(x.x)), r.y);
}

// x >= a positive number (its bits), inf or NaN.
fn greater_or_nan_f32(x: f32, bits: u32) -> bool { return (bitcast<i32>(x) >= bitcast<i32>(bits)) | isnan_f32(x); }

// cosh and sinh of x as c 2^k and s 2^k; k is 0 up to |x| = 30.
fn hyperbolic_parts_f32(x: f32) -> Polar {
  let m = bitcast<u32>(x) & 0x7fffffffu;
  let e = exp_parts_f32(absolute_f32(x));
  let a = bitcast<f32>(min(m, 0x41f00000u));
  let h = scale_f32(pick_f32(e.c, 1.0f, m >= 0x7f800000u), min(e.k - 1, 60));
  let l = 0.25f / h;
  let s = copysign_f32(pick_f32(sinh_small_f32(a), h - l, m > 0x3f800000u), x);
  let far = m > 0x41f00000u;
  return Polar(pick_f32(h + l, e.c, far), pick_f32(s, copysign_f32(e.c, x), far), select(0, e.k - 1, far));
}

fn sinh_c64(x: vec2f) -> vec2f {
  let t = hyperbolic_parts_f32(x.x);
  return polar_c64(Polar(t.s, t.c, t.k), x.y);
}
fn cosh_c64(x: vec2f) -> vec2f { return polar_c64(hyperbolic_parts_f32(x.x), x.y); }
fn sin_c64(x: vec2f) -> vec2f { return sinh_c64(x.yx).yx; }
fn cos_c64(x: vec2f) -> vec2f { return cosh_c64(vec2f(negative_f32(x.y), x.x)); }

// (sinh cosh + i sin cos) / (sinh^2 + cos^2); from 10 on +-1 and, later, 4 sin cos e^-2|x|.
fn tanh_c64(x: vec2f) -> vec2f {
  let m = bitcast<u32>(x.x) & 0x7fffffffu;
  let t = hyperbolic_parts_f32(bitcast<f32>(min(m, 0x41f00000u)));
  let w = cis_f32(x.y);
  let d = t.s * t.s + w.x * w.x;
  let p = w.x * w.y;
  let e = exp_parts_f32(-2.0f * absolute_f32(x.x));
  let far = ldexp_f32(product_c64(4.0f * p, e.c), e.k);
  var re = pick_f32(div_f32(t.s * t.c, d), 1.0f, m > 0x41200000u);
  var im = pick_f32(div_f32(p, d), far, m > 0x41a00000u);
  re = pick_f32(re, 0.0f, m == 0u);
  let wild = !isfinite_f32(x.y);
  im = pick_f32(im, copysign_f32(0.0f, x.y), m == 0x7f800000u); // the array API; C99 has the sign of sin(2y)
  let lost = (m > 0x7f800000u) | (wild & (m != 0u) & (m != 0x7f800000u));
  re = copysign_f32(nan_if_f32(re, lost), x.x);
  im = nan_if_f32(im, lost | (wild & (m == 0u)));
  return vec2f(re, pick_f32(im, x.y, (bitcast<u32>(x.y) & 0x7fffffffu) == 0u));
}
fn tan_c64(x: vec2f) -> vec2f { return tanh_c64(x.yx).yx; }

// 2^z: the exponent is split before ln 2 comes in.
fn exp2_c64(x: vec2f) -> vec2f {
  let v = min(max(pick_f32(x.x, 0.0f, isnan_f32(x.x)), -400.0f), 400.0f);
  let k = bitcast<i32>(v + 12582912.0f) - 0x4b400000;
  let q = bitcast<f32>(select(bitcast<u32>(x.x), 0u, isneginf_f32(x.x)));
  let c = pick_f32(exp2_poly_f32(v - f32(k)), q, !isfinite_f32(x.x));
  return polar_c64(Polar(c, c, k), 0.6931472f * x.y);
}
