// Indices along an axis of n elements, n > 0. None of them leaves the axis: what is out of range is reported elsewhere.

// Negative ones count from the end.
fn index_raise(i: i32, n: u32) -> u32 {
  let k = bitcast<u32>(i);
  return min(select(k, k + n, i < 0), n - 1u);
}
fn index_clip(i: i32, n: u32) -> u32 { return select(min(bitcast<u32>(i), n - 1u), 0u, i < 0); }
fn index_wrap(i: i32, n: u32) -> u32 {
  let k = bitcast<u32>(i);
  let r = select(k, ~k, i < 0) % n;
  return select(r, n - 1u - r, i < 0);
}

// 0 for an index in [-n, n), else a word that tells it and grows with it.
fn index_fault_i32(i: i32, n: i32) -> u32 {
  let bad = (i >= n) | (i < -n);
  return select(0u, max(bitcast<u32>(i) ^ 0x80000000u, 1u), bad);
}
fn index_fault_u32(i: u32, n: u32) -> u32 { return select(0u, max(i, 1u), i >= n); }
