// Counts: Poisson, binomial, hypergeometric, logarithmic series, Zipf. Blocks and attempts as in random_draws.wgsl.
//
// The first three are products of 1 / x! for one, two or four counts x that go up and down together. Small means add up
// waiting times; others take the ratio of uniforms (Stadlober, 1989). Their probability is compared with the mode's by
// Loader's saddle-point expansion (2000): deviations from the mean are exact, nothing large is subtracted.
// use random_draws, random, random_quantiles, random_words, log, exp, gamma, philox

// log of x! e^x / mu^x ... less what cancels in a product whose means balance: sqrt and Stirling's rest, and
// mu D(dev / mu) with D(e) = (1 + e) log(1 + e) - e. x = mu + dev.
fn count_term(x: f32, dev: f32, mu: f32) -> f32 {
  if (x < 0.5f) { return mu - 0.9189385f; }
  var rest = select(0.08106147f, 0.0413407f, x > 1.5f);
  if (x > 2.5f) { rest = gamma_stirling(x); }
  let both = x + mu;
  let v = dev / both;
  let z = v * v;
  var far = fma(fma(fma(fma(0.11111111f, z, 0.14285715f), z, 0.2f), z, 0.33333334f), 2.0f * x * v * z, dev * v);
  if (abs(v) > 0.1f) { far = x * log_shifted_f32(x / mu, 0) - dev; }
  return fma(0.5f, log_shifted_f32(x, 0), rest) + far;
}

// -log of a probability less a constant, at `j` above the whole part of the means. base: their whole parts, the second and
// third of which fall as the first rises; as many as `terms` count.
fn count_cost(base: vec4f, fraction: f32, terms: u32, j: f32) -> f32 {
  var sum = 0.0f;
  for (var s = 0u; s < terms; s++) {
    let sign = select(1.0f, -1.0f, (s == 1u) | (s == 2u));
    sum += count_term(base[s] + sign * j, sign * (j - fraction), base[s] + sign * fraction);
  }
  return sum;
}

// The difference to the whole part of the mean. 128 attempts, each refused with less than 0.77.
fn draw_count(i: i32, k0: u32, k1: u32, sub: u32, base: vec4f, fraction: f32, terms: u32, spread: f32, mode: f32) -> f32 {
  let h = fma(1.7155278f, sqrt(spread + 0.5f), 0.8989162f);
  var top = 0.0f;
  var j = mode;
  for (var attempt = 0u; attempt < 129u; attempt++) {
    var u = 0.0f;  // the first round is for the mode
    if (attempt > 0u) {
      let w = draw_block(i, attempt, sub, k0, k1);
      u = random_exponential(w.x);
      j = floor(fma(h, f32(bitcast<i32>(w.y)) * 2.3283064e-10f * exp_f32(u), fraction + 0.5f));
      let inside = (vec4f(base.x + j, base.y - j, base.z - j, base.w + j) >= vec4f()) | (vec4u(0u, 1u, 2u, 3u) >= vec4u(terms));
      if (!all(inside)) { continue; }
    }
    let cost = count_cost(base, fraction, terms, j);
    if (attempt == 0u) {
      top = cost;
    } else if (2.0f * u >= cost - top) {
      return j;
    }
  }
  return mode;
}

// How many waiting times fit into `room`, each exponential times scale, or (whole) rounded up: for a mean below 10. 96
// words: more fit with less than 1e-60.
fn draw_waiting(i: i32, k0: u32, k1: u32, sub: u32, room: f32, scale: f32, whole: bool) -> i32 {
  var at = 0.0f;
  var w = vec4u();
  for (var n = 0; n < 96; n++) {
    if ((n & 3) == 0) { w = draw_block(i, u32(n) >> 2u, sub, k0, k1); }
    let step = scale * random_exponential(w[n & 3]);
    at += select(step, floor(step) + 1.0f, whole);
    if (!(at <= room)) { return n; }
  }
  return 96;
}

fn draw_poisson(i: i32, k0: u32, k1: u32, lam: f32, sub: u32) -> i32 {
  if (!(lam >= 10.0f)) { return draw_waiting(i, k0, k1, sub, lam, 1.0f, false); }
  let whole = floor(min(lam, 2.147e9f));
  let j = draw_count(i, k0, k1, sub, vec4f(whole, 0.0f, 0.0f, 0.0f), min(lam, 2.147e9f) - whole, 1u, lam, 0.0f);
  return i32(whole) + i32(j);
}

// n p as a whole number and a fraction, by exact products of parts of at most 12 bits.
struct CountMean { whole: i32, fraction: f32 }
fn count_mean(n: i32, p: f32) -> CountMean {
  let ph = head_f32(p);
  let a = vec3f(f32(n & ~0x3fffff), f32(n & 0x3ff800), f32(n & 0x7ff));
  let x = a * ph;
  let y = a * (p - ph);
  let fx = floor(x);
  let fy = floor(y);
  let rest = dot(x - fx, vec3f(1.0f)) + dot(y - fy, vec3f(1.0f));
  let more = floor(rest);
  let sum = vec3i(fx) + vec3i(fy);
  return CountMean(sum.x + sum.y + sum.z + i32(more), rest - more);
}

fn draw_binomial(i: i32, k0: u32, k1: u32, n: i32, p: f32) -> i32 {
  let flip = p > 0.5f;
  let q = select(p, 1.0f - p, flip);
  var k = 0;
  if (!(f32(n) * q >= 10.0f)) {
    if ((n > 0) & (q > 0.0f)) { k = min(draw_waiting(i, k0, k1, 0u, f32(n), -1.0f / log1p_f32(-q), true), n); }
  } else {
    let m = count_mean(n, q);
    let base = vec4f(f32(m.whole), f32(n - m.whole), 0.0f, 0.0f);
    let spread = f32(n) * q * (1.0f - q);
    k = m.whole + i32(draw_count(i, k0, k1, 0u, base, m.fraction, 2u, spread, floor(m.fraction + q)));
  }
  return select(k, n - k, flip);
}

// a b / n as a whole number below 2^31 and a fraction, for a, b <= n < 2^31: long division.
fn count_share(a: u32, b: u32, n: u32) -> CountMean {
  var rest = word_mulhi(a, b);
  let low = a * b;
  var whole = 0u;
  // n is never 0: no compiler can know, so none writes the loop out.
  for (var s = 0u; s < select(32u, 0u, n == 0u); s++) {
    rest = (rest << 1u) | ((low >> (31u - s)) & 1u);
    let take = rest >= n;
    rest = select(rest, rest - n, take);
    whole = (whole << 1u) | select(0u, 1u, take);
  }
  return CountMean(i32(whole), f32(rest) / f32(n));
}

// good among `sample` of good + bad. Symmetric in good and sample, and up to a sign in each and its complement.
fn draw_hypergeometric(i: i32, k0: u32, k1: u32, good: i32, bad: i32, sample: i32) -> i32 {
  let n = good + bad;
  let less = sample > n - sample;
  let poor = good > bad;
  let m = select(sample, n - sample, less);
  let g = select(good, bad, poor);
  var k = 0;
  if (min(m, g) < 10) {
    let turns = min(m, g);
    var left = max(m, g);  // marked ones among those that are left
    var w = vec4u();
    for (var t = 0; t < turns; t++) {
      if ((t & 3) == 0) { w = draw_block(i, u32(t) >> 2u, 0u, k0, k1); }
      let hit = word_mulhi(w[t & 3], u32(n - t)) < u32(left);
      left -= select(0, 1, hit);
      k += select(0, 1, hit);
    }
  } else {
    let mean = count_share(u32(m), u32(g), u32(n));
    let base = vec4f(vec4i(mean.whole, g - mean.whole, m - mean.whole, n - g - m + mean.whole));
    let p = f32(g) / f32(n);
    let share = f32(m) * p;
    let spread = share * (1.0f - p) * (f32(n - m) / f32(max(n - 1, 1)));
    let mode = floor(mean.fraction + (f32(m) + f32(g) + 1.0f - 2.0f * share) / (f32(n) + 2.0f));
    k = mean.whole + i32(draw_count(i, k0, k1, 0u, base, mean.fraction, 4u, spread, mode));
  }
  k = select(k, m - k, poor);
  return select(k, good - k, less);
}

// Kemp (1981). 64 attempts: a refused word is one in a million at most.
fn draw_logseries(i: i32, k0: u32, k1: u32, p: f32) -> i32 {
  let r = log1p_f32(-min(p, 0.99999994f));
  for (var attempt = 0u; attempt < 64u; attempt++) {
    let w = draw_block(i, attempt, 0u, k0, k1);
    let e = random_exponential(w.x);
    let v = exp_f32(-e);
    if (v >= p) { return 1; }
    let q = -expm1_f32(r * random_open_f32(w.y));
    if (v > q) { return 1; }
    if (v > q * q) { return 2; }
    let k = floor(1.0f + e / -log_shifted_f32(q, 0));
    if (k >= 1.0f) { return i32(min(k, 2147483520.0f)); }
  }
  return 1;
}

// Devroye (1986), Zipf's law up to 2^31 - 1. 64 attempts, each refused with at most 0.5.
fn draw_zipf(i: i32, k0: u32, k1: u32, a: f32) -> i32 {
  let s = min(a - 1.0f, 100.0f);
  let room = -expm1_f32(-21.487562f * s);
  let b = expm1_f32(0.6931472f * s);
  for (var attempt = 0u; attempt < 64u; attempt++) {
    let w = draw_block(i, attempt, 0u, k0, k1);
    let u = exp_f32(-random_exponential(w.x));
    let v = room * (1.0f - u);
    let l = select(log_shifted_f32(fma(u, room, 1.0f - room), 0), log1p_f32(-v), v < 0.5f);
    let x = floor(exp_f32(-l / s));
    if ((x < 1.0f) | (x > 2147483520.0f)) { continue; }
    let t = expm1_f32(s * log1p_f32(1.0f / x));
    if (random_open_f32(w.y) * x * (t / b) <= (t + 1.0f) / (b + 1.0f)) { return i32(x); }
  }
  return 1;
}

// Four elements, one after another: a loop is compiled once.
fn draw_poisson4(i: vec4i, k0: vec4u, k1: vec4u, lam: vec4f, sub: vec4u) -> vec4i {
  var r = vec4i();
  for (var s = 0; s < 4; s++) { r[s] = draw_poisson(i[s], k0[s], k1[s], lam[s], sub[s]); }
  return r;
}
fn draw_binomial4(i: vec4i, k0: vec4u, k1: vec4u, n: vec4i, p: vec4f) -> vec4i {
  var r = vec4i();
  for (var s = 0; s < 4; s++) { r[s] = draw_binomial(i[s], k0[s], k1[s], n[s], p[s]); }
  return r;
}
fn draw_hypergeometric4(i: vec4i, k0: vec4u, k1: vec4u, good: vec4i, bad: vec4i, sample: vec4i) -> vec4i {
  var r = vec4i();
  for (var s = 0; s < 4; s++) { r[s] = draw_hypergeometric(i[s], k0[s], k1[s], good[s], bad[s], sample[s]); }
  return r;
}
fn draw_logseries4(i: vec4i, k0: vec4u, k1: vec4u, p: vec4f) -> vec4i {
  var r = vec4i();
  for (var s = 0; s < 4; s++) { r[s] = draw_logseries(i[s], k0[s], k1[s], p[s]); }
  return r;
}
fn draw_zipf4(i: vec4i, k0: vec4u, k1: vec4u, a: vec4f) -> vec4i {
  var r = vec4i();
  for (var s = 0; s < 4; s++) { r[s] = draw_zipf(i[s], k0[s], k1[s], a[s]); }
  return r;
}
