export type Source = URL | string | BufferSource | Response | WebAssembly.Module;

export type Climate =
  | "equatorial"
  | "continental_subtropical"
  | "maritime_subtropical"
  | "desert"
  | "continental_temperate"
  | "maritime_temperate_land"
  | "maritime_temperate_sea";

/** Inputs of the Irregular Terrain Model beside the heights. */
export interface ItmInputs {
  /** Distance between heights, m. */
  stepM: number;
  /** Transmitting antenna, m above ground, 0.5 to 3000. */
  txAglM: number;
  /** Receiving antenna, m above ground, 0.5 to 3000. */
  rxAglM: number;
  /** Frequency, MHz, 20 to 20000. */
  frequencyMhz: number;
  climate?: Climate;
  /** Surface refractivity reduced to sea level, N-units, 250 to 400; 301 by default. */
  refractivityNUnits?: number;
  polarization?: "horizontal" | "vertical";
  /** Relative permittivity of the ground; 15 by default. */
  permittivity?: number;
  /** Conductivity of the ground, S/m; 0.005 by default. */
  conductivitySM?: number;
  /** Mode of variability, NTIA's code; 12 by default. */
  mdvar?: number;
  /** Shares of time, locations and situations, percent; 50 by default. */
  timePercent?: number;
  locationPercent?: number;
  situationPercent?: number;
}

export interface Itm {
  /** The compiled module, for workers: `load(module)`. */
  readonly module: WebAssembly.Module;
  /** Basic transmission loss over evenly spaced heights, m above mean sea level, dB. */
  itm(heights: ArrayLike<number>, inputs: ItmInputs): number;
  /** Losses of paths of `samples` heights each, one after the other. */
  itmRows(heights: ArrayLike<number>, samples: number, inputs: ItmInputs): Float64Array;
}

export function load(source?: Source): Promise<Itm>;
