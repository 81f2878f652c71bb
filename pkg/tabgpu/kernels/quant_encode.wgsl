// quant_encode: float32 values -> blocks of a GGML format. A thread makes EACH blocks, so that it owns whole words.
//
// Formats of 32 weights are rounded as GGML rounds them, bit for bit: no product is merged with the sum behind it. For
// those of 256 each part's scale (and minimum) is searched: for a range of steps the codes, then the least squares
// through them; the best wins, its scale is rounded to the block's code, and the weights are rounded with that.
//
// quant_forms.py keeps one part: `simple` with its format, or `fit_minima` / `fit_signed` with theirs. A part defines
// `fit` (private state of the block at `base`), `code(e)` (what weight e becomes) and `byte_of(i)`, here under its name.
//
// Parameters (group 1, u32 words):
//   0 first block   1 its end   2 first weight of src (modulo 2^32)   3 first word of dst less that of block 0
// Dispatch: ceil(blocks / (WG * EACH)) workgroups, folded into x, y, z.

const WG = 64u;
const EACH = 2u;
const QBLOCK = 32u;
const QBYTES = 34u;
const TOP = 15.0f; // greatest code; of fit_signed: the greatest magnitude
const LEVELS = 63.0f; // greatest code of a scale
const PART = 32u; // weights that share a scale
const PV = 1u;

@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<private> base: u32;
var<private> d: f32;
var<private> m: f32;
var<private> d_bits: u32;
var<private> m_bits: u32;
var<private> scales: array<i32, 16>;
var<private> minima: array<i32, 16>;

fn value(e: u32) -> f32 { return src[base + e]; }
fn half_bits(x: f32) -> u32 { return f16_round4(vec4f(x)).x; }
fn near(x: f32, low: f32, high: f32) -> f32 { return clamp(round(x), low, high); }
// Byte i of a 16-bit number.
fn of_half(h: u32, i: u32) -> u32 { return (h >> (8u * (i & 1u))) & 255u; }
fn pair(e: u32, hop: u32) -> u32 { return (code(e) & 15u) | ((code(e + hop) & 15u) << 4u); }
// Bit b of the codes of eight weights, `hop` apart; two bits from b on of four.
fn bits_of(e: u32, hop: u32, b: u32) -> u32 {
  var found = 0u;
  for (var j = 0u; j < 8u; j++) { found |= ((code(e + j * hop) >> b) & 1u) << j; }
  return found;
}
fn twos_of(e: u32, b: u32) -> u32 {
  var found = 0u;
  for (var h = 0u; h < 4u; h++) { found |= ((code(e + 32u * h) >> b) & 3u) << (2u * h); }
  return found;
}

// alone: begin
fn fit() {}
fn code(e: u32) -> u32 { return e; }
fn byte_of(i: u32) -> u32 { return code(i); }
// alone: end

// simple: begin
// A division by a constant is not one by a constant to a compiler, which would merge its steps.
fn over(x: f32, y: f32) -> f32 { return div_f32(x, opaque_f32(y, x)); }
fn inverse(x: f32) -> f32 {
  if (!truth_f32(x)) { return 0.0f; }
  return div_f32(1.0f, x);
}
fn fit_far() -> f32 {
  var far = value(0u);
  for (var e = 1u; e < 32u; e++) {
    let x = value(e);
    if (abs(x) > abs(far)) { far = x; }
  }
  return far;
}
// simple: end

// q8_0: begin
fn q8_0_fit() {
  d = over(abs(fit_far()), 127.0f);
  d_bits = half_bits(d);
  m = inverse(d);
}
fn q8_0_code(e: u32) -> u32 {
  let x = opaque_f32(value(e) * m, m);
  let size = abs(x);
  let low = floor(size);
  let q = i32(low + floor(2.0f * (size - low)));
  return u32(select(q, -q, x < 0.0f)) & 255u;
}
fn q8_0_byte_of(i: u32) -> u32 {
  if (i < 2u) { return of_half(d_bits, i); }
  return code(i - 2u);
}
// q8_0: end

// q4_0: begin
fn q4_0_fit() {
  d = negative_f32(fit_far() * (2.0f / (TOP + 1.0f)));
  d_bits = half_bits(d);
  m = inverse(d);
}
fn q4_0_code(e: u32) -> u32 {
  return u32(min(opaque_f32(value(e) * m, m) + (0.5f * TOP + 1.0f), TOP));
}
fn q4_0_byte_of(i: u32) -> u32 {
  if (i < 2u) { return of_half(d_bits, i); }
  if (TOP == 31.0f) {
    if (i < 6u) { return bits_of(8u * (i - 2u), 1u, 4u); }
    return pair(i - 6u, 16u);
  }
  return pair(i - 2u, 16u);
}
// q4_0: end

// q4_1: begin
var<private> step: f32;
fn q4_1_fit() {
  var low = value(0u);
  var high = low;
  for (var e = 1u; e < 32u; e++) {
    low = min(low, value(e));
    high = max(high, value(e));
  }
  m = low;
  d = over(opaque_f32(high - low, high), TOP);
  step = inverse(d);
  d_bits = half_bits(d);
  m_bits = half_bits(m);
}
fn q4_1_code(e: u32) -> u32 {
  let x = opaque_f32(value(e) - m, step);
  return u32(min(opaque_f32(x * step, step) + 0.5f, TOP));
}
fn q4_1_byte_of(i: u32) -> u32 {
  if (i < 2u) { return of_half(d_bits, i); }
  if (i < 4u) { return of_half(m_bits, i); }
  if (TOP == 31.0f) {
    if (i < 8u) { return bits_of(8u * (i - 4u), 1u, 4u); }
    return pair(i - 8u, 16u);
  }
  return pair(i - 4u, 16u);
}
// q4_1: end

// fit_minima: begin
// A scale and a minimum (x: both at least 0) for the weights from e0 on.
fn fit_minima_fit_part(e0: u32) -> vec2f {
  var low = 0.0f;
  var high = value(e0);
  var total = 0.0f;
  for (var e = 0u; e < PART; e++) {
    let x = value(e0 + e);
    low = min(low, x);
    high = max(high, x);
    total += x;
  }
  let range = high - low;
  if (!(range > 0.0f)) { return vec2f(0.0f, -low); }
  let n = f32(PART);
  var best = vec2f(range / TOP, -low);
  var least = 3.0e38f;
  for (var t = 0u; t < 24u; t++) {
    let step = (TOP + f32(t) / 11.5f - min(1.0f, 0.25f * TOP)) / range;
    var l1 = 0.0f;
    var l2 = 0.0f;
    var xl = 0.0f;
    for (var e = 0u; e < PART; e++) {
      let x = value(e0 + e);
      let l = near(step * (x - low), 0.0f, TOP);
      l1 += l;
      l2 += l * l;
      xl += l * x;
    }
    let det = n * l2 - l1 * l1;
    if (det > 0.0f) {
      var scale = (n * xl - total * l1) / det;
      var least_x = (l2 * total - l1 * xl) / det;
      if (least_x > 0.0f) {
        least_x = 0.0f;
        scale = xl / l2;
      }
      let error = scale * (scale * l2 - 2.0f * xl) + least_x * (2.0f * (scale * l1 - total) + n * least_x);
      if (scale >= 0.0f && error < least) {
        least = error;
        best = vec2f(scale, -least_x);
      }
    }
  }
  return best;
}
fn fit_minima_fit() {
  var top = vec2f();
  var found: array<vec2f, 16>;
  for (var s = 0u; s < QBLOCK / PART; s++) {
    found[s] = fit_minima_fit_part(s * PART);
    top = max(top, found[s]);
  }
  d_bits = half_bits(top.x / LEVELS);
  m_bits = half_bits(top.y / LEVELS);
  d = f16_decode(d_bits);
  m = f16_decode(m_bits);
  for (var s = 0u; s < QBLOCK / PART; s++) {
    scales[s] = i32(near(found[s].x / select(1.0f, d, d > 0.0f), 0.0f, LEVELS));
    minima[s] = i32(near(found[s].y / select(1.0f, m, m > 0.0f), 0.0f, LEVELS));
  }
}
fn fit_minima_code(e: u32) -> u32 {
  let s = e / PART;
  let step = d * f32(scales[s]);
  if (!(step > 0.0f)) { return 0u; }
  return u32(near((value(e) + m * f32(minima[s])) / step, 0.0f, TOP));
}
fn packed_scale(i: u32) -> u32 {
  let j = i % 4u;
  let late = vec2u(u32(scales[j + 4u]), u32(minima[j + 4u]));
  if (i < 4u) { return u32(scales[j]) | ((late.x >> 4u) << 6u); }
  if (i < 8u) { return u32(minima[j]) | ((late.y >> 4u) << 6u); }
  return (late.x & 15u) | ((late.y & 15u) << 4u);
}
// fit_minima: end

// q2_k: begin
fn q2_k_byte_of(i: u32) -> u32 {
  if (i < 16u) { return u32(scales[i]) | (u32(minima[i]) << 4u); }
  if (i < 80u) { return twos_of((i - 16u) / 32u * 128u + (i - 16u) % 32u, 0u); }
  if (i < 82u) { return of_half(d_bits, i); }
  return of_half(m_bits, i);
}
// q2_k: end

// q4_k: begin
fn q4_k_byte_of(i: u32) -> u32 {
  if (i < 2u) { return of_half(d_bits, i); }
  if (i < 4u) { return of_half(m_bits, i); }
  if (i < 16u) { return packed_scale(i - 4u); }
  return pair((i - 16u) / 32u * 64u + (i - 16u) % 32u, 32u);
}
// q4_k: end

// q5_k: begin
fn q5_k_byte_of(i: u32) -> u32 {
  if (i < 2u) { return of_half(d_bits, i); }
  if (i < 4u) { return of_half(m_bits, i); }
  if (i < 16u) { return packed_scale(i - 4u); }
  if (i < 48u) { return bits_of(i - 16u, 32u, 4u); }
  return pair((i - 48u) / 32u * 64u + (i - 48u) % 32u, 32u);
}
// q5_k: end

// fit_signed: begin
// A scale of either sign for the PART weights from e0 on; codes go from -TOP to TOP - 1.
fn fit_signed_fit_part(e0: u32) -> f32 {
  var far = 0.0f;
  for (var e = 0u; e < PART; e++) {
    let x = value(e0 + e);
    if (abs(x) > abs(far)) { far = x; }
  }
  if (!truth_f32(far)) { return 0.0f; }
  var best = -far / TOP;
  var most = 0.0f;
  for (var t = 0u; t < 38u; t++) {
    let step = select(-1.0f, 1.0f, t >= 19u) * (TOP - 0.9f + 0.1f * f32(t % 19u)) / far;
    var xl = 0.0f;
    var l2 = 0.0f;
    for (var e = 0u; e < PART; e++) {
      let x = value(e0 + e);
      let l = near(step * x, -TOP, TOP - 1.0f);
      xl += x * l;
      l2 += l * l;
    }
    if (l2 > 0.0f && xl * xl > most * l2) {
      most = xl * xl / l2;
      best = xl / l2;
    }
  }
  return best;
}
fn fit_signed_fit() {
  var far = 0.0f;
  var found: array<f32, 16>;
  for (var s = 0u; s < 16u; s++) {
    found[s] = fit_signed_fit_part(s * PART);
    if (abs(found[s]) > abs(far)) { far = found[s]; }
  }
  d_bits = half_bits(far / -(LEVELS + 1.0f));
  d = f16_decode(d_bits);
  for (var s = 0u; s < 16u; s++) {
    scales[s] = i32(near(found[s] / select(1.0f, d, truth_f32(d)), -LEVELS - 1.0f, LEVELS));
  }
}
fn fit_signed_code(e: u32) -> u32 {
  let step = d * f32(scales[e / PART]);
  if (!truth_f32(step)) { return u32(TOP); }
  return u32(near(value(e) / step, -TOP, TOP - 1.0f) + TOP);
}
// fit_signed: end

// q3_k: begin
fn q3_k_byte_of(i: u32) -> u32 {
  if (i < 32u) { return bits_of(i, 32u, 2u); }
  if (i < 96u) { return twos_of((i - 32u) / 32u * 128u + i % 32u, 0u); }
  if (i < 104u) { return (u32(scales[i - 96u] + 32) & 15u) | ((u32(scales[i - 88u] + 32) & 15u) << 4u); }
  if (i < 108u) {
    var found = 0u;
    for (var k = 0u; k < 4u; k++) { found |= (u32(scales[i - 104u + 4u * k] + 32) >> 4u) << (2u * k); }
    return found;
  }
  return of_half(d_bits, i);
}
// q3_k: end

// q6_k: begin
fn q6_k_byte_of(i: u32) -> u32 {
  if (i < 128u) { return pair(i / 64u * 128u + i % 64u, 64u); }
  if (i < 192u) { return twos_of((i - 128u) / 32u * 128u + i % 32u, 4u); }
  if (i < 208u) { return u32(scales[i - 192u]) & 255u; }
  return of_half(d_bits, i);
}
// q6_k: end

// main: begin
@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let first = P[0].x + ((g.x + ng.x * (g.y + ng.y * g.z)) * WG + l) * EACH;
  var held = 0u;
  var to = P[0].w + first * QBYTES / 4u;
  var odd = false;
  for (var k = first; k < min(first + EACH, P[0].y); k++) {
    base = P[0].z + k * QBLOCK;
    fit();
    for (var i = 0u; i < QBYTES; i += 2u) {
      let h = byte_of(i) | (byte_of(i + 1u) << 8u);
      if (odd) {
        dst[to] = held | (h << 16u);
        to++;
      }
      held = h;
      odd = !odd;
    }
  }
  if (odd) { dst[to] = held; }
}
// main: end
