// Threefry2x32-20 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011): two words from a counter of two and a
// key of two, by additions, rotations and exclusive ors alone.

fn threefry_rotate(x: u32, n: u32) -> u32 { return (x << n) | (x >> (32u - n)); }

// Four rounds whose rotations are r, then the next two words of the key; n counts these.
fn threefry_rounds(x: vec2u, r: vec4u, key: vec2u, n: u32) -> vec2u {
  var a = x.x;
  var b = x.y;
  a += b;
  b = threefry_rotate(b, r.x) ^ a;
  a += b;
  b = threefry_rotate(b, r.y) ^ a;
  a += b;
  b = threefry_rotate(b, r.z) ^ a;
  a += b;
  b = threefry_rotate(b, r.w) ^ a;
  return vec2u(a + key.x, b + key.y + n);
}

fn threefry2x32(counter: vec2u, k0: u32, k1: u32) -> vec2u {
  let k2 = 0x1bd11bdau ^ k0 ^ k1;
  let even = vec4u(13u, 15u, 26u, 6u);
  let odd = vec4u(17u, 29u, 16u, 24u);
  var x = counter + vec2u(k0, k1);
  x = threefry_rounds(x, even, vec2u(k1, k2), 1u);
  x = threefry_rounds(x, odd, vec2u(k2, k0), 2u);
  x = threefry_rounds(x, even, vec2u(k0, k1), 3u);
  x = threefry_rounds(x, odd, vec2u(k1, k2), 4u);
  return threefry_rounds(x, even, vec2u(k2, k0), 5u);
}

// Four words for a counter as Philox has: the first word, then 15 bits of the second, 12 of the third and 4 of the fourth;
// the lowest bit tells both halves apart.
fn threefry_block(c: vec4u, k0: u32, k1: u32) -> vec4u {
  let upper = (c.w << 28u) | ((c.z & 0xfffu) << 16u) | ((c.y & 0x7fffu) << 1u);
  let first = threefry2x32(vec2u(c.x, upper), k0, k1);
  return vec4u(first, threefry2x32(vec2u(c.x, upper | 1u), k0, k1));
}
fn threefry_line(x: u32, k0: u32, k1: u32) -> vec4u { return threefry_block(vec4u(x, 0u, 0u, 0u), k0, k1); }
