// Ground above the ray of a link, and the heights of antennas that clear it.
import type { LinkAnalysis, Surroundings } from './api/client';

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
  bulge(d: number): number;
  ray(d: number): number;
  zone(d: number): number;
  samples: Sample[];
}

/** The ray of a link, its first Fresnel zone, and the ground with the bulge of the Earth. */
export function section({ profile, result }: LinkAnalysis): Section {
  const total = profile.total_distance_m;
  const { effective_earth_radius_m, tx_antenna_msl_m: a, rx_antenna_msl_m: b } = result.geometry;
  const wavelength_m = SPEED_MHZ_M / result.frequency_mhz;
  const bulge = (d: number) => (d * (total - d)) / (2 * effective_earth_radius_m);
  const ray = (d: number) => a + (b - a) * (total ? d / total : 0);
  const zone = (d: number) => (total ? Math.sqrt(Math.max(0, (wavelength_m * d * (total - d)) / total)) : 0);
  const samples = profile.samples.map((sample) => ({ d: sample.distance_m, ground: sample.elevation_msl_m + bulge(sample.distance_m), missing: Boolean(sample.missing), clutter: sample.clutter_agl_m ?? 0, cover: sample.land_cover ?? null }));
  return { total, bulge, ray, zone, samples };
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
    const half = (neighbour: Sample | undefined) => (neighbour ? { d: (d + neighbour.d) / 2, ground: (ground + neighbour.ground) / 2 } : { d, ground });
    for (const place of [half(samples[at - 1]), { d, ground }, half(samples[at + 1])]) last.stand.outline.push({ ...place, top: place.ground + clutter });
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
