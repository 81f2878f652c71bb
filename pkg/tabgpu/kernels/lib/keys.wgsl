// u32 keys that order as f32 values do, for argmax, argmin and sorting: -0 equals +0, every NaN is greatest.

fn key_max_f32(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let key = select(magnitude | 0x80000000u, 0x80000000u - magnitude, bits > 0x80000000u);
  return select(key, 0xffffffffu, magnitude > 0x7f800000u);
}

fn key_min_f32(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let key = select(magnitude | 0x80000000u, 0x80000000u - magnitude, bits > 0x80000000u);
  return select(~key, 0xffffffffu, magnitude > 0x7f800000u);
}

// The same order in fewer steps, for comparing only: -inf is 1, +inf 0xff000001, NaN 0xff000002 whatever its sign (as a
// signed number its magnitude passes that of infinity, and wraps to above it).
fn rank_max_f32(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = bitcast<u32>(bitcast<i32>(bits) >> 31u);
  return min(((bits & 0x7fffffffu) ^ sign) - sign + 0x7f800001u, 0xff000002u);
}
fn rank_min_f32(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = ~bitcast<u32>(bitcast<i32>(bits) >> 31u);
  return min(((bits & 0x7fffffffu) ^ sign) - sign + 0x7f800001u, 0xff000002u);
}
