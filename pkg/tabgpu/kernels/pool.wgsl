// pool: windows of up to three axes of a strided array, each made one number: pooling, and the sums that norms across
// channels need.
//
// The array is lines (two leading axes) of RANK pooled axes; the result lies row-major. LANES = 1: a thread makes the PER
// results of a word, each by itself. LANES = WG: a workgroup shares each result (few, large windows).
//
// Parameters (group 1, u32 words):
//   0 results   1 size of the second leading axis   2 offset of src   3, 4 its strides along the leading axes
//   5 bit 0: windows are adaptive, bit 1: padding counts   6 bits of what sums are divided by (0: by what counts)
//   7 bits of what a mean is multiplied by   8..11 numbers of the function
//   12 for each axis: results, size, stride, taps,  step, padding before, dilation, size + padding behind
// Strides and offset are modulo 2^32.
// Dispatch: ceil(words of dst / WG) workgroups, or (LANES = WG) one a word, folded into x, y, z.
// Hooks: load, bits, store, span, and the function's: State, begin, take, turn, join, finish (kernels/pool_functions.py).

alias V = f32;
const WG = 256u;
const LANES = 1u;
const PER = 1u; // results a word
const RANK = 2u;
const PV = 9u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> V { return bitcast<f32>(src[at]); }
fn bits(v: V) -> u32 { return bitcast<u32>(v); }
fn store(w: u32, word: u32, s: State) { dst[w] = word; }

// function: begin
struct State { row: f32, total: f32 }
fn begin() -> State { return State(0.0f, 0.0f); }
fn take(s: State, v: V, place: u32) -> State { return State(s.row + v, s.total); }
fn turn(s: State) -> State { return State(0.0f, s.total + s.row); }
fn join(a: State, b: State) -> State { return State(0.0f, a.total + b.total); }
fn finish(s: State, count: f32, center: u32) -> V { return s.total / count; }
// function: end

// The taps of one window along an axis that lie inside: tap t of lo .. hi - 1 at start + t * hop. all: taps that count.
struct Span { start: i32, lo: i32, hi: i32, hop: i32, all: u32 }
var<private> plane: u32; // of the leading axes
fn span(axis: u32, o: u32) -> Span {
  let a = P[3u + 2u * axis];
  let b = P[4u + 2u * axis];
  if ((P[1].y & 1u) != 0u) {
    let first = o * a.y / a.x;
    let taps = ((o + 1u) * a.y + a.x - 1u) / a.x - first;
    return Span(i32(first), 0, i32(taps), 1, taps);
  }
  let start = i32(o * b.x) - i32(b.y);
  let hop = i32(b.z);
  let lo = select(0, (hop - 1 - start) / hop, start < 0);
  let hi = min(i32(a.w), (i32(a.y) - start + hop - 1) / hop);
  let end = min(i32(a.w), (i32(b.w) - start + hop - 1) / hop);
  let inside = max(hi - lo, 0);
  return Span(start, lo, lo + inside, hop, u32(select(inside, end, (P[1].y & 2u) != 0u)));
}
fn place(s: Span, t: i32) -> u32 { return u32(s.start + t * s.hop); }

// The three axes; those that RANK has not, have one tap.
var<private> x: Span;
var<private> y: Span;
var<private> z: Span;

fn tap(s: State, base: u32, tz: i32, ty: i32, tx: i32) -> State {
  let at = place(x, tx);
  var from_ = base + at * P[3u + 2u * (RANK - 1u)].z;
  var flat = at;
  if (RANK > 1u) {
    let row = place(y, ty);
    from_ += row * P[3u + 2u * (RANK - 2u)].z;
    flat += row * P[3u + 2u * (RANK - 1u)].y;
  }
  if (RANK > 2u) {
    let layer = place(z, tz);
    from_ += layer * P[3].z;
    flat += layer * P[5].y * P[7].y;
  }
  return take(s, load(from_), flat);
}

// What lane `lane` of LANES finds in the window of result i.
fn gathered(i: u32, lane: u32) -> State {
  var rest = i;
  let ox = rest % P[3u + 2u * (RANK - 1u)].x;
  rest /= P[3u + 2u * (RANK - 1u)].x;
  var oy = 0u;
  var oz = 0u;
  if (RANK > 1u) {
    oy = rest % P[3u + 2u * (RANK - 2u)].x;
    rest /= P[3u + 2u * (RANK - 2u)].x;
  }
  if (RANK > 2u) {
    oz = rest % P[3].x;
    rest /= P[3].x;
  }
  plane = rest;
  x = span(RANK - 1u, ox);
  y = Span(0, 0, 1, 1, 1u);
  z = y;
  center = ox * P[3u + 2u * (RANK - 1u)].z;
  if (RANK > 1u) {
    y = span(RANK - 2u, oy);
    center += oy * P[3u + 2u * (RANK - 2u)].z;
  }
  if (RANK > 2u) {
    z = span(0u, oz);
    center += oz * P[3].z;
  }
  let lead = rest / P[0].y;
  let base = P[0].z + lead * P[0].w + (rest - lead * P[0].y) * P[1].x;
  center += base;
  var s = begin();
  if (LANES > 1u) {
    let nx = u32(x.hi - x.lo);
    let ny = u32(y.hi - y.lo);
    let n = nx * ny * u32(z.hi - z.lo);
    for (var r = lane; r < n;) {
      let stop = r + 64u * LANES; // a sum of sums: the error of a tree of three levels
      for (; r < min(stop, n); r += LANES) {
        let row = r / nx;
        let layer = row / ny;
        s = tap(s, base, z.lo + i32(layer), y.lo + i32(row - layer * ny), x.lo + i32(r - row * nx));
      }
      s = turn(s);
    }
  } else {
    for (var tz = z.lo; tz < z.hi; tz++) {
      for (var ty = y.lo; ty < y.hi; ty++) {
        for (var tx = x.lo; tx < x.hi;) {
          let stop = min(x.hi, tx + 128);
          for (; tx < stop; tx++) { s = tap(s, base, tz, ty, tx); }
          s = turn(s);
        }
      }
    }
  }
  return s;
}
var<private> center: u32; // where the element lies that a result stands for, if windows are one apart

fn counted() -> f32 {
  if (P[1].z != 0u) { return bitcast<f32>(P[1].z); }
  return f32(x.all * y.all * z.all);
}

// lanes: begin
var<workgroup> shared_states: array<State, WG>;
fn together(s: State, l: u32) -> State {
  shared_states[l] = s;
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (l < step) { shared_states[l] = join(shared_states[l], shared_states[l + step]); }
  }
  workgroupBarrier();
  let all = shared_states[0];
  workgroupBarrier();
  return all;
}
// lanes: end

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  // split: begin
  let w = job * WG + l;
  let lane = 0u;
  // split: end
  var word = 0u;
  var s = begin();
  for (var q = 0u; q < PER; q++) {
    let i = w * PER + q;
    if (i < P[0].x) {
      // own: begin
      s = gathered(i, lane);
      // own: end
      word |= (bits(finish(s, counted(), center)) & (0xffffffffu >> (32u - 32u / PER))) << (q * (32u / PER));
    }
  }
  if (w * PER < P[0].x && lane == 0u) { store(w, word, s); }
}
