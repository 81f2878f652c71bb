// What is measured: the items, their inputs (the same numbers for every peer), the work in them, and a check of every
// peer's output against float64 arithmetic done here in JavaScript.
export const P = (...d) => d.reduce((a, b) => a * b, 1);

// Deterministic uniform [-1,1) stream; long arrays repeat it with a period of 1000003 (prime), made once and copied.
export function rand(n, seed, lo = -1, hi = 1) {
  const a = new Float32Array(n),
    m = Math.min(n, 1000003);
  let s = seed >>> 0;
  const k = (hi - lo) / 2,
    c = (hi + lo) / 2;
  for (let i = 0; i < m; i++) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    a[i] = ((s >>> 8) / 8388608 - 1) * k + c;
  }
  for (let f = m; f < n; f *= 2) a.copyWithin(f, 0, Math.min(f, n - f));
  return a;
}
const picks = (n, k = 24) => {
  const r = [0, n - 1, n >> 1];
  let s = 99;
  while (r.length < k) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    r.push(s % n);
  }
  return r;
};
// largest |got-want| over the picked places, divided by the rms of the wanted values there
function err(n, got, want) {
  let m = 0,
    q = 0,
    c = 0;
  for (const i of picks(n)) {
    const w = want(i),
      g = Number(got[i]);
    if (!Number.isFinite(g)) return Infinity;
    m = Math.max(m, Math.abs(g - w));
    q += w * w;
    c++;
  }
  return m / (Math.sqrt(q / c) || 1);
}

const I = {};
function item(id, o) {
  I[id] = { id, tol: 1e-3, ...o };
}

function mmItem(id, B, M, K, N, extra = {}) {
  item(id, {
    kind: 'matmul',
    dims: { B, M, K, N },
    flops: 2 * B * M * K * N,
    bytes: 4 * B * (M * K + K * N + M * N),
    inputs: () => ({ A: rand(B * M * K, 1), B: rand(B * K * N, 2) }),
    shapes: B > 1 ? { A: [B, M, K], B: [B, K, N] } : { A: [M, K], B: [K, N] },
    out: B > 1 ? [B, M, N] : [M, N],
    check: (o, i) =>
      err(B * M * N, o, (x) => {
        const c = x % N,
          r = ((x / N) | 0) % M,
          b = (x / (N * M)) | 0;
        let s = 0;
        for (let k = 0; k < K; k++) s += i.A[b * M * K + r * K + k] * i.B[b * K * N + k * N + c];
        return s;
      }),
    ...extra,
  });
}
for (const N of [256, 512, 1024, 2048, 4096]) mmItem('mm' + N, 1, N, N, N);
mmItem('bmm64x128', 64, 128, 128, 128);
mmItem('mv4096', 1, 1, 4096, 4096);
for (const N of [2048, 4096]) mmItem('mmh' + N, 1, N, N, N, { kind: 'matmul_f16', tol: 2e-2, bytes: 2 * 3 * N * N });

for (const [id, n] of [
  ['chain1M', 1 << 20],
  ['chain64M', 1 << 26],
])
  item(id, {
    kind: 'chain',
    n,
    flops: 0,
    bytes: 16 * n,
    inputs: () => ({ A: rand(n, 3), B: rand(n, 4), C: rand(n, 5) }),
    shapes: { A: [n], B: [n], C: [n] },
    out: [n],
    check: (o, i) => err(n, o, (x) => Math.tanh(i.A[x] * i.B[x] + i.C[x]) * 0.5),
  });

for (const N of [1024, 4096]) {
  const X = () => ({ X: rand(N * N, 6, 0, 1) }),
    sh = { X: [N, N] };
  item('sum_all_' + N, {
    kind: 'sum',
    axis: null,
    N,
    bytes: 4 * N * N,
    inputs: X,
    shapes: sh,
    out: [],
    check: (o, i) => {
      let s = 0;
      for (let k = 0; k < N * N; k++) s += i.X[k];
      return Math.abs(Number(o[0]) - s) / s;
    },
  });
  item('sum_ax0_' + N, {
    kind: 'sum',
    axis: 0,
    N,
    bytes: 4 * N * N,
    inputs: X,
    shapes: sh,
    out: [N],
    check: (o, i) =>
      err(N, o, (c) => {
        let s = 0;
        for (let r = 0; r < N; r++) s += i.X[r * N + c];
        return s;
      }),
  });
  item('sum_ax1_' + N, {
    kind: 'sum',
    axis: 1,
    N,
    bytes: 4 * N * N,
    inputs: X,
    shapes: sh,
    out: [N],
    check: (o, i) =>
      err(N, o, (r) => {
        let s = 0;
        for (let c = 0; c < N; c++) s += i.X[r * N + c];
        return s;
      }),
  });
  item('argmax_' + N, {
    kind: 'argmax',
    N,
    bytes: 4 * N * N,
    inputs: X,
    shapes: sh,
    out: [N],
    outType: 'i',
    check: (o, i) =>
      err(N, o, (r) => {
        let m = -1,
          b = 0;
        for (let c = 0; c < N; c++)
          if (i.X[r * N + c] > m) {
            m = i.X[r * N + c];
            b = c;
          }
        return b;
      }),
  });
}
for (const N of [512, 1024, 4096]) {
  const X = () => ({ X: rand(N * N, 7, -3, 3) }),
    sh = { X: [N, N] };
  item('softmax_' + N, {
    kind: 'softmax',
    N,
    bytes: 8 * N * N,
    inputs: X,
    shapes: sh,
    out: [N, N],
    check: (o, i) =>
      err(N * N, o, (x) => {
        const r = (x / N) | 0;
        let s = 0;
        for (let c = 0; c < N; c++) s += Math.exp(i.X[r * N + c]);
        return Math.exp(i.X[x]) / s;
      }),
  });
  item('layernorm_' + N, {
    kind: 'layernorm',
    N,
    bytes: 8 * N * N,
    inputs: () => ({ ...X(), G: rand(N, 8, 0.5, 1.5), B: rand(N, 9) }),
    shapes: { X: [N, N], G: [N], B: [N] },
    out: [N, N],
    check: (o, i) =>
      err(N * N, o, (x) => {
        const r = (x / N) | 0,
          c0 = x % N;
        let m = 0,
          v = 0;
        for (let c = 0; c < N; c++) m += i.X[r * N + c];
        m /= N;
        for (let c = 0; c < N; c++) v += (i.X[r * N + c] - m) ** 2;
        v /= N;
        return ((i.X[x] - m) / Math.sqrt(v + 1e-5)) * i.G[c0] + i.B[c0];
      }),
  });
  item('cumsum_' + N, {
    kind: 'cumsum',
    N,
    bytes: 8 * N * N,
    inputs: X,
    shapes: sh,
    out: [N, N],
    check: (o, i) =>
      err(N * N, o, (x) => {
        const r = (x / N) | 0;
        let s = 0;
        for (let k = r * N; k <= x; k++) s += i.X[k];
        return s;
      }),
  });
}
item('conv', {
  kind: 'conv',
  dims: { C: 64, H: 56, W: 56, O: 64, R: 3 },
  flops: 2 * 64 * 64 * 9 * 56 * 56,
  bytes: 4 * (2 * 64 * 56 * 56 + 64 * 64 * 9),
  inputs: () => {
    const X = rand(64 * 56 * 56, 11),
      W = rand(64 * 64 * 9, 12),
      C = 64,
      H = 56;
    // the same numbers in NHWC / HWIO order, for peers whose natural layout that is
    const Xn = new Float32Array(X.length),
      Wn = new Float32Array(W.length);
    for (let c = 0; c < C; c++) for (let p = 0; p < H * H; p++) Xn[p * C + c] = X[c * H * H + p];
    for (let o = 0; o < C; o++) for (let c = 0; c < C; c++) for (let k = 0; k < 9; k++) Wn[(k * C + c) * C + o] = W[(o * C + c) * 9 + k];
    return { X, W, Xn, Wn };
  },
  shapes: { X: [1, 64, 56, 56], W: [64, 64, 3, 3], Xn: [1, 56, 56, 64], Wn: [3, 3, 64, 64] },
  out: [1, 64, 56, 56],
  check: (o, i, layout) =>
    err(64 * 56 * 56, o, (x) => {
      const H = 56,
        C = 64;
      let oc, y, xx;
      if (layout === 'NHWC') {
        oc = x % C;
        xx = ((x / C) | 0) % H;
        y = (x / (C * H)) | 0;
      } else {
        xx = x % H;
        y = ((x / H) | 0) % H;
        oc = (x / (H * H)) | 0;
      }
      let s = 0;
      for (let c = 0; c < C; c++)
        for (let r = 0; r < 3; r++)
          for (let q = 0; q < 3; q++) {
            const yy = y + r - 1,
              x2 = xx + q - 1;
            if (yy >= 0 && yy < H && x2 >= 0 && x2 < H) s += i.X[c * H * H + yy * H + x2] * i.W[(oc * C + c) * 9 + r * 3 + q];
          }
      return s;
    }),
});

for (const S of [256, 1024])
  for (const causal of [false, true]) {
    const H = 8,
      D = 64;
    item(`attn_${causal ? 'causal_' : ''}${S}`, {
      kind: 'attn',
      causal,
      dims: { H, S, D },
      flops: 4 * H * S * S * D * (causal ? 0.5 : 1),
      bytes: 4 * 4 * H * S * D,
      // BSNH is [1,S,H,D]; BNSH is [1,H,S,D]
      inputs: () => {
        const r = {};
        for (const [k, s] of [
          ['Q', 21],
          ['K', 22],
          ['V', 23],
        ]) {
          const a = rand(S * H * D, s),
            b = new Float32Array(a.length);
          for (let t = 0; t < S; t++) for (let h = 0; h < H; h++) b.set(a.subarray((t * H + h) * D, (t * H + h + 1) * D), (h * S + t) * D);
          r[k] = b;
          r[k + 's'] = a;
        }
        return r;
      },
      shapes: { Q: [1, H, S, D], K: [1, H, S, D], V: [1, H, S, D], Qs: [1, S, H, D], Ks: [1, S, H, D], Vs: [1, S, H, D] },
      out: [1, H, S, D],
      check: (o, i, layout) =>
        err(S * H * D, o, (x) => {
          const d = x % D;
          let h, t;
          if (layout === 'BSNH') {
            h = ((x / D) | 0) % H;
            t = (x / (D * H)) | 0;
          } else {
            t = ((x / D) | 0) % S;
            h = (x / (D * S)) | 0;
          }
          const e = causal ? t + 1 : S,
            l = new Float64Array(e);
          let m = -Infinity;
          for (let j = 0; j < e; j++) {
            let s = 0;
            for (let k = 0; k < D; k++) s += i.Q[(h * S + t) * D + k] * i.K[(h * S + j) * D + k];
            l[j] = s / 8;
            m = Math.max(m, l[j]);
          }
          let z = 0,
            a = 0;
          for (let j = 0; j < e; j++) {
            const w = Math.exp(l[j] - m);
            z += w;
            a += w * i.V[(h * S + j) * D + d];
          }
          return a / z;
        }),
    });
  }
for (const L of [16, 20]) {
  const n = 1 << L;
  const shuf = () => {
    const a = new Float32Array(n);
    let s = 77;
    for (let i = 0; i < n; i++) {
      s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
      a[i] = (s >>> 8) / 8388608 - 1;
    }
    return { X: a };
  };
  item('sort_' + L, {
    kind: 'sort',
    L,
    n,
    bytes: 8 * n,
    inputs: shuf,
    shapes: { X: [n] },
    out: [n],
    check: (o, i) => {
      const w = i.X.slice().sort();
      for (let k = 0; k < n; k++) if (o[k] !== w[k]) return 1;
      return 0;
    },
  });
  item('argsort_' + L, {
    kind: 'argsort',
    L,
    n,
    bytes: 8 * n,
    inputs: shuf,
    shapes: { X: [n] },
    out: [n],
    outType: 'i',
    check: (o, i) => {
      let p = -Infinity;
      for (let k = 0; k < n; k++) {
        const v = i.X[Number(o[k])];
        if (!(v >= p)) return 1;
        p = v;
      }
      return 0;
    },
  });
}
for (const [B, N] of [
  [64, 1024],
  [1024, 1024],
  [1, 1 << 20],
])
  item(`fft_${B}x${N}`, {
    kind: 'fft',
    B,
    N,
    tol: N > 5000 ? 1e-2 : 1e-3,
    flops: 5 * B * N * Math.log2(N),
    bytes: 16 * B * N,
    inputs: () => {
      const R = rand(B * N, 31),
        I2 = rand(B * N, 32),
        Z = new Float32Array(2 * B * N);
      for (let k = 0; k < B * N; k++) {
        Z[2 * k] = R[k];
        Z[2 * k + 1] = I2[k];
      }
      return { R, I: I2, Z };
    },
    shapes: { R: [B, N], I: [B, N], Z: [B, N, 2] },
    out: [B, N],
    check: (o, i) => {
      let m = 0;
      for (const x of picks(B * N, 6)) {
        const b = (x / N) | 0,
          k = x % N;
        let s = 0,
          t = 0;
        for (let j = 0; j < N; j++) {
          const a = (-2 * Math.PI * ((j * k) % N)) / N,
            c = Math.cos(a),
            q = Math.sin(a),
            R = i.R[b * N + j],
            J = i.I[b * N + j];
          s += R * c - J * q;
          t += R * q + J * c;
        }
        const g = o(x);
        m = Math.max(m, Math.hypot(g[0] - s, g[1] - t));
      }
      return m / Math.sqrt((N * 2) / 3);
    },
  });
item('tiny1000', {
  kind: 'tiny',
  inputs: () => ({ X: rand(1024, 41), B: rand(1024, 42, 0, 0.001) }),
  shapes: { X: [1024], B: [1024] },
  out: [1024],
  perOp: 1000,
  check: (o, i) => err(1024, o, (k) => i.X[k] + 1000 * i.B[k]),
});
item('readback', {
  kind: 'readback',
  inputs: () => ({ X: rand(1024, 43, 0, 1) }),
  shapes: { X: [1024] },
  out: [],
  check: (o, i) => {
    let s = 0;
    for (const v of i.X) s += v;
    return Math.abs(Number(o[0]) - s) / s;
  },
});
item('copy64M', { kind: 'copy', n: 1 << 26, bytes: 8 * (1 << 26), inputs: () => ({}), shapes: {}, out: [], check: () => 0 });
// A stack of ResNet-50's layers, batch 1: a bottleneck of each stage (1x1, 3x3, 1x1), rectified; weights [out, in, size, stride].
export const LAYERS = [
  [64, 64, 1, 1],
  [64, 64, 3, 1],
  [256, 64, 1, 1],
  [128, 256, 1, 1],
  [128, 128, 3, 2],
  [512, 128, 1, 1],
  [256, 512, 1, 1],
  [256, 256, 3, 2],
  [1024, 256, 1, 1],
  [512, 1024, 1, 1],
  [512, 512, 3, 2],
  [2048, 512, 1, 1],
];
{
  const sides = [56];
  for (const [, , , stride] of LAYERS) sides.push(sides.at(-1) / stride);
  const shapes = { X: [1, 64, 56, 56], Xn: [1, 56, 56, 64] };
  LAYERS.forEach(([o, c, r], k) => {
    shapes['W' + k] = [o, c, r, r];
    shapes[`W${k}n`] = [r, r, c, o];
  });
  let kept; // the answer, by the inputs it belongs to
  item('resnet', {
    kind: 'resnet',
    flops: LAYERS.reduce((sum, [o, c, r], k) => sum + 2 * o * c * r * r * sides[k + 1] ** 2, 0),
    bytes: 4 * LAYERS.reduce((sum, [o, c, r], k) => sum + o * c * r * r + c * sides[k] ** 2 + o * sides[k + 1] ** 2, 0),
    inputs: () => {
      const X = rand(64 * 56 * 56, 51),
        found = { X, Xn: new Float32Array(X.length) };
      for (let c = 0; c < 64; c++) for (let p = 0; p < 56 * 56; p++) found.Xn[p * 64 + c] = X[c * 56 * 56 + p];
      LAYERS.forEach(([o, c, r], k) => {
        const scale = Math.sqrt(6 / (c * r * r)), // keeps the variance through the rectifiers
          W = rand(o * c * r * r, 52 + k, -scale, scale),
          Wn = new Float32Array(W.length);
        for (let i = 0; i < o; i++) for (let j = 0; j < c; j++) for (let t = 0; t < r * r; t++) Wn[(t * c + j) * o + i] = W[(i * c + j) * r * r + t];
        found['W' + k] = W;
        found[`W${k}n`] = Wn;
      });
      return found;
    },
    shapes,
    out: [1, 2048, 7, 7],
    check: (got, i, layout) => {
      if (kept?.inputs !== i) {
        let x = Float64Array.from(i.X),
          side = 56;
        LAYERS.forEach(([o, c, r, stride], k) => {
          const next = side / stride,
            y = new Float64Array(o * next * next),
            W = i['W' + k],
            pad = r >> 1;
          for (let a = 0; a < o; a++)
            for (let b = 0; b < c; b++)
              for (let t = 0; t < r * r; t++) {
                const w = W[(a * c + b) * r * r + t],
                  dy = ((t / r) | 0) - pad,
                  dx = (t % r) - pad;
                for (let v = 0; v < next; v++) {
                  const yy = v * stride + dy;
                  if (yy < 0 || yy >= side) continue;
                  for (let u = 0; u < next; u++) {
                    const xx = u * stride + dx;
                    if (xx >= 0 && xx < side) y[(a * next + v) * next + u] += w * x[(b * side + yy) * side + xx];
                  }
                }
              }
          x = y.map((v) => Math.max(v, 0));
          side = next;
        });
        kept = { inputs: i, y: x };
      }
      return err(2048 * 49, got, (at) => (layout === 'NHWC' ? kept.y[(at % 2048) * 49 + ((at / 2048) | 0)] : kept.y[at]));
    },
  });
}

// A sentence encoder of MiniLM-L6's sizes (6 layers of 384 with 12 heads, 1,536 inside) on 32 texts of 128 tokens: token
// ids to vectors of length 1. Random weights, and a table of 1,024 words: the work does not depend on either.
{
  const B = 32,
    S = 128,
    D = 384,
    F = 1536,
    H = 12,
    N = 6,
    V = 1024;
  const shapes = { IDS: [B, S], E: [V, D], P: [S, D], G: [D], Z: [D] };
  for (let k = 0; k < N; k++)
    Object.assign(shapes, {
      [`WQ${k}`]: [D, D],
      [`WK${k}`]: [D, D],
      [`WV${k}`]: [D, D],
      [`WO${k}`]: [D, D],
      [`W1${k}`]: [D, F],
      [`W2${k}`]: [F, D],
      [`BO${k}`]: [D],
      [`B1${k}`]: [F],
    });
  const gelu = (x) => {
    const z = Math.abs(x) / Math.SQRT2,
      t = 1 / (1 + 0.3275911 * z); // Abramowitz and Stegun 7.1.26: 1.5e-7
    const e = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-z * z);
    return 0.5 * x * (1 + (x < 0 ? -e : e));
  };
  const times = (x, w, n, b) => {
    const rows = x.length / (w.length / n),
      k = w.length / n,
      y = new Float64Array(rows * n);
    for (let r = 0; r < rows; r++)
      for (let j = 0; j < k; j++) {
        const v = x[r * k + j];
        for (let c = 0; c < n; c++) y[r * n + c] += v * w[j * n + c];
      }
    if (b) for (let i = 0; i < y.length; i++) y[i] += b[i % n];
    return y;
  };
  const norm = (x, i) => {
    for (let r = 0; r < x.length; r += D) {
      let m = 0,
        v = 0;
      for (let c = 0; c < D; c++) m += x[r + c] / D;
      for (let c = 0; c < D; c++) v += (x[r + c] - m) ** 2 / D;
      for (let c = 0; c < D; c++) x[r + c] = ((x[r + c] - m) / Math.sqrt(v + 1e-12)) * i.G[c] + i.Z[c];
    }
    return x;
  };
  let kept;
  item('minilm', {
    kind: 'minilm',
    dims: { B, S, D, F, H, N },
    flops: 2 * B * S * N * (4 * D * D + 2 * D * F) + 4 * B * N * S * S * D,
    bytes: 4 * N * (4 * D * D + 2 * D * F),
    inputs: () => {
      const found = {
        IDS: Int32Array.from(rand(B * S, 71, 0, V), Math.floor),
        E: rand(V * D, 72),
        P: rand(S * D, 73, -0.1, 0.1),
        G: rand(D, 74, 0.5, 1.5),
        Z: rand(D, 75, -0.1, 0.1),
      };
      Object.keys(shapes).forEach((k, n) => (found[k] ??= rand(P(...shapes[k]), 80 + n, -0.07, 0.07)));
      return found;
    },
    shapes,
    out: [B, D],
    // One of the texts, whole.
    check: (got, i) => {
      const text = 17;
      if (kept?.inputs !== i) {
        let x = new Float64Array(S * D);
        for (let t = 0; t < S; t++) for (let c = 0; c < D; c++) x[t * D + c] = i.E[i.IDS[text * S + t] * D + c] + i.P[t * D + c];
        norm(x, i);
        for (let k = 0; k < N; k++) {
          const [q, key, v] = ['WQ', 'WK', 'WV'].map((w) => times(x, i[w + k], D)),
            y = new Float64Array(S * D),
            d = D / H;
          for (let h = 0; h < H; h++)
            for (let t = 0; t < S; t++) {
              const l = new Float64Array(S);
              for (let u = 0; u < S; u++) for (let c = 0; c < d; c++) l[u] += (q[t * D + h * d + c] * key[u * D + h * d + c]) / Math.sqrt(d);
              const m = Math.max(...l);
              let z = 0;
              for (let u = 0; u < S; u++) z += l[u] = Math.exp(l[u] - m);
              for (let u = 0; u < S; u++) for (let c = 0; c < d; c++) y[t * D + h * d + c] += (l[u] / z) * v[u * D + h * d + c];
            }
          const o = times(y, i['WO' + k], D, i['BO' + k]);
          x = norm(
            x.map((a, n) => a + o[n]),
            i,
          );
          const f = times(times(x, i['W1' + k], F, i['B1' + k]).map(gelu), i['W2' + k], D);
          x = norm(
            x.map((a, n) => a + f[n]),
            i,
          );
        }
        const mean = new Float64Array(D);
        for (let n = 0; n < x.length; n++) mean[n % D] += x[n];
        kept = { inputs: i, y: mean.map((a) => a / Math.hypot(...mean)) };
      }
      return err(D, got.slice(text * D, (text + 1) * D), (c) => kept.y[c]);
    },
  });
}
export const items = I;

export const profiles = {
  sw: [
    'mm256',
    'mm512',
    'bmm64x128',
    'mv4096',
    'chain1M',
    'sum_all_4096',
    'sum_ax0_4096',
    'sum_ax1_4096',
    'argmax_4096',
    'softmax_512',
    'softmax_4096',
    'conv',
    'attn_256',
    'attn_causal_256',
    'attn_1024',
    'attn_causal_1024',
    'layernorm_1024',
    'cumsum_1024',
    'sort_16',
    'argsort_16',
    'fft_64x1024',
    'tiny1000',
    'readback',
  ],
  gpu: [
    'mm256',
    'mm512',
    'mm1024',
    'mm2048',
    'mm4096',
    'bmm64x128',
    'mv4096',
    'chain1M',
    'sum_all_4096',
    'sum_ax0_4096',
    'sum_ax1_4096',
    'argmax_4096',
    'softmax_4096',
    'conv',
    'attn_1024',
    'attn_causal_1024',
    'resnet',
    'minilm',
    'layernorm_4096',
    'cumsum_4096',
    'sort_20',
    'argsort_20',
    'fft_1024x1024',
    'fft_1x1048576',
    'tiny1000',
    'readback',
    'copy64M',
    'chain64M',
  ],
  f16: ['mmh2048', 'mmh4096'],
};
