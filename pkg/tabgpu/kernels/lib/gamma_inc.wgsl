// The regularised incomplete gamma functions P(a, x) and Q(a, x), and the incomplete beta function.
// use ieee
// use div
// use exp
// use log
// use erf
// use gamma
// use beta
//
// P: the power series left of a, Legendre's continued fraction right of it (Lentz' form), Temme's uniform expansion next to
// x = a for a >= 16, a series for Q where a is small. Prefactors come from t - log1p(t), so that nothing large cancels.

// t - log1p(t) >= 0 for t in (-0.34, 0.5)
fn deviation_near(t: f32) -> f32 {
  var p = fma(fma(fma(0.0552125f, t, -0.109444074f), t, 0.11296587f), t, -0.1104506f);
  p = fma(fma(fma(fma(p, t, 0.12349887f), t, -0.14278278f), t, 0.16673186f), t, -0.20000452f);
  p = fma(fma(fma(p, t, 0.24999914f), t, -0.33333328f), t, 0.5f);
  return t * t * p;
}

// t - log1p(t), where r = 1 + t is given too
fn deviation_f32(t: f32, r: f32) -> f32 {
  if ((t > -0.34f) & (t < 0.5f)) { return deviation_near(t); }
  return t - log_f32(r);
}

// x^a e^-x / Gamma(a + 1)
fn gamma_inc_factor(a: f32, x: f32) -> f32 {
  if (a < 6.0f) {
    let l = fma(a, log_shifted_f32(x, 0), -x) - gamma_log_positive(a + 1.0f);
    return exp_f32(l);
  }
  let t = div_f32(x - a, a);
  return exp_f32(-a * deviation_f32(t, div_f32(x, a)) - gamma_stirling(a)) * 0.3989423f / sqrt(a);
}

// sum of x^n / ((a + 1) .. (a + n))
fn gamma_inc_series(a: f32, x: f32) -> f32 {
  var t = 1.0f;
  var total = 1.0f;
  var b = a;
  for (var k = 0; k < 400; k++) {
    b += 1.0f;
    t *= x / b;
    total += t;
    if (t < 3e-8f * total) { break; }
  }
  return total;
}

// Q(a, x) / (x^a e^-x / Gamma(a)) = 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ..
fn gamma_inc_fraction(a: f32, x: f32) -> f32 {
  var b = x + 1.0f - a;
  var c = 1e30f;
  var d = 1.0f / b;
  var h = d;
  for (var k = 1; k < 400; k++) {
    let m = f32(k);
    let an = -m * (m - a);
    b += 2.0f;
    d = 1.0f / fma(an, d, b);
    c = b + an / c;
    let step = c * d;
    h *= step;
    if (abs(step - 1.0f) < 6e-8f) { break; }
  }
  return h;
}

// Q(a, x) for x <= 1.1 and small a: -expm1(a log x - log Gamma(1 + a)) - x^a / Gamma(1 + a) sum of a (-x)^n / ((a + n) n!)
fn gamma_inc_small(a: f32, x: f32) -> f32 {
  var t = 1.0f;
  var total = 0.0f;
  for (var k = 1; k < 20; k++) {
    let m = f32(k);
    t *= -x / m;
    total += t / (a + m);
  }
  let l = fma(a, log_shifted_f32(x, 0), -gamma_log1p(a));
  return fma(-a * exp_f32(l), total, -expm1_f32(l));
}

// (P, Q) of finite a > 0, x > 0.
fn gamma_inc(a: f32, x: f32) -> vec2f {
  let t = div_f32(x - a, a);
  if ((a >= 16.0f) & (t > -0.34f) & (t < 0.5f)) {
    let v = deviation_near(t);
    let e = select(1.0f, -1.0f, t < 0.0f) * sqrt(2.0f * v);
    var c0 = fma(fma(fma(fma(-1.7913123e-06f, e, -1.8675636e-06f), e, 0.000039162274f), e, -0.00017879604f), e, 0.00035273685f);
    c0 = fma(fma(fma(fma(c0, e, 0.0011574094f), e, -0.014814815f), e, 0.083333336f), e, -0.33333334f);
    let c1 = fma(fma(fma(fma(0.00020101118f, e, -0.0009901245f), e, 0.0026458132f), e, -0.003472227f), e, -0.0018518548f);
    let c2 = fma(fma(0.0007526779f, e, -0.0026813797f), e, 0.0041340124f);
    let u = 1.0f / a;
    let y = a * v;
    // With y = z^2 the normal part is exp(-y) erfcx(z) / 2: one exponential for both.
    let g = exp_f32(-y);
    let rest = g * 0.3989423f / sqrt(a) * fma(fma(fma(0.0006081368f, u, c2), u, c1), u, c0);
    let z = sqrt(y);
    let far = select(0.5f * g * erf_tail_f32(z), 0.5f * erfc_f32(z), z < 0.5f);
    if (t < 0.0f) { return vec2f(far - rest, 1.0f - (far - rest)); }
    return vec2f(1.0f - (far + rest), far + rest);
  }
  if ((x <= 1.1f) & (a < 0.8f)) {
    let q = gamma_inc_small(a, x);
    if (q < 0.9f) { return vec2f(1.0f - q, q); }
  }
  let f = gamma_inc_factor(a, x);
  if ((x < a + 1.0f) & ((x <= 1.1f) | (a >= 0.8f))) {
    let p = f * gamma_inc_series(a, x);
    return vec2f(p, 1.0f - p);
  }
  let q = f * a * gamma_inc_fraction(a, x);
  return vec2f(1.0f - q, q);
}

// The ends: NaN for negative operands, a = 0, infinities.
fn gamma_inc_end(a: f32, x: f32, upper: bool) -> f32 {
  let ab = bitcast<u32>(a);
  let xb = bitcast<u32>(x);
  let negative = ((ab > 0x80000000u) | (xb > 0x80000000u)) | isnan_f32(a) | isnan_f32(x);
  let zero_a = (ab & 0x7fffffffu) == 0u;
  let zero_x = (xb & 0x7fffffffu) == 0u;
  let wide = isinf_f32(a);
  let far = isinf_f32(x);
  let edge = zero_a | zero_x | wide | far | negative;
  let both = gamma_inc(select(a, 1.0f, edge), select(x, 1.0f, edge));
  let at_end = select(0.0f, 1.0f, ((far & !wide) | (zero_a & !zero_x)) != upper);
  let r = select(select(both.x, both.y, upper), at_end, edge);
  return nan_if_f32(r, negative | (zero_a & zero_x) | (wide & far));
}

fn gammainc_f32(a: f32, x: f32) -> f32 { return gamma_inc_end(a, x, false); }
fn gammaincc_f32(a: f32, x: f32) -> f32 { return gamma_inc_end(a, x, true); }

// x^a (1 - x)^b / B(a, b), y = 1 - x
fn beta_inc_factor(a: f32, b: f32, x: f32, y: f32) -> f32 {
  let s = a + b;
  if ((a < 3.0f) | (b < 3.0f)) {
    // The smaller of x and y is exact, and so is the logarithm of the other.
    let small = min(x, y);
    let other = log1p_f32(-small);
    let own = log_f32(small);
    return exp_f32(fma(a, select(other, own, x < y), b * select(own, other, x < y)) - betaln_f32(a, b));
  }
  let d = fma(x, b, -y * a);
  let e = fma(a, deviation_f32(div_f32(d, a), x * s / a), b * deviation_f32(div_f32(-d, b), y * s / b));
  let w = gamma_stirling(a) + gamma_stirling(b) - gamma_stirling(s);
  return exp_f32(-e - w) * 0.3989423f * sqrt(a / s) * sqrt(b);
}

// The continued fraction of I_x(a, b) for x < (a + 1) / (a + b + 2) (DLMF 8.17.22).
fn beta_inc_fraction(a: f32, b: f32, x: f32) -> f32 {
  let s = a + b;
  var c = 1.0f;
  var d = 1.0f / (1.0f - s * x / (a + 1.0f));
  var h = d;
  for (var k = 1; k < 500; k++) {
    let m = f32(k);
    let u = m * (b - m) * x / ((a + 2.0f * m - 1.0f) * (a + 2.0f * m));
    d = 1.0f / fma(u, d, 1.0f);
    c = 1.0f + u / c;
    h *= d * c;
    let v = -(a + m) * (s + m) * x / ((a + 2.0f * m) * (a + 2.0f * m + 1.0f));
    d = 1.0f / fma(v, d, 1.0f);
    c = 1.0f + v / c;
    let step = d * c;
    h *= step;
    if (abs(step - 1.0f) < 6e-8f) { break; }
  }
  return h;
}

// I_x(a, b) of a, b > 0 and x in [0, 1], y = 1 - x given apart; upper: 1 - I.
fn beta_inc(a: f32, b: f32, x: f32, y: f32, upper: bool) -> f32 {
  var turn = x * (a + b + 2.0f) > a + 1.0f;
  var r = 0.0f;
  // Where the fraction gives what is nearly 1 and the rest is asked for, the other one is taken unless it is far longer.
  for (var k = 0; k < 2; k++) {
    let p = select(a, b, turn);
    let q = select(b, a, turn);
    let v = select(x, y, turn);
    let f = beta_inc_factor(p, q, v, select(y, x, turn)) * beta_inc_fraction(p, q, v) / p;
    r = select(1.0f - f, f, turn == upper);
    if ((turn == upper) | (f < 0.75f) | (max(a, b) > 50.0f) | (v < 0.1f)) { break; }
    turn = !turn;
  }
  return r;
}

fn betainc_end(a: f32, b: f32, x: f32, upper: bool) -> f32 {
  let bad = isnan_f32(a) | isnan_f32(b) | isnan_f32(x) | !(a >= 0.0f) | !(b >= 0.0f) | !(x >= 0.0f) | (x > 1.0f);
  let none = (a == 0.0f) | isinf_f32(b);
  let all = (b == 0.0f) | isinf_f32(a);
  let edge = bad | none | all | (x == 0.0f) | (x == 1.0f);
  let r = beta_inc(select(a, 1.0f, edge), select(b, 1.0f, edge), select(x, 0.5f, edge), select(1.0f - x, 0.5f, edge), upper);
  let one = ((x == 1.0f) | (none & (x != 0.0f))) & !(all & (x != 1.0f));
  return nan_if_f32(select(r, select(0.0f, 1.0f, one != upper), edge), bad | (none & all));
}

fn betainc_f32(a: f32, b: f32, x: f32) -> f32 { return betainc_end(a, b, x, false); }
fn betaincc_f32(a: f32, b: f32, x: f32) -> f32 { return betainc_end(a, b, x, true); }

// The distribution function of Student's t: from I_x(n / 2, 1 / 2) with x = n / (n + t^2) below 16 degrees of freedom and
// in far tails, elsewhere a normal distribution's of a transformed t (G. Hill, CACM 13, 1970).
fn stdtr_f32(n: f32, t: f32) -> f32 {
  let bad = isnan_f32(t) | isnan_f32(n) | !(n > 0.0f);
  let m = select(min(n, 1e30f), 1.0f, bad);
  let u = min(absolute_f32(t), 1e18f);
  var tail = 0.0f;
  let a = m - 0.5f;
  let y = min(a * log1p_f32(div_f32(u, m) * u), 400.0f);
  if ((m >= 16.0f) & ((m > 100.0f) | (y < 30.0f))) {
    let b = 48.0f * a * a;
    let c = fma(fma(fma(-0.4f, y, -3.3f), y, -24.0f), y, -85.5f) / fma(0.8f * y, y, 100.0f + b) + y + 3.0f;
    tail = ndtr_f32(-(sqrt_f32(y) * (1.0f + c / b)));
  } else {
    let w = u * u;
    tail = 0.5f * beta_inc(0.5f * m, 0.5f, div_f32(m, m + w), div_f32(w, m + w), false);
  }
  return nan_if_f32(select(select(1.0f - tail, tail, signbit_f32(t)), 0.5f, u == 0.0f), bad);
}
