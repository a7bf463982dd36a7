// Positions as people write them: a small module.

import { call, instance } from "./memory.js";

export async function load(source) {
  const { compiled, exports } = await instance(source, new URL("./positions.wasm", import.meta.url));
  return {
    module: compiled,
    position: (text) => [...call(exports, "groundwave_position", [text]).array],
  };
}
