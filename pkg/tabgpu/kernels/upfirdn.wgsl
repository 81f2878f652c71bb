// upfirdn: a row of taps over samples with UP - 1 zeros between them, of whose results every DOWN-th is made. A thread each.
//
// dst[o, j, c] = sum over t of taps[t] * src[o, (j * DOWN + first - t) / UP, c], where that is a whole number inside.
//
// Parameters (group 1, u32 words):
//   0 N   1 of dst   2 inner   3 outer   4 taps   5 first (i32)   6 UP   7 DOWN   8 the first result of this launch
// Dispatch: ceil(results / WG) workgroups, folded into x, y, z. Hook: mul(tap, element).

alias T = f32;
const WG = 256u;
const PV = 3u;

@group(0) @binding(0) var<storage, read> src: array<T>;
@group(0) @binding(1) var<storage, read> taps: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn mul(a: T, b: T) -> T { return a * b; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l + P[2].x;
  let n = i32(P[0].x);
  let inner = P[0].z;
  let up = i32(P[1].z);
  let column = job % inner;
  let outer = job / (inner * P[0].y);
  if (outer >= P[0].w) { return; }
  let place = i32((job / inner) % P[0].y * P[1].w) + bitcast<i32>(P[1].y);
  let row = outer * P[0].x * inner + column;
  var sum = T();
  if (place >= 0) {
    // tap t = place - up * p meets element p
    let high = min(n - 1, place / up);
    let over = place - i32(P[1].x) + 1;
    let low = select(0, (over + up - 1) / up, over > 0);
    var t = place - up * high;
    for (var p = high; p >= low; p--) {
      sum += mul(taps[t], src[row + u32(p) * inner]);
      t += up;
    }
  }
  dst[job] = sum;
}
