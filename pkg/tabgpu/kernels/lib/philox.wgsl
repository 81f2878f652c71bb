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

fn philox4x32(counter: vec4u, k0: u32, k1: u32) -> vec4u {
  var c = counter;
  var a = k0;
  var b = k1;
  for (var round = 0u; round < 10u; round++) {
    c = vec4u(word_mulhi(0xcd9e8d57u, c.z) ^ c.y ^ a, 0xcd9e8d57u * c.z,
              word_mulhi(0xd2511f53u, c.x) ^ c.w ^ b, 0xd2511f53u * c.x);
    a += 0x9e3779b9u;
    b += 0xbb67ae85u;
  }
  return c;
}
