// Roots of one for Fourier transforms, exactly reduced: the adapter's own sin and cos are not accurate enough.

fn fft_times(x: vec2f, w: vec2f) -> vec2f { return vec2f(x.x * w.x - x.y * w.y, x.x * w.y + x.y * w.x); }

// exp(-2 pi i m / n) for m < n < 2^30 within 1 ulp; by: 4 / n and 1 / n. What is left of m after whole quarter turns is
// found in integers (a quotient that is off by one at a boundary only makes the rest a little longer).
fn fft_root(m: u32, n: u32, by: vec2f) -> vec2f {
  let quarter = u32(f32(m) * by.x + 0.5f);
  let u = f32(bitcast<i32>(4u * m - quarter * n)) * by.y;
  let z = u * u;
  let s = u * 1.5707963705062866f + u * (-4.371139e-8f + z * (-0.6459664106369019f + z * (0.07972542941570282f
    + z * (-0.004853501450270414f + z * 0.00045892162597738206f))));
  let c = 1.0f + z * (-1.2337005138397217f + z * (0.2536686360836029f + z * (-0.020856520161032677f
    + z * 0.0008967602625489235f)));
  let turned = select(vec2f(c, -s), vec2f(-s, -c), (quarter & 1u) != 0u);
  return select(turned, -turned, (quarter & 2u) != 0u);
}

// a * b mod m for a, b < m <= 2^26: a five bits at a time, so that no sum leaves 32 bits.
fn fft_product(a: u32, b: u32, m: u32) -> u32 {
  if ((a | b) < 65536u) { return (a * b) % m; }
  var r = 0u;
  for (var k = 0u; k < 6u; k++) {
    r = ((r << 5u) + ((a >> (25u - 5u * k)) & 31u) * b) % m;
  }
  return r;
}
