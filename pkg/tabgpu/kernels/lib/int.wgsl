// int32 and uint32: floor division, remainders, gcd, lcm, powers, shifts, with NumPy's answers where WGSL's differ or are
// open. Everything wraps modulo 2^32; x // 0 and x % 0 are 0.

fn floor_divide_u32(x: u32, y: u32) -> u32 { return select(x / max(y, 1u), 0u, y == 0u); }
fn remainder_u32(x: u32, y: u32) -> u32 { return select(x % max(y, 1u), 0u, y == 0u); }

// Truncated quotient of the magnitudes: no INT_MIN / -1 is ever computed.
fn floor_divide_i32(x: i32, y: i32) -> i32 {
  let a = magnitude_i32(x);
  let b = max(magnitude_i32(y), 1u);
  let q = a / b;
  let negative = (x < 0) != (y < 0);
  let up = select(0u, 1u, negative & (q * b != a));
  return select(select(bitcast<i32>(q), -bitcast<i32>(q + up), negative), 0, y == 0);
}

// C's /: towards zero.
fn divide_toward_zero_i32(x: i32, y: i32) -> i32 {
  let q = bitcast<i32>(floor_divide_u32(magnitude_i32(x), magnitude_i32(y)));
  return select(q, -q, (x < 0) != (y < 0));
}

// C's %: the sign of x.
fn fmod_i32(x: i32, y: i32) -> i32 {
  let r = bitcast<i32>(remainder_u32(magnitude_i32(x), magnitude_i32(y)));
  return select(r, -r, x < 0);
}

// The sign of y.
fn remainder_i32(x: i32, y: i32) -> i32 {
  let r = fmod_i32(x, y);
  return select(r, r + y, (r != 0) & ((r < 0) != (y < 0)));
}

// |x| as unsigned, so that INT_MIN has one.
fn magnitude_i32(x: i32) -> u32 { return bitcast<u32>(select(x, -x, x < 0)); }
fn absolute_i32(x: i32) -> i32 { return select(x, -x, x < 0); }
fn sign_i32(x: i32) -> i32 { return select(select(0, 1, x > 0), -1, x < 0); }
fn sign_u32(x: u32) -> u32 { return min(x, 1u); }
fn truth_i32(x: i32) -> bool { return x != 0; }
fn truth_u32(x: u32) -> bool { return x != 0u; }
fn signbit_i32(x: i32) -> bool { return x < 0; }

// 1 / x truncated; 0 for 0.
fn reciprocal_i32(x: i32) -> i32 { return select(0, x, magnitude_i32(x) == 1u); }
fn reciprocal_u32(x: u32) -> u32 { return select(0u, 1u, x == 1u); }

fn gcd_u32(x: u32, y: u32) -> u32 {
  var a = x;
  var b = y;
  while (b != 0u) {
    let t = a % b;
    a = b;
    b = t;
  }
  return a;
}
fn gcd_i32(x: i32, y: i32) -> i32 { return bitcast<i32>(gcd_u32(magnitude_i32(x), magnitude_i32(y))); }
fn lcm_u32(x: u32, y: u32) -> u32 { return floor_divide_u32(x, gcd_u32(x, y)) * y; }
fn lcm_i32(x: i32, y: i32) -> i32 { return bitcast<i32>(lcm_u32(magnitude_i32(x), magnitude_i32(y))); }

// By squaring.
fn power_u32(x: u32, y: u32) -> u32 {
  var r = 1u;
  var b = x;
  var n = y;
  while (n != 0u) {
    r = select(r, r * b, (n & 1u) == 1u);
    b = b * b;
    n = n >> 1u;
  }
  return r;
}

// A negative exponent gives 1 / x^|y| truncated: 1 for x = 1, +-1 for x = -1, else 0.
fn power_i32(x: i32, y: i32) -> i32 {
  let r = bitcast<i32>(power_u32(bitcast<u32>(x), magnitude_i32(y)));
  return select(r, 0, (y < 0) & (magnitude_i32(x) != 1u));
}

// Counts of 32 and more, and negative ones, shift everything out (NumPy); WGSL takes counts modulo 32.
fn left_shift_u32(x: u32, n: u32) -> u32 { return select(x << (n & 31u), 0u, n > 31u); }
fn left_shift_i32(x: i32, n: i32) -> i32 { return bitcast<i32>(left_shift_u32(bitcast<u32>(x), bitcast<u32>(n))); }
fn right_shift_u32(x: u32, n: u32) -> u32 { return select(x >> (n & 31u), 0u, n > 31u); }
fn right_shift_i32(x: i32, n: i32) -> i32 { return x >> min(bitcast<u32>(n), 31u); }

fn bitcount_i32(x: i32) -> u32 { return countOneBits(magnitude_i32(x)); }
fn bitcount_u32(x: u32) -> u32 { return countOneBits(x); }
