// Random words as values of distributions whose quantiles are closed expressions: p = (w + 1/2) / 2^32, and whichever of p
// and 1 - p is small keeps its digits. No word but w is used.
// use random, ieee, bits, log, exp, pow, trig, div, erf

fn random_upper(w: u32) -> bool { return w >= 0x80000000u; }

// -log(p)
fn random_exponential(w: u32) -> f32 {
  let m = random_ends(w).x;
  let i = bitcast<i32>(m);
  let far = m > 0.29f;
  let upper = random_upper(w);
  let f = select(log_fraction_f32(i), select(-m, fma(-2.0f, m, 1.0f), far), upper);
  let n = select(f32(log_exponent_f32(i)), select(0.0f, -1.0f, far), upper);
  return -log_sum_f32(f, n);
}

fn random_laplace(w: u32) -> f32 {
  let e = random_ends(w);
  let i = bitcast<i32>(e.x);
  let near = e.x > 0.36f;
  let f = select(log_fraction_f32(i), -e.y, near);
  return random_signed(w, -log_sum_f32(f, select(f32(log_exponent_f32(i) + 1), 0.0f, near)));
}

fn random_logistic(w: u32) -> f32 {
  let e = random_ends(w);
  return random_signed(w, log1p_f32(e.y / e.x));
}

fn random_gumbel(w: u32) -> f32 { return -log_shifted_f32(random_exponential(w), 0); }

fn random_cauchy(w: u32) -> f32 {
  let e = random_ends(w);
  let near = e.x > 0.25f;
  let t = TrigReduced(select(e.x, 0.5f * e.y, near), 0u);
  let s = trig_quadrant_pi(t, 0u);
  let c = trig_quadrant_pi(t, 1u);
  return random_signed(w, select(c, s, near) / select(s, c, near));
}

fn random_rayleigh(w: u32) -> f32 { return sqrt(2.0f * random_exponential(w)); }

fn random_weibull(w: u32, a: f32) -> f32 {
  return pick_f32(pow_f32(random_exponential(w), div_f32(1.0f, a)), 0.0f, !truth_f32(a));
}

// Lomax's distribution, as numpy.random has it.
fn random_pareto(w: u32, a: f32) -> f32 { return expm1_f32(div_f32(random_exponential(w), a)); }

fn random_power(w: u32, a: f32) -> f32 { return exp_f32(-div_f32(random_exponential(w), a)); }

fn random_geometric(w: u32, p: f32) -> i32 {
  let n = ceil(random_exponential(w) / -log1p_f32(-min(p, 0.99999994f)));
  return select(i32(clamp(n, 1.0f, 2147483520.0f)), select(1, 2147483647, n >= 2147483520.0f), (p >= 1.0f) | (n >= 2147483520.0f));
}

fn random_triangular(w: u32, left: f32, mode: f32, right: f32) -> f32 {
  let m = random_ends(w).x;
  let upper = random_upper(w);
  let base = right - left;
  let low = select(m, 1.0f - m, upper) * base <= mode - left;
  let side = select(right - mode, mode - left, low);
  let part = sqrt(select(1.0f - m, m, low != upper) * side * base);
  return clamp(select(right - part, left + part, low), left, right);
}

// The normal distribution between two bounds: on one side of 0 the tails' own probabilities are used; around it each half
// of the words goes by the tail on its side.
fn random_truncated(w: u32, low: f32, high: f32) -> f32 {
  let around = (low <= 0.0f) & (high >= 0.0f);
  let right = low > 0.0f;
  let upper = random_upper(w);
  let a = ndtr_f32(select(low, -high, right));
  let b = ndtr_f32(select(select(high, -low, right), -high, around));
  let m = random_ends(w).x;
  let span = select(b - a, 1.0f - a - b, around);
  let ahead = fma(m, span, select(a, b, around & upper));
  let p = select(ahead, fma(-m, span, b), !around & (upper != right));
  let x = ndtri_f32(clamp(p, 1.0e-37f, 0.99999994f));
  return clamp(select(x, -x, right | (around & upper)), low, high);
}
