// Riemann's and Hurwitz' zeta function of real arguments by Euler and Maclaurin's sum, and polygamma from it.
// use ieee
// use div
// use exp
// use log
// use pow
// use trig
// use gamma

// sum over k >= 0 of (q + k)^-s for q > 0 and s > -0.5 (its continuation below 1): eight terms, then the integral, half a
// term and three corrections.
fn zeta_sum(s: f32, q: f32) -> f32 {
  if (q > 1e3f) {  // the integral is what counts, and q^-s may be 0
    let v = 1.0f / q;
    return pow_f32(q, 1.0f - s) * (div_f32(1.0f, s - 1.0f) + v * fma(s * v, 0.083333336f, 0.5f));
  }
  var a = q;
  var total = 0.0f;
  for (var k = 0; k < 8; k++) {
    let t = pow_f32(a, -s);
    total += t;
    if (t < 1e-9f * total) { return total; }
    a += 1.0f;
  }
  let t = pow_f32(a, -s);
  let v = 1.0f / a;
  let z = v * v;
  let d = s * v;
  if (s > 1e4f) { return total + t; }
  var c = fma(d * (s + 1.0f) * (s + 2.0f) * z, -0.0013888889f, 0.083333336f * d);
  c = fma(d * (s + 1.0f) * (s + 2.0f) * (s + 3.0f) * (s + 4.0f) * z * z, 3.3068784e-05f, c);
  return total + t * (0.5f + c + a / (s - 1.0f));
}

// r, but inf where c.
fn inf_if_f32(r: f32, c: bool) -> f32 { return bitcast<f32>(select(bitcast<u32>(r), 0x7f800000u, c)); }

// scipy.special.zeta(x, q): inf at x = 1 and at q = 0, -1, ..; NaN for x < 1 and for other q < 0.
fn hurwitz_f32(x: f32, q: f32) -> f32 {
  let lost = isnan_f32(x) | isnan_f32(q);
  let pole = (x == 1.0f) | ((q <= 0.0f) & (floor(q) == q) & (x >= 1.0f));
  let bad = (x < 1.0f) | (q < 0.0f);
  let huge = isinf_f32(x) | isinf_f32(q);
  let r = zeta_sum(select(x, 2.0f, lost | bad | pole | huge), select(q, 1.0f, lost | bad | pole | huge));
  let steep = inf_if_f32(select(0.0f, 1.0f, q == 1.0f), q < 1.0f);
  let v = select(r, select(0.0f, steep, isinf_f32(x) & !isinf_f32(q)), huge);
  return nan_if_f32(inf_if_f32(v, pole), lost | (bad & !pole));
}

// zeta(s) for s < -1 by reflection: 2 (2 pi)^(s-1) sin(pi s / 2) Gamma(1 - s) zeta(1 - s).
fn zeta_left(s: f32) -> f32 {
  let turn = sinpi_f32(0.5f * s);
  if (turn == 0.0f) { return 0.0f; }
  let r = min(1.0f - s, 90.0f);
  let low = min(r, 34.0f);
  var g = pow_f32(6.2831855f, -low) * gamma_f32(low);
  if (r > 34.0f) {  // next to a zero this may be infinite though the product is not
    g = exp_f32(gamma_log_positive(r) - 1.837877f * r - 16.0f);
    return turn * g * 17772220.0f;
  }
  return 2.0f * turn * g * zeta_sum(r, 1.0f);
}

fn zeta_f32(s: f32) -> f32 {
  if (isnan_f32(s) | isneginf_f32(s)) { return nan_if_f32(s, true); }
  if (s < -1.0f) { return zeta_left(s); }
  if (s < 1.0f) {
    var p = fma(fma(fma(1.7289288e-07f, s, -1.3073285e-06f), s, -1.9472575e-06f), s, 0.00012070186f);
    p = fma(fma(fma(fma(p, s, -0.0007851923f), s, -0.003178228f), s, 0.08106147f), s, 0.5f);
    return p + div_f32(1.0f, s - 1.0f);
  }
  if (s == 1.0f) { return inf_if_f32(s, true); }
  return zeta_sum(min(s, 200.0f), 1.0f);
}

// zeta(s) - 1, without cancellation for large s.
fn zetac_f32(s: f32) -> f32 {
  if (!(s > 1.0f)) { return inf_if_f32(zeta_f32(s) - 1.0f, s == 1.0f); }
  return keep_nan_f32(zeta_sum(min(s, 200.0f), 2.0f), s);
}

// The n-th derivative of digamma for x > 0: (-1)^(n + 1) n! zeta(n + 1, x).
fn polygamma_f32(n: i32, x: f32) -> f32 {
  if (n == 0) { return digamma_f32(x); }
  let m = f32(n);
  let small = factorial_f32(m) * hurwitz_f32(m + 1.0f, x);
  return nan_if_f32(select(small, -small, (n & 1) == 0), n < 0);
}
