// Coasts and borders of the world, which the page brings along.
import type { Feature, Position } from 'geojson';

/** Natural Earth in one of its scales, and the zoom from which its lines are needed. */
export interface Detail {
  zoom_min: number;
  load(): Promise<{ default: unknown }>;
}

/** Scales 1:110M, 1:50M and 1:10M, each loaded when a view needs it. */
export const DETAILS: readonly Detail[] = [
  { zoom_min: 0, load: () => import('world-atlas/countries-110m.json') },
  { zoom_min: 3.5, load: () => import('world-atlas/countries-50m.json') },
  { zoom_min: 6.5, load: () => import('world-atlas/countries-10m.json') },
];

/** Areas of countries, with their names. */
export async function countries(detail: Detail): Promise<Feature[]> {
  const [{ feature }, { default: atlas }] = await Promise.all([import('topojson-client'), detail.load()]);
  const topology = atlas as Parameters<typeof feature>[0];
  const areas = topology.objects['countries'];
  const found = areas && feature(topology, areas);
  return found?.type === 'FeatureCollection' ? found.features.map(whole) : [];
}

/** A ring whose longitudes have no jumps of 360 degrees; one around a pole keeps its own. */
function unwrapped(ring: Position[]): Position[] {
  let [turn, before] = [0, ring[0]?.[0] ?? 0];
  const steady = ring.map(([lon = 0, lat = 0]): Position => {
    if (lon - before > 180) turn -= 360;
    else if (lon - before < -180) turn += 360;
    before = lon;
    return [lon + turn, lat];
  });
  return turn === 0 ? steady : ring;
}

/** Areas without jumps at 180 degrees: with them they are drawn across the world. The map turns what lies beyond. */
function whole(area: Feature): Feature {
  const { geometry } = area;
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.type === 'MultiPolygon' ? geometry.coordinates : [];
  const coordinates = polygons.map((rings) => rings.map(unwrapped));
  return { ...area, geometry: { type: 'MultiPolygon', coordinates } };
}
