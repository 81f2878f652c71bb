// The runner's worker: the same job as in the page, with the output sent to the page as well.
import { runJob } from "./runner.mjs";

onmessage = (e) => runJob(e.data, (stream, text) => postMessage({ stream, text }));
