// A worker of a pool: computes rows of coverages.

import { load } from "./index.js";

const isNode = typeof self === "undefined";
const port = isNode ? (await import("node:worker_threads")).parentPort : self;
let groundwave;

async function answer(message) {
  try {
    groundwave ??= await load(message.module);
    const coverage = groundwave.coverage(message.request, message.elevation);
    port.postMessage({ number: message.number, coverage });
  } catch (error) {
    port.postMessage({ number: message.number, error: String(error.message ?? error) });
  }
}

if (isNode) {
  port.on("message", answer);
} else {
  port.onmessage = (event) => answer(event.data);
}
