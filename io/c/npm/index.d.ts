import type { Itm, Source } from "./itm.js";

export type { Climate, Itm, ItmInputs, Source } from "./itm.js";

/** A radio, an antenna or an environment as scenario files have it. */
export type Document = { [key: string]: unknown };

export interface Station {
  /** Antenna height above ground, m, 0 to 20000; 10 by default. */
  height_agl_m?: number;
  /** Name of a preset or a document; `wifi_5g_mesh` by default. */
  radio?: string | Document;
  /** Name of a preset or a document; `omni_2_15`, a half-wave dipole, by default. */
  antenna?: string | Document;
  pointing?: { azimuth_deg: number; elevation_deg?: number };
  surroundings?: string;
  indoor?: string;
}

export interface Site {
  lat_deg: number;
  lon_deg: number;
  station?: Station;
}

export interface LinkRequest {
  from: Site;
  to: Site;
  environment?: Document;
  /** Packet length of loss rates, bytes; 1500 by default. */
  packet_bytes?: number;
  /** Samples of the profile, 8 to 4096; one per post by default. */
  samples?: number;
}

export interface CoverageRequest {
  site: Site;
  /** Receiver of every cell; the radio of the site with `omni_2_15` at 1.5 m by default. */
  receiver?: Station;
  environment?: Document;
  radius_km: number;
  /** Size of a cell, arc-seconds. */
  cell_arcsec: number;
  packet_bytes?: number;
  /** First row and the one after the last; all by default. Any partition gives the same bits. */
  rows?: [number, number];
}

/** Heights row by row from the north-west, m above mean sea level, NaN for voids. */
export interface Elevation {
  heights: ArrayLike<number>;
  rows: number;
  columns: number;
  /** West, south, east and north of the outer edges of its cells, deg, as GDAL has them. */
  bounds: [number, number, number, number];
  /** Height of the geoid above the ellipsoid, m. */
  undulationM?: number;
}

export interface Link {
  samples: number;
  ground: "known" | "partial" | "unknown";
  verdict: "excellent" | "good" | "marginal" | "poor" | "no_link" | "no_terrain_data";
  assumptions: Document;
  /** Every term of the budget, as `groundwave link --json` has it. */
  forward: Document;
  backward: Document;
  percentiles: {
    percent: number;
    rx_power_dbm: number;
    link_margin_db: number;
    reverse_rx_power_dbm: number;
    reverse_link_margin_db: number;
  }[];
}

export type Column =
  | "distance_m"
  | "lat_deg"
  | "lon_deg"
  | "elevation_msl_m"
  | "elevation_hae_m"
  | "clutter_agl_m"
  | "earth_bulge_m"
  | "ray_msl_m"
  | "fresnel_radius_m";

export interface Profile {
  distance_m: number;
  azimuth_deg: number;
  back_azimuth_deg: number;
  samples: number;
  void_samples: number;
  missing_samples: number;
  columns: Record<Column, Float64Array>;
}

export type Plane =
  | "link_margin_db"
  | "rx_power_dbm"
  | "path_loss_db"
  | "field_strength_dbuv_m"
  | "sinr_db"
  | "data_rate_bps"
  | "link_prob"
  | "flags";

export interface Coverage {
  rows: number;
  columns: number;
  first_row: number;
  grid_rows: number;
  /** West, south, east, north, deg. */
  bounds_deg: [number, number, number, number];
  /** Affine transform from column and row to longitude and latitude. */
  transform: [number, number, number, number, number, number];
  crs: "EPSG:4326";
  terrain: Document;
  /** Row by row from the north, NaN where a cell has no answer. */
  planes: Record<Plane, Float32Array>;
}

export interface Groundwave extends Itm {
  link(request: LinkRequest, elevation: Elevation): Link;
  /** Over heights evenly spaced from one end to the other. */
  linkOver(request: LinkRequest, heights: ArrayLike<number>): Link;
  profile(request: LinkRequest, elevation: Elevation): Profile;
  coverage(request: CoverageRequest, elevation: Elevation): Coverage;
  /** Rows and columns of the grid of a coverage. */
  coverageSize(request: CoverageRequest): [number, number];
  presets(): { radios: Document[]; antennas: Document[] };
}

/** Errors of requests are RangeErrors with the key, the value found and the values allowed. */
export function load(source?: Source): Promise<Groundwave>;
