// Comparisons, maximum and minimum of f32 by integer keys: exact for denormals, right for NaN, on every adapter.
// use ieee

// Increasing in x; -0 and +0 share a key.
fn order_key_f32(x: f32) -> i32 {
  let i = bitcast<i32>(x);
  return select(i, -(i & 0x7fffffff), i < 0);
}

// Increasing in x with -0 below +0 (two's complement of the sign-magnitude bits); +NaN is above +inf, -NaN below -inf.
fn total_key_f32(x: f32) -> i32 {
  let i = bitcast<i32>(x);
  return i ^ ((i >> 31u) & 0x7fffffff);
}

fn unordered_f32(x: f32, y: f32) -> bool { return isnan_f32(x) | isnan_f32(y); }

fn less_f32(x: f32, y: f32) -> bool { return (order_key_f32(x) < order_key_f32(y)) & !unordered_f32(x, y); }
fn less_equal_f32(x: f32, y: f32) -> bool { return (order_key_f32(x) <= order_key_f32(y)) & !unordered_f32(x, y); }
fn equal_f32(x: f32, y: f32) -> bool { return (order_key_f32(x) == order_key_f32(y)) & !isnan_f32(x); }
fn not_equal_f32(x: f32, y: f32) -> bool { return !equal_f32(x, y); }

// IEEE 754-2019 maximum and minimum: NaN wins (the first one), +0 is above -0.
fn maximum_f32(x: f32, y: f32) -> f32 {
  return pick_f32(y, x, isnan_f32(x) | ((total_key_f32(x) >= total_key_f32(y)) & !isnan_f32(y)));
}
fn minimum_f32(x: f32, y: f32) -> f32 {
  return pick_f32(y, x, isnan_f32(x) | ((total_key_f32(x) <= total_key_f32(y)) & !isnan_f32(y)));
}

// maximumNumber and minimumNumber: NaN loses unless both are NaN.
fn fmax_f32(x: f32, y: f32) -> f32 {
  return pick_f32(y, x, isnan_f32(y) | ((total_key_f32(x) >= total_key_f32(y)) & !isnan_f32(x)));
}
fn fmin_f32(x: f32, y: f32) -> f32 {
  return pick_f32(y, x, isnan_f32(y) | ((total_key_f32(x) <= total_key_f32(y)) & !isnan_f32(x)));
}

fn clip_f32(x: f32, lo: f32, hi: f32) -> f32 { return minimum_f32(maximum_f32(x, lo), hi); }
