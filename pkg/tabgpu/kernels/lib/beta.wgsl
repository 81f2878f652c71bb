// The beta function and its logarithm.
// use ieee
// use exp
// use log
// use gamma

// log B(a, b), b >= 3, b >= a > 0: Stirling's corrections are taken apart so that nothing large cancels
// (A. Didonato & A. Morris, ACM TOMS 18, 1992).
fn beta_log_large(a: f32, b: f32) -> f32 {
  let s = a + b;
  let h = a / b;
  let w = gamma_stirling(b) - gamma_stirling(s);
  let l = log1p_f32(h);
  if (a < 3.0f) { return gamma_log_positive(a) + (w - fma(s - 0.5f, l, a * (log_shifted_f32(b, 0) - 1.0f))); }
  let u = (a - 0.5f) * log_shifted_f32(h / (1.0f + h), 0);
  return fma(-0.5f, log_shifted_f32(b, 0), 0.9189385f) + (w + gamma_stirling(a)) + (u - b * l);
}

// log |B(a, b)|
fn betaln_f32(a: f32, b: f32) -> f32 {
  let low = min(a, b);
  let high = max(a, b);
  var r = 0.0f;
  if ((low > 0.0f) & (high >= 3.0f)) {
    r = beta_log_large(low, min(high, 1e38f));
    r = bitcast<f32>(select(bitcast<u32>(r), 0xff800000u, isinf_f32(high)));
  } else {
    // A loop, so that compilers hold one copy of gammaln.
    for (var k = 0; k < 3; k++) {
      let t = gammaln_f32(select(select(a, b, k == 1), a + b, k == 2));
      r = r + select(t, -t, k == 2);
    }
  }
  r = bitcast<f32>(select(bitcast<u32>(r), 0x7f800000u, !truth_f32(a) | !truth_f32(b)));
  return nan_if_f32(r, isnan_f32(a) | isnan_f32(b));
}

// B(a, b) = exp(betaln), whose error grows with |betaln|. Small operands are first raised by B(a, b) = B(a + 1, b) (a + b) / a.
fn beta_f32(a: f32, b: f32) -> f32 {
  var p = min(a, b);
  var q = max(a, b);
  var f = gammasgn_f32(a) * gammasgn_f32(b) * gammasgn_f32(a + b);
  if ((p > 1e-30f) & (p < 1.0f) & (q < 3.0f)) {
    f = (p + q) / p;
    p = p + 1.0f;
  }
  if ((p >= 1.0f) & (q < 1.0f)) {
    f = f * (p + q) / q;
    q = q + 1.0f;
  }
  return nan_if_f32(f * exp_f32(betaln_f32(p, q)), isnan_f32(a) | isnan_f32(b));
}
