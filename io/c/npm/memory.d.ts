import type { Source } from "./itm.js";

/** Exports of a module. */
export type Exports = WebAssembly.Exports;

/** Instance of a module from a URL, bytes, a response or a compiled module; from `usual` without a source. */
export function instance(source?: Source, usual?: URL): Promise<{ compiled: WebAssembly.Module; exports: Exports }>;

/** Calls an export with texts, typed arrays and numbers; an error of the request becomes a RangeError. */
export function call(
  exports: Exports,
  name: string,
  values: (string | number | Float32Array | Float64Array)[],
): { document: unknown; array: Float32Array | Float64Array };
