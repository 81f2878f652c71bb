// Bessel functions of the first and second kind, orders 0 and 1, of real arguments.
// use ieee
// use bits
// use log
// use trig
// use div
//
// Minimax fits of our own (Lawson's iteration). Below 2 polynomials in x^2 (with the logarithm of the second kind), from 2
// to 4 (x - z) R(x - z) about a zero z in two parts, above 4 amplitude and phase: sqrt(1 / (pi x)) (P u + Q v / x) with
// u, v sums of sine and cosine. Errors are relative to the larger of the value and that amplitude.

// x - z; `low` is what z lacks. Between two numbers of [2, 4] the difference is exact.
fn bessel_from(x: f32, z: f32, low: f32) -> f32 { return opaque_f32(x - z, x) - low; }

fn bessel_j0_near(z: f32) -> f32 {
  return fma(fma(fma(fma(fma(-6.238118e-08f, z, 6.7575525e-06f), z, -0.00043397807f), z, 0.015624953f), z, -0.24999999f), z, 1.0f);
}

// J1(x) / x
fn bessel_j1_near(z: f32) -> f32 {
  return fma(fma(fma(fma(fma(-5.261252e-09f, z, 6.7643333e-07f), z, -0.000054249896f), z, 0.0026041633f), z, -0.0625f), z, 0.5f);
}

// P and Q / x of order 0 (first) or 1 for a >= 4.
fn bessel_modulus(a: f32, first: bool) -> vec2f {
  let v = 1.0f / a;
  let z = v * v;
  let p0 = fma(fma(fma(fma(1.3529658f, z, -0.4203114f), z, 0.10954416f), z, -0.07029529f), z, 1.0f);
  let q0 = fma(fma(fma(fma(fma(36.033363f, z, -9.665594f), z, 1.4252641f), z, -0.22371186f), z, 0.0732271f), z, -0.12499999f);
  let p1 = fma(fma(fma(fma(-1.58464f, z, 0.50424474f), z, -0.14122824f), z, 0.11716785f), z, 1.0f);
  let q1 = fma(fma(fma(fma(fma(-40.76121f, z, 11.023635f), z, -1.65824f), z, 0.27379987f), z, -0.10252225f), z, 0.375f);
  return select(vec2f(p1, v * q1), vec2f(p0, v * q0), first);
}

// (sin + cos, sin - cos) of a, divided by sqrt(pi a).
fn bessel_phase(a: f32) -> vec2f {
  let t = trig_reduce(a);
  let s = trig_quadrant(t, t.q);
  let c = trig_quadrant(t, t.q + 1u);
  return vec2f(s + c, s - c) * (0.5641896f / sqrt(a));
}

// |x|, at most the largest number: infinities are put right afterwards.
fn bessel_finite(x: f32) -> f32 { return bitcast<f32>(min(bitcast<u32>(x) & 0x7fffffffu, 0x7f7fffffu)); }

fn j0_f32(x: f32) -> f32 {
  let a = bessel_finite(x);
  var r = bessel_j0_near(a * a);
  if (a > 4.0f) {
    let m = bessel_modulus(a, true);
    let w = bessel_phase(a);
    r = fma(m.x, w.x, -m.y * w.y);
  } else if (a > 2.0f) {
    let t = bessel_from(a, 2.4048254f, 1.0870590e-07f);
    var p = fma(fma(fma(-2.2967583e-07f, t, -4.965302e-06f), t, 0.000044244644f), t, 0.00026432102f);
    p = fma(fma(fma(p, t, -0.002194332f), t, -0.008657629f), t, 0.05660178f);
    r = t * fma(fma(p, t, 0.1079387f), t, -0.5191475f);
  }
  return keep_nan_f32(pick_f32(r, 0.0f, isinf_f32(x)), x);
}

fn j1_f32(x: f32) -> f32 {
  let a = bessel_finite(x);
  var r = a * bessel_j1_near(a * a);
  if (a > 4.0f) {
    let m = bessel_modulus(a, false);
    let w = bessel_phase(a);
    r = fma(m.x, w.y, m.y * w.x);
  } else if (a > 2.0f) {
    let t = bessel_from(a, 3.831706f, -7.6850593e-08f);
    var p = fma(fma(fma(-6.383981e-07f, t, -3.0460076e-06f), t, 0.000046352427f), t, 0.00017487386f);
    p = fma(fma(fma(p, t, -0.0022330072f), t, -0.0051796976f), t, 0.05341044f);
    r = t * fma(fma(p, t, 0.052556146f), t, -0.4027594f);
  }
  let signed = bitcast<f32>(bitcast<u32>(r) ^ (bitcast<u32>(x) & 0x80000000u));
  return keep_nan_f32(pick_f32(signed, 0.0f, isinf_f32(x)), x);
}

// -inf at 0, NaN below, 0 at inf.
fn bessel_second(r: f32, x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let v = select(select(bitcast<u32>(r), 0u, b == 0x7f800000u), 0xff800000u, (b & 0x7fffffffu) == 0u);
  return nan_if_f32(bitcast<f32>(v), (b > 0x80000000u) | isnan_f32(x));
}

fn y0_f32(x: f32) -> f32 {
  let a = bessel_finite(x);
  let z = a * a;
  var r = 0.0f;
  if (a > 4.0f) {
    let m = bessel_modulus(a, true);
    let w = bessel_phase(a);
    r = fma(m.x, w.y, m.y * w.x);
  } else if (a > 2.0f) {
    let t = bessel_from(a, 3.9576783f, 1.0129118e-07f);
    var p = fma(fma(fma(-1.0711675e-06f, t, -6.5949016e-06f), t, -0.000022147002f), t, 0.000024630965f);
    p = fma(fma(fma(p, t, 0.00017175212f), t, -0.002195697f), t, -0.0068559344f);
    r = t * fma(fma(fma(p, t, 0.058523424f), t, 0.050855905f), t, -0.40254268f);
  } else {
    let p = fma(fma(fma(9.472469e-08f, z, -9.455701e-06f), z, 0.00053852174f), z, -0.016073892f);
    r = fma(0.63661975f * log_shifted_f32(a, 0), bessel_j0_near(z), fma(fma(p, z, 0.17760599f), z, -0.0738043f));
  }
  return bessel_second(r, x);
}

fn y1_f32(x: f32) -> f32 {
  let a = bessel_finite(x);
  let z = a * a;
  var r = 0.0f;
  if (a > 4.0f) {
    let m = bessel_modulus(a, false);
    let w = bessel_phase(a);
    r = fma(-m.x, w.x, m.y * w.y);
  } else if (a > 2.0f) {
    let t = bessel_from(a, 2.1971414f, -8.2889271e-08f);
    var p = fma(fma(fma(-6.7544315e-06f, t, 0.00006779739f), t, -0.00031185272f), t, 0.00091973343f);
    p = fma(fma(fma(p, t, -0.0025362156f), t, 0.0074158204f), t, -0.0048004934f);
    r = t * fma(fma(fma(p, t, -0.032856796f), t, -0.11851452f), t, 0.5207864f);
  } else {
    let p = fma(fma(fma(8.277789e-09f, z, -9.89766e-07f), z, 0.00007163669f), z, -0.0029552998f);
    let near = a * fma(fma(p, z, 0.054348685f), z, -0.1960571f);
    let l = fma(0.63661975f * log_shifted_f32(a, 0), a * bessel_j1_near(z), near);
    r = pick_f32(l - div_f32(0.63661975f, a), div_f32(-0.63661975f, a), a < 1e-20f);
  }
  return bessel_second(r, x);
}
