// tabgpu itself in Pyodide: loads the interpreter, NumPy and the wheel, and hands tab.py the measuring functions.
import { heat, measure, post } from './measure.mjs';

export async function main() {
  const { wheel, options } = await (await fetch('/todo')).json();
  const { loadPyodide } = await import('/pyodide/pyodide.mjs');
  const start = performance.now();
  const py = await loadPyodide({ indexURL: '/pyodide/' });
  await py.loadPackage(['numpy'], { messageCallback() {} });
  await py.loadPackage(`/wheel/${wheel}`, { messageCallback() {} });
  await post({ t: 'pyodide', version: py.version, wheel, load_ms: performance.now() - start });
  py.registerJsModule('bench_page', {
    options: JSON.stringify(options),
    post: (line) => post(JSON.parse(line)),
    heat,
    measure: async (run, maxK) => JSON.stringify(await measure(run, { ...options, maxK })),
  });
  await py.runPythonAsync(await (await fetch('tab.py')).text());
}
