// Inverse trigonometric and hyperbolic functions of complex numbers, with C99's cuts and special values. asin and acos
// after Kahan (Branch Cuts for Complex Elementary Functions, 1987): from the square roots of 1 - z and 1 + z, whose parts
// have signs that make all sums sums of like signs. Beyond 2^13 log 2z is the answer to the last place.
// use complex, complex_log, hyperbolic, trig

struct Roots {
  a: vec2f,  // sqrt(1 - z)
  b: vec2f,  // sqrt(1 + z)
}

fn roots_c64(x: vec2f) -> Roots {
  return Roots(sqrt_c64(vec2f(1.0f - x.x, negative_f32(x.y))), sqrt_c64(vec2f(1.0f + x.x, x.y)));
}

fn asin_c64(x: vec2f) -> vec2f {
  let far = larger_c64(x) >= 0x46000000u;
  let r = roots_c64(pick_c64(x, vec2f(), far));
  var re = atan2_f32(x.x, pick_f32(r.a.x * r.b.x - r.a.y * r.b.y, absolute_f32(x.y), far));
  let im = pick_f32(asinh_f32(r.a.x * r.b.y - r.a.y * r.b.x), log_abs_c64(x, 1), far);
  return vec2f(pick_f32(re, x.x, !truth_f32(x.x)), copysign_f32(im, x.y));
}

fn acos_c64(x: vec2f) -> vec2f {
  let far = larger_c64(x) >= 0x46000000u;
  let r = roots_c64(pick_c64(x, vec2f(), far));
  let near = 2.0f * atan2_f32(r.a.x, r.b.x);
  var re = pick_f32(near, atan2_f32(absolute_f32(x.y), x.x), far);
  re = pick_f32(re, 1.5707964f, !truth_f32(x.x) & isnan_f32(x.y));
  let im = pick_f32(asinh_f32(r.b.x * r.a.y - r.b.y * r.a.x), log_abs_c64(x, 1), far);
  return vec2f(re, copysign_f32(im, negative_f32(x.y)));
}

fn asinh_c64(x: vec2f) -> vec2f { return asin_c64(x.yx).yx; }
fn acosh_c64(x: vec2f) -> vec2f {
  let r = acos_c64(x);
  return vec2f(absolute_f32(r.y), copysign_f32(r.x, x.y));
}

// log((1 + z) / (1 - z)) / 2: next to +-1 a difference of logarithms, else log1p(4 x / |1 - z|^2) / 4; 1 / z far out.
fn atanh_c64(x: vec2f) -> vec2f {
  let big = larger_c64(x);
  let far = big >= 0x46000000u;
  let a = absolute_f32(x.x);
  let b = absolute_f32(x.y);
  let u = 1.0f - a;
  let v = 1.0f + a;
  let h = hypot_f32(a, b);
  let out = div_f32(div_f32(a, h), h);
  let d = u * u + b * b;
  let next = 0.5f * (log_f32(hypot_f32(v, b)) - log_f32(hypot_f32(u, b)));
  let usual = 0.25f * log1p_f32(div_f32(4.0f * a, d));
  var re = pick_f32(pick_f32(usual, next, d < 0.0625f), out, far);
  let edge = 1.5707964f - pick_f32(div_f32(div_f32(b, h), h), 0.0f, isinf_c64(x));
  let im = pick_f32(0.5f * atan2_f32(b + b, u * v - b * b), edge, far);
  re = pick_f32(re, 0.0f, isinf_c64(x) | (bitcast<u32>(a) == 0u));
  let lost = isnan_c64(x);
  re = nan_if_f32(re, lost & !isinf_c64(x) & truth_f32(a));
  return vec2f(copysign_f32(re, x.x), copysign_f32(nan_if_f32(im, lost & !isinf_f32(b)), x.y));
}
fn atan_c64(x: vec2f) -> vec2f { return atanh_c64(x.yx).yx; }
