// moments: count, mean and central sums of the powers 2, 3, 4 along an axis, each element read once.
//
// LANES threads take the elements of an output in blocks of eight: the block's mean, then its sums about that mean, merged
// with what came before (T. Chan, G. Golub & R. LeVeque 1979; P. Pebay 2008); then the threads' results are merged as a
// tree. Long axes are cut in chunks, whose results a second launch (MERGE) merges. All is relative to a pivot, the middle
// one of three elements, so that a large mean costs no accuracy, and divided by a power of two that a few elements choose,
// so that fourth powers of anything neither overflow nor vanish. Result: six planes of OUTER * CHUNKS * INNER numbers
// (the sums in units of the sixth, the scale), and between two launches a seventh with the pivots. Parameters (group 1, u32 words):
//   0 N (elements, or chunks to merge)   1 INNER   2 tasks = OUTER * CHUNKS * INNER   3 CHUNKS   4 CHUNK (elements)
//   5 OMIT (NaN are left out)   6 whether this is the last launch   7 -
// Dispatch: ceil(tasks / (WG / LANES)) workgroups, folded into x, y, z.
// use ieee

const WG = 256u;
const LANES = 256u;
const MERGE = false;
const PV = 2u;

@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

struct Moments {
  n: f32,
  mean: f32,
  s: vec3f,  // sums of (x - mean)^2, ^3, ^4
}

// tree: begin
var<workgroup> shared_n: array<vec2f, WG>;
var<workgroup> shared_s: array<vec3f, WG>;
// tree: end

fn merge(a: Moments, b: Moments) -> Moments {
  if (b.n == 0.0f) { return a; }
  if (a.n == 0.0f) { return b; }
  let n = a.n + b.n;
  let p = a.n / n;
  let q = b.n / n;
  let d = b.mean - a.mean;
  let e = d * q * a.n * d;
  let d2 = d * d;
  let s2 = a.s.x + b.s.x + e;
  let s3 = a.s.y + b.s.y + e * d * (p - q) + 3.0f * d * (p * b.s.x - q * a.s.x);
  let s4 = a.s.z + b.s.z + e * d2 * (p * p - p * q + q * q) + 6.0f * d2 * (p * p * b.s.x + q * q * a.s.x)
    + 4.0f * d * (p * b.s.y - q * a.s.y);
  let fine = isfinite_f32(a.mean) & isfinite_f32(b.mean);
  return Moments(n, a.mean + select(b.mean, d * q, fine), vec3f(s2, s3, s4));  // inf + 1, not inf + (1 - inf)
}

// The middle one of the first, middle and last element; 0 unless that is finite.
fn pivot_of(base: u32, n: u32, inner: u32) -> f32 {
  let a = src[base];
  let b = src[base + (n / 2u) * inner];
  let c = src[base + (n - 1u) * inner];
  let m = max(min(a, b), min(max(a, b), c));
  let fine = isfinite_f32(a) & isfinite_f32(b) & isfinite_f32(c);
  return select(0.0f, m, fine);
}

// The exponent of the unit in which distances from the pivot are counted, -126 .. 126: that of the farthest of eight
// elements (of up to 32 while they are equal); where all are equal 2^12 below the pivot, where they are 0 a unit of 1.
fn unit_of(base: u32, n: u32, inner: u32, pivot: f32) -> i32 {
  var most = 0u;
  for (var k = 0u; k < 32u; k++) {
    let j = k * 9u % 32u;
    let at = (n - 1u) / 31u * j + min(j, (n - 1u) % 31u);
    let x = src[base + at * inner];
    let far = min(bitcast<u32>(x - pivot) & 0x7fffffffu, 0x7f000000u);
    most = max(most, select(0u, far, isfinite_f32(x)));
    if ((k >= 7u) & (most > 0u)) { break; }
  }
  let own = i32((bitcast<u32>(pivot) >> 23u) & 0xffu);
  var e = i32(most >> 23u) - 127;
  if (most < 0x00800000u) { e = select(0, own - 139, own > 0); }
  return clamp(e, -126, 126);
}

fn power_of_two(e: i32) -> f32 { return bitcast<f32>(u32(e + 127) << 23u); }

// Elements k, k + step, .. below `end`.
fn own(base: u32, inner: u32, first: u32, end: u32, step: u32, pivot: f32, shrink: f32, omit: bool) -> Moments {
  var all = Moments(0.0f, 0.0f, vec3f(0.0f));
  for (var k = first; k < end; k += 8u * step) {
    var v: array<f32, 8>;
    var total = 0.0f;
    var n = 0.0f;
    for (var j = 0u; j < 8u; j++) {
      let at = k + j * step;
      if (at < end) {
        let x = src[base + at * inner];
        let take = !(omit & isnan_f32(x));
        v[j] = select(0.0f, x * shrink - pivot * shrink, take);  // exact scales, and no overflow
        total += v[j];
        n += select(0.0f, 1.0f, take);
      }
    }
    if (n > 0.0f) {
      let mean = total / n;
      var s = vec3f(0.0f);
      for (var j = 0u; j < 8u; j++) {
        let at = k + j * step;
        if (at < end) {
          let take = !(omit & isnan_f32(src[base + at * inner]));
          let d = select(0.0f, v[j] - mean, take);
          s += vec3f(d * d, d * d * d, d * d * d * d);
        }
      }
      all = merge(all, Moments(n, mean, s));
    }
  }
  return all;
}

// What chunks first, first + step, .. gave.
fn gathered(at: u32, inner: u32, first: u32, end: u32, step: u32, plane: u32) -> Moments {
  var all = Moments(0.0f, 0.0f, vec3f(0.0f));
  for (var k = first; k < end; k += step) {
    let i = at + k * inner;
    let s = vec3f(src[2u * plane + i], src[3u * plane + i], src[4u * plane + i]);
    all = merge(all, Moments(src[i], src[plane + i], s));
  }
  return all;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let n = P[0].x;
  let inner = P[0].y;
  let tasks = P[0].z;
  let chunks = P[0].w;
  let lane = l % LANES;
  let task = (g.x + ng.x * (g.y + ng.y * g.z)) * (WG / LANES) + l / LANES;
  let there = task < tasks;
  let t = min(task, tasks - 1u);
  let o = t / (chunks * inner);
  let c = (t / inner) % chunks;
  let base = o * n * inner + t % inner;
  let first = c * P[1].x;
  let end = select(min(n, first + P[1].x), 0u, !there);
  var pivot = 0.0f;
  var unit = 1.0f;
  var mine = Moments(0.0f, 0.0f, vec3f(0.0f));
  if (MERGE) {
    let plane = tasks * n;
    unit = src[5u * plane + base];
    pivot = src[6u * plane + base];
    mine = gathered(base, inner, lane, end, LANES, plane);
  } else {
    pivot = pivot_of(base, n, inner);
    let e = unit_of(base, n, inner, pivot);
    unit = power_of_two(e);
    mine = own(base, inner, first + lane, end, LANES, pivot, power_of_two(-e), P[1].y != 0u);
  }
  // join: begin
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    shared_n[l] = vec2f(mine.n, mine.mean);
    shared_s[l] = mine.s;
    workgroupBarrier();
    if (lane < half) {
      let other = shared_n[l + half];
      mine = merge(mine, Moments(other.x, other.y, shared_s[l + half]));
    }
    workgroupBarrier();
  }
  // join: end
  if (there & (lane == 0u)) {
    let last = P[1].z != 0u;
    dst[t] = mine.n;
    dst[tasks + t] = nan_if_f32(select(mine.mean, fma(mine.mean, unit, pivot), last), last & (mine.n == 0.0f));
    dst[2u * tasks + t] = mine.s.x;
    dst[3u * tasks + t] = mine.s.y;
    dst[4u * tasks + t] = mine.s.z;
    dst[5u * tasks + t] = unit;
    if (!last) { dst[6u * tasks + t] = pivot; }
  }
}
