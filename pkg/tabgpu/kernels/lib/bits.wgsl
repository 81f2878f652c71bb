// Taking an f32 apart and putting it together with integers, denormals included.

// Magnitude bits m (> 0) with denormals normalised: value = 1.mant * 2^((i >> 23) - 127), mant = i & 0x7fffff,
// where i >> 23 may be 0 or negative. m < 2^23 converts to f32 exactly and 2^-149 goes into the exponent.
fn extend_f32(m: u32) -> i32 {
  let d = bitcast<i32>(f32(m & 0x7fffffu)) - (149 << 23u);
  return select(bitcast<i32>(m), d, m < 0x800000u);
}

// The significand of an extended pattern as a float in [1, 2).
fn significand_f32(i: i32) -> f32 { return bitcast<f32>((i & 0x7fffff) | 0x3f800000); }

// p * 2^k for p in [1/4, 4) and k in [-200, 200]: overflow gives inf by an integer minimum, and one multiplication
// rounds (or flushes) a denormal result once.
fn scale_f32(p: f32, k: i32) -> f32 {
  let low = k < -100;
  let b = bitcast<u32>(p) + (bitcast<u32>(select(k, k + 100, low)) << 23u);
  return bitcast<f32>(min(b, 0x7f800000u)) * select(1.0f, 0x1p-100f, low);
}

// v * 2^-n by integers, which no compiler merges with the product that made v; what would be denormal is +-0.
fn lower_f32(v: f32, n: u32) -> f32 {
  let b = bitcast<u32>(v);
  return bitcast<f32>(select(b & 0x80000000u, b - (n << 23u), (b & 0x7fffffffu) >= ((n + 1u) << 23u)));
}

// v * 2^n for v >= 0 by integers, inf once that overflows.
fn raise_f32(v: f32, n: u32) -> f32 { return bitcast<f32>(min(bitcast<u32>(v) + (n << 23u), 0x7f800000u)); }

// Bits of r * 2^(e - 150) rounded to nearest even, for r < 2^24 and any e: denormals come out whole on every adapter.
fn assemble_f32(r: u32, e: i32) -> u32 {
  if (r == 0u) { return 0u; }
  let n = countLeadingZeros(r) - 8u;
  let m = r << n;
  let k = e - i32(n);
  if (k >= 1) { return select((u32(k) << 23u) + (m - 0x800000u), 0x7f800000u, k >= 255); }
  let s = u32(min(1 - k, 31));
  let q = m >> s;
  let rest = m & ((1u << s) - 1u);
  let half = 1u << (s - 1u);
  return q + select(0u, 1u, (rest > half) | ((rest == half) & ((q & 1u) == 1u)));
}

// x with its low 12 significand bits cleared: the product of two such numbers is exact in f32, fused or not.
fn head_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }
