// Loader of the Irregular Terrain Model, compiled to WebAssembly; previews of links run it in the page. A page that was
// built without the module (Rust's target wasm32-unknown-unknown is missing) has no previews of heights.
import type { ItmInputs } from '../../../../io/c/npm/itm.js';
import { losses } from '../../../../io/c/npm/losses.js';
import { instance } from '../../../../io/c/npm/memory.js';

/** Basic transmission loss over evenly spaced heights, m above the sea, dB; a RangeError for inputs that the model does not have. */
export type PathLoss = (heights_msl_m: Float64Array, inputs: ItmInputs) => number;

/** URL of the module in builds that have it. */
const [MODULE] = Object.values(import.meta.glob<string>('../../wasm/itm.wasm', { query: '?url', import: 'default', eager: true }));

/** Model of a compiled module. */
export async function pathLossOf(source: URL | string | BufferSource): Promise<PathLoss> {
  const { exports } = await instance(source);
  return (heights_msl_m, inputs) => losses(exports, heights_msl_m, heights_msl_m.length, inputs)[0] as number;
}

/** The model of this build; null where it has none. */
export async function loadPathLoss(): Promise<PathLoss | null> {
  return MODULE ? pathLossOf(MODULE) : null;
}
