// The demo page: starts the example here or in the worker and shows steps, result and errors. Text goes in as text only.
import { runDigits, STEPS } from "./demo.js";

const find = (id) => document.getElementById(id);
const place = find("place");
const where = place.form.elements.in; // the radio buttons: "page" or "worker"
let worker;

/** An element with a class and children (strings become text). */
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

function runInWorker(say) {
  worker ??= new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.failed) reject(Object.assign(new Error(data.failed.message), { name: data.failed.name }));
      else if (data.result) resolve(data);
      else say(data);
    };
    worker.onerror = (event) => {
      worker = undefined;
      reject(new Error(event.message || "the worker did not start"));
    };
    worker.postMessage("run");
  });
}

const names = Object.keys(STEPS);
let now = 0;

function showStep(step) {
  now = names.indexOf(step);
  find("steps").replaceChildren(
    ...names.map((name, k) => {
      const item = make("li", k < now ? "done" : k === now ? "now" : "", STEPS[name]);
      if (k === now) item.setAttribute("aria-current", "step");
      return item;
    }),
  );
  find("bar").value = now / names.length;
}

function say(message) {
  if (message.step) showStep(message.step);
  if (message.line !== undefined) find("output").append(`${message.line}\n`);
}

const ms = (x) => `${x < 10 ? x.toFixed(1) : Math.round(x).toLocaleString("en")} ms`;
const number = (n) => n.toLocaleString("en");

function fact(title, value, note) {
  return make("div", "fact", make("dt", "", title), make("dd", "", value, make("small", "", note)));
}

/** The part of an image between two columns, at its own size. */
function show(canvas, image, left, right) {
  canvas.width = right - left;
  canvas.height = image.height;
  canvas.style.flexGrow = right - left; // so that both have one scale
  canvas.getContext("2d").drawImage(image, -left, 0);
}

async function showResult({ result: r, picture }) {
  const kind = r.software ? "a software adapter: this computes on the CPU" : "the GPU of this machine";
  find("adapter").replaceChildren(make("strong", "", r.adapter), ` (${kind})`);
  find("facts").replaceChildren(
    fact("Read right", `${((100 * r.right) / r.total).toFixed(2)} %`, `${r.right} of ${r.total}; NumPy: ${r.right_numpy}`),
    fact("Same answer as NumPy", `${r.equal} of ${r.total}`, "digit by digit"),
    fact("GPU", ms(r.gpu_ms), `upload, compute, read; the first run took ${ms(r.first_ms)}`),
    fact("NumPy", ms(r.numpy_ms), "the same lines of Python in the same tab"),
    fact("Launches", number(r.launches), `${r.crossings} crossings into JavaScript`),
    fact("Bytes", `${number(r.bytes_uploaded)} up`, `${number(r.bytes_read)} down`),
  );
  const image = await createImageBitmap(new Blob([picture], { type: "image/png" }));
  const middle = Math.round(image.width * r.split);
  show(find("matrix"), image, 0, middle);
  show(find("misread"), image, middle, image.width);
  find("matrix").setAttribute("aria-label", `Confusion matrix: ${r.right} of ${r.total} digits read right`);
  showStep();
  find("bar").value = 1;
  find("steps").replaceChildren();
  document.body.dataset.state = "done";
}

function showError(error) {
  const noGpu = error.name === "NoGpuError" || /NoAdapterError/.test(error.message);
  const lines = error.message.trim().split("\n");
  find("problem").textContent = noGpu ? "No WebGPU in this browser" : "The demo did not finish";
  find("reason").textContent = lines.at(-1);
  find("help").hidden = !noGpu;
  find("trace").textContent = lines.length > 1 ? lines.join("\n") : "";
  document.body.dataset.state = "failed";
}

async function run() {
  document.body.dataset.state = "busy";
  find("again").disabled = place.disabled = true;
  find("output").textContent = "";
  try {
    await showResult(await (where.value === "worker" ? runInWorker(say) : runDigits(say)));
  } catch (error) {
    showError(error);
  }
  find("again").disabled = place.disabled = false;
}

if (new URLSearchParams(location.search).get("in") === "worker") where.value = "worker";
place.addEventListener("change", run);
find("again").addEventListener("click", run);
await run();
