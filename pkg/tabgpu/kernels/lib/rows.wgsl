// Pieces of the row kernels (rows.wgsl), four values at once.

// e^x for x <= 0 (what is below -104, -inf too, is 0; denormal results are 0): as exp_f32, within 1 ULP.
fn exp_below4(x: vec4f) -> vec4f {
  let c = max(x, vec4f(-104.0f));
  let k = bitcast<vec4i>(fma(c, vec4f(1.442695f), vec4f(12582912.0f))) - vec4i(0x4b400000);
  let n = vec4f(k);
  // As in exp.wgsl: the select keeps a compiler that reassociates from adding the two parts of ln2 first.
  let r = fma(n, vec4f(-1.4286068e-6f), select(fma(n, vec4f(-0.69314575f), c), c, k == vec4i()));
  let q = fma(fma(fma(fma(vec4f(0.0013950538f), r, vec4f(0.008368918f)), r, vec4f(0.041666206f)), r, vec4f(0.16666518f)), r, vec4f(0.5f));
  let p = fma(r * r, q, r) + 1.0f;
  return bitcast<vec4f>(select(bitcast<vec4u>(bitcast<vec4i>(p) + (k << vec4u(23u))), vec4u(), k < vec4i(-125)));
}

// The same by the adapter's exp2: the argument's rounding adds |x| 2^-24 to the relative error, as that of x - max does.
fn exp2_below4(x: vec4f) -> vec4f { return exp2(max(x, vec4f(-104.0f)) * 1.442695f); }

// u32 numbers that order as floats do, NaN above all; never 0. And back, to a NaN for NaN.
fn key4(x: vec4f) -> vec4u {
  let b = bitcast<vec4u>(x);
  let k = b ^ (bitcast<vec4u>(bitcast<vec4i>(b) >> vec4u(31u)) | vec4u(0x80000000u));
  return select(k, vec4u(0xffffffffu), (b & vec4u(0x7fffffffu)) > vec4u(0x7f800000u));
}
fn from_key4(k: vec4u) -> vec4f { return bitcast<vec4f>(select(~k, k ^ vec4u(0x80000000u), k >= vec4u(0x80000000u))); }

fn magnitude4(x: vec4f) -> vec4u { return bitcast<vec4u>(x) & vec4u(0x7fffffffu); }
fn nan_where4(x: vec4f, bad: vec4<bool>) -> vec4f {
  return bitcast<vec4f>(select(bitcast<vec4u>(x), vec4u(0x7fc00000u), bad));
}

// 2^k that takes numbers of magnitude up to `top` to below 2^31, so that their squares can be added; 1 up to 2^60.
fn tame4(top: vec4u) -> vec4f {
  let e = vec4i(top >> vec4u(23u));
  return bitcast<vec4f>(select(vec4i(127), vec4i(284) - e, e > vec4i(187)) << vec4u(23u));
}
fn square4(x: vec4f) -> vec4f { return x * x; }
// A sum of squares taken at the scale of `top`, at a smaller scale.
fn rescaled4(gain: vec4f, top: vec4u, scale: vec4f) -> vec4f {
  let ratio = bitcast<vec4f>(bitcast<vec4u>(scale) - bitcast<vec4u>(tame4(top)) + vec4u(0x3f800000u));
  return gain * ratio * ratio;
}
