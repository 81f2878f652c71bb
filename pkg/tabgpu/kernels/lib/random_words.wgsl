// Words of a stream, and integers made of them. The word of position i is word i % 4 of block i / 4, whatever launch
// computes it. NAME4 does for four positions what NAME does for one; neighbours share their block. A generator's name is
// put in the place of philox (threefry_functions.py): functions here and in random_draws, random_counts begin with philox_
// or draw_.
// use philox

fn philox_word(i: i32, k0: u32, k1: u32) -> u32 {
  return philox_pick(philox_line(bitcast<u32>(i) >> 2u, k0, k1), bitcast<u32>(i) & 3u);
}

// The same place of another block for each attempt.
fn philox_attempt(i: u32, attempt: u32, k0: u32, k1: u32) -> u32 {
  return philox_pick(philox4x32(vec4u(i >> 2u, attempt, 0u, 0u), k0, k1), i & 3u);
}

fn philox_pick(b: vec4u, lane: u32) -> u32 {
  return select(select(b.x, b.y, lane == 1u), select(b.z, b.w, lane == 3u), lane > 1u);
}

// Whether four places are neighbours of one stream, in one block or two.
fn philox_together(at: vec4u, k0: vec4u, k1: vec4u) -> bool {
  return all((at - at.xxxx == vec4u(0u, 1u, 2u, 3u)) & (k0 == k0.xxxx) & (k1 == k1.xxxx));
}
// Four neighbours from place s of the first of two blocks on.
fn philox_across(first: vec4u, last: vec4u, s: u32) -> vec4u {
  let far = s > 1u;
  let a = select(first, vec4u(first.zw, last.xy), far);
  return select(a, vec4u(a.yzw, select(last.x, last.z, far)), (s & 1u) == 1u);
}

// Neighbours share their block; anything else takes a block each.
fn philox_word4(i: vec4i, k0: vec4u, k1: vec4u) -> vec4u {
  let at = bitcast<vec4u>(i);
  if (philox_together(at, k0, k1)) {
    let first = philox_line(at.x >> 2u, k0.x, k1.x);
    if ((at.x & 3u) == 0u) { return first; }
    return philox_across(first, philox_line(at.w >> 2u, k0.x, k1.x), at.x & 3u);
  }
  var r = vec4u();
  for (var s = 0; s < 4; s++) { r[s] = philox_word(i[s], k0[s], k1[s]); }
  return r;
}

// Word `lane` of block i of a stream of its own (split and fold_in of keys on the GPU).
fn philox_key_word(i: u32, k0: u32, k1: u32, lane: u32) -> u32 {
  return philox4x32(vec4u(i, 0u, 0u, 1u + (lane >> 1u)), k0, k1)[lane & 1u];
}

// An integer below `span` (0: below 2^32), each as likely as the others: the upper half of word * span, but where the lower
// one falls into the incomplete part, the word comes from the same place of the next `attempt` (Lemire, 2019).
fn draw_below(word: u32, i: i32, k0: u32, k1: u32, span: u32) -> u32 {
  if (span == 0u) { return word; }
  var high = word_mulhi(word, span);
  var low = word * span;
  if (low < span) {
    let incomplete = (0u - span) % span;
    for (var attempt = 1u; low < incomplete; attempt++) {
      let next = philox_attempt(bitcast<u32>(i), attempt, k0, k1);
      high = word_mulhi(next, span);
      low = next * span;
    }
  }
  return high;
}
fn draw_integer(i: i32, k0: u32, k1: u32, span: u32) -> u32 {
  return draw_below(philox_word(i, k0, k1), i, k0, k1, span);
}
fn draw_integer4(i: vec4i, k0: vec4u, k1: vec4u, span: vec4u) -> vec4u {
  let w = philox_word4(i, k0, k1);
  return vec4u(draw_below(w.x, i.x, k0.x, k1.x, span.x), draw_below(w.y, i.y, k0.y, k1.y, span.y),
               draw_below(w.z, i.z, k0.z, k1.z, span.z), draw_below(w.w, i.w, k0.w, k1.w, span.w));
}
