// IEEE 754 predicates, sign operations and selection on the bits of an f32. Nothing here does float arithmetic:
// WGSL lets a compiler assume that NaN and Inf never happen and lets it flush denormals, and compilers do both.

fn isnan_f32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn isinf_f32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }
fn isfinite_f32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u; }
fn isposinf_f32(x: f32) -> bool { return bitcast<u32>(x) == 0x7f800000u; }
fn isneginf_f32(x: f32) -> bool { return bitcast<u32>(x) == 0xff800000u; }
fn signbit_f32(x: f32) -> bool { return bitcast<u32>(x) >= 0x80000000u; }

// Truth value: everything but +0 and -0 is true, NaN and denormals too.
fn truth_f32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) != 0u; }

fn negative_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u); }
fn absolute_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu); }
fn copysign_f32(x: f32, y: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}

// -1, 0 or 1; NaN stays NaN, both zeros give +0 (as numpy.sign).
fn sign_f32(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7fffffffu;
  let one = select((b & 0x80000000u) | 0x3f800000u, 0u, m == 0u);
  return bitcast<f32>(select(one, b, m > 0x7f800000u));
}

// `yes` where c, else `no`: moves bits, so NaN payloads, -0 and denormals survive.
fn pick_f32(no: f32, yes: f32, c: bool) -> f32 {
  return bitcast<f32>(select(bitcast<u32>(no), bitcast<u32>(yes), c));
}

// numpy.where and friends: the condition arrives promoted to the type of the two choices.
fn where_f32(c: f32, x: f32, y: f32) -> f32 { return pick_f32(y, x, truth_f32(c)); }

// r, but the quiet NaN where c. The NaN is an integer until the last bitcast, so no compiler sees a constant NaN.
fn nan_if_f32(r: f32, c: bool) -> f32 { return bitcast<f32>(select(bitcast<u32>(r), 0x7fc00000u, c)); }

// r, but x itself where x is NaN: ends every function whose arithmetic may lose a NaN.
fn keep_nan_f32(r: f32, x: f32) -> f32 { return pick_f32(r, x, isnan_f32(x)); }

// v; but no compiler can know that, so none merges the float operations before and after. x: any operand (not the NaN with
// all bits set).
fn opaque_f32(v: f32, x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(v) & select(0xffffffffu, 0u, bitcast<u32>(x) == 0x7fffffffu));
}

// numpy.heaviside: 0, h or 1 for negative, zero and positive x.
fn heaviside_f32(x: f32, h: f32) -> f32 {
  let step = select(0x3f800000u, 0u, signbit_f32(x));
  return keep_nan_f32(bitcast<f32>(select(bitcast<u32>(h), step, truth_f32(x))), x);
}

// x - x, which compilers take for 0: NaN where x is infinite or NaN.
fn minus_itself_f(x: f32) -> f32 { return nan_if_f32(0.0f, !isfinite_f32(x)); }
fn minus_itself_c(x: vec2f) -> vec2f { return vec2f(minus_itself_f(x.x), minus_itself_f(x.y)); }
