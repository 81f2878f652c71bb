// neighbours: the least, the greatest or the k-th of the elements of a window around each element of a strided array.
//
// The array is lines (two leading axes) of RANK axes; the result lies row-major. A thread makes the PER results of a word.
//
// Parameters (group 1, u32 words):
//   0 results   1 size of the second leading axis   2 offset of src   3, 4 its strides along the leading axes
//   5 bits of the constant beyond borders   6 which of the sorted elements   7 how many bits keys have
//   8 for each axis: size, stride, taps, elements before the first tap,  mode (lib/border), 0, 0, 0
//   13 number of the first workgroup
// Strides and offset are modulo 2^32.
// Dispatch: ceil(words of dst / WG) workgroups, folded into x, y, z.
// Hooks: load, bits, constant, wanted, raised; key, unkey and the block `function` (kernels/neighbours_functions.py).
// use border

alias V = f32;
const WG = 256u;
const PER = 1u; // results a word
const RANK = 2u;
const PV = 8u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> V { return bitcast<f32>(src[at]); }
fn bits(v: V) -> u32 { return bitcast<u32>(v); }
fn constant() -> V { return bitcast<f32>(P[1].y); }
fn wanted(tap: u32) -> bool { return true; }
fn raised(v: V, tap: u32) -> V { return v; }
fn key(v: V) -> u32 { return bitcast<u32>(v); }
fn unkey(k: u32) -> V { return bitcast<f32>(k); }

// The element an axis has at place + tap, or less than 0.
fn place(axis: u32, at: u32, tap: u32) -> i32 {
  let a = P[2u + 2u * axis];
  return border_index(i32(at + tap) - i32(a.w), i32(a.x), P[3u + 2u * axis].x);
}
fn fetch(base: u32, z: i32, y: i32, x: i32) -> V {
  var at = base + u32(x) * P[2u * RANK].y;
  var inside = x >= 0;
  if (RANK > 1u) {
    at += u32(y) * P[2u * RANK - 2u].y;
    inside = inside && y >= 0;
  }
  if (RANK > 2u) {
    at += u32(z) * P[2].y;
    inside = inside && z >= 0;
  }
  if (inside) { return load(at); }
  return constant();
}

// function: begin
var<private> top: u32;
var<private> best: V;
fn visit(v: V) {
  let k = key(v);
  if (k >= top) {
    top = k;
    best = v;
  }
}
fn found(base: u32, z: u32, y: u32, x: u32) -> V {
  top = 0u;
  best = constant();
  walk(base, z, y, x);
  return best;
}
// function: end

// Every element of the window is visited.
fn walk(base: u32, z: u32, y: u32, x: u32) {
  var tap = 0u;
  var nz = 1u;
  var ny = 1u;
  if (RANK > 1u) { ny = P[2u * RANK - 2u].z; }
  if (RANK > 2u) { nz = P[2].z; }
  for (var tz = 0u; tz < nz; tz++) {
    var pz = 0;
    if (RANK > 2u) { pz = place(0u, z, tz); }
    for (var ty = 0u; ty < ny; ty++) {
      var py = 0;
      if (RANK > 1u) { py = place(RANK - 2u, y, ty); }
      for (var tx = 0u; tx < P[2u * RANK].z; tx++) {
        if (wanted(tap)) { visit(raised(fetch(base, pz, py, place(RANK - 1u, x, tx)), tap)); }
        tap++;
      }
    }
  }
}

fn value(i: u32) -> V {
  var rest = i;
  let x = rest % P[2u * RANK].x;
  rest /= P[2u * RANK].x;
  var y = 0u;
  var z = 0u;
  if (RANK > 1u) {
    y = rest % P[2u * RANK - 2u].x;
    rest /= P[2u * RANK - 2u].x;
  }
  if (RANK > 2u) {
    z = rest % P[2].x;
    rest /= P[2].x;
  }
  let outer = rest / P[0].y;
  return found(P[0].z + outer * P[0].w + (rest - outer * P[0].y) * P[1].x, z, y, x);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let w = (P[3].y + g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (w * PER >= P[0].x) { return; }
  var word = 0u;
  for (var q = 0u; q < PER; q++) {
    let i = w * PER + q;
    if (i < P[0].x) { word |= (bits(value(i)) & (0xffffffffu >> (32u - 32u / PER))) << (q * (32u / PER)); }
  }
  dst[w] = word;
}
