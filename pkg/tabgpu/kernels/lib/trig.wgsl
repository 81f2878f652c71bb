// Trigonometric functions and their inverses over all of float32. (Hyperbolic ones: hyperbolic.wgsl.)
// use ieee
// use bits
// use div
// use sqrt
//
// Polynomials: minimax fits of our own (Lawson's reweighted least squares, coefficients rounded to float32 one by
// one). Reduction: Cody & Waite in three steps below 256, Payne & Hanek (SIGNUM 1983) in integers above.

struct TrigReduced {
  r: f32,  // in [-pi/4, pi/4]
  q: u32,  // x = r + q * pi/2, modulo 2 pi
}

fn trig_mulhi(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let mid = ah * bl + ((al * bl) >> 16u);
  let low = al * bh + (mid & 0xffffu);
  return ah * bh + (mid >> 16u) + (low >> 16u);
}

// Word i of 2/pi = 0.a2f9836e..., after one word of zeros.
fn trig_two_over_pi(i: u32) -> u32 {
  switch i {
    case 1u: { return 0xa2f9836eu; }
    case 2u: { return 0x4e441529u; }
    case 3u: { return 0xfc2757d1u; }
    case 4u: { return 0xf534ddc0u; }
    case 5u: { return 0xdb629599u; }
    case 6u: { return 0x3c439041u; }
    case 7u: { return 0xfe5163abu; }
    default: { return 0u; }
  }
}

fn trig_window(i: u32, s: u32) -> u32 {
  // Shifts by 32 are errors in WGSL, so the second one is made in two steps.
  return (trig_two_over_pi(i) << s) | ((trig_two_over_pi(i + 1u) >> 1u) >> (31u - s));
}

// |x| >= 256: |x| = m * 2^t with a 32-bit m. Of 2/pi only 96 bits matter, from the first one whose product with
// 2^t is below 4; m times these, modulo 2^96, is x * 2/pi modulo 4 in units of 2^-94 (the last word is not needed).
fn trig_reduce_large(x: f32) -> TrigReduced {
  let bits = bitcast<u32>(x);
  let m = ((bits & 0x007fffffu) | 0x00800000u) << 8u;
  let first = ((bits >> 23u) & 0xffu) - 128u;  // t + 30: bits before the window
  let i = first >> 5u;
  let s = first & 31u;
  let b = trig_window(i + 1u, s);
  let c = trig_mulhi(trig_window(i + 2u, s), m);
  let lo = b * m + c;
  let hi = trig_window(i, s) * m + trig_mulhi(b, m) + select(0u, 1u, lo < c);
  let q = (hi + 0x20000000u) >> 30u;
  // The fraction is a signed 64-bit number (f, lo) in units of 2^-62; its magnitude is shifted to the top.
  let f = hi - (q << 30u);
  let negative = (f >> 31u) != 0u;
  let mag_lo = select(lo, ~lo + 1u, negative);
  let mag_hi = select(f, ~f + select(0u, 1u, lo == 0u), negative);
  let lost = select(countLeadingZeros(mag_hi), 31u, mag_hi == 0u);
  let top = (mag_hi << lost) | ((mag_lo >> 1u) >> (31u - lost));
  // top * 2^(-30 - lost) quarter turns; the product with pi/2 has 32 or 31 bits and is rounded to 24.
  let turn = trig_mulhi(top, 0xc90fdaa2u);
  let pad = countLeadingZeros(turn);
  let v = (turn << pad) >> 7u;
  let r = f32((v >> 1u) + (v & 1u)) * bitcast<f32>((106u - lost - pad) << 23u);
  let flip = (bits ^ (f & 0x80000000u)) & 0x80000000u;
  return TrigReduced(bitcast<f32>(bitcast<u32>(r) ^ flip), select(q, 0u - q, (bits >> 31u) != 0u) & 3u);
}

// v: the mask is all ones, but no compiler can know, so it cannot merge the float operations before and after.
fn trig_opaque(v: f32, mask: u32) -> f32 { return bitcast<f32>(bitcast<u32>(v) & mask); }

fn trig_reduce(x: f32) -> TrigReduced {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x43800000u) { return trig_reduce_large(x); }
  let k = round(x * 0.63661975f);
  let q = i32(k);
  let mask = select(0u, 0xffffffffu, q < 1000);
  let a = trig_opaque(x - k * 1.5708008f, mask);
  let b = trig_opaque(a + k * 4.4543995e-06f, mask);
  let lost = trig_opaque((a - b) + k * 4.4543995e-06f, mask);  // by that rounding (Dekker's fast two-sum)
  return TrigReduced(b + (lost + k * 5.5644316e-11f), u32(q) & 3u);
}

fn trig_sin_poly(r: f32) -> f32 {
  let z = r * r;
  return r + r * z * (-0.16666655f + z * (0.008332191f - z * 0.0001951862f));
}

fn trig_cos_poly(r: f32) -> f32 {
  let z = r * r;
  return 1.0f - z * (0.5f - z * (0.041666646f + z * (-0.0013887301f + z * 2.4430668e-05f)));
}

fn trig_quadrant(t: TrigReduced, q: u32) -> f32 {
  let v = select(trig_sin_poly(t.r), trig_cos_poly(t.r), (q & 1u) != 0u);
  return bitcast<f32>(bitcast<u32>(v) ^ ((q & 2u) << 30u));
}

// Maximum error 2 ULP.
fn sin_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let t = trig_reduce(x);
  let v = pick_f32(trig_quadrant(t, t.q), x, bits < 0x39000000u);
  return nan_if_f32(v, bits >= 0x7f800000u);
}

// Maximum error 2 ULP.
fn cos_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let t = trig_reduce(x);
  return nan_if_f32(trig_quadrant(t, t.q + 1u), bits >= 0x7f800000u);
}

// Maximum error 3 ULP.
fn tan_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let t = trig_reduce(x);
  let z = t.r * t.r;
  let p = 0.02452594f + z * (0.0029770138f + z * 0.009464571f);
  let w = t.r + t.r * z * (0.3333314f + z * (0.13339183f + z * (0.053382203f + z * p)));
  let v = pick_f32(select(w, div_core_f32(-1.0f, w), (t.q & 1u) != 0u), x, bits < 0x39000000u);
  return nan_if_f32(v, bits >= 0x7f800000u);
}

// x = r + q/2 with |r| <= 1/4, exactly.
fn trig_reduce_half(x: f32) -> TrigReduced {
  let y = select(x, 0.0f, (bitcast<u32>(x) & 0x7fffffffu) >= 0x4b800000u);
  let k = round(y + y);
  return TrigReduced(y - 0.5f * k, u32(i32(k)) & 3u);
}

fn trig_quadrant_pi(t: TrigReduced, q: u32) -> f32 {
  let z = t.r * t.r;
  let s = t.r * (3.1415927f + z * (-5.1677127f + z * (2.5501547f + z * (-0.5989817f + z * 0.079165235f))));
  let c = 1.0f + z * (-4.934802f + z * (4.0586963f + z * (-1.3347354f + z * 0.22873026f)));
  let v = select(s, c, (q & 1u) != 0u);
  return bitcast<f32>(bitcast<u32>(v) ^ ((q & 2u) << 30u));
}

// sin(pi x), exact zeros with the sign of x at the integers.
fn sinpi_f32(x: f32) -> f32 {
  let t = trig_reduce_half(x);
  let integer = (t.r == 0.0f) & ((t.q & 1u) == 0u);
  let v = select(trig_quadrant_pi(t, t.q), copysign_f32(0.0f, x), integer);
  return nan_if_f32(v, (bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u);
}

// cos(pi x), exact zeros at the half-integers.
fn cospi_f32(x: f32) -> f32 {
  let t = trig_reduce_half(x);
  return nan_if_f32(trig_quadrant_pi(t, t.q + 1u), (bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u);
}

// sin(pi x) / (pi x); 1 at 0, NaN at +-inf (as numpy.sinc).
fn sinc_f32(x: f32) -> f32 {
  let tiny = (bitcast<u32>(x) & 0x7fffffffu) < 0x39000000u;
  return select(div_core_f32(sinpi_f32(x) * 0.31830987f, x), 1.0f, tiny);
}

// (asin(s) - s) / s with z = s^2 <= 1/4.
fn trig_asin_tail(z: f32) -> f32 {
  return z * (0.16666754f + z * (0.0749525f + z * (0.04547653f + z * (0.02414885f + z * 0.04221852f))));
}

fn asin_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let a = bitcast<f32>(bits);
  let large = bits >= 0x3f000000u;
  let z = select(a * a, 0.5f * (1.0f - a), large);
  let s = select(a, sqrt_f32(z), large);
  let w = s + s * trig_asin_tail(z);
  let v = select(w, 1.5707964f - (w + w + 4.371139e-08f), large);
  let signed = pick_f32(copysign_f32(v, x), x, bits < 0x39000000u);
  return nan_if_f32(signed, bits > 0x3f800000u);
}

fn acos_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let a = bitcast<f32>(bits);
  let large = bits >= 0x3f000000u;
  let negative = (bitcast<u32>(x) >> 31u) != 0u;
  let z = select(a * a, 0.5f * (1.0f - a), large);
  let s = select(x, sqrt_f32(z), large);
  let w = s + s * trig_asin_tail(z);
  let outer = select(w + w, 3.1415927f - (w + w + 8.742278e-08f), negative);
  let v = select(1.5707964f - (w + 4.371139e-08f), outer, large);
  return nan_if_f32(v, bits > 0x3f800000u);
}

// atan(t) for t in [0, 1]
fn trig_atan_unit(t: f32) -> f32 {
  let z = t * t;
  let p = 0.058201257f + z * (-0.031422142f + z * (0.011046255f - z * 0.001823116f));
  let q = 0.19998628f + z * (-0.14265126f + z * (0.10956933f + z * (-0.08417543f + z * p)));
  return t + t * z * (-0.33333302f + z * q);
}

fn atan_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let a = bitcast<f32>(bits);
  let large = bits > 0x3f800000u;
  let w = trig_atan_unit(select(a, 1.0f / a, large));
  let far = select(1.5707964f - (w + 4.371139e-08f), 1.5707964f, bits > 0x4c800000u);
  let v = copysign_f32(select(w, far, large), x);
  return pick_f32(v, x, (bits < 0x39000000u) | (bits > 0x7f800000u));
}

// |x| times 2^126 when |x| is small, denormal or not.
fn trig_scale_up(bits: u32) -> f32 {
  return select(bitcast<f32>(bits + 0x3f000000u), f32(bits) * 1.1920929e-07f, bits < 0x00800000u);
}

// C99 Annex F: every combination of zeros, infinities and signs.
fn atan2_f32(y: f32, x: f32) -> f32 {
  let ybits = bitcast<u32>(y) & 0x7fffffffu;
  let xbits = bitcast<u32>(x) & 0x7fffffffu;
  let steep = ybits > xbits;
  let large = max(xbits, ybits);
  let small = min(xbits, ybits);
  // The division is made between numbers that are neither denormal nor near overflow.
  let up_n = small < 0x0d800000u;
  let up_d = large < 0x0d800000u;
  // Scales are changes of exponents: a driver could merge multiplications with the division and lose the quotient.
  let down = select(0u, 4u << 23u, large > 0x7d000000u);
  let n = select(bitcast<f32>(small - min(small, down)), trig_scale_up(small), up_n);
  let d = select(bitcast<f32>(large - down), trig_scale_up(large), up_d);
  let edge = select(0.0f, 1.0f, small == 0x7f800000u);
  let t = select(lower_f32(n / d, select(0u, 126u, up_n & !up_d)), edge, (large == 0u) | (large == 0x7f800000u));
  let w = trig_atan_unit(t);
  let first = select(w, 1.5707964f - (w + 4.371139e-08f), steep);
  let v = select(first, 3.1415927f - (first + 8.742278e-08f), (bitcast<u32>(x) >> 31u) != 0u);
  return nan_if_f32(copysign_f32(v, y), large > 0x7f800000u);
}

// cos(x) - 1 without cancellation near 0: -2 sin(x/2)^2.
fn cosm1_f32(x: f32) -> f32 {
  let s = sin_f32(0.5f * x);
  // 2 s by its exponent: s * s may be denormal where the result is not.
  return nan_if_f32(-bitcast<f32>(bitcast<u32>(s) + 0x00800000u) * s, isnan_f32(s));
}
