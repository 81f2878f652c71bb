// blocks: how GGML's block formats decode. Not a kernel: quant_forms.py puts the common part and one format's part into
// the kernels that dequantise and multiply, where its names lose their prefix.
//
// A block holds QBLOCK weights in QBYTES bytes. Weights come in quads, four neighbours; those that share the bytes of a
// word are the QPLANES quads (h) of word t, QRUN quads apart. A weight is s.x * q - s.y with q from `quad(b, t, h)` and
// s from `scale(b, t, h)`, b the block's first byte: an even address, in formats of whole words a multiple of 4. The
// products s.x and s.y are exact in float32, and so is s.x * q where s.y is not 0: a fused multiply-add changes nothing.

@group(0) @binding(0) var<storage, read> w: array<u32>;
fn word(i: u32) -> u32 { return w[i]; }
const PV = 1u; // as every file has it
const QBLOCK = 32u;
const QBYTES = 34u;
const QPLANES = 1u;
const QRUN = 8u;

// common: begin
const QUADS = QBLOCK / 4u;

// Four bytes, two bytes, one byte from an address (even for the first two).
fn word_at(a: u32) -> u32 {
  let low = word(a >> 2u);
  return select(low, (low >> 16u) | (word((a >> 2u) + 1u) << 16u), (a & 2u) != 0u);
}
// Word t from an even address on.
fn word_of(a: u32, t: u32) -> u32 {
  let i = (a >> 2u) + t;
  let low = word(i);
  return select(low, (low >> 16u) | (word(i + 1u) << 16u), (a & 2u) != 0u);
}
fn half_at(a: u32) -> u32 { return half_word(word(a >> 2u), a >> 1u); }
fn byte_at(a: u32) -> u32 { return byte(word(a >> 2u), a); }
fn float_at(a: u32) -> f32 { return f16_decode(half_at(a)); }

// The bytes of a word as floats, less a bias. 2^23 + n is a float that ends in the bits of n, which spares conversions; of
// every other byte the bits stay 256 times too high, which spares shifts. All is exact.
fn bytes_less(v: u32, bias: f32) -> vec4f {
  let n = (vec2u(v, v >> 16u).xxyy & vec4u(0xffu, 0xff00u, 0xffu, 0xff00u)) | vec4u(0x4b000000u);
  let zero = vec2f(8388608.0f, 32768.0f) + vec2f(bias);
  return bitcast<vec4f>(n) * vec4f(1.0f, 0.00390625f, 1.0f, 0.00390625f) - zero.xyxy;
}
fn nibbles(v: u32, h: u32) -> u32 { return (v >> (4u * h)) & 0x0f0f0f0fu; }
// Those of one plane as floats, less a bias, as in bytes_less.
fn nibbles_less(v: u32, h: u32, bias: f32) -> vec4f {
  let w = v >> (4u * h);
  let n = (vec2u(w, w >> 16u).xxyy & vec4u(0xfu, 0xf00u, 0xfu, 0xf00u)) | vec4u(0x4b000000u);
  let zero = vec2f(8388608.0f, 32768.0f) + vec2f(bias);
  return bitcast<vec4f>(n) * vec4f(1.0f, 0.00390625f, 1.0f, 0.00390625f) - zero.xyxy;
}
fn twos(v: u32, h: u32) -> u32 { return (v >> (2u * h)) & 0x03030303u; }
fn ones(v: u32, h: u32) -> u32 { return (v >> h) & 0x01010101u; }
// Four bits, each as bit 4 of a byte.
fn fifth(v: u32) -> u32 { return (((v & 15u) * 0x204081u) & 0x01010101u) << 4u; }

// A quad's number in its block, and back: (t, h).
fn quad_place(t: u32, h: u32) -> u32 { return t / QRUN * (QRUN * QPLANES) + h * QRUN + t % QRUN; }
fn quad_part(j: u32) -> vec2u {
  return vec2u(j / (QRUN * QPLANES) * QRUN + j % QRUN, j / QRUN % QPLANES);
}
// common: end

// f32: begin
fn f32_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(1.0f, 0.0f); }
fn f32_quad(b: u32, t: u32, h: u32) -> vec4f {
  let i = (b >> 2u) + 4u * t;
  return bitcast<vec4f>(vec4u(word(i), word(i + 1u), word(i + 2u), word(i + 3u)));
}
// f32: end

// f16: begin
fn f16_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(1.0f, 0.0f); }
fn f16_quad(b: u32, t: u32, h: u32) -> vec4f {
  let i = (b >> 2u) + 2u * t;
  return f16_decode4(spread_halves(vec2u(word(i), word(i + 1u))));
}
// f16: end

// bf16: begin
fn bf16_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(1.0f, 0.0f); }
fn bf16_quad(b: u32, t: u32, h: u32) -> vec4f {
  let i = (b >> 2u) + 2u * t;
  return bf16_decode4(spread_halves(vec2u(word(i), word(i + 1u))));
}
// bf16: end

// q8_0: begin
fn q8_0_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(float_at(b), 0.0f); }
fn q8_0_quad(b: u32, t: u32, h: u32) -> vec4f {
  return bytes_less(word_of(b + 2u, t) ^ 0x80808080u, 128.0f);
}
// q8_0: end

// q4_0: begin
fn q4_0_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(float_at(b), 0.0f); }
fn q4_0_quad(b: u32, t: u32, h: u32) -> vec4f { return nibbles_less(word_of(b + 2u, t), h, 8.0f); }
// q4_0: end

// q4_1: begin
fn q4_1_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(float_at(b), -float_at(b + 2u)); }
fn q4_1_quad(b: u32, t: u32, h: u32) -> vec4f { return nibbles_less(word((b >> 2u) + 1u + t), h, 0.0f); }
// q4_1: end

// q5_0: begin
fn q5_0_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(float_at(b), 0.0f); }
fn q5_0_quad(b: u32, t: u32, h: u32) -> vec4f {
  let high = fifth(word_at(b + 2u) >> (16u * h + 4u * t));
  return bytes_less(nibbles(word_of(b + 6u, t), h) | high, 16.0f);
}
// q5_0: end

// q5_1: begin
fn q5_1_scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(float_at(b), -float_at(b + 2u)); }
fn q5_1_quad(b: u32, t: u32, h: u32) -> vec4f {
  let high = fifth(word((b >> 2u) + 1u) >> (16u * h + 4u * t));
  return bytes_less(nibbles(word((b >> 2u) + 2u + t), h) | high, 0.0f);
}
// q5_1: end

// q2_k: begin
fn q2_k_scale(b: u32, t: u32, h: u32) -> vec2f {
  let s = byte_at(b + quad_place(t, h) / 4u);
  return vec2f(float_at(b + 80u) * f32(s & 15u), float_at(b + 82u) * f32(s >> 4u));
}
fn q2_k_quad(b: u32, t: u32, h: u32) -> vec4f {
  return bytes_less(twos(word((b >> 2u) + 4u + t), h), 0.0f);
}
// q2_k: end

// q3_k: begin
fn q3_k_scale(b: u32, t: u32, h: u32) -> vec2f {
  let s = quad_place(t, h) / 4u;
  let low = (byte_at(b + 96u + s % 8u) >> (4u * (s / 8u))) & 15u;
  let high = (byte_at(b + 104u + s % 4u) >> (2u * (s / 4u))) & 3u;
  return vec2f(float_at(b + 108u) * (f32(low | (high << 4u)) - 32.0f), 0.0f);
}
fn q3_k_quad(b: u32, t: u32, h: u32) -> vec4f {
  let high = ones(word_at(b + 4u * (t % 8u)), 4u * (t / 8u) + h);
  return bytes_less(twos(word_at(b + 32u + 4u * t), h) | (high << 2u), 4.0f);
}
// q3_k: end

// Scales and minima of eight parts, six bits each, in three words from a on.
// six_bits: begin
fn six_bits(b: u32, j: u32) -> vec2f {
  let a = b >> 2u;
  let i = 8u * (j & 3u);
  let first = word(a + 1u) >> i;
  let second = word(a + 2u) >> i;
  let third = word(a + 3u) >> i;
  let late = vec2u((third & 15u) | ((first >> 2u) & 48u), ((third >> 4u) & 15u) | ((second >> 2u) & 48u));
  let s = select(vec2u(first, second) & vec2u(63u), late, j > 3u);
  return vec2f(float_at(b) * f32(s.x), float_at(b + 2u) * f32(s.y));
}
// six_bits: end

// q4_k: begin
fn q4_k_scale(b: u32, t: u32, h: u32) -> vec2f { return six_bits(b, t / 8u * 2u + h); }
fn q4_k_quad(b: u32, t: u32, h: u32) -> vec4f { return nibbles_less(word((b >> 2u) + 4u + t), h, 0.0f); }
// q4_k: end

// q5_k: begin
fn q5_k_scale(b: u32, t: u32, h: u32) -> vec2f { return six_bits(b, t / 8u * 2u + h); }
fn q5_k_quad(b: u32, t: u32, h: u32) -> vec4f {
  let high = ones(word((b >> 2u) + 4u + t % 8u), t / 8u * 2u + h);
  return bytes_less(nibbles(word((b >> 2u) + 12u + t), h) | (high << 4u), 0.0f);
}
// q5_k: end

// q6_k: begin
fn q6_k_scale(b: u32, t: u32, h: u32) -> vec2f {
  let s = byte_at(b + 192u + quad_place(t, h) / 4u);
  return vec2f(float_at(b + 208u) * (f32(s ^ 128u) - 128.0f), 0.0f);
}
fn q6_k_quad(b: u32, t: u32, h: u32) -> vec4f {
  let n = t / 8u;
  let low = nibbles(word_at(b + 64u * n + 32u * (h & 1u) + 4u * (t % 8u)), h >> 1u);
  return bytes_less(low | (twos(word_at(b + 128u + 4u * t), h) << 4u), 32.0f);
}
// q6_k: end
