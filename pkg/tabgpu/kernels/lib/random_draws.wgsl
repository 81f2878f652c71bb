// Samples that take several random words: an element has blocks of its own, with the counter (position, attempt, sub, 3),
// so that no other element and no launch's shape matters. sub tells draws of one element apart. Loops end after a number of
// attempts whose failure is less likely than 1e-15 (stated at each). Counts: random_counts.wgsl.
// use random_words, random_polar, random, random_quantiles, log, exp, trig, sqrt

fn draw_block(i: i32, attempt: u32, sub: u32, k0: u32, k1: u32) -> vec4u {
  return philox4x32(vec4u(bitcast<u32>(i), attempt, sub, 3u), k0, k1);
}

fn draw_normal(i: i32, k0: u32, k1: u32, sub: u32) -> f32 { return random_normal(draw_block(i, 0u, sub, k0, k1).x); }
fn draw_exponential(i: i32, k0: u32, k1: u32, sub: u32) -> f32 {
  return random_exponential(draw_block(i, 0u, sub, k0, k1).x);
}

// Marsaglia & Tsang (2000): d (1 + c x)^3 for normal x, d = a - 1/3, c = 1 / sqrt(9 d); for a < 1 that of a + 1 times
// u^(1/a). (value, exponent of the factor). The logarithm of the acceptance, x^2 / 2 + d (1 - v + log v), is taken in t = c x,
// where its terms up to t^3 cancel. 40 attempts, each refused with less than 0.05.
fn draw_gamma_parts(i: i32, k0: u32, k1: u32, a: f32, sub: u32) -> vec2f {
  let small = a < 1.0f;
  let d = select(a, a + 1.0f, small) - 0.33333334f;
  let c = 0.33333334f * inverseSqrt(d);
  var t = 0.0f;
  var first = 0u;
  for (var attempt = 0u; attempt < 40u; attempt++) {
    let w = draw_block(i, attempt, sub, k0, k1);
    first = select(first, w.z, attempt == 0u);
    let x = random_normal(w.x);
    t = max(c * x, -0.9999999f);
    let z = x * x;
    if ((c * x > -1.0f) & (random_unit_f32(w.y) < fma(-0.0331f * z, z, 1.0f))) { break; }
    var h = fma(fma(fma(fma(0.09090909f, t, -0.1f), t, 0.11111111f), t, -0.125f), t, 0.14285715f);
    h = t * t * t * t * fma(fma(fma(h, t, -0.16666667f), t, 0.2f), t, -0.25f);
    if (abs(t) > 0.25f) { h = log1p_f32(t) - t + t * t * (0.5f - 0.33333334f * t); }
    if ((c * x > -1.0f) & (-random_exponential(w.y) < 3.0f * d * h)) { break; }
  }
  let one = 1.0f + t;
  return vec2f(d * one * one * one, select(0.0f, max(-random_exponential(first) / a, -1.0e30f), small));
}

// Of scale 1; 0 for a = 0.
fn draw_gamma(i: i32, k0: u32, k1: u32, a: f32, sub: u32) -> f32 {
  let g = draw_gamma_parts(i, k0, k1, max(a, 1.0e-30f), sub);
  return select(0.0f, g.x * exp_f32(g.y), a > 0.0f);
}
// Its logarithm, also where the value is too small for a float.
fn draw_log_gamma(i: i32, k0: u32, k1: u32, a: f32) -> f32 {
  let g = draw_gamma_parts(i, k0, k1, max(a, 1.0e-30f), 0u);
  return log_shifted_f32(g.x, 0) + g.y;
}

fn draw_beta(i: i32, k0: u32, k1: u32, a: f32, b: f32) -> f32 {
  var p = vec2f();
  var q = vec2f();
  for (var s = 0u; s < 2u; s++) {
    p = q;
    q = draw_gamma_parts(i, k0, k1, max(select(a, b, s == 1u), 1.0e-30f), s);
  }
  let most = max(p.y, q.y);
  let x = p.x * exp_f32(p.y - most);
  let y = q.x * exp_f32(q.y - most);
  let part = min(x, y) / (x + y);  // near 1 the other one has the digits
  return select(part, 1.0f - part, x > y);
}

// Inverse Gaussian (Michael, Schucany & Haas, 1976), its smaller root without a difference.
fn draw_wald(i: i32, k0: u32, k1: u32, mean: f32, scale: f32) -> f32 {
  let w = draw_block(i, 0u, 0u, k0, k1);
  let z = random_normal(w.x);
  let y = 0.5f * mean * z * z / scale;
  let r = 1.0f + y + sqrt(y) * sqrt(2.0f + y);  // whose squares would overflow
  return select(mean * r, mean / r, random_unit_f32(w.y) * (1.0f + r) <= r);
}

// Best & Fisher (1979), by 1 - cos of the angle, so that a great kappa costs no digits. 64 attempts, each refused with at
// most 0.35. The result is in [-pi, pi].
fn draw_vonmises(i: i32, k0: u32, k1: u32, mu: f32, kappa: f32) -> f32 {
  let k = min(kappa, 1.0e15f);
  let root = sqrt(fma(4.0f * k, k, 1.0f));
  let tau = 1.0f + root;
  let s = sqrt(tau);
  let rho = 2.0f * k / (s * (s + 1.4142135f));
  let rest = select(1.0f - rho, (1.4142135f * s - 1.0f - 1.0f / (2.0f * k + root)) / (2.0f * k), k > 1.0f);
  let r1 = 0.5f * rest * rest / rho;  // r - 1 for Best & Fisher's r
  var angle = 0.0f;
  for (var attempt = 0u; attempt < 64u; attempt++) {
    let w = draw_block(i, attempt, 0u, k0, k1);
    let u = f32(bitcast<i32>(w.x)) * 2.3283064e-10f;  // [-1/2, 1/2]
    if (k < 1.0e-6f) {
      angle = 6.2831855f * u;
      break;
    }
    let h = sinpi_f32(u);
    let d = 2.0f * h * h * r1 / (2.0f + r1 - 2.0f * h * h);
    angle = copysign_f32(2.0f * asin_f32(min(sqrt(0.5f * d), 1.0f)), u);
    let c = k * (r1 + d);
    let e = random_exponential(w.y);
    if (log_shifted_f32(c, 0) + e + 1.0f - c >= 0.0f) { break; }
  }
  let x = mu + angle;
  return x - 6.2831855f * round(x * 0.15915494f);
}

// A geometric Brownian path from step `first` on: state * exp(steps * drift + scale * z), z the sum of the normal numbers that
// draw_step has.
fn draw_path(i: i32, k0: u32, k1: u32, state: f32, drift: f32, scale: f32, first: u32, steps: u32) -> f32 {
  var sum = 0.0f;
  var z = vec4f();
  for (var t = 0u; t < steps; t++) {
    if ((t & 3u) == 0u) { z = random_polar(draw_step_block(i, k0, k1, first + t)); }
    sum += z[t & 3u];
  }
  return state * exp_f32(fma(scale, sum, f32(steps) * drift));
}
fn draw_step_block(i: i32, k0: u32, k1: u32, step: u32) -> vec4u {
  return philox4x32(vec4u(bitcast<u32>(i), (step & 0x7fffu) >> 2u, step >> 15u, 4u), k0, k1);
}
fn draw_step(i: i32, k0: u32, k1: u32, step: u32) -> f32 {
  return random_polar(draw_step_block(i, k0, k1, step))[step & 3u];
}

// Four elements, one after another: a loop is compiled once.
fn draw_gamma4(i: vec4i, k0: vec4u, k1: vec4u, a: vec4f, sub: vec4u) -> vec4f {
  var r = vec4f();
  for (var s = 0; s < 4; s++) { r[s] = draw_gamma(i[s], k0[s], k1[s], a[s], sub[s]); }
  return r;
}
fn draw_log_gamma4(i: vec4i, k0: vec4u, k1: vec4u, a: vec4f) -> vec4f {
  var r = vec4f();
  for (var s = 0; s < 4; s++) { r[s] = draw_log_gamma(i[s], k0[s], k1[s], a[s]); }
  return r;
}
fn draw_beta4(i: vec4i, k0: vec4u, k1: vec4u, a: vec4f, b: vec4f) -> vec4f {
  var r = vec4f();
  for (var s = 0; s < 4; s++) { r[s] = draw_beta(i[s], k0[s], k1[s], a[s], b[s]); }
  return r;
}
fn draw_vonmises4(i: vec4i, k0: vec4u, k1: vec4u, mu: vec4f, kappa: vec4f) -> vec4f {
  var r = vec4f();
  for (var s = 0; s < 4; s++) { r[s] = draw_vonmises(i[s], k0[s], k1[s], mu[s], kappa[s]); }
  return r;
}
fn draw_path4(i: vec4i, k0: vec4u, k1: vec4u, state: vec4f, drift: vec4f, scale: vec4f, first: vec4u, steps: vec4u) -> vec4f {
  var r = vec4f();
  for (var s = 0; s < 4; s++) { r[s] = draw_path(i[s], k0[s], k1[s], state[s], drift[s], scale[s], first[s], steps[s]); }
  return r;
}
