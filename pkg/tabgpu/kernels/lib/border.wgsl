// Where an element beyond the ends of an axis of n elements is taken from: the modes of SciPy's filters.
// mode: 0 constant, 1 nearest, 2 reflect (d c b a | a b c d | d c b a), 3 mirror (d c b | a b c d | c b a), 4 wrap.

// The element of i; negative where a constant stands.
fn border_index(i: i32, n: i32, mode: u32) -> i32 {
  if (bitcast<u32>(i) < bitcast<u32>(n)) { return i; }
  if (mode == 0u) { return -1; }
  if (mode == 1u) { return clamp(i, 0, n - 1); }
  let period = max(select(select(2 * n - 2, 2 * n, mode == 2u), n, mode == 4u), 1);
  var m = i % period;
  m += select(0, period, m < 0);
  return select(select(period, period - 1, mode == 2u) - m, m, m < n);
}
