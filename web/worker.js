// The smallest worker: runs the demo when asked and posts what it says, its result or its error.
import { runDigits } from "./demo.js";

onmessage = async () => {
  try {
    const { result, picture } = await runDigits((message) => postMessage(message));
    postMessage({ result, picture }, [picture.buffer]);
  } catch (error) {
    postMessage({ failed: { name: error.name, message: String(error.message ?? error) } });
  }
};
