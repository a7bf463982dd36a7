// Coverages on several workers: rows in parts, whose bits are those of the whole.

import { load } from "./index.js";

async function start() {
  const url = new URL("./worker.js", import.meta.url);
  if (typeof Worker !== "undefined") {
    return new Worker(url, { type: "module" });
  }
  const { Worker: NodeWorker } = await import("node:worker_threads");
  return new NodeWorker(url);
}

/** Sends a message and resolves with the answer. */
function ask(worker, message) {
  return new Promise((resolve, reject) => {
    const receive = (data) => (data.error === undefined ? resolve(data.coverage) : reject(new RangeError(data.error)));
    if (worker.once !== undefined) {
      worker.once("message", receive);
      worker.once("error", reject);
    } else {
      worker.onmessage = (event) => receive(event.data);
      worker.onerror = (event) => reject(new Error(event.message));
    }
    worker.postMessage(message);
  });
}

/** A pool of `size` workers; `close` ends them. */
export async function pool(size, source) {
  const groundwave = await load(source);
  const workers = await Promise.all(Array.from({ length: size }, start));
  const coverage = async (request, elevation) => {
    const [rows] = groundwave.coverageSize(request);
    const edges = Array.from({ length: size + 1 }, (_, part) => Math.round((part * rows) / size));
    const ranges = edges.slice(1).map((end, part) => [edges[part], end]);
    const parts = await Promise.all(
      ranges
        .filter(([first, end]) => first < end)
        .map((range, number) =>
          ask(workers[number], {
            number,
            module: groundwave.module,
            request: { ...request, rows: range },
            elevation,
          }),
        ),
    );
    const [first] = parts;
    const planes = Object.fromEntries(
      Object.keys(first.planes).map((name) => {
        const plane = new Float32Array(rows * first.columns);
        for (const part of parts) {
          plane.set(part.planes[name], part.first_row * first.columns);
        }
        return [name, plane];
      }),
    );
    const [west, , east, north] = first.bounds_deg;
    const south = parts[parts.length - 1].bounds_deg[1];
    return { ...first, rows, bounds_deg: [west, south, east, north], planes };
  };
  return { coverage, close: () => Promise.all(workers.map((worker) => worker.terminate())) };
}
