import type { Source } from "./itm.js";

export interface Positions {
  /** The compiled module, for workers: `load(module)`. */
  readonly module: WebAssembly.Module;
  /**
   * Latitude and longitude in a text, degrees: decimals, degrees with minutes and seconds, UTM, MGRS, Maidenhead
   * locators, plus codes, points of WKT. A RangeError names the spellings that are allowed.
   */
  position(text: string): [number, number];
}

export function load(source?: Source): Promise<Positions>;
