// fold: windows of up to three axes laid out as columns (unfold, im2col), and columns added up to where they came from.
//
// UNFOLD: result ((lead, tap), window) is the element of src below that tap of that window, 0 in the padding. Else: result
// (lead, place) is the sum of all ((lead, tap), window) of src that lie there. Leads are samples times channels.
//
// Parameters (group 1, u32 words):
//   0 results   1 size of the second leading axis of src   2 offset of src   3, 4 its strides along the leading axes
//   5 taps of a window   6 windows   7 stride of src along windows (fold)
//   8 for each axis: windows, size, stride of src (unfold), taps,  step, padding before, dilation, 0
// Strides and offset are modulo 2^32.
// Dispatch: ceil(words of dst / WG) workgroups, folded into x, y, z.
// Hooks: load, bits.

alias V = f32;
const WG = 256u;
const PER = 1u; // results a word
const RANK = 2u;
const UNFOLD = false;
const PV = 8u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> V { return bitcast<f32>(src[at]); }
fn bits(v: V) -> u32 { return bitcast<u32>(v); }

fn begin(lead: u32) -> u32 {
  let first = lead / P[0].y;
  return P[0].z + first * P[0].w + (lead - first * P[0].y) * P[1].x;
}

fn unfolded(i: u32) -> V {
  var window = i % P[1].z;
  let row = i / P[1].z;
  let lead = row / P[1].y;
  var tap = row - lead * P[1].y;
  var at = begin(lead);
  var inside = true;
  for (var d = RANK; d > 0u; d--) {
    let a = P[2u * d];
    let b = P[2u * d + 1u];
    let o = window / a.x;
    let t = tap / a.w;
    let place = (window - o * a.x) * b.x + (tap - t * a.w) * b.z - b.y;
    inside = inside && place < a.y; // before the first it is a large number
    at += place * a.z;
    window = o;
    tap = t;
  }
  if (!inside) { return V(); }
  return load(at);
}

// The window in which tap t of an axis lies at this place, or one that there is not.
fn window_of(axis: u32, place: u32, t: u32) -> u32 {
  let a = P[2u + 2u * axis];
  let b = P[3u + 2u * axis];
  let start = place + b.y - t * b.z;
  let o = start / b.x;
  return select(0xffffffffu, o, (t * b.z <= place + b.y) && (o * b.x == start) && (o < a.x));
}

fn folded(i: u32) -> V {
  var rest = i;
  let x = rest % P[2u * RANK].y;
  rest /= P[2u * RANK].y;
  var y = 0u;
  var z = 0u;
  if (RANK > 1u) {
    y = rest % P[2u * RANK - 2u].y;
    rest /= P[2u * RANK - 2u].y;
  }
  if (RANK > 2u) {
    z = rest % P[2].y;
    rest /= P[2].y;
  }
  var total = V();
  var tap = rest * P[1].y;
  for (var tz = 0u; tz < select(1u, P[2].w, RANK > 2u); tz++) {
    var oz = 0u;
    if (RANK > 2u) { oz = window_of(0u, z, tz); }
    for (var ty = 0u; ty < select(1u, P[2u * RANK - 2u * u32(RANK > 1u)].w, RANK > 1u); ty++) {
      var oy = 0u;
      if (RANK > 1u) { oy = window_of(RANK - 2u, y, ty); }
      for (var tx = 0u; tx < P[2u * RANK].w; tx++) {
        let ox = window_of(RANK - 1u, x, tx);
        if (ox != 0xffffffffu && oy != 0xffffffffu && oz != 0xffffffffu) {
          var window = ox;
          if (RANK > 1u) { window += P[2u * RANK].x * oy; }
          if (RANK > 2u) { window += P[2u * RANK].x * P[2u * RANK - 2u].x * oz; }
          total += load(begin(tap) + window * P[1].w);
        }
        tap++;
      }
    }
  }
  return total;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let w = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (w * PER >= P[0].x) { return; }
  var word = 0u;
  for (var q = 0u; q < PER; q++) {
    let i = w * PER + q;
    if (i < P[0].x) {
      var v = V();
      if (UNFOLD) { v = unfolded(i); } else { v = folded(i); }
      word |= (bits(v) & (0xffffffffu >> (32u - 32u / PER))) << (q * (32u / PER));
    }
  }
  dst[w] = word;
}
