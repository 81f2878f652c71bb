// Random words as floats: uniform ones, the same bits on every adapter, and normal ones. Words are made in random_words.wgsl.
// use ieee, float_parts, narrow, erf

// [0, 1) in equal steps of as many bits as the type has; all conversions are exact.
fn random_unit_f32(w: u32) -> f32 { return f32(w >> 8u) * 5.9604644775e-08f; }
fn random_unit_f16(w: u32) -> f32 { return f32(w >> 21u) * 4.8828125e-4f; }
fn random_unit_bf16(w: u32) -> f32 { return f32(w >> 24u) * 3.90625e-3f; }

// Strictly inside of (0, 1), in odd multiples of 2^-24.
fn random_open_f32(w: u32) -> f32 { return f32((w >> 8u) | 1u) * 5.9604644775e-08f; }

// low + u * (high - low), the same bits everywhere: u and the distance are taken in halves of 12 bits, whose products are
// exact, so that it does not matter whether an adapter fuses them with the additions, and no sum can change its order.
fn random_spread(w: u32, low: f32, high: f32) -> f32 {
  let uh = f32(w >> 20u) * 2.44140625e-4f;
  let ul = f32((w >> 8u) & 0xfffu) * 5.9604644775e-08f;
  let span = high - low;
  let sh = bitcast<f32>(bitcast<u32>(span) & 0xfffff000u);
  let sl = span - sh;
  let least = opaque_f32(ul * sh + ul * sl, low);
  return low + opaque_f32(uh * sh + opaque_f32(uh * sl + least, low), low);
}
// r, but not beyond `edge`, the last value before `high` as one comes from `low`.
fn random_before(r: f32, low: f32, high: f32, edge: f32) -> f32 {
  return select(select(low, max(r, edge), low > high), min(r, edge), low < high);
}
fn random_between_f32(w: u32, low: f32, high: f32) -> f32 {
  return random_before(random_spread(w, low, high), low, high, nextafter_f32(high, low));
}
fn random_between_f16(w: u32, low: f32, high: f32) -> f32 {
  return random_before(round_f16(random_spread(w, low, high)), low, high, nextafter_f16(high, low));
}
fn random_between_bf16(w: u32, low: f32, high: f32) -> f32 {
  return random_before(round_bf16(random_spread(w, low, high)), low, high, nextafter_bf16(high, low));
}

// The quantile of the normal distribution at p = (w + 1/2) / 2^32: the sign is that of p - 1/2, and 1 - 2 |p - 1/2| and
// 2 |p - 1/2| are both taken from integers, so that neither tail nor middle loses bits.
fn random_normal(w: u32) -> f32 {
  let upper = w >> 31u;
  let odd = random_odd(w);
  let tail = random_top(odd) * 1.1641532183e-10f;
  let x = random_top(0u - odd) * 2.3283064365e-10f;
  // -log(4 p (1 - p)); 4 p (1 - p) = 1 - x^2
  let r = 1.4142135f * x * erf_inverse_f32(-log_shifted_f32(tail * (1.0f - tail), 2));
  return bitcast<f32>(bitcast<u32>(r) ^ ((upper ^ 1u) << 31u));
}
// 2^33 times the smaller of p and 1 - p.
fn random_odd(w: u32) -> u32 { return ((w ^ (0u - (w >> 31u))) << 1u) | 1u; }
// The 24 leading bits as a float.
fn random_top(n: u32) -> f32 {
  let lost = 8u - min(countLeadingZeros(n), 8u);
  return f32((n >> lost) << lost);
}

// Whether a word is below p * 2^32: never for p = 0 and NaN, always for p = 1.
fn random_chance(w: u32, p: f32) -> bool {
  return (p >= 1.0f) | ((p > 0.0f) & (w < u32(clamp(p, 0.0f, 0.99999994f) * 4294967296.0f)));
}
