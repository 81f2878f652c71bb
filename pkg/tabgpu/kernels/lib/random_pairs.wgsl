// Normal numbers by Box & Muller (1958): a pair of words makes a pair of numbers, as pairs lie in a stream.
// use random_words, random_polar

// The number of position i: words 0, 1 of a block make its numbers 0, 1, words 2, 3 the others.
fn philox_normal(i: i32, k0: u32, k1: u32) -> f32 {
  let at = bitcast<u32>(i);
  let n = random_polar(philox_line(at >> 2u, k0, k1));
  return bitcast<f32>(philox_pick(bitcast<vec4u>(n), at & 3u));
}
fn philox_normal4(i: vec4i, k0: vec4u, k1: vec4u) -> vec4f {
  let at = bitcast<vec4u>(i);
  if (philox_together(at, k0, k1)) {
    let first = random_polar(philox_line(at.x >> 2u, k0.x, k1.x));
    if ((at.x & 3u) == 0u) { return first; }
    let last = random_polar(philox_line(at.w >> 2u, k0.x, k1.x));
    return bitcast<vec4f>(philox_across(bitcast<vec4u>(first), bitcast<vec4u>(last), at.x & 3u));
  }
  var r = vec4f();
  for (var s = 0; s < 4; s++) { r[s] = philox_normal(i[s], k0[s], k1[s]); }
  return r;
}
