// Power of floats: 2^(y log2|x|) with log2 in two f32 parts, after the design of fdlibm's e_pow.c (Sun, 1993): splits are
// made by masking bits and products of heads are exact, so neither fusing nor reordering can spoil them.
// use ieee
// use bits
// use exp

// log2 of a positive number as head (12 bits) and tail. x = 2^n v, v in [sqrt(3)/2, sqrt(3)); log2(v) is log2(c) + 2 atanh(s)
// for s = (v - c) / (v + c), c = 1 or 1.5, |s| < 0.102. vh + c and sh have 12 bits, so the remainder of s is exact.
fn log2_parts_f32(m: u32) -> vec2<f32> {
  let i = extend_f32(m) - 0x3f5db3d7;
  let v = bitcast<f32>((i & 0x7fffff) + 0x3f5db3d7);
  let second = v > 1.2247449f;
  let c = select(1.0f, 1.5f, second);
  let n = f32(i >> 23u) + select(0.0f, 0.58496094f, second);
  let f = v - c;
  let w = 1.0f / (v + c);
  let sh = head_f32(f * w);
  let vh = bitcast<f32>(bitcast<u32>(v) & 0xffffc000u);
  let sl = fma(-sh, v - vh, fma(-sh, vh + c, f)) * w;
  let s = sh + sl;
  let z = s * s;
  let p = fma(fma(fma(0.3402455f, z, 0.41170502f), z, 0.5770829f), z, 0.9617966f);
  let rest = fma(sl, 2.88539f, fma(sh, -3.521057e-4f, s * z * p)) + select(0.0f, 1.5632212e-06f, second);
  let head = head_f32(fma(sh, 2.8857422f, rest) + n);
  return vec2<f32>(head, fma(sh, 2.8857422f, n - head) + rest);
}

// |x|^y for ordinary operands (bits a of |x| neither 0 nor inf; y finite).
fn pow_magnitude_f32(a: u32, y: f32) -> f32 {
  let t = log2_parts_f32(a);
  let yh = head_f32(y);
  let low = fma(y - yh, t.x, y * t.y);
  let c = min(max(fma(yh, t.x, low), -160.0f), 130.0f);
  let k = bitcast<i32>(c + 12582912.0f) - 0x4b400000;
  let r = fma(yh, t.x, -f32(k)) + low;
  let v = bitcast<u32>(scale_f32(exp2_poly_f32(r), k));
  return bitcast<f32>(select(select(v, 0u, c < -155.0f), 0x7f800000u, c > 129.0f));
}

// C99's and NumPy's table: 1^y = x^0 = 1 even for NaN, (-1)^inf = 1, negative x needs an integral y, 0^-1 = inf...
fn pow_f32(x: f32, y: f32) -> f32 {
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  let e = min(max(i32(b >> 23u) - 127, 0), 23);
  let whole = (b >= 0x4b000000u) | ((b >= 0x3f800000u) & ((b & (0x7fffffu >> u32(e))) == 0u));
  let odd = whole & (b < 0x4b800000u) & (((((b & 0x7fffffu) | 0x800000u) >> u32(23 - e)) & 1u) == 1u);
  let grows = (a > 0x3f800000u) != signbit_f32(y);
  var limit = select(0u, 0x7f800000u, grows);
  limit = select(limit, 0x3f800000u, a == 0x3f800000u);
  var r = bitcast<u32>(pow_magnitude_f32(a, y));
  r = select(r, limit, (a == 0u) | (a == 0x7f800000u) | (b == 0x7f800000u));
  r = r | select(0u, 0x80000000u, odd & signbit_f32(x));
  let complex = signbit_f32(x) & (a != 0u) & (a != 0x7f800000u) & !whole;
  r = select(r, 0x7fc00000u, complex | (a > 0x7f800000u) | (b > 0x7f800000u));
  return bitcast<f32>(select(r, 0x3f800000u, (b == 0u) | (bitcast<u32>(x) == 0x3f800000u)));
}
