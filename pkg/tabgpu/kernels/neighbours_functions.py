"""What neighbours.wgsl makes of a window: an extreme, or the k-th of its sorted elements by bits or by a network."""

from __future__ import annotations

# How elements of a kind order as u32, and back. NaN is greatest, or least for minima: it wins.
KEYS = {
    ("min", "f"): "rank_min_f32(v)",
    ("max", "f"): "rank_max_f32(v)",
    ("rank", "f"): "key_max_f32(v)",
    ("min", "i"): "~(bitcast<u32>(v) ^ 0x80000000u)",
    ("max", "i"): "(bitcast<u32>(v) ^ 0x80000000u)",
    ("min", "u"): "~v",
    ("max", "u"): "v",
}
UNKEYS = {
    "f": "bitcast<f32>(select((0x80000000u - k) | 0x80000000u, k & 0x7fffffffu, k >= 0x80000000u))",
    "i": "bitcast<i32>(k ^ 0x80000000u)",
    "u": "k",
}
# Two bits a round, from the highest on: how many elements have the bits so far and less than each of three ends. An
# element counts while its key, less what is decided, shifted is below 4.
BITS = """var<private> decided: u32;
var<private> shift: u32;
var<private> counts: vec3u;
fn visit(v: V) {
  let rest = (key(v) ^ decided) >> shift;
  counts += select(vec3u(), vec3u(1u), vec3u(rest) == vec3u(0u, 1u, 2u));
}
fn found(base: u32, z: u32, y: u32, x: u32) -> V {
  decided = 0u;
  shift = P[1].w;
  var k = P[1].z;
  while (shift > 0u) {
    shift -= 2u;
    counts = vec3u();
    walk(base, z, y, x);
    let two = counts.x + counts.y;
    let three = two + counts.z;
    let digit = select(0u, 1u, k >= counts.x) + select(0u, 1u, k >= two) + select(0u, 1u, k >= three);
    k -= select(select(select(0u, counts.x, digit == 1u), two, digit == 2u), three, digit == 3u);
    decided |= digit << shift;
  }
  return unkey(decided);
}
"""


def key(name: str, kind: str) -> str:
    """The body of `key`."""
    return KEYS.get((name, kind)) or KEYS["max", kind]


def network(side: int, rank: int) -> str:
    """`found` for a window of side ** rank elements, all of them wanted: sorted in registers."""
    n = side**rank
    out = ["fn found(base: u32, z: u32, y: u32, x: u32) -> V {"]
    for axis, name in zip(range(rank), "zyx"[3 - rank :], strict=True):
        out += [f"  let {name}{t} = place({axis}u, {name}, {t}u);" for t in range(side)]
    for k in range(n):
        at = [k // side**j % side for j in (2, 1, 0)]
        parts = [f"{c}{t}" if c in "zyx"[3 - rank :] else "0" for c, t in zip("zyx", at, strict=True)]
        out.append(f"  var v{k} = key(fetch(base, {', '.join(parts)}));")
    for a, b in comparisons(n):
        out.append(f"  {{ let low = min(v{a}, v{b}); v{b} = max(v{a}, v{b}); v{a} = low; }}")
    out.append("  var kept = v0;")
    out += [f"  kept = select(kept, v{k}, P[1].z == {k}u);" for k in range(1, n)]
    return "\n".join(out) + "\n  return unkey(kept);\n}\n"


def comparisons(n: int) -> list[tuple[int, int]]:
    """Batcher's merge exchange (Knuth 5.2.2 M): pairs to bring in order."""
    made = []
    top = p = 1 << (n - 1).bit_length() - 1
    while p:
        q, r, d = top, 0, p
        while True:
            made += [(i, i + d) for i in range(n - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return made
