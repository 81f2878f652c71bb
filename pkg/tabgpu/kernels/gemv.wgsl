// gemv: C[batch, m, n] = A[batch, m, k] @ B[batch, k, n] with few rows or few columns, the large operand read once.
//
// The operand with many rows (MATRIX_A) or columns is the matrix, the other one holds up to VECS vectors. LANES threads
// share an output and take every LANES-th four of k; they add up through workgroup memory, in a fixed order.
//   ALONG_K true    the matrix lies along k: a thread makes OUTS outputs of each vector, with vec4s along k
//   ALONG_K false   it lies along the outputs: a thread makes four neighbouring outputs of each vector
// Past the end of k both operands are zero. Strides, words, pieces of k, emit and emit4 as in gemm.
//
// Tunables (rewritten by specialise; gemm_tiles.py lists the sets in use):
//   T                   f32, i32 or u32
//   NT LANES OUTS VECS  threads; NT a multiple of LANES, LANES a power of two
//   AE, BE              element types of the bindings
//   M_VEC, X_VEC        the matrix (along k or along the outputs), the vectors (along k) are read as aligned vec4s
//   N4                  n is a multiple of 4: four neighbouring columns leave through emit4
//   PV                  vec4s of parameters; the words from 24 on belong to codegen
//
// Dispatch: ceil(outputs / PER) * batch * pieces workgroups, folded into x, y, z in any way that covers them.
//
// Hooks: emit, emit4; m_one, m_vec, x_one, x_vec read the matrix and the vectors: one element, or four from a multiple
// of 4 on. Codegen replaces them. gemv_inner.py writes the block between `unroll: begin` and `unroll: end`.

alias T = f32;
alias AE = T;
alias BE = T;
const NT = 64u;
const LANES = 16u;
const OUTS = 1u;
const VECS = 1u;
const MATRIX_A = false;
const ALONG_K = true;
const M_VEC = false;
const X_VEC = false;
const N4 = false;
const PV = 8u;

const ACROSS = NT / LANES;
const PER = select(ACROSS * 4u, ACROSS * OUTS, ALONG_K);

@group(0) @binding(0) var<storage, read> a: array<AE>;
@group(0) @binding(1) var<storage, read> b: array<BE>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn emit(v: T, i: u32) {
  c[i] = bitcast<u32>(v);
}

fn emit4(v: vec4<T>, i: u32) {
  emit(v.x, i);
  emit(v.y, i + 1u);
  emit(v.z, i + 2u);
  emit(v.w, i + 3u);
}

fn m_one(i: u32) -> T {
  return vec4<T>(b[i]).x;
}

fn m_vec(i: u32) -> vec4<T> {
  return vec4<T>(b[i / 4u]);
}

fn x_one(i: u32) -> T {
  return vec4<T>(a[i]).x;
}

fn x_vec(i: u32) -> vec4<T> {
  return vec4<T>(a[i / 4u]);
}

// Four elements of the matrix from i on; those from `some` on are zero.
fn m_four(i: u32, step: u32, some: u32) -> vec4<T> {
  if (M_VEC) {
    return m_vec(i);
  }
  return select(vec4<T>(), vec4<T>(m_one(i), m_one(i + step), m_one(i + 2u * step), m_one(i + 3u * step)),
                vec4u(0u, 1u, 2u, 3u) < vec4u(some));
}

fn x_four(i: u32, step: u32, some: u32) -> vec4<T> {
  if (X_VEC) {
    return x_vec(i);
  }
  return select(vec4<T>(), vec4<T>(x_one(i), x_one(i + step), x_one(i + 2u * step), x_one(i + 3u * step)),
                vec4u(0u, 1u, 2u, 3u) < vec4u(some));
}

// Vector v's output o of matrix z.
fn put(value: T, z: u32, v: u32, o: u32) {
  let m = P[0].x;
  let n = P[0].y;
  if (MATRIX_A) {
    if (o < m && v < n) { emit(value, P[1].w + (z * m + o) * n + v); }
  } else if (o < n && v < m) {
    emit(value, P[1].w + (z * m + v) * n + o);
  }
}

// Vector v's outputs o to o + 3.
fn put4(value: vec4<T>, z: u32, v: u32, o: u32) {
  if (N4 && !MATRIX_A) {
    if (o < P[0].y && v < P[0].x) { emit4(value, P[1].w + (z * P[0].x + v) * P[0].y + o); }
    return;
  }
  put(value.x, z, v, o);
  put(value.y, z, v, o + 1u);
  put(value.z, z, v, o + 2u);
  put(value.w, z, v, o + 3u);
}

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,
        @builtin(local_invocation_index) li: u32) {
  let outputs = select(P[0].y, P[0].x, MATRIX_A);
  let last = select(P[0].x, P[0].y, MATRIX_A) - 1u; // of the vectors
  let blocks = (outputs + PER - 1u) / PER;
  let t = wid.x + nwg.x * (wid.y + nwg.y * wid.z);
  if (t >= blocks * P[0].w * P[5].y) {
    return;
  }
  let z = t / blocks;
  let y = z % P[0].w;
  let d = vec3u(y / (P[3].w * P[4].w), y / P[4].w % P[3].w, y % P[4].w);
  let begin = z / P[0].w * P[5].x;
  let end = min(begin + P[5].x, P[0].z);
  let a0 = P[1].x + d.x * P[3].x + d.y * P[3].y + d.z * P[3].z;
  let b0 = P[2].x + d.x * P[4].x + d.y * P[4].y + d.z * P[4].z;
  let m0 = select(b0, a0, MATRIX_A);
  let x0 = select(a0, b0, MATRIX_A);
  let mo = select(P[2].z, P[1].y, MATRIX_A); // strides of the matrix along the outputs and k, of the vectors
  let mk = select(P[2].y, P[1].z, MATRIX_A);
  let xv = select(P[1].y, P[2].z, MATRIX_A);
  let xk = select(P[1].z, P[2].y, MATRIX_A);
  let lane = select(li / ACROSS, li % LANES, ALONG_K);
  let o = t % blocks * PER + select(li % ACROSS * 4u, li / LANES * OUTS, ALONG_K);
  // unroll: begin
  // The plainest form, one output after the other; gemv_inner.py has the fast one.
  if (lane == 0u) {
    for (var v = 0u; v <= min(last, VECS - 1u); v++) {
      for (var e = o; e < min(o + select(4u, OUTS, ALONG_K), outputs); e++) {
        var sum = T();
        for (var k = begin; k < end; k++) {
          sum += m_one(m0 + e * mo + k * mk) * x_one(x0 + v * xv + k * xk);
        }
        put(sum, z, v, e);
      }
    }
  }
  // unroll: end
}
