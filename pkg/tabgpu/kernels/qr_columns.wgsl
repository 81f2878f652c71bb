// qr_columns: one step of a Householder QR that takes the column of greatest remainder: a workgroup a column.
//
// Columns are the rows of a matrix of d, with four numbers behind each that belong to a step: which column it took, tau,
// the diagonal of R, and what scales the column below the diagonal to its vector. Columns stay where they are and are not
// scaled. Every workgroup finds the same column and its reflector, and applies it to its own one.
// Parameters (group 1, u32 words): 0 columns   1 rows   2 step   3 whether columns are taken in order
//   4 workgroups in all   5 whether only the norms are made
// Dispatch: columns of all matrices, folded into x, y, z.

alias T = f32;
const WG = 256u;
const LEAST = 1e-30f;
const PV = 2u;

@group(0) @binding(0) var<storage, read> norms: array<f32>; // squares of what is left; below 0 for columns that were taken
@group(0) @binding(1) var<storage, read_write> d: array<T>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>; // the same after the step
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> values: array<f32, WG>;
var<workgroup> places: array<u32, WG>;
var<workgroup> sums: array<T, WG>;

fn mul(a: T, b: T) -> T { return a * b; }
fn cmul(a: T, b: T) -> T { return a * b; }
fn re(a: T) -> f32 { return a; }
fn lift(a: f32) -> T { return a; }
fn size2(a: T) -> f32 { return a * a; }
fn inverse(a: T) -> T { return 1.0 / a; }
fn imaginary(a: T) -> f32 { return 0.0; }

fn total(x: T, l: u32) -> T {
  workgroupBarrier();
  sums[l] = x;
  for (var step = WG / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (l < step) { sums[l] += sums[l + step]; }
  }
  workgroupBarrier();
  return sums[0];
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[1].x) { return; }
  let n = P[0].x;
  let m = P[0].y;
  let j = P[0].z;
  let pitch = m + 4u;
  let matrix = job / n;
  let own = job % n;
  if (P[1].y != 0u) {
    var sum = 0.0f;
    for (var r = l; r < m; r += WG) { sum += size2(d[job * pitch + r]); }
    let all = re(total(lift(sum), l));
    if (l == 0u) { out[job] = all; }
    return;
  }
  var best = -2.0f;
  var at = 0u;
  for (var c = l; c < n; c += WG) {
    let norm = norms[matrix * n + c];
    if (norm > best) {
      best = norm;
      at = c;
    }
  }
  values[l] = best;
  places[l] = at;
  for (var step = WG / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (l < step) {
      let other = values[l + step];
      if (other > values[l] || (other == values[l] && places[l + step] < places[l])) {
        values[l] = other;
        places[l] = places[l + step];
      }
    }
  }
  workgroupBarrier();
  let taken = select(workgroupUniformLoad(&places[0]), j, P[0].w != 0u);
  let x = (matrix * n + taken) * pitch;
  let y = job * pitch;
  var below = 0.0f;
  var along = lift(0.0);
  for (var r = j + 1u + l; r < m; r += WG) {
    below += size2(d[x + r]);
    along += cmul(d[x + r], d[y + r]);
  }
  below = re(total(lift(below), l));
  along = total(along, l);
  let alpha = d[x + j];
  let all = size2(alpha) + below;
  var tau = lift(0.0);
  var scale = lift(0.0);
  var beta = alpha;
  if (all > LEAST && (below > 0.0 || imaginary(alpha) != 0.0)) {
    let norm = sqrt(all);
    beta = lift(select(-norm, norm, re(alpha) < 0.0));
    tau = (beta - alpha) / re(beta);
    scale = inverse(alpha - beta);
  }
  if (own == 0u && l == 0u) {
    let note = (matrix * n + j) * pitch + m;
    d[note] = lift(f32(taken));
    d[note + 1u] = tau;
    d[note + 2u] = beta;
    d[note + 3u] = scale;
  }
  if (own == taken || norms[job] < 0.0) {
    if (l == 0u) { out[job] = -1.0; }
    return;
  }
  let head = d[y + j];
  workgroupBarrier();
  let f = cmul(tau, head + cmul(scale, along));
  let h = mul(scale, f);
  var left = 0.0f;
  for (var r = j + 1u + l; r < m; r += WG) {
    let z = d[y + r] - mul(d[x + r], h);
    d[y + r] = z;
    left += size2(z);
  }
  left = re(total(lift(left), l));
  if (l == 0u) {
    d[y + j] = head - f;
    out[job] = left;
  }
}
