// Division, floor division and remainders of f32. WGSL's own x / y may be 2.5 ULP off and loses denormals.
// use ieee
// use bits
// use round
// use float_parts

// x / y for operands of middling exponents, correctly rounded but for about one case in 2^21 (then 1 ULP). The
// remainder x - q*y is computed exactly from 12-bit halves (Dekker 1971), whether or not fma() is fused; Markstein's
// final step (IBM J. R&D 1990) then rounds once.
fn div_core_f32(x: f32, y: f32) -> f32 {
  let v = 1.0f / y;
  let q = opaque_f32(x * v, y);
  let qh = head_f32(q);
  let ql = q - qh;
  let yh = head_f32(y);
  let yl = y - yh;
  var r = opaque_f32(fma(-qh, yh, x), y);
  r = opaque_f32(fma(-qh, yl, r), y);
  r = opaque_f32(fma(-ql, yh, r), y);
  r = fma(-ql, yl, r);
  return fma(r, v, q);
}

fn div_f32(x: f32, y: f32) -> f32 {
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  // Both between 2^-40 and 2^40: neither the quotient nor its remainder can overflow or become denormal.
  if ((a - 0x2b800000u < 0x28000000u) & (b - 0x2b800000u < 0x28000000u)) { return div_core_f32(x, y); }
  let i = extend_f32(a);
  let j = extend_f32(b);
  let q = div_core_f32(significand_f32(i), significand_f32(j));
  let r = scale_f32(q, clamp((i >> 23u) - (j >> 23u), -200, 200));
  var u = bitcast<u32>(r);
  u = select(u, 0u, (a == 0u) | (b == 0x7f800000u));
  u = select(u, 0x7f800000u, (b == 0u) | (a == 0x7f800000u));
  u = u | ((bitcast<u32>(x) ^ bitcast<u32>(y)) & 0x80000000u);
  let bad = (a > 0x7f800000u) | (b > 0x7f800000u) | ((a == 0u) & (b == 0u)) | ((a == 0x7f800000u) & (b == 0x7f800000u));
  return nan_if_f32(bitcast<f32>(u), bad);
}

// |x| mod |y| for finite x and y of magnitude bits a >= b > 0, in units of the last place of y: integer long division,
// eight quotient bits a round (none while x / y < 2).
fn long_remainder_f32(a: u32, b: u32) -> u32 {
  let i = extend_f32(a);
  let j = extend_f32(b);
  let m = (u32(j) & 0x7fffffu) | 0x800000u;
  var r = ((u32(i) & 0x7fffffu) | 0x800000u) % m;
  var d = (i >> 23u) - (j >> 23u);
  while ((d > 0) & (r != 0u)) {
    let s = min(d, 8);
    r = (r << u32(s)) % m;
    d = d - s;
  }
  return r;
}

fn no_remainder_f32(a: u32, b: u32) -> bool { return (a >= 0x7f800000u) | (b > 0x7f800000u) | (b == 0u); }

// C's fmod, exact: the sign of x.
fn fmod_f32(x: f32, y: f32) -> f32 {
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  if (no_remainder_f32(a, b)) { return nan_if_f32(x, true); }
  if (a < b) { return x; }
  return bitcast<f32>(assemble_f32(long_remainder_f32(a, b), extend_f32(b) >> 23u) | (bitcast<u32>(x) & 0x80000000u));
}

// x * 2^100 for |x| < 2^-27, which takes denormals to where float arithmetic keeps them.
fn lift_f32(x: f32) -> f32 {
  let m = bitcast<u32>(x) & 0x7fffffffu;
  let r = u32(extend_f32(m) + (100 << 23u)) | (bitcast<u32>(x) & 0x80000000u);
  return bitcast<f32>(select(r, bitcast<u32>(x), m == 0u));
}

// numpy.remainder: the sign of y, also on a zero.
fn remainder_f32(x: f32, y: f32) -> f32 {
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  let s = bitcast<u32>(y) & 0x80000000u;
  let other = signbit_f32(x) != signbit_f32(y);
  if (no_remainder_f32(a, b)) { return nan_if_f32(x, true); }
  if (a == 0u) { return bitcast<f32>(s); }
  if (a < b) {
    if (!other) { return x; }
    if (b < 0x20000000u) { return ldexp_f32(lift_f32(x) + lift_f32(y), -100); }
    return x + y;
  }
  let j = extend_f32(b);
  let r = long_remainder_f32(a, b);
  let m = (u32(j) & 0x7fffffu) | 0x800000u;
  return bitcast<f32>(assemble_f32(select(r, m - r, other & (r != 0u)), j >> 23u) | s);
}

// numpy.floor_divide (npy_floor_divide): the quotient of the exact multiple of y below x, for y that is not tiny.
fn floor_divide_core_f32(x: f32, y: f32) -> f32 {
  let m = fmod_f32(x, y);
  var q = div_f32(x - m, y);
  if (truth_f32(m) & (signbit_f32(m) != signbit_f32(y))) { q = q - 1.0f; }
  let f = floor_f32(q);
  let near = pick_f32(f, f + 1.0f, q - f > 0.5f);
  let zero = bitcast<f32>((bitcast<u32>(x) ^ bitcast<u32>(y)) & 0x80000000u);
  return keep_nan_f32(pick_f32(zero, near, truth_f32(q)), m);
}

// For |y| < 2^-60 the quotient is either integral anyhow or both operands can be scaled up. Infinities: floor(x / y), as
// the array API prefers, so inf // 2 is inf and 1 // -inf is -0; Python and NumPy say NaN and -1.
fn floor_divide_f32(x: f32, y: f32) -> f32 {
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  if ((a == 0x7f800000u) | (b == 0x7f800000u)) { return div_f32(x, y); }
  if (b < 0x21800000u) {
    if ((b == 0u) | ((a >= 0x30800000u) & (a < 0x7f800000u))) { return div_f32(x, y); }
    if (a < 0x7f800000u) { return floor_divide_core_f32(lift_f32(x), lift_f32(y)); }
  }
  return floor_divide_core_f32(x, y);
}
