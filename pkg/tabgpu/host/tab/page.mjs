// The runner page: fetches the job, runs it here or in a worker, and shows the output. The work is in runner.mjs.
import { post, runJob } from "./runner.mjs";

const output = document.getElementById("output");

function show(stream, text) {
  const last = output.lastChild;
  if (last?.className === stream) last.append(text);
  else {
    const span = document.createElement("span");
    span.className = stream;
    span.append(text);
    output.append(span);
  }
}

// The server notices the end of this connection: that is how it learns of a crashed page. The reader is kept, as a
// collected one would close the connection.
globalThis.alive = (await fetch("alive")).body.getReader();
globalThis.alive.read();

addEventListener("error", (e) => post({ type: "console", text: `page error: ${e.message}` }));
addEventListener("unhandledrejection", (e) => post({ type: "console", text: `unhandled rejection: ${e.reason}` }));

const job = await (await fetch("job.json")).json();
if (job.worker) {
  const worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
  worker.onmessage = (e) => show(e.data.stream, e.data.text);
  worker.onerror = (e) => post({ type: "fatal", message: `the worker failed: ${e.message}` });
  worker.postMessage(job);
} else {
  await runJob(job, show);
}
