// Squares of ground by the names of their tiles.
import { wrapped, type LatLon } from './geo';

interface Bounds {
  south: number;
  west: number;
  north: number;
  east: number;
}

/** Length of a degree of latitude, m. */
const DEGREE_M = 111_200;

/** A view, widened to a distance around its middle. */
export function around(view: Bounds, { lat, lon }: LatLon, reach_m: number): Bounds {
  const up = reach_m / DEGREE_M;
  const aside = up / Math.max(0.01, Math.cos((lat * Math.PI) / 180));
  return {
    south: Math.max(-90, Math.min(view.south, lat - up)),
    west: Math.min(view.west, lon - aside),
    north: Math.min(90, Math.max(view.north, lat + up)),
    east: Math.max(view.east, lon + aside),
  };
}

/** Name of the square degree whose south-western corner this is, such as N57E011. */
export function square({ lat, lon }: LatLon): string {
  const [south, west] = [Math.floor(lat), Math.floor(wrapped(lon))];
  return `${south < 0 ? 'S' : 'N'}${String(Math.abs(south)).padStart(2, '0')}${west < 0 ? 'W' : 'E'}${String(Math.abs(west)).padStart(3, '0')}`;
}

/** Squares of a view whose middle has no ground, by name; null if they are more than `limit`. */
export function squares(box: Bounds, known: (place: LatLon) => boolean, limit: number): string[] | null {
  const names: string[] = [];
  for (let lat = Math.floor(box.south); lat < box.north; lat++) {
    for (let lon = Math.floor(box.west); lon < box.east; lon++) {
      if (known({ lat: lat + 0.5, lon: wrapped(lon + 0.5) })) continue;
      names.push(square({ lat, lon }));
      if (names.length > limit) return null;
    }
  }
  return names;
}
