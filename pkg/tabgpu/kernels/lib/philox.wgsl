// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011): a block of four words from a counter of
// four and a key of two.

// The upper 32 bits of a product; WGSL has only the lower ones.
fn word_mulhi(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let t = ah * bl + ((al * bl) >> 16u);
  let u = al * bh + (t & 0xffffu);
  return ah * bh + (t >> 16u) + (u >> 16u);
}

// The upper word of 0xd2511f53 * b: the sum of its middle parts fits into a word.
fn philox_high_x(b: u32) -> u32 {
  let l = b & 0xffffu;
  let h = b >> 16u;
  let mid = 0xd251u * l + (0x1f53u * h + ((0x1f53u * l) >> 16u));
  return 0xd251u * h + (mid >> 16u);
}
// Of 0xcd9e8d57 * b, which is 2^32 b - 0x326172a9 b: again no sum is too great, with what rounds the subtrahend up.
fn philox_high_z(b: u32) -> u32 {
  let l = b & 0xffffu;
  let h = b >> 16u;
  let mid = 0x3261u * l + ((0x72a9u * h + 0xffffu) + ((0x72a9u * l + 0xffffu) >> 16u));
  return (b - 0x3261u * h) - (mid >> 16u);
}

// Rounds `first` to 9.
fn philox_rounds(counter: vec4u, k0: u32, k1: u32, first: u32) -> vec4u {
  var c = counter;
  var a = k0 + first * 0x9e3779b9u;
  var b = k1 + first * 0xbb67ae85u;
  for (var round = first; round < 10u; round++) {
    c = vec4u(philox_high_z(c.z) ^ c.y ^ a, 0xcd9e8d57u * c.z, philox_high_x(c.x) ^ c.w ^ b, 0xd2511f53u * c.x);
    a += 0x9e3779b9u;
    b += 0xbb67ae85u;
  }
  return c;
}
fn philox4x32(counter: vec4u, k0: u32, k1: u32) -> vec4u { return philox_rounds(counter, k0, k1, 0u); }

// Of the counter (x, 0, 0, 0), whose first two rounds multiply zeros and what is the same for all x.
fn philox_line(x: u32, k0: u32, k1: u32) -> vec4u {
  let z = philox_high_x(x) ^ k1;
  let c = vec4u(philox_high_z(z) ^ (k0 + 0x9e3779b9u), 0xcd9e8d57u * z,
                philox_high_x(k0) ^ (0xd2511f53u * x) ^ (k1 + 0xbb67ae85u), 0xd2511f53u * k0);
  return philox_rounds(c, k0, k1, 2u);
}
