// Ground above the ray of a link, and the heights of antennas that clear it.
import type { LinkAnalysis, Surroundings, TerrainProfile } from './api/client';
import type { LatLon } from './geo';
import { percent } from './units';

/** Share of the first Fresnel zone that is kept clear, by ITU-R P.530. */
const CLEAR_SHARE = 0.6;
const SPEED_MHZ_M = 299.792458;

/** A sample of the profile, heights above the sea of a flat Earth, m. */
export interface Sample {
  d: number;
  ground: number;
  missing: boolean;
  /** Height of trees or buildings above the ground, m; 0 where there are none, or none are known. */
  clutter: number;
  cover: Surroundings | null;
}

/** Stretch of a path under trees, or under buildings. */
export interface Stand {
  kind: 'trees' | 'buildings';
  /** Edges of the stretch with their ground and their tops, m. */
  outline: { d: number; ground: number; top: number }[];
}

export interface Section {
  /** Length of the path, m. */
  total: number;
  /** Antennas at both ends, above the sea, m. */
  antennas_msl_m: readonly [number, number];
  bulge(d: number): number;
  ray(d: number): number;
  zone(d: number): number;
  samples: Sample[];
}

/** An end of a path: a node, or a place without one. */
export interface End {
  /** Node of this end; null for a place without one. */
  id: string | null;
  name: string;
  place: LatLon;
  ground_msl_m: number;
  height_agl_m: number;
}

/** A path between two antennas over its terrain. */
export interface Course {
  ends: readonly [End, End];
  azimuth_deg: number;
  effective_earth_radius_m: number;
  k_factor: number;
  frequency_mhz: number;
  profile: TerrainProfile;
  /** False if too much of the path, or an end, has no terrain data. */
  terrain_known: boolean;
}

/** Heights of masts in place of those of the ends, m above ground; null for one that stays. */
export type Heights = readonly [number | null, number | null];

/** The path of an analysed link; null where an end is not in the plan any more. */
export function courseOf(
  { tx_node_id, rx_node_id, profile, result, terrain_known }: LinkAnalysis,
  byId: ReadonlyMap<string, LatLon & { id: string; name: string; height_agl_m: number }>,
): Course | null {
  const [tx, rx] = [byId.get(tx_node_id), byId.get(rx_node_id)];
  if (!tx || !rx) return null;
  const { geometry, frequency_mhz } = result;
  const end = ({ id, name, lat, lon, height_agl_m }: typeof tx, ground_msl_m: number): End => ({
    id,
    name,
    place: { lat, lon },
    ground_msl_m,
    height_agl_m,
  });
  return {
    ends: [end(tx, geometry.tx_ground_msl_m), end(rx, geometry.rx_ground_msl_m)],
    azimuth_deg: geometry.azimuth_deg,
    effective_earth_radius_m: geometry.effective_earth_radius_m,
    k_factor: geometry.k_factor,
    frequency_mhz,
    profile,
    terrain_known,
  };
}

/** The ray of a path, its first Fresnel zone, and the ground with the bulge of the Earth. */
export function section({ ends, effective_earth_radius_m, frequency_mhz, profile }: Course, heights_agl_m?: Heights | null): Section {
  const total = profile.total_distance_m;
  const [a, b] = ends.map((end, at) => end.ground_msl_m + (heights_agl_m?.[at] ?? end.height_agl_m)) as [number, number];
  const wavelength_m = SPEED_MHZ_M / frequency_mhz;
  const bulge = (d: number) => (d * (total - d)) / (2 * effective_earth_radius_m);
  const ray = (d: number) => a + (b - a) * (total ? d / total : 0);
  const zone = (d: number) => (total ? Math.sqrt(Math.max(0, (wavelength_m * d * (total - d)) / total)) : 0);
  const samples = profile.samples.map((sample) => ({
    d: sample.distance_m,
    ground: sample.elevation_msl_m + bulge(sample.distance_m),
    missing: Boolean(sample.missing),
    clutter: sample.clutter_agl_m ?? 0,
    cover: sample.land_cover ?? null,
  }));
  return { total, antennas_msl_m: [a, b], bulge, ray, zone, samples };
}

/** Clearance of the ray over the ground. */
export interface Sight {
  line_of_sight: boolean;
  /** Least share of the first Fresnel zone that is clear, negative below the ground; null where no sample lies between the ends. */
  ratio: number | null;
  /** Place of that share on the path, with its ground above the sea. */
  lowest: { distance_m: number; height_msl_m: number } | null;
}

/** Clearance along a section, by its samples between the ends. */
export function sight({ samples, ray, zone, bulge }: Section): Sight {
  const clear: Sight = { line_of_sight: true, ratio: null, lowest: null };
  for (const { d, ground } of samples.slice(1, -1)) {
    const above_m = ray(d) - ground;
    if (above_m <= 0) clear.line_of_sight = false;
    const ratio = above_m / Math.max(zone(d), 1e-9);
    if (ratio >= (clear.ratio ?? Infinity)) continue;
    [clear.ratio, clear.lowest] = [ratio, { distance_m: d, height_msl_m: ground - bulge(d) }];
  }
  return clear;
}

/** A clearance in words. */
export function sightText({ line_of_sight, ratio }: Pick<Sight, 'line_of_sight' | 'ratio'>): string {
  if (!line_of_sight) return 'No line of sight';
  const zone =
    ratio === null
      ? ''
      : ratio >= CLEAR_SHARE
        ? ', the first Fresnel zone is clear enough'
        : `, ${percent(Math.max(ratio, 0))} of the first Fresnel zone is clear`;
  return `Line of sight${zone}`;
}

/** Trees and buildings along the path. Each sample stands for the path to halfway to its neighbours. */
export function stands({ samples }: Section): Stand[] {
  const found: Stand[] = [];
  let last: { stand: Stand; at: number } | null = null;
  samples.forEach(({ d, ground, clutter, cover }, at) => {
    if (clutter <= 0 || cover === null) return;
    const kind = cover === 'forest' ? 'trees' : 'buildings';
    if (!last || last.at !== at - 1 || last.stand.kind !== kind) found.push((last = { at, stand: { kind, outline: [] } }).stand);
    last.at = at;
    const half = (neighbour: Sample | undefined) =>
      neighbour ? { d: (d + neighbour.d) / 2, ground: (ground + neighbour.ground) / 2 } : { d, ground };
    for (const place of [half(samples[at - 1]), { d, ground }, half(samples[at + 1])])
      last.stand.outline.push({ ...place, top: place.ground + clutter });
  });
  return found;
}

/** Stretches of the path on which ground stands above the ray, m from the transmitter. */
export function blockedParts({ samples, ray, total }: Section): [number, number][] {
  const parts: [number, number][] = [];
  samples.forEach(({ d, ground }, at) => {
    if (at === 0 || at === samples.length - 1 || ground <= ray(d)) return;
    const [from, to] = [samples[at - 1]?.d ?? 0, samples[at + 1]?.d ?? total];
    const last = parts.at(-1);
    if (last && last[1] >= from) last[1] = to;
    else parts.push([from, to]);
  });
  return parts;
}

/** Metres by which one end, the other, or both are raised until the ground is clear; null where it is. */
export function raising({ samples, ray, zone, total }: Section): { tx_m: number; rx_m: number; both_m: number } | null {
  let [tx_m, rx_m, both_m] = [0, 0, 0];
  for (const { d, ground } of samples.slice(1, -1)) {
    const lack_m = ground + CLEAR_SHARE * zone(d) - ray(d);
    if (lack_m <= 0) continue;
    tx_m = Math.max(tx_m, lack_m / (1 - d / total));
    rx_m = Math.max(rx_m, lack_m / (d / total));
    both_m = Math.max(both_m, lack_m);
  }
  return both_m > 0 ? { tx_m: Math.ceil(tx_m), rx_m: Math.ceil(rx_m), both_m: Math.ceil(both_m) } : null;
}
