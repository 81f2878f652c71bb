// Driver: for each item, each peer in turn on the same inputs; posts every cell's figures as soon as it has them.
import { items, profiles } from './spec.mjs';
const q = new URLSearchParams(location.search),
  now = () => performance.now();
export const post = (o) => fetch('/log', { method: 'POST', body: JSON.stringify(o) });
const errs = [];
let cur = null;
const devs = {};
const base = (p) => p.replace(/\+.*/, ''); // 'ort+' is the same instance as 'ort', other graphs
// Every GPUDevice a peer asks for is noted, so that one and the same call (queue.onSubmittedWorkDone) syncs every peer.
const rd0 = self.GPUAdapter?.prototype.requestDevice;
if (self.GPUAdapter) {
  const rd = rd0;
  GPUAdapter.prototype.requestDevice = async function (d) {
    const dev = await rd.call(this, d);
    (devs[base(cur)] ??= []).push(dev);
    dev.addEventListener('uncapturederror', (e) => errs.push(String(e.error?.message || e.error).slice(0, 400)));
    dev.lost.then((i) => i.reason === 'destroyed' || errs.push('device lost: ' + i.reason + ' ' + i.message));
    post({
      t: 'device',
      peer: cur,
      features: [...dev.features],
      limits: Object.fromEntries(
        ['maxBufferSize', 'maxStorageBufferBindingSize', 'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupStorageSize'].map((k) => [
          k,
          dev.limits[k],
        ]),
      ),
    });
    return dev;
  };
}
let asked = 0; // when the last wait began: what came before it is the peer's own time on the host
const done = async (peer) => {
  asked = now();
  await devs[base(peer)].at(-1).queue.onSubmittedWorkDone();
};
const med = (a) => {
  const b = [...a].sort((x, y) => x - y);
  return b.length % 2 ? b[b.length >> 1] : (b[b.length / 2 - 1] + b[b.length / 2]) / 2;
};
const r4 = (x) => (x == null ? x : +x.toPrecision(5));
const stat = (a) => ({ med: r4(med(a)), min: r4(Math.min(...a)), max: r4(Math.max(...a)), n: a.length });

// Busy the card for about `ms` before a timed block, on a device of our own: an idle card lowers its clocks, and the peer
// that is measured first after a pause would pay for it.
let hot;
async function heat(ms) {
  if (!ms) return;
  if (!hot) {
    const a = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' }),
      d = await rd0.call(a, {}),
      n = a.info.isFallbackAdapter ? 64 : 1024,
      B = () => d.createBuffer({ size: n * n * 4, usage: 128 });
    const p = d.createComputePipeline({
        layout: 'auto',
        compute: {
          module: d.createShaderModule({
            code: `@group(0) @binding(0) var<storage,read> A:array<f32>;@group(0) @binding(1) var<storage,read_write> C:array<f32>;
@compute @workgroup_size(16,16) fn main(@builtin(global_invocation_id) g:vec3u){var s=0.0;for(var k=0u;k<${n}u;k++){s+=A[g.y*${n}u+k]*A[k*${n}u+g.x];}C[g.y*${n}u+g.x]=s;}`,
          }),
          entryPoint: 'main',
        },
      }),
      A = B(),
      C = B();
    hot = {
      d,
      p,
      g: n / 16,
      b: d.createBindGroup({
        layout: p.getBindGroupLayout(0),
        entries: [A, C].map((buffer, binding) => ({ binding, resource: { buffer } })),
      }),
    };
  }
  for (const t = now(); now() - t < ms;) {
    const e = hot.d.createCommandEncoder(),
      c = e.beginComputePass();
    c.setPipeline(hot.p);
    c.setBindGroup(0, hot.b);
    for (let i = 0; i < 20; i++) c.dispatchWorkgroups(hot.g, hot.g);
    c.end();
    hot.d.queue.submit([e.finish()]);
    await hot.d.queue.onSubmittedWorkDone();
  }
}

async function measure(p, spec, inputs, C) {
  const R = {},
    t00 = now(),
    left = () => C.cell - (now() - t00);
  let t = now();
  const out = await p.e2e();
  R.first_ms = r4(now() - t); // warm-up 1: also compiles
  R.err = spec.check(out, inputs, p.layout);
  if (!(R.err <= spec.tol)) R.wrong = true;
  R.err = r4(R.err);
  if (p.e2eOnly) R.note = p.e2eOnly;
  if (p.rb) {
    await heat(C.heat);
    for (let i = 0; i < 5; i++) await p.rb();
    const v = [];
    for (let i = 0; i < 25; i++) v.push(await p.rb());
    R.per_op_ms = R.one_ms = stat(v);
    R.K = 1;
    return R;
  }
  const T = async (k) => {
    const a = now();
    await p.many(k);
    return now() - a;
  };
  let t1 = await T(1);
  t1 = Math.min(t1, await T(1)); // warm-up 2, 3
  let K = 1,
    tk = t1;
  const cap = Math.min(p.maxK ?? C.maxK, C.maxK);
  await heat(C.heat);
  while (tk < C.target && K < cap) {
    const k2 = Math.min(cap, Math.max(K + 1, Math.min(K * 5, Math.ceil((K * C.target) / Math.max(tk, 0.05)))));
    if (k2 === K) break;
    K = k2;
    tk = await T(K);
  }
  const reps = C.reps,
    a = [],
    b = [],
    h = [],
    e = [];
  await heat(C.heat / 2);
  for (let i = 0; i < reps; i++) {
    a.push(await T(K));
    if (a.length >= 3 && left() < 0) break;
    if (a.length >= 1 && a[0] > C.cell) break;
  }
  R.K = K;
  R.per_op_ms = stat(a.map((x) => x / K));
  if (K > 1) {
    for (let i = 0; i < reps; i++) {
      const s = now();
      b.push(await T(1));
      h.push(asked - s);
      if (b.length >= 3 && left() < 0) break;
    }
    R.one_ms = stat(b);
    R.one_host_ms = stat(h);
  } else R.one_ms = R.per_op_ms;
  if (!p.noE2E) {
    for (let i = 0; i < reps; i++) {
      const s = now();
      await p.e2e();
      e.push(now() - s);
      if (e.length >= 3 && left() < -C.cell / 2) break;
      if (e[0] > C.cell) break;
    }
    R.e2e_ms = stat(e);
  }
  return R;
}

async function adapterInfo() {
  const a = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (!a) return { err: 'no adapter' };
  const L = {};
  for (const k in a.limits) L[k] = a.limits[k];
  let mats;
  try {
    mats = [...(a.info.subgroupMatrixConfigs || [])].map((c) => ({ c: c.componentType, r: c.resultComponentType, M: c.M, N: c.N, K: c.K }));
  } catch (e) {
    mats = String(e);
  }
  return {
    vendor: a.info.vendor,
    architecture: a.info.architecture,
    device: a.info.device,
    description: a.info.description,
    fallback: a.info.isFallbackAdapter,
    subgroup: [a.info.subgroupMinSize, a.info.subgroupMaxSize],
    matrixConfigs: mats,
    features: [...a.features].sort(),
    wgsl: [...navigator.gpu.wgslLanguageFeatures].sort(),
    limits: L,
    coi: self.crossOriginIsolated,
    jspi: !!WebAssembly.Suspending,
    ua: navigator.userAgent,
    cores: navigator.hardwareConcurrency,
  };
}

async function main() {
  const mode = q.get('mode') || 'bench';
  if (mode === 'adapter') {
    await post({ t: 'adapter', ...(await adapterInfo()) });
    return;
  }
  if (mode === 'startup') {
    const peer = (cur = q.get('peer'));
    const m = await import(`./peers/${q.get('mod') || peer}.mjs`);
    const t0 = now();
    const p = await m.make({ peer, devs, done: () => done(peer) });
    const t1 = now();
    const s = items.mm256,
      inp = s.inputs();
    const t2 = now();
    const c = await p.prep(s, inp);
    const o = await c.e2e();
    const t3 = now();
    await post({
      t: 'startup',
      peer,
      version: p.version,
      to_first_result_ms: r4(t3 - (t2 - t1)),
      init_ms: r4(t1 - t0),
      first_op_ms: r4(t3 - t2),
      err: r4(s.check(o, inp)),
    });
    return;
  }
  const C = await (await fetch('/todo')).json(); // {cells:[[item,peer,variant?]...], peers:{name:module}, target, maxK, reps, cell}
  const P = {};
  let lastItem, inputs;
  for (const [id, peer] of C.cells) {
    const spec = items[id];
    cur = peer;
    errs.length = 0;
    await post({ t: 'begin', item: id, peer });
    const row = { t: 'cell', item: id, peer };
    try {
      if (!P[peer]) {
        const m = await import(`./peers/${C.peers[peer]}.mjs`);
        P[peer] = await m.make({ peer, devs, done: () => done(peer) });
        await post({ t: 'peer', peer, version: P[peer].version, notes: P[peer].notes });
      }
      if (id !== lastItem) {
        inputs = null;
        inputs = spec.inputs();
        lastItem = id;
      }
      const c = await P[peer].prep(spec, inputs);
      if (!c) row.none = 'not offered';
      else if (typeof c === 'string') row.none = c;
      else {
        row.how = c.how;
        Object.assign(row, await measure(c, spec, inputs, C), c.report?.());
        await c.dispose?.();
      }
    } catch (e) {
      row.fail = String(e?.message || e).slice(0, 500);
      row.stack = String(e?.stack || '').slice(0, 300);
    }
    if (errs.length) row.gpuErrors = [...new Set(errs)].slice(0, 3);
    await post(row);
    if (errs.some((e) => e.startsWith('device lost') && !e.includes('destroyed'))) {
      await post({ t: 'reload', peer, why: errs.find((e) => e.startsWith('device lost')) });
      location.reload();
      await new Promise(() => {});
    }
  }
  await post({ t: 'end' });
}
main()
  .catch((e) => post({ t: 'fatal', err: String(e), stack: e?.stack }))
  .then(() => mainDone());
function mainDone() {
  post({ t: 'pagedone' });
}
