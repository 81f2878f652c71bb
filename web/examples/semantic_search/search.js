// The semantic search page: loads Pyodide, tabgpu, the tokenizer and the weights, then answers queries. Text goes in as text only.
import { Tokenizer } from "./tokenizers.mjs";

const find = (id) => document.getElementById(id);
const options = new URLSearchParams(location.search);
const PYTHON = ["minilm.py", "passages.py", "engine.py"];
const HOME = "/home/pyodide/";

async function get(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name} could not be loaded: status ${response.status}`);
  return response;
}
const text = async (name) => (await get(name)).text();
const json = async (name) => (await get(name)).json();

/** An element with a class and children (strings become text). */
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

function step(what, done = 0, all = 0) {
  find("step").textContent = what;
  if (all) find("bar").value = done / all;
  else find("bar").removeAttribute("value");
}

async function tokenizer() {
  const [model, config] = await Promise.all([json("model/tokenizer.json"), json("model/tokenizer_config.json")]);
  const made = new Tokenizer(model, config);
  return (texts) => [...texts].map((one) => made.encode(one).ids);
}

async function python() {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", import.meta.url));
  const pyodide = await loadPyodide();
  const problems = [];
  await pyodide.loadPackage(["numpy", "tabgpu"], { messageCallback() {}, errorCallback: (line) => problems.push(line) });
  if (problems.length) throw new Error(problems.join("\n"));
  for (const name of PYTHON) pyodide.FS.writeFile(HOME + name, await text(name));
  pyodide.runPython(`import sys; sys.path.insert(0, "${HOME}")`);
  return pyodide;
}

async function start() {
  if (!navigator.gpu) throw new Error("This browser offers no WebGPU here: navigator.gpu is missing.");
  step("Loading Python and tabgpu");
  const [pyodide, encode, names] = await Promise.all([python(), tokenizer(), json("texts/index.json")]);
  const texts = {};
  for (const name of names) texts[name] = await text(`texts/${name}`);
  const engine = pyodide.runPython(`
import engine
def start(encode, texts):
    return engine.Search(lambda words: encode(words).to_py(), texts.to_py())
start`)(encode, texts);
  globalThis.pyodide = pyodide; // for the console: await pyodide.runPythonAsync("await search.query('...')")
  pyodide.globals.set("search", engine);
  const megabytes = (n) => (n / 1e6).toFixed(0);
  const fmt = find("format").value;
  await pyodide.runPythonAsync("import tabgpu as tg; await tg.init()");
  const facts = (
    await engine.load(new URL("model/model.safetensors", import.meta.url).href, fmt, (done, all) =>
      step(`Loading weights: ${megabytes(done)} of ${megabytes(all)} MB`, done, all),
    )
  ).toJs({ dict_converter: Object.fromEntries });
  const limit = Number(options.get("limit")) || undefined;
  const began = performance.now();
  const count = await engine.index((done, all) => step(`Embedding passages: ${done} of ${all}`, done, all), limit);
  const seconds = (performance.now() - began) / 1000;
  const kinds = Object.entries(facts.formats).map(([name, n]) => `${n} ${name}`);
  find("facts").textContent =
    `${facts.adapter}; ${kinds.join(", ")} tensors, ${megabytes(facts.bytes)} MB on the GPU; ` +
    `${count} passages of ${names.length} files embedded in ${seconds.toFixed(1)} s`;
  return engine;
}

let engine;

async function search(event) {
  event?.preventDefault();
  const words = find("words").value.trim();
  if (!words || !engine) return;
  const began = performance.now();
  const found = await engine.query(words);
  const hits = found.toJs({ dict_converter: Object.fromEntries });
  found.destroy();
  find("time").textContent = `${(performance.now() - began).toFixed(0)} ms`;
  find("hits").replaceChildren(
    ...hits.map((hit) =>
      make("li", "", make("p", "", hit.text), make("small", "", `${hit.score.toFixed(3)} · ${hit.source} · ${hit.heading}`)),
    ),
  );
  document.body.dataset.answered = words;
}

function fail(error) {
  document.body.dataset.state = "failed";
  step(String(error.message ?? error).trim().split("\n").at(-1));
}

find("format").value = options.get("format") ?? "float32";
find("format").addEventListener("change", () => {
  options.set("format", find("format").value);
  location.search = options;
});
find("form").addEventListener("submit", (event) => search(event).catch(fail));
try {
  engine = await start();
  document.body.dataset.state = "ready";
  find("words").disabled = find("go").disabled = false;
  find("words").value ||= options.get("q") ?? "How do I get the values of an array back?";
  await search();
} catch (error) {
  fail(error);
}
