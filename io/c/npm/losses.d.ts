import type { ItmInputs } from "./itm.js";
import type { Exports } from "./memory.js";

/** Losses of paths of `samples` heights each, one after the other, by any module with the Irregular Terrain Model, dB. */
export function losses(exports: Exports, heights: ArrayLike<number>, samples: number, inputs: ItmInputs): Float64Array;
