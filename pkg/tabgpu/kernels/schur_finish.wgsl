// schur_finish: from the 2 x 2 blocks that schur.wgsl leaves to a complex triangle T, one thread an element: the blocks' unitary
// bases are applied from both sides at once. Of real matrices the eigenvalues of a block are exact conjugates, or exactly real.
//
// h, z: E, as there. dst: eigenvalues (count, n), then a word of state for each matrix (rows that are left, if more than one), then,
// if wanted, T (count, n, n) and Z (count, n, n).
// Parameters (group 1, u32 words): 0 matrices   1 n   2 whether T and Z are wanted   3 whether E is complex
// Dispatch: a thread for each element of h (of its diagonal, unless T is wanted), folded into x, y, z.

alias E = f32;
const WG = 64u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> h: array<E>;
@group(0) @binding(1) var<storage, read> z: array<E>;
@group(0) @binding(2) var<storage, read> state: array<u32>;
@group(0) @binding(3) var<storage, read_write> dst: array<vec2f>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn complex(a: E) -> vec2f { return vec2f(a, 0.0f); }
fn full(a: vec2f, b: vec2f) -> vec2f { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
fn turn(a: vec2f) -> vec2f { return vec2f(a.x, -a.y); }
fn inverted(a: vec2f) -> vec2f {
  let m = max(abs(a.x), abs(a.y));
  let b = a / m;
  return turn(b) / (m * dot(b, b));
}
fn root(a: vec2f) -> vec2f {
  let m = max(abs(a.x), abs(a.y));
  if (m == 0.0f) { return vec2f(); }
  let b = a / m;
  let s = sqrt(m);
  if (b.y == 0.0f) { return select(vec2f(0.0f, s * sqrt(max(-b.x, 0.0f))), vec2f(s * sqrt(max(b.x, 0.0f)), 0.0f), b.x > 0.0f); }
  let t = sqrt(0.5f * (length(b) + abs(b.x)));
  let u = 0.5f * b.y / t;
  return s * select(vec2f(abs(u), select(-t, t, b.y > 0.0f)), vec2f(t, u), b.x >= 0.0f);
}

// The block that row i is in: its first row, whether it has two; its eigenvalues and a unit vector of the first.
struct Block { first: u32, two: bool, one: vec2f, other: vec2f, x: vec2f, y: vec2f }

fn block(at: u32, i: u32) -> Block {
  let n = P[0].y;
  var first = i;
  var two = false;
  if (i > 0u) {
    if (any(complex(h[at + i * n + i - 1u]) != vec2f())) {
      first = i - 1u;
      two = true;
    }
  }
  if (!two && i + 1u < n) { two = any(complex(h[at + (i + 1u) * n + i]) != vec2f()); }
  let e = at + first * n + first;
  let a = complex(h[e]);
  if (!two) { return Block(i, false, a, a, vec2f(1.0f, 0.0f), vec2f()); }
  let b = complex(h[e + 1u]);
  let c = complex(h[e + n]);
  let d = complex(h[e + n + 1u]);
  let half = 0.5f * (a - d);
  let m = max(max(max(abs(half.x), abs(half.y)), max(abs(b.x), abs(b.y))), max(abs(c.x), abs(c.y)));
  let p = half / m;
  let r = root(full(p, p) + full(b / m, c / m));
  var q = p + r;
  if (dot(p - r, p - r) > dot(q, q)) { q = p - r; }
  if (dot(q, q) == 0.0f) { q = vec2f(); }
  var to = m * q;
  var one = d + to;
  var other = d;
  if (any(to != vec2f())) { other = d - full(full(b, c / m), inverted(q)); }
  if (P[0].w == 0u && r.x == 0.0f && r.y != 0.0f) {
    to = m * vec2f(p.x, abs(r.y));
    one = d + to;
    other = turn(one);
  }
  let by = 1.0f / max(length(to), max(abs(c.x), abs(c.y)));
  let x = to * by;
  let y = c * by;
  let s = 1.0f / sqrt(dot(x, x) + dot(y, y));
  return Block(first, true, one, other, x * s, y * s);
}

// Row `row` of column c of the block's basis [[x, -conj y], [y, conj x]].
fn basis(b: Block, row: u32, c: u32) -> vec2f {
  if (c == b.first) { return select(b.y, b.x, row == b.first); }
  return select(turn(b.x), -turn(b.y), row == b.first);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let t = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].y;
  let all = P[0].z != 0u;
  let each = select(n, n * n, all);
  let m = t / each;
  if (m >= P[0].x) { return; }
  let at = m * n * n;
  let r = select(t % n, (t % each) / n, all);
  let c = t % n;
  let y = block(at, c);
  if (r == c) {
    dst[m * n + c] = select(y.other, y.one, c == y.first);
    if (c == 0u) { dst[P[0].x * n + m] = vec2f(select(0.0f, f32(state[2u * m]), state[2u * m] > 1u), 0.0f); }
  }
  if (!all) { return; }
  let to = P[0].x * (n + 1u) + at + r * n + c;
  let x = block(at, r);
  let columns = select(1u, 2u, y.two);
  var value = vec2f();
  if (r == c) { value = select(y.other, y.one, c == y.first); } else if (r < c) {
    for (var i = 0u; i < select(1u, 2u, x.two); i++) {
      for (var j = 0u; j < columns; j++) {
        let e = complex(h[at + (x.first + i) * n + y.first + j]);
        value += full(full(turn(basis(x, x.first + i, r)), e), basis(y, y.first + j, c));
      }
    }
  }
  dst[to] = value;
  var vector = vec2f();
  for (var j = 0u; j < columns; j++) { vector += full(complex(z[at + (y.first + j) * n + r]), basis(y, y.first + j, c)); }
  dst[to + P[0].x * n * n] = vector;
}
