// Rounding to integers: rint, floor, ceil, trunc. Signs of zero are kept and denormals count as non-zero.
// use ieee

// |x| >= 2^23, inf and NaN are their own integer.
fn integral_f32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) >= 0x4b000000u; }

fn trunc_f32(x: f32) -> f32 { return pick_f32(copysign_f32(trunc(x), x), x, integral_f32(x)); }

// Half to even. WGSL's round() is that, but only its value is promised, not the sign of a zero.
fn rint_f32(x: f32) -> f32 { return pick_f32(copysign_f32(round(x), x), x, integral_f32(x)); }

fn floor_f32(x: f32) -> f32 {
  let t = trunc_f32(x);
  return pick_f32(t, t - 1.0f, signbit_f32(x) & (bitcast<u32>(t) != bitcast<u32>(x)));
}

fn ceil_f32(x: f32) -> f32 {
  let t = trunc_f32(x);
  return pick_f32(t, t + 1.0f, !signbit_f32(x) & (bitcast<u32>(t) != bitcast<u32>(x)));
}

// numpy.modf: the fraction has the sign of x, also when it is zero.
fn fraction_f32(x: f32) -> f32 {
  let t = trunc_f32(x);
  let small = (bitcast<u32>(x) & 0x7fffffffu) < 0x3f800000u;
  let f = pick_f32(x - t, x, small);
  return pick_f32(copysign_f32(pick_f32(f, 0.0f, isinf_f32(x)), x), x, isnan_f32(x));
}
