// The scale bar of a printed map.
import { distance, type Units } from '../units';

/** Circumference of the Earth on the equator of WGS 84, m. */
const EQUATOR_M = 40_075_016.685578488;
/** Side of the world at zoom 0, px. */
const WORLD_PX = 512;
const BAR_PX_MAX = 160;

export interface Scale {
  /** Length of the bar on the picture, px. */
  px: number;
  text: string;
}

/** Metres on the ground in a pixel of a Web Mercator map. */
export function metresPerPixel(lat_deg: number, zoom: number): number {
  return (EQUATOR_M * Math.cos((lat_deg * Math.PI) / 180)) / (WORLD_PX * 2 ** zoom);
}

/** The longest bar of a round length (1, 2, 3 or 5 times a power of ten). */
export function scaleOf(lat_deg: number, zoom: number, units: Units): Scale {
  const metres = metresPerPixel(lat_deg, zoom);
  const most_m = metres * BAR_PX_MAX;
  const unit_m = units === 'metric' ? 1 : most_m < 1609.344 ? 0.3048 : 1609.344;
  const most = most_m / unit_m;
  const power = 10 ** Math.floor(Math.log10(most));
  const length_m = ([5, 3, 2, 1].find((factor) => factor * power <= most) ?? 1) * power * unit_m;
  return { px: length_m / metres, text: distance(length_m, units).replace(/\.00(?= )/, '') };
}
