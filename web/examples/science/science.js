// The science page: loads Pyodide and tabgpu, runs the four examples one after the other, draws what they give.
import { findGpu, start, STEPS as LOADING } from "../../demo.js";
import { BLUE, Chart, gray, heat, image, ORANGE, show, signed, tiles } from "./charts.js";

const FILES = [
  ...["page", "pca", "denoise", "spectrogram", "option_price"].map((name) => `science/${name}.py`),
  "data/digits.csv.gz",
  "data/guitar.wav",
];
const { adapter, pyodide, packages } = LOADING;
const STEPS = { adapter, pyodide, packages, digits: "Digits", photo: "Photograph", sound: "Sound", option: "Option" };
const DRAW = { digits: drawDigits, photo: drawPhoto, sound: drawSound, option: drawOption };
const CLASSES = ["#0f62be", "#c2410c", "#15803d", "#b91c1c", "#7e22ce", "#78350f", "#be185d", "#525b66", "#8a7a00", "#0e7490"];

const find = (id) => document.getElementById(id);
const canvas = (id, label) => {
  find(id).setAttribute("role", "img");
  find(id).setAttribute("aria-label", label);
  return find(id);
};
const say = (id, words) => (find(id).textContent = words);
const points = (x, y) => Array.from(x, (at, k) => [at, y[k]]);
const range = (n, what) => Array.from({ length: n }, (_, k) => what(k));
/** So that the page shows what is there before the next step keeps it busy. */
const breath = () => new Promise((resume) => setTimeout(resume, 20));

/** The photograph as an ImageData, its numbers as they are in the file. */
async function photograph() {
  const response = await fetch(new URL("../data/flower.png", import.meta.url));
  if (!response.ok) throw new Error(`flower.png could not be loaded: status ${response.status}`);
  const bitmap = await createImageBitmap(await response.blob(), { colorSpaceConversion: "none" });
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, bitmap.width, bitmap.height);
}

function drawDigits(r) {
  const eight = (row, colour) => image(8, 8, (x, y) => colour(row[8 * y + x]));
  const shade = (value) => gray(value / 16);
  const strength = (row) => (value) => signed(value / row.reduce((most, v) => Math.max(most, Math.abs(v)), 0));
  tiles(
    canvas("axes", "The mean digit and the first eleven components"),
    [
      { picture: eight(r.mean, shade), caption: "mean" },
      ...r.axes.map((row, k) => ({ picture: eight(row, strength(row)), caption: `${k + 1}` })),
    ],
    { columns: 6 },
  );
  tiles(
    canvas("restored", "A digit restored from few of its scores"),
    [
      ...r.restored.map((row, k) => ({ picture: eight(row, shade), caption: `from ${r.ranks[k]}` })),
      { picture: eight(r.original, shade), caption: "all 64" },
    ],
    { columns: 5 },
  );
  const limit = (row) => [Math.min(...row) - 2, Math.max(...row) + 2];
  const scatter = new Chart(canvas("scatter", "All digits by their first two scores"), {
    x: limit(r.scores[0]), y: limit(r.scores[1]), xName: "score of component 1", yName: "score of component 2", height: 380,
  });
  r.labels.forEach((digit, k) => scatter.words(String(digit), r.scores[0][k], r.scores[1][k], { colour: CLASSES[digit] }));
  const share = new Chart(canvas("explained", "Explained variance by the number of components"), {
    x: [0, 64], y: [0, 100], xName: "components", yName: "explained variance, %", height: 380,
  });
  share.line([[0, 0], ...Array.from(r.explained, (part, k) => [k + 1, 100 * part])]);
  const errors = r.ranks.map((k, at) => `${k}: ${r.errors[at].toFixed(2)}`).join(", ");
  say("digits-says", `Two components explain ${(100 * r.explained[1]).toFixed(1)} % of the variance, 32 explain ${(100 * r.explained[31]).toFixed(1)} %. Error of a pixel (0 to 16) by the number of scores: ${errors}.`);
}

function drawPhoto(r) {
  ["noisy", "gaussian", "median", "wiener"].forEach((name, at) => {
    const bytes = r[name];
    show(canvas(name, `The photograph, ${name}`), image(r.width, r.height, (x, y) => bytes.subarray(3 * (y * r.width + x), 3 * (y * r.width + x) + 3)));
    say(`${name}-says`, `${find(`${name}-says`).dataset.name}: ${r.psnr[at].toFixed(2)} dB`);
  });
}

function drawSound(r) {
  const rows = r.level.length, x = [0, r.seconds], top = rows * r.step / 1000;
  const wave = new Chart(canvas("wave", "The recording's samples over time"), { x, y: [-0.6, 0.6], xName: "seconds", yName: "sample", width: 860, height: 170 });
  const at = Array.from(r.low, (_, k) => ((k + 0.5) / r.low.length) * r.seconds);
  wave.band(points(at, r.low), points(at, r.high), BLUE);
  const chart = new Chart(canvas("spectrum", "Spectrogram: level by frequency and time"), { x, y: [0, top], xName: "seconds", yName: "kHz", width: 860, height: 400 });
  const made = image(r.times.length, rows, (column, row) => heat(1 - r.level[rows - 1 - row][column] / r.floor));
  chart.picture(made, [r.times[0] - r.hop / 2, -r.step / 2000], [r.times.at(-1) + r.hop / 2, top - r.step / 2000]);
  const [first, last] = [r.loudest[Math.round(0.2 / r.hop)], r.loudest[Math.round(1.4 / r.hop)]].map((f) => f.toFixed(0));
  say("sound-says", `${r.times.length} windows; dark is ${-r.floor} dB below the loudest. The loudest frequency is ${first} Hz after 0.2 s and ${last} Hz after 1.4 s.`);
}

function drawOption(r) {
  const { spot, strike, years } = r.call, steps = r.paths[0].length - 1;
  const most = Math.max(...r.paths.map((path) => Math.max(...path))), least = Math.min(...r.paths.map((path) => Math.min(...path)));
  const futures = new Chart(canvas("paths", "Simulated prices of the share"), { x: [0, years], y: [least - 3, most + 3], xName: "years", yName: "price of the share" });
  for (const path of r.paths)
    futures.line(points(range(steps + 1, (k) => (k * years) / steps), path), { colour: path.at(-1) > strike ? BLUE : "#b6c0ca", width: 0.8 });
  futures.line([[0, strike], [years, strike]], { colour: ORANGE, dash: [5, 4] });

  const x = range(r.mean.length, (k) => ((k + 1) * r.futures) / r.mean.length / 1000), wide = 6 * r.half;
  const chart = new Chart(canvas("convergence", "The estimate and its confidence interval by the number of futures"), {
    x: [0, x.at(-1)], y: [r.formula - wide, r.formula + wide], xName: "thousand futures", yName: "price of the option",
  });
  const edge = (sign) => points(x, r.mean.map((value, k) => value + sign * r.band[k]));
  chart.band(edge(-1), edge(1), "#0f62be33");
  chart.line(points(x, r.mean));
  chart.line([[0, r.formula], [x.at(-1), r.formula]], { colour: ORANGE, dash: [5, 4] });
  say("option-says", `${r.futures.toLocaleString("en")} futures of a share at ${spot}: the right to buy it for ${strike} in a year is worth ${r.price.toFixed(3)} ± ${r.half.toFixed(3)} (95 %). Black and Scholes' formula: ${r.formula.toFixed(3)}.`);
}

let python; // Pyodide, kept for the next run

function step(name) {
  const names = Object.keys(STEPS);
  find("bar").value = names.indexOf(name) / names.length;
  say("step", STEPS[name]);
}

async function run() {
  document.body.dataset.state = "busy";
  find("again").disabled = true;
  try {
    step("adapter");
    await findGpu();
    if (!python) {
      const loaded = await start((message) => message.step && step(message.step), FILES, "science");
      const device = await loaded.runPythonAsync("import tabgpu as tg\ndevice = await tg.init()\ndevice.name");
      const software = loaded.runPython("device.software") ? " (a software adapter: this computes on the CPU)" : "";
      say("adapter", device + software);
      python = globalThis.pyodide = loaded; // for the console: pyodide.pyimport("page").results
    }
    const page = python.pyimport("page");
    const photo = await photograph();
    for (const name of Object.keys(DRAW)) {
      step(name);
      await breath();
      const found = await page.run(name, name === "photo" ? photo : undefined);
      const result = found.toJs({ dict_converter: Object.fromEntries });
      found.destroy();
      DRAW[name](result);
      const { launches, reads, bytes_read: bytes, ms, pipelines } = result.spent;
      const compiled = pipelines ? `, ${pipelines} pipelines compiled` : "";
      say(`${name}-spent`, `${launches} launches, ${reads} read of ${(bytes / 1000).toFixed(0)} kB, ${ms.toFixed(0)} ms${compiled}`);
      find(name).dataset.state = "done";
    }
    document.body.dataset.state = "done";
  } catch (error) {
    say("step", String(error.message ?? error).trim().split("\n").at(-1));
    document.body.dataset.state = "failed";
  }
  find("again").disabled = false;
}

find("again").addEventListener("click", run);
await run();
