// Random words as floats: uniform ones, the same bits on every adapter, and normal ones. Words are made in random_words.wgsl.
// use ieee, float_parts, narrow, erf, log

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

// The smaller of p = (w + 1/2) / 2^32 and 1 - p, and 1 minus twice that: both from integers, so that neither tail nor
// middle loses bits.
fn random_ends(w: u32) -> vec2f {
  let odd = ((w ^ (0u - (w >> 31u))) << 1u) | 1u;  // 2^33 times the smaller
  return vec2f(f32(odd) * 1.1641532183e-10f, f32(0u - odd) * 2.3283064365e-10f);
}
// r, negative for p < 1/2.
fn random_signed(w: u32, r: f32) -> f32 { return bitcast<f32>(bitcast<u32>(r) ^ (~w & 0x80000000u)); }

// The quantile of the normal distribution at p, of 4 p (1 - p) = 1 - x^2.
fn random_normal(w: u32) -> f32 {
  let e = random_ends(w);
  let i = bitcast<i32>(e.x * (1.0f - e.x));
  let l = log_sum_f32(log_fraction_f32(i), f32(log_exponent_f32(i) + 2));
  return random_signed(w, 1.4142135f * e.y * erf_inverse_f32(-l));
}

// Whether a word is below p * 2^32: never for p = 0 and NaN, always for p = 1.
fn random_chance(w: u32, p: f32) -> bool {
  return (p >= 1.0f) | ((p > 0.0f) & (w < u32(clamp(p, 0.0f, 0.99999994f) * 4294967296.0f)));
}
