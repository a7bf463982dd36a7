// Answers of the npm package in FOLDER to a list of requests, for the comparison with those of the native library:
//
//     node io/c/npm_check.mjs FOLDER < requests.json
//
// A line per answer: the document without its array, and the SHA-256 of the array's bytes.

import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { load } = await import(new URL("index.js", folder));
const { load: loadItm } = await import(new URL("itm.js", folder));
const { load: loadPositions } = await import(new URL("positions.js", folder));
const { pool } = await import(new URL("pool.js", folder));

let text = "";
for await (const part of process.stdin) {
  text += part;
}
const { elevation, links, coverages, paths, invalid, spellings } = JSON.parse(text);

// Rough ground without a random number: products of whole numbers, exact in 32 bits.
const post = (i) => (Math.imul(i, 2654435761) >>> 24) * 0.25;
elevation.heights = Float32Array.from({ length: elevation.rows * elevation.columns }, (_, i) => post(i));

function line(name, document, array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  console.log(JSON.stringify({ name, document, sha256: createHash("sha256").update(bytes).digest("hex") }));
}
const joined = (arrays) => {
  const all = new arrays[0].constructor(arrays.reduce((length, array) => length + array.length, 0));
  let place = 0;
  for (const array of arrays) {
    all.set(array, place);
    place += array.length;
  }
  return all;
};

const groundwave = await load();
for (const request of links) {
  line("link", groundwave.link(request, elevation), new Float64Array(0));
  const { columns, ...facts } = groundwave.profile(request, elevation);
  line("profile", facts, joined(Object.values(columns)));
  line("link_over", groundwave.linkOver(request, columns.elevation_msl_m), new Float64Array(0));
}
const two = await pool(2);
for (const request of coverages) {
  for (const coverage of [groundwave.coverage(request, elevation), await two.coverage(request, elevation)]) {
    const { planes, ...facts } = coverage;
    line("coverage", facts, joined(Object.values(planes)));
  }
}
await two.close();
const heights = Float64Array.from({ length: paths.samples * paths.count }, (_, i) => post(i));
line("itm", null, groundwave.itmRows(heights, paths.samples, paths.inputs));
line("itm", null, (await loadItm()).itmRows(heights, paths.samples, paths.inputs));
const { position } = await loadPositions();
for (const text of spellings) {
  try {
    line("position", null, Float64Array.from(position(text)));
  } catch (error) {
    line("error", `${error.name}: ${error.message}`, new Float64Array(0));
  }
}
for (const request of invalid) {
  try {
    groundwave.link(request, elevation);
    line("error", "none", new Float64Array(0));
  } catch (error) {
    line("error", `${error.name}: ${error.message}`, new Float64Array(0));
  }
}
