// jacobi_solve: sweeps of Jacobi rotations of a small Hermitian matrix in workgroup memory, one workgroup a matrix.
//
// All pairs of a tournament's round are rotated at once. G's upper triangle is packed by columns. Two uses:
// Blocks (WHOLE false): src holds inner products in parts that are added up; out gets K x K numbers: element [k, l] takes
// old vector k into new vector l. state gets, for each pair of blocks, the greatest cosine seen in a sweep, and whether
// anything was rotated now.
// WHOLE: src holds matrices (n, n) of elements up to about 1, of which the lower triangle is read (the upper one if word 9
// is 1); out gets (n, n + 1): row l is eigenvector l and its eigenvalue.
// Parameters (group 1, u32 words):
//   0 players: vectors, rounded up to even   1 sweeps at most   2 parts   3 bits: cosine that is not rotated
//   4 bits: off-diagonal element that is not rotated   5 pairs of blocks   6 round   7 workgroups in all
//   8 n (WHOLE)   9 upper (WHOLE)
// Dispatch: a workgroup a matrix or pair, folded into x, y, z.

alias T = f32;
const WG = 256u;
const K = 64u;
const WHOLE = false;
const PV = 3u;
// use tournament

@group(0) @binding(0) var<storage, read> done: array<u32>;
@group(0) @binding(1) var<storage, read> src: array<T>;
@group(0) @binding(2) var<storage, read_write> out: array<T>;
@group(0) @binding(3) var<storage, read_write> state: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const H = K / 2u;
var<workgroup> a: array<T, K * (K + 1u) / 2u>;
var<workgroup> v: array<T, K * K>; // row l: vector l in terms of the old ones
var<workgroup> cosines: array<f32, H>;
var<workgroup> sines: array<T, H>;
var<workgroup> who: array<vec2u, H>;
var<workgroup> moved: u32;

fn mul(a: T, b: T) -> T { return a * b; }
fn cj(a: T) -> T { return a; }
fn re(a: T) -> f32 { return a; }
fn lift(a: f32) -> T { return a; }
fn size2(a: T) -> f32 { return a * a; }
fn size(a: T) -> f32 { return abs(a); }

fn at(i: u32, j: u32) -> u32 { return j * (j + 1u) / 2u + i; }
fn element(i: u32, j: u32) -> T {
  if (i <= j) { return a[at(i, j)]; }
  return cj(a[at(j, i)]);
}
fn put(i: u32, j: u32, x: T) {
  if (i <= j) { a[at(i, j)] = x; } else { a[at(j, i)] = cj(x); }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[1].w) { return; }
  if (!WHOLE) {
    if (done[job / P[1].y] != 0u) { return; }
  }
  let players = P[0].x;
  let half = players / 2u;
  let n = P[2].x;
  for (var e = l; e < players * players; e += WG) {
    let i = e / players;
    let j = e % players;
    v[i * K + j] = lift(select(0.0, 1.0, i == j));
    if (i <= j) {
      var x = lift(0.0);
      if (WHOLE) {
        if (j < n) {
          if (P[2].y != 0u) { x = src[(job * n + i) * n + j]; } else { x = cj(src[(job * n + j) * n + i]); }
        }
      } else {
        for (var k = 0u; k < P[0].z; k++) { x += src[(job * P[0].z + k) * K * K + i * K + j]; }
      }
      if (i == j) { x = lift(re(x)); }
      a[at(i, j)] = x;
    }
  }
  if (l == 0u) { moved = 0u; }
  let cosine_least = bitcast<f32>(P[0].w);
  let least = bitcast<f32>(P[1].x);
  var worst = 0.0f;
  var rotated = 0u;
  for (var sweep = 0u; sweep < P[0].y; sweep++) {
    for (var round = 0u; round + 1u < players; round++) {
      workgroupBarrier();
      for (var k = l; k < half; k += WG) {
        let pair = tournament(k, round, players);
        let x = re(a[at(pair.x, pair.x)]);
        let y = re(a[at(pair.y, pair.y)]);
        let off = a[at(pair.x, pair.y)];
        let b = size(off);
        let both = sqrt(abs(x)) * sqrt(abs(y));
        if (!WHOLE) {
          if (sweep == 0u && both > 0.0) { worst = max(worst, b / both); }
        }
        var c = 1.0f;
        var s = lift(0.0);
        if (b > max(least, cosine_least * both) && (WHOLE || both > 0.0)) {
          let z = clamp((y - x) * (0.5 / b), -1e15, 1e15);
          let t = select(-1.0, 1.0, z >= 0.0) / (abs(z) + sqrt(fma(z, z, 1.0)));
          c = 1.0 / sqrt(fma(t, t, 1.0));
          s = off * (t * c / b);
          a[at(pair.x, pair.x)] = lift(x - t * b);
          a[at(pair.y, pair.y)] = lift(y + t * b);
          a[at(pair.x, pair.y)] = lift(0.0);
          moved = 1u;
        }
        cosines[k] = c;
        sines[k] = s;
        who[k] = pair;
      }
      workgroupBarrier();
      // Elements in the rows of one pair and the columns of another: each pair of pairs once.
      for (var e = l; e < ((half + 1u) / 2u) * (half - 1u); e += WG) {
        let u = e / (half - 1u);
        let w = e % (half - 1u);
        let upper = w >= u;
        let first = select(half - 1u - u, u, upper);
        let second = select(half - 1u - w, w + 1u, upper);
        if (!upper && 2u * u == half - 1u) { continue; }
        let c1 = cosines[first];
        let s1 = sines[first];
        let c2 = cosines[second];
        let s2 = sines[second];
        if (size2(s1) + size2(s2) == 0.0 && c1 == 1.0 && c2 == 1.0) { continue; }
        let p = who[first];
        let q = who[second];
        let xx = element(p.x, q.x);
        let xy = element(p.x, q.y);
        let yx = element(p.y, q.x);
        let yy = element(p.y, q.y);
        let fx = xx * c2 - mul(xy, cj(s2));
        let fy = mul(xx, s2) + xy * c2;
        let gx = yx * c2 - mul(yy, cj(s2));
        let gy = mul(yx, s2) + yy * c2;
        put(p.x, q.x, fx * c1 - mul(s1, gx));
        put(p.x, q.y, fy * c1 - mul(s1, gy));
        put(p.y, q.x, mul(cj(s1), fx) + gx * c1);
        put(p.y, q.y, mul(cj(s1), fy) + gy * c1);
      }
      for (var e = l; e < half * players; e += WG) {
        let k = e % players;
        let s = sines[e / players];
        let c = cosines[e / players];
        let p = who[e / players] * K + k;
        let x = v[p.x];
        let y = v[p.y];
        v[p.x] = x * c - mul(cj(s), y);
        v[p.y] = mul(s, x) + y * c;
      }
    }
    let going = workgroupUniformLoad(&moved);
    rotated |= going;
    if (going == 0u) { break; }
    if (l == 0u) { moved = 0u; }
  }
  workgroupBarrier();
  // Rounding has changed the length of the vectors a little: all by the same side, so that it would grow.
  for (var k = l; k < players; k += WG) {
    var sum = -1.0f;
    for (var i = 0u; i < players; i++) {
      let i2 = (i + k) % players;
      sum += size2(v[k * K + i2]);
    }
    let f = fma(sum, -0.5, 1.0);
    for (var i = 0u; i < players; i++) {
      let i2 = (i + k) % players;
      v[k * K + i2] = v[k * K + i2] * f;
    }
  }
  if (!WHOLE) {
    for (var k = l; k < half; k += WG) { cosines[k] = worst; } // a thread has the greatest of all its pairs
  }
  workgroupBarrier();
  if (WHOLE) {
    for (var e = l; e < n * (n + 1u); e += WG) {
      let i = e / (n + 1u);
      let j = e % (n + 1u);
      if (j < n) { out[job * n * (n + 1u) + e] = v[i * K + j]; } else { out[job * n * (n + 1u) + e] = a[at(i, i)]; }
    }
  } else {
    for (var e = l; e < players * players; e += WG) {
      let i = e % players;
      let j = e / players;
      out[job * K * K + j * K + i] = v[i * K + j];
    }
    if (l == 0u) {
      var most = 0.0f;
      if (P[1].z > 0u) { most = state[2u * job]; }
      for (var k = 0u; k < min(half, WG); k++) { most = max(most, cosines[k]); }
      state[2u * job] = most;
      state[2u * job + 1u] = f32(rotated);
    }
  }
}
