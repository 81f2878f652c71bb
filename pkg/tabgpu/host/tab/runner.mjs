// One job in a page or a worker: probe WebGPU, load Pyodide and packages, run harness.py, report to the host.

const base = new URL(".", import.meta.url);
let submits = 0;

// Synchronous on purpose: Python may block this thread for minutes, and an asynchronous request would wait with it.
function send(name, body) {
  const request = new XMLHttpRequest();
  request.open("POST", new URL(name, base), false);
  try {
    request.send(body);
  } catch {
    // The host has gone; there is nobody left to tell.
  }
}

export function post(event) {
  send("event", JSON.stringify(event));
}

// Counts what reaches the GPU queue, whoever sends it: the host refuses a run that never used WebGPU.
function watchQueue() {
  const proto = globalThis.GPUQueue?.prototype;
  if (!proto) return;
  const submit = proto.submit;
  proto.submit = function (...args) {
    submits += 1;
    return submit.apply(this, args);
  };
}

async function probe() {
  const jspi = typeof WebAssembly.Suspending === "function";
  const scope = globalThis.constructor.name;
  const found = { ok: false, name: "no WebGPU adapter", jspi, scope, secure: globalThis.isSecureContext, agent: navigator.userAgent };
  if (!navigator.gpu) return { ...found, why: "navigator.gpu is missing: WebGPU is off in this browser" };
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) return { ...found, why: "navigator.gpu is there, but requestAdapter() gave no adapter" };
  const info = adapter.info;
  const limits = {};
  for (const key in adapter.limits) if (typeof adapter.limits[key] === "number") limits[key] = adapter.limits[key];
  return {
    ...found,
    ok: true,
    name: [info.vendor, info.architecture, info.description].filter(Boolean).join("/") || "unnamed adapter",
    vendor: info.vendor,
    architecture: info.architecture,
    device: info.device,
    description: info.description,
    fallback: info.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false,
    features: [...adapter.features].sort(),
    limits,
  };
}

// Output goes out at once while that stays cheap, and in batches when a script prints without pause.
function makeWriter(show) {
  const started = performance.now();
  let pending = [];
  let spent = 0;
  let timer = null;
  const flush = () => {
    timer = null;
    if (!pending.length) return;
    const chunks = pending;
    pending = [];
    const t = performance.now();
    post({ type: "output", chunks });
    spent += performance.now() - t;
  };
  const write = (stream, text) => {
    show(stream, text);
    const last = pending[pending.length - 1];
    if (last?.[0] === stream) last[1] += text;
    else pending.push([stream, text]);
    if (spent < 50 + 0.1 * (performance.now() - started)) flush();
    else timer ??= setTimeout(flush, 20);
  };
  return { write, flush };
}

function byteSink(stream, write) {
  const decoder = new TextDecoder();
  return {
    write(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      if (text) write(stream, text);
      return bytes.length;
    },
    isatty: false,
  };
}

async function load(job, writer) {
  const index = new URL(job.pyodide, base).href;
  const { loadPyodide } = await import(index + "pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: index, fullStdLib: false, env: job.env });
  const problems = [];
  const quiet = { messageCallback() {}, errorCallback: (m) => problems.push(m) };
  const wheels = job.wheels.map((w) => new URL(w, base).href);
  await pyodide.loadPackage([...job.packages, ...wheels], quiet);
  if (problems.length) throw new Error("packages did not load:\n" + problems.join("\n"));
  const files = await (await fetch(new URL("files.zip", base))).arrayBuffer();
  pyodide.FS.mkdirTree(job.root);
  pyodide.unpackArchive(files, "zip", { extractDir: job.root });
  pyodide.setStdout(byteSink("stdout", writer.write));
  pyodide.setStderr(byteSink("stderr", writer.write));
  return pyodide;
}

async function runPython(pyodide, job, adapter) {
  pyodide.registerJsModule("_tabgpu_host", { job: JSON.stringify({ ...job, adapter }), submits: () => submits });
  const source = await (await fetch(new URL("harness.py", base))).text();
  const globals = pyodide.toPy({ __name__: "_tabgpu_harness" });
  // runPythonAsync and no await before the work starts: only so may Python suspend (run_sync).
  pyodide.runPython(source, { globals, filename: "<tabgpu harness>" });
  return await pyodide.runPythonAsync("await main()", { globals });
}

function sendFiles(pyodide) {
  const walk = (dir) => {
    for (const name of pyodide.FS.readdir(dir)) {
      if (name === "." || name === "..") continue;
      const path = `${dir}/${name}`;
      if (pyodide.FS.isDir(pyodide.FS.stat(path).mode)) walk(path);
      else send("out/" + encodeURI(path.slice("/out/".length)), pyodide.FS.readFile(path));
    }
  };
  if (pyodide.FS.analyzePath("/out").exists) walk("/out");
}

export async function runJob(job, show) {
  const writer = makeWriter(show);
  try {
    const adapter = await probe();
    post({ type: "adapter", ...adapter });
    if (job.mode === "probe") return post({ type: "end", status: 0, submits });
    if (!adapter.ok && !job.allowNoGpu) return;
    watchQueue();
    const pyodide = await load(job, writer);
    post({ type: "ready" });
    const status = await runPython(pyodide, job, adapter.name);
    writer.flush();
    sendFiles(pyodide);
    post({ type: "end", status, submits });
  } catch (error) {
    writer.flush();
    post({ type: "fatal", message: error?.stack?.includes(error.message) ? error.stack : `${error}\n${error?.stack ?? ""}` });
  }
}
