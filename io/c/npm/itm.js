// The Irregular Terrain Model alone: a small module.

import { losses } from "./losses.js";
import { instance } from "./memory.js";

export async function load(source) {
  const { compiled, exports } = await instance(source, new URL("./itm.wasm", import.meta.url));
  return {
    module: compiled,
    itm: (heights, inputs) => losses(exports, heights, heights.length, inputs)[0],
    itmRows: (heights, samples, inputs) => losses(exports, heights, samples, inputs),
  };
}
