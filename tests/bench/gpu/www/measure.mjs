// Posting lines, warming the card up, and the timed block (K operations, one wait, a median).

export const post = (line) => {
  const log = document.getElementById('log');
  if (log) log.textContent += `${JSON.stringify(line).slice(0, 300)}\n`;
  return fetch('/line', { method: 'POST', body: JSON.stringify(line) });
};

let hot;
/** Keep the card busy for `ms` on a device of our own: an idle card lowers its clocks and reads 2 to 3 times slower. */
export async function heat(ms) {
  if (!hot) {
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
    const device = await adapter.requestDevice();
    const code = `@group(0) @binding(0) var<storage, read_write> y: array<f32>;
      @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) g: vec3u) {
        var s = f32(g.x); for (var i = 0; i < 2000; i++) { s = s * 0.999 + 0.5; } y[g.x] = s; }`;
    const module = device.createShaderModule({ code });
    const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module } });
    const groups = adapter.info.isFallbackAdapter ? 4 : 4096;
    const buffer = device.createBuffer({ size: groups * 1024, usage: GPUBufferUsage.STORAGE });
    const layout = pipeline.getBindGroupLayout(0);
    hot = { device, pipeline, groups, bind: device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] }) };
  }
  for (const start = performance.now(); performance.now() - start < ms; ) {
    const encoder = hot.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(hot.pipeline);
    pass.setBindGroup(0, hot.bind);
    for (let i = 0; i < 10; i++) pass.dispatchWorkgroups(hot.groups);
    pass.end();
    hot.device.queue.submit([encoder.finish()]);
    await hot.device.queue.onSubmittedWorkDone();
  }
}

/** Time run(k), which does the operation k times and waits once. Returns milliseconds an operation. */
export async function measure(run, { target, reps, heatMs, maxK }) {
  const once = async (k) => {
    const start = performance.now();
    await run(k);
    return performance.now() - start;
  };
  await once(1);
  await heat(heatMs);
  let k = 1;
  let ms = await once(1);
  while (ms < target && k < maxK) {
    k = Math.min(maxK, Math.max(k + 1, Math.min(5 * k, Math.ceil((k * target) / Math.max(ms, 0.05)))));
    ms = await once(k);
  }
  await heat(heatMs);
  const all = [];
  for (let i = 0; i < reps; i++) all.push((await once(k)) / k);
  all.sort((x, y) => x - y);
  return { k, reps, median_ms: all[reps >> 1], min_ms: all[0], max_ms: all[reps - 1] };
}
