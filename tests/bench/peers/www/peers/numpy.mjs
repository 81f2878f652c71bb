// Not on the GPU: NumPy in Pyodide, in the page's main thread. 'numpy' is Pyodide 0.27.7, as pyborch needs it;
// 'numpy+new' the Pyodide that tabgpu runs in.
import { definitions, numpy as texts } from './pyops.mjs';

const SLOW = new Set(['mm4096', 'mm2048', 'chain64M', 'copy64M']);
const OTHER_LAYOUTS = /^(Xn|Wn|Qs|Ks|Vs|R|I)$/;

export async function make({ peer }) {
  const folder = peer.endsWith('+new') ? '/dist/tabgpu/' : '/dist/pyodide/';
  const wheel = peer.endsWith('+new')
    ? (await (await fetch('/dist/tabgpu/wheels.json')).json()).numpy
    : 'numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl';
  const { loadPyodide } = await import(`${folder}pyodide.mjs`);
  const py = await loadPyodide({ indexURL: folder });
  await py.loadPackage(folder + wheel, { messageCallback() {} });
  py.runPython(definitions);
  return {
    version: `Pyodide ${py.version}, NumPy ${py.runPython('np.__version__')}`,
    notes: 'CPU, one thread',
    async prep(spec, inputs) {
      if (SLOW.has(spec.id)) return 'not run: too slow or too large for the CPU here';
      const text = texts[spec.kind]?.(spec);
      if (!text) return 'not run';
      const names = Object.keys(spec.shapes).filter((k) => !OTHER_LAYOUTS.test(k));
      for (const k of names) {
        py.globals.set('_b', inputs[k]);
        py.globals.set('_s', py.toPy(spec.shapes[k]));
        py.runPython(`${k} = np.frombuffer(_b.to_py(), dtype=np.float32).reshape(_s).copy(); del _b`);
      }
      const fft = spec.kind === 'fft';
      if (fft) {
        py.runPython('Zc = Z.view(np.complex64)[..., 0].copy()');
        names.push('Zc');
      }
      py.runPython(`def _op(): return ${text}\ndef _many(k):\n    for _ in range(k): _op()`);
      const many = py.globals.get('_many');
      const result = () => {
        py.runPython(`_y = np.ascontiguousarray(np.atleast_1d(_op()))${fft ? '.view(np.float32)' : ''}`);
        const array = py.globals.get('_y');
        const buffer = array.getBuffer();
        const data = buffer.data.slice();
        buffer.release();
        array.destroy();
        py.runPython('del _y');
        return data;
      };
      const cell = {
        how: 'NumPy, CPU',
        maxK: spec.kind === 'tiny' ? 1 : undefined,
        noE2E: true,
        async many(k) {
          many(k);
        },
        async e2e() {
          const data = result();
          return fft ? (k) => [data[2 * k], data[2 * k + 1]] : data;
        },
        dispose() {
          many.destroy();
          py.runPython(`del ${names.join(', ')}, _op, _many`);
        },
      };
      if (spec.kind === 'readback') {
        cell.rb = async () => {
          py.runPython('_v = X.sum()');
          const start = performance.now();
          py.runPython('float(_v)');
          return performance.now() - start;
        };
      }
      return cell;
    },
  };
}
