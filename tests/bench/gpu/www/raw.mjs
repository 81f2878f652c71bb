// The raw kernels of jobs.py on a bare WebGPU device: what the browser and the card give without tabgpu.
import { heat, measure, post } from './measure.mjs';

const FILL = `@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@group(0) @binding(1) var<uniform> p: vec4u;
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) g: vec3u, @builtin(num_workgroups) w: vec3u) {
  let i = g.y * w.x * 256u + g.x;
  if (i >= p.x) { return; }
  var h = (i + p.y) * 2654435761u;
  h = (h ^ (h >> 15u)) * 2246822519u;
  h = h ^ (h >> 13u);
  y[i] = f32(h >> 8u) / 8388608.0 - 1.0;
}`;

/** The value that FILL puts at place i of buffer number `seed`: the same number, exactly. */
function value(i, seed) {
  let h = Math.imul(i + seed * 77777777, 2654435761) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 2246822519) >>> 0;
  h = (h ^ (h >>> 13)) >>> 0;
  return (h >>> 8) / 8388608 - 1;
}

function places(n) {
  const out = [0, n - 1];
  for (let s = 99; out.length < 32; ) out.push((s = (Math.imul(s, 1664525) + 1013904223) >>> 0) % n);
  return out;
}

/** The largest error over sampled places as a share of what is allowed; `got(i)` reads one element. */
async function check(c, n, read) {
  let worst = 0;
  const note = (error, allowed) => { worst = Math.max(worst, Number.isFinite(error) ? error / allowed : Infinity); };
  if (c.kind === 'sum') {
    let sum = 0;
    for (let i = 0; i < n[0]; i++) sum += value(i, 1);
    note(Math.abs((await read(0)) - sum), 1e-6 * n[0]);
    return worst;
  }
  for (const i of places(n.at(-1))) {
    const got = await read(i);
    if (c.kind === 'copy') note(Math.abs(got - value(i, 1)), 1e-30);
    if (c.kind === 'chain') note(Math.abs(got - Math.tanh(value(i, 1) * value(i, 2) + value(i, 3)) * 0.5), 1e-5);
    if (c.kind === 'gemm') {
      const [row, col] = [Math.floor(i / c.n), i % c.n];
      let want = 0;
      let size = 0;
      for (let k = 0; k < c.k; k++) {
        const v = value(row * c.a[0] + k * c.a[1], 1) * value(k * c.b[0] + col * c.b[1], 2);
        want += v;
        size += Math.abs(v);
      }
      note(Math.abs(got - want), 4 * c.k * 2 ** -24 * size);
    }
  }
  return worst;
}

export async function main() {
  const { jobs, options } = await (await fetch('/todo')).json();
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error('no WebGPU adapter');
  const wanted = ['maxBufferSize', 'maxStorageBufferBindingSize', 'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupStorageSize'];
  const requiredLimits = Object.fromEntries(wanted.map((name) => [name, adapter.limits[name]]));
  const device = await adapter.requestDevice({ requiredLimits });
  const { vendor, architecture, description, isFallbackAdapter } = adapter.info;
  await post({ t: 'adapter', vendor, architecture, description, fallback: isFallbackAdapter, limits: requiredLimits, agent: navigator.userAgent });
  const errors = [];
  device.onuncapturederror = (e) => errors.push(e.error.message.slice(0, 600));
  device.lost.then((info) => errors.push(`device lost: ${info.message}`));

  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ, UNIFORM } = GPUBufferUsage;
  const bindGroup = (layout, buffers) =>
    device.createBindGroup({ layout, entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })) });
  const uniform = (words) => {
    const buffer = device.createBuffer({ size: 4 * words.length, usage: UNIFORM | COPY_DST });
    device.queue.writeBuffer(buffer, 0, new Uint32Array(words));
    return buffer;
  };
  const submit = (record) => {
    const encoder = device.createCommandEncoder();
    record(encoder);
    device.queue.submit([encoder.finish()]);
  };
  const fill = device.createComputePipeline({ layout: 'auto', compute: { module: device.createShaderModule({ code: FILL }) } });
  const storage = (count, seed) => {
    const buffer = device.createBuffer({ size: Math.max(16, 4 * count), usage: STORAGE | COPY_SRC });
    const group = bindGroup(fill.getBindGroupLayout(0), [buffer, uniform([count, seed * 77777777, 0, 0].map((v) => v >>> 0))]);
    submit((encoder) => {
      const pass = encoder.beginComputePass();
      pass.setPipeline(fill);
      pass.setBindGroup(0, group);
      const groups = Math.ceil(count / 256);
      pass.dispatchWorkgroups(Math.min(groups, 32768), Math.ceil(groups / 32768));
      pass.end();
    });
    return buffer;
  };
  const staging = device.createBuffer({ size: 4, usage: MAP_READ | COPY_DST });
  const readAt = (buffer) => async (i) => {
    submit((encoder) => encoder.copyBufferToBuffer(buffer, 4 * i, staging, 0, 4));
    await staging.mapAsync(GPUMapMode.READ);
    const v = new Float32Array(staging.getMappedRange().slice(0))[0];
    staging.unmap();
    return v;
  };

  await heat(2 * options.heatMs);
  let held = { sizes: '', buffers: [] };
  for (const job of jobs) {
    await post({ t: 'begin', item: job.item, id: job.id });
    const row = { t: 'raw', item: job.item, id: job.id };
    errors.length = 0;
    try {
      if (held.sizes !== `${job.buffers}`) {
        held.buffers.forEach((b) => b.destroy());
        held = { sizes: `${job.buffers}`, buffers: job.buffers.map((count, i) => storage(count, i + 1)) };
      }
      const start = performance.now();
      const stages = await Promise.all(job.stages.map(async (stage) => {
        const module = device.createShaderModule({ code: stage.code });
        const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint: 'main' } });
        const groups = [bindGroup(pipeline.getBindGroupLayout(0), stage.bind.map((i) => held.buffers[i]))];
        if (stage.words) groups.push(bindGroup(pipeline.getBindGroupLayout(1), [uniform(stage.words)]));
        return { pipeline, groups, size: stage.groups };
      }));
      row.compile_ms = performance.now() - start;
      const run = async (times) => {
        submit((encoder) => {
          const pass = encoder.beginComputePass();
          for (let i = 0; i < times; i++) {
            for (const { pipeline, groups, size } of stages) {
              pass.setPipeline(pipeline);
              groups.forEach((group, g) => pass.setBindGroup(g, group));
              pass.dispatchWorkgroups(...size);
            }
          }
          pass.end();
        });
        await device.queue.onSubmittedWorkDone();
      };
      await run(1);
      row.error = await check(job.check, job.buffers, readAt(held.buffers.at(-1)));
      Object.assign(row, await measure(run, options));
      row.tflops = job.flops / row.median_ms / 1e9;
      row.gbs = job.bytes / row.median_ms / 1e6;
    } catch (e) {
      row.fail = String(e?.message ?? e).slice(0, 600);
    }
    if (errors.length) row.fail = errors[0];
    await post(row);
    if (errors.some((e) => e.startsWith('device lost'))) throw new Error(errors.join('; '));
  }
}
