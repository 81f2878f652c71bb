// What the two sorting kernels share: u32 keys of 32-bit elements of any kind, either way round.
// use keys

// form: x the bits to flip of an integer (its sign bit), y all ones for a descending order, z 0 for integers,
// 1 for floats with NaN last in both orders, 2 for floats with NaN as the greatest number. Equal keys: equal elements.
fn sorting_key(bits: u32, form: vec4u) -> u32 {
  var key = bits ^ form.x;
  if (form.z != 0u) {
    key = key_max_f32(bitcast<f32>(bits));
    if (key == 0xffffffffu && form.z == 1u) { return key; }
  }
  return key ^ form.y;
}
