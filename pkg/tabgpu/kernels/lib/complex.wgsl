// Complex numbers as vec2f (real, imaginary part): signs, predicates, products, quotients, square roots. Values move as bits.
// use ieee
// use order
// use bits
// use div
// use sqrt
// use float_parts

fn negative_c64(x: vec2f) -> vec2f { return bitcast<vec2f>(bitcast<vec2u>(x) ^ vec2u(0x80000000u)); }
fn conjugate_c64(x: vec2f) -> vec2f { return bitcast<vec2f>(bitcast<vec2u>(x) ^ vec2u(0u, 0x80000000u)); }
fn multiply_c64(x: vec2f, y: vec2f) -> vec2f { return vec2f(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }
fn equal_c64(x: vec2f, y: vec2f) -> bool { return equal_f32(x.x, y.x) & equal_f32(x.y, y.y); }
fn c64_to_bool(x: vec2f) -> bool { return ((bitcast<u32>(x.x) | bitcast<u32>(x.y)) & 0x7fffffffu) != 0u; }
fn truth_c64(x: vec2f) -> bool { return c64_to_bool(x); }
fn isnan_c64(x: vec2f) -> bool { return isnan_f32(x.x) | isnan_f32(x.y); }
fn isinf_c64(x: vec2f) -> bool { return isinf_f32(x.x) | isinf_f32(x.y); }
fn isfinite_c64(x: vec2f) -> bool { return isfinite_f32(x.x) & isfinite_f32(x.y); }
fn pick_c64(no: vec2f, yes: vec2f, c: bool) -> vec2f {
  return bitcast<vec2f>(select(bitcast<vec2u>(no), bitcast<vec2u>(yes), c));
}
fn complex_f32(x: f32, y: f32) -> vec2f { return vec2f(x, y); }
fn imag_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0u); }
// Bits, not values: a constant infinity or NaN is an error in WGSL.
fn set_c64(no: vec2f, yes: vec2u, c: bool) -> vec2f { return bitcast<vec2f>(select(bitcast<vec2u>(no), yes, c)); }
fn nan_if_c64(x: vec2f, c: bool) -> vec2f { return set_c64(x, vec2u(0x7fc00000u), c); }

// The bits of the larger of two magnitudes.
fn larger_c64(x: vec2f) -> u32 { return max(bitcast<u32>(x.x) & 0x7fffffffu, bitcast<u32>(x.y) & 0x7fffffffu); }

// x * 2^n, exact but for denormals.
fn ldexp_c64(x: vec2f, n: i32) -> vec2f { return vec2f(ldexp_f32(x.x, n), ldexp_f32(x.y, n)); }

// (|x| - |y|)(|x| + |y|) cancels less than x^2 - y^2. The doubling is one of the exponent: p + p may become x (y + y).
fn square_c64(x: vec2f) -> vec2f {
  let a = absolute_f32(x.x);
  let b = absolute_f32(x.y);
  let level = (bitcast<u32>(a) == bitcast<u32>(b)) & isfinite_f32(a);
  return vec2f(pick_f32((a - b) * (a + b), 0.0f, level), ldexp_f32(x.x * x.y, 1));
}

// An infinity as a direction: +-1 for its infinite parts, +-0 for the others (C99, annex G).
fn box_c64(x: vec2f) -> vec2f {
  let unit = select(vec2f(), vec2f(1.0f), vec2<bool>(isinf_f32(x.x), isinf_f32(x.y)));
  return vec2f(copysign_f32(unit.x, x.x), copysign_f32(unit.y, x.y));
}

// x conj(y) / |y|^2, both scaled by powers of two where a square could leave the range. A real or imaginary divisor
// divides the parts. Finite / infinite is 0, infinite / finite infinite (C99); NaN otherwise spoils both parts.
fn divide_c64(x: vec2f, y: vec2f) -> vec2f {
  let p = bitcast<u32>(y.x) & 0x7fffffffu;
  let q = bitcast<u32>(y.y) & 0x7fffffffu;
  if (min(p, q) == 0u) {
    let turned = vec2f(x.y, negative_f32(x.x));
    let n = pick_c64(x, turned, q != 0u);
    let d = pick_f32(pick_f32(y.x, y.y, q != 0u), 0.0f, (p | q) == 0u);
    // The sign of a zero is that of the whole sum.
    let v = bitcast<vec4u>(vec4f(x, y));
    let s = vec2u((v.x ^ v.z) & (v.y ^ v.w), (v.y ^ v.z) & ~(v.x ^ v.w)) & vec2u(0x80000000u);
    let zero = vec2<bool>(!truth_f32(n.x), !truth_f32(n.y)) & vec2<bool>((p | q) != 0u);
    let r = bitcast<vec2u>(vec2f(div_f32(n.x, d), div_f32(n.y, d)));
    let nan = vec2<bool>(isnan_f32(d));
    return bitcast<vec2f>(select(r, s, zero & !nan));
  }
  let far = isinf_c64(x);
  let near = isinf_c64(y);
  var a = pick_c64(x, box_c64(x), far);
  var b = pick_c64(y, box_c64(y), near);
  let s = larger_c64(a);
  let t = larger_c64(b);
  var k = 0;
  if ((s - 0x30000000u >= 0x20000000u) | (t - 0x30000000u >= 0x20000000u)) {
    let i = (extend_f32(s) >> 23u) - 127;
    let j = (extend_f32(t) >> 23u) - 127;
    a = ldexp_c64(a, -i);
    b = ldexp_c64(b, -j);
    k = i - j;
  }
  let n = vec2f(a.x * b.x + a.y * b.y, a.y * b.x - a.x * b.y);
  let d = b.x * b.x + b.y * b.y;
  var r = vec2f(div_f32(n.x, d), div_f32(n.y, d));
  if (k != 0) { r = ldexp_c64(r, k); }
  let signs = bitcast<vec2u>(n) & vec2u(0x80000000u);
  let infinite = select(vec2u(0x7f800000u) | signs, vec2u(0x7fc00000u), n == vec2f());
  r = set_c64(set_c64(r, infinite, far), signs, near);
  return nan_if_c64(r, (far & near) | isnan_c64(x) | isnan_c64(y));
}

// The parts have the signs of the conjugate's, zeros too.
fn reciprocal_c64(x: vec2f) -> vec2f {
  let r = divide_c64(vec2f(1.0f, 0.0f), x);
  return vec2f(copysign_f32(r.x, x.x), copysign_f32(r.y, negative_f32(x.y)));
}

// x / |x|, 0 for 0 (numpy.sign); an infinite part alone gives its direction.
fn sign_c64(x: vec2f) -> vec2f {
  let s = larger_c64(x);
  let far = isinf_c64(x);
  let a = ldexp_c64(pick_c64(x, box_c64(x), far), select(127 - (extend_f32(s) >> 23u), 0, far));
  let m = hypot_f32(a.x, a.y);
  let r = vec2f(div_f32(a.x, m), div_f32(a.y, m));
  let lost = (isnan_c64(x) & !far) | (isinf_f32(x.x) & isinf_f32(x.y));
  let zero = vec2<bool>(far) & vec2<bool>(!isinf_f32(x.x), !isinf_f32(x.y));
  let none = vec2<bool>(s == 0u);
  return nan_if_c64(bitcast<vec2f>(select(bitcast<vec2u>(r), vec2u(), zero | none)), lost);
}

// C99's csqrt: the root in the right half plane, cut along the negative reals. t = sqrt((|x| + |z|) / 2) is one part
// and |y| / 2t the other, so that neither cancels; scaled by an even power of two where squares could leave the range.
fn sqrt_c64(x: vec2f) -> vec2f {
  let q = bitcast<u32>(x.y) & 0x7fffffffu;
  let big = larger_c64(x);
  var a = vec2f(absolute_f32(x.x), absolute_f32(x.y));
  var h = 0;
  if (big - 0x30000000u >= 0x20000000u) {
    h = ((extend_f32(big) >> 23u) - 127) >> 1u;
    a = ldexp_c64(a, -2 * h);
  }
  let t = scale_f32(sqrt_f32(0.5f * (a.x + sqrt_f32(a.x * a.x + a.y * a.y))), h);
  let u = div_f32(absolute_f32(x.y), t + t);
  let left = signbit_f32(x.x);
  var r = vec2f(pick_f32(t, u, left), copysign_f32(pick_f32(u, t, left), x.y));
  let sign = bitcast<u32>(x.y) & 0x80000000u;
  let edge = select(0u, 0x7fc00000u, q > 0x7f800000u);  // beside an infinite real part
  r = nan_if_c64(r, isnan_c64(x));
  r = set_c64(r, select(vec2u(0x7f800000u, edge), vec2u(edge, 0x7f800000u), left) | vec2u(0u, sign), isinf_f32(x.x));
  r = set_c64(r, vec2u(0x7f800000u, bitcast<u32>(x.y)), q == 0x7f800000u);
  return pick_c64(r, vec2f(0.0f, x.y), big == 0u);
}
