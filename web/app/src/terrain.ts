// Squares of ground by the names of their tiles.
import { wrapped, type LatLon } from './geo';

/** Greatest size of a tile of Copernicus GLO-30, MB. */
export const TILE_MB_MAX = 45;

/** Name of the square degree whose south-western corner this is, such as N57E011. */
export function square({ lat, lon }: LatLon): string {
  const [south, west] = [Math.floor(lat), Math.floor(wrapped(lon))];
  return `${south < 0 ? 'S' : 'N'}${String(Math.abs(south)).padStart(2, '0')}${west < 0 ? 'W' : 'E'}${String(Math.abs(west)).padStart(3, '0')}`;
}

/** Squares of a view whose middle has no ground, by name; null if they are more than `limit`. */
export function squares(box: { south: number; west: number; north: number; east: number }, known: (place: LatLon) => boolean, limit: number): string[] | null {
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
