// Who meets whom: rounds in which each of an even number of players meets one other, all others once in players - 1 rounds.

// Pair `which` of a round, the smaller first.
fn tournament(which: u32, round: u32, players: u32) -> vec2u {
  let others = players - 1u;
  let a = select((round + which) % others, others, which == 0u);
  let b = select((round + others - which) % others, round % others, which == 0u);
  return vec2u(min(a, b), max(a, b));
}

// The number of the k-th of the vectors in a pair of blocks of `each`; none (0xffffffff) behind them.
fn block_vector(pair: vec2u, k: u32, each: u32) -> u32 {
  return select(select(pair.y * each + k - each, pair.x * each + k, k < each), 0xffffffffu, k >= 2u * each);
}
