// Countries, coasts, rivers, lakes and towns of the world, in the detail that a view needs, where neither ground nor a base map is.
import type { Feature } from 'geojson';
import type { Map as MapLibre } from 'maplibre-gl';
import { parsed, towns, type Town } from '../gazetteer';
import type { LatLon } from '../geo';
import { point } from './features';
import { countries, DETAILS, waters, type Detail } from './world';

/** Zoom from which towns of all sizes are named. */
const TOWNS_ZOOM_MIN = 5.5;
/** Inhabitants from which a town is named at a zoom, greatest first. */
const RANKS: readonly (readonly [population: number, zoom: number])[] = [
  [5e6, 2.5],
  [2e6, 3.5],
  [1e6, 4.5],
  [5e5, 5.2],
  [2e5, 6],
  [1e5, 7],
  [5e4, 8],
  [2e4, 9],
  [0, 10],
];
const CAPITAL_ZOOM = 3.5;

function townFeature(town: Town): Feature {
  const [, zoom] = RANKS.find(([population]) => town.population >= population) ?? [0, 10];
  return point(town, { name: town.name, from: town.capital ? Math.min(zoom, CAPITAL_ZOOM) : zoom, rank: -town.population });
}

export class WorldMap {
  #detail = -1;
  #towns: 'none' | 'cities' | 'towns' = 'none';

  /** `put` gives a source its features; `known` is true where the ground is there. */
  constructor(
    private readonly map: MapLibre,
    private readonly put: (name: string, features: readonly Feature[]) => void,
    private readonly known: (place: LatLon) => boolean | null,
  ) {
    // It waits: few look at the whole world first.
    map.once('idle', () => {
      map.on('moveend', () => this.#look());
      this.#look();
    });
  }

  /** Loads what the view lacks. */
  #look(): void {
    const zoom = this.map.getZoom();
    const { lat, lng } = this.map.getCenter();
    // Ground that is there has its own coasts.
    const covered = this.known({ lat, lon: lng }) === true;
    const next = covered ? 0 : DETAILS.findLastIndex((detail) => zoom >= detail.zoom_min);
    // The coarse one is soon there, whatever follows it.
    if (this.#detail < 0) void this.#countries(0).then(() => void (this.#detail >= 0 && this.#look()));
    else if (next > this.#detail) void this.#countries(next);
    if (!covered && zoom >= TOWNS_ZOOM_MIN && this.#towns !== 'towns') void this.#name('towns');
    else if (this.#towns === 'none') void this.#name('cities');
  }

  async #countries(level: number): Promise<void> {
    const before = this.#detail;
    this.#detail = level;
    // A server that is gone is told of elsewhere, and asked again.
    const detail = DETAILS[level] as Detail;
    const loaded = await Promise.all([countries(detail), waters(detail)]).catch(() => null);
    if (!loaded) this.#detail = before;
    else if (this.#detail === level) {
      const [areas, { rivers, lakes }] = loaded;
      this.put('world', areas);
      this.put('lakes', lakes);
      this.put('rivers', rivers);
      this.put(
        'countries',
        areas.flatMap((area) => label(area)),
      );
    }
  }

  async #name(table: 'cities' | 'towns'): Promise<void> {
    const before = this.#towns;
    this.#towns = table;
    const load = table === 'towns' ? towns() : import('virtual:cities').then((module) => parsed(module.default));
    const all = await load.catch(() => null);
    if (!all) this.#towns = before;
    else if (this.#towns === table) this.put('towns', all.map(townFeature));
  }
}

/** The name of a country in the middle of its largest area. */
function label(area: Feature): Feature[] {
  if (area.geometry.type !== 'MultiPolygon') return [];
  let [size, place]: [number, LatLon | null] = [0, null];
  for (const [ring = []] of area.geometry.coordinates) {
    // Sums of a polygon's centre of gravity.
    let [sum, x, y] = [0, 0, 0];
    ring.forEach(([lon = 0, lat = 0], at) => {
      const [east = lon, north = lat] = ring[at + 1] ?? [];
      const part = lon * north - east * lat;
      sum += part;
      x += (lon + east) * part;
      y += (lat + north) * part;
    });
    if (Math.abs(sum) > size) [size, place] = [Math.abs(sum), { lat: y / (3 * sum), lon: x / (3 * sum) }];
  }
  const name = (area.properties as { name?: string } | null)?.name;
  return place && name ? [point(place, { name, rank: -size })] : [];
}
