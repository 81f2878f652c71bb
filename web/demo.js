// The digits example as a page or a worker runs it: checks WebGPU, loads Pyodide, executes examples/digits/digits.py.
// Every URL is relative to this file; no DOM here, so that worker.js can use it as well. examples/science starts likewise.

const here = new URL(".", import.meta.url);
const HOME = "/home/pyodide/";
const SCRIPT = "digits/digits.py";
const FILES = [SCRIPT, "digits/picture.py", "data/digits.csv.gz"];

/** The steps in order; `say({ step })` names the one that begins. */
export const STEPS = {
  adapter: "Looking for a GPU",
  pyodide: "Loading Python (Pyodide, about 13 MB)",
  packages: "Loading NumPy and tabgpu",
  digits: "Reading digits on the GPU",
};

class NoGpuError extends Error {
  name = "NoGpuError";
}

/** Rejects where the browser has no WebGPU, and says why. */
export async function findGpu() {
  if (!globalThis.isSecureContext) throw new NoGpuError("Browsers give WebGPU to https:// and localhost pages only; this page is neither.");
  if (!navigator.gpu) throw new NoGpuError("This browser offers no WebGPU here: navigator.gpu is missing.");
  if (!(await navigator.gpu.requestAdapter())) throw new NoGpuError("WebGPU is there, but it found no usable GPU: requestAdapter() gave no adapter.");
}

async function bytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} could not be loaded: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Pyodide with NumPy, tabgpu and some files of examples/, whose folder `folder` it imports from. */
export async function start(say, files, folder) {
  say({ step: "pyodide" });
  const home = new URL("pyodide/", here).href;
  const { loadPyodide } = await import(`${home}pyodide.mjs`).catch(() => {
    throw new Error(`There is no Pyodide at ${home}. Serve this folder with ./build.sh serve, or with: tabgpu serve web`);
  });
  const pyodide = await loadPyodide({ indexURL: home });
  say({ step: "packages" });
  const problems = [];
  await pyodide.loadPackage(["numpy", "tabgpu"], { messageCallback() {}, errorCallback: (text) => problems.push(text) });
  if (problems.length) throw new Error(problems.join("\n"));
  for (const name of files) {
    const path = HOME + name;
    pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    pyodide.FS.writeFile(path, await bytes(new URL(`examples/${name}`, here)));
  }
  pyodide.runPython(`import os, sys; os.chdir("${HOME}"); sys.path.insert(0, "${HOME}${folder}")`);
  return pyodide;
}

let python; // one Pyodide for this page or worker, kept for the next run

/**
 * Runs the example once; `say` gets {step} and {line} (what it prints) on the way.
 * @returns {Promise<{result: object, picture: Uint8Array}>} digits.json and digits.png
 */
export async function runDigits(say) {
  say({ step: "adapter" });
  await findGpu();
  python ??= start(say, FILES, "digits").catch((error) => {
    python = undefined; // so that "run again" tries once more
    throw error;
  });
  const pyodide = await python;
  say({ step: "digits" });
  pyodide.setStdout({ batched: (line) => say({ line }) });
  const globals = pyodide.toPy({ __name__: "__main__", __file__: HOME + SCRIPT });
  try {
    const source = pyodide.FS.readFile(HOME + SCRIPT, { encoding: "utf8" });
    await pyodide.runPythonAsync(source, { globals, filename: SCRIPT });
  } finally {
    globals.destroy();
  }
  const result = JSON.parse(pyodide.FS.readFile(`${HOME}out/digits.json`, { encoding: "utf8" }));
  return { result, picture: pyodide.FS.readFile(`${HOME}out/digits.png`) };
}
