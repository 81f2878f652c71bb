// tabgpu in Pyodide, in the page's main thread: what Python does is in tabgpu.py, what it is timed by in bench.mjs.
// Each of the K operations really runs (tabgpu.py says how), and the row states launches an operation.

let shared; // variants ('tabgpu+jit' ...) are the same interpreter
async function start() {
  const { loadPyodide } = await import('/dist/tabgpu/pyodide.mjs');
  const files = await (await fetch('/dist/tabgpu/wheels.json')).json();
  const py = await loadPyodide({ indexURL: '/dist/tabgpu/' });
  await py.loadPackage([`/dist/tabgpu/${files.tabgpu}`], { messageCallback() {} });
  await py.runPythonAsync(await (await fetch('/peers/tabgpu.py')).text());
  return py;
}

export async function make({ peer, done }) {
  const py = await (shared ??= start());
  const prepare = py.globals.get('prepare');
  return {
    version: `tabgpu ${py.runPython('tg.__version__')}, Pyodide ${py.version}`,
    notes: 'Python in the page; loops of K operations in Python',
    async prep(spec, inputs) {
      const { kind, axis, n, causal } = spec;
      const names = { conv: ['X', 'W'], attn: ['Q', 'K', 'V'], fft: ['R', 'I'] }[kind] ?? Object.keys(spec.shapes).filter((k) => !k.endsWith('n')); // the rest: other layouts of the same
      const text = JSON.stringify({ kind, axis, n, causal, names, shapes: spec.shapes, out: spec.out });
      const given = names.map((k) => inputs[k]);
      const work = await prepare(text, peer, ...given);
      if (typeof work === 'string') return work;
      const [many, whole, settle, item, launches] = ['many', 'whole', 'settle', 'item', 'launches'].map((k) => work[k]);
      const tiny = kind === 'tiny',
        model = kind === 'resnet' || kind === 'minilm'; // its weights go up once
      const cell = {
        how: work.how,
        maxK: tiny ? 1 : undefined,
        noE2E: tiny || model || kind === 'copy',
        async many(k) {
          many(k);
          await done();
        },
        async e2e() {
          const data = await (tiny || model || kind === 'copy' ? whole() : whole(...given));
          return kind === 'fft' ? (k) => [data[2 * k], data[2 * k + 1]] : data;
        },
        report: () => ({ launches_per_op: launches() }),
        dispose() {
          for (const f of [many, whole, settle, item, launches, work]) f.destroy();
          py.runPython('import gc; gc.collect(); send()');
        },
      };
      if (kind === 'readback') {
        cell.rb = async () => {
          await settle();
          await done();
          return item();
        };
      }
      return cell;
    },
  };
}
