// Coasts, borders, rivers and lakes of the world, which the page brings along.
import type { Feature, Position } from 'geojson';

/** Natural Earth in one of its scales, and the zoom from which its lines are needed. */
export interface Detail {
  zoom_min: number;
  load(): Promise<{ default: unknown }>;
  /** Rivers and lakes: there are none finer than 1:50M. */
  waters(): Promise<{ default: unknown }>;
}

const WATERS = { coarse: () => import('virtual:waters-110m'), fine: () => import('virtual:waters-50m') };

/** Scales 1:110M, 1:50M and 1:10M, each loaded when a view needs it. */
export const DETAILS: readonly Detail[] = [
  { zoom_min: 0, load: () => import('world-atlas/countries-110m.json'), waters: WATERS.coarse },
  { zoom_min: 3.5, load: () => import('world-atlas/countries-50m.json'), waters: WATERS.fine },
  { zoom_min: 6.5, load: () => import('world-atlas/countries-10m.json'), waters: WATERS.fine },
];

/** Features of the objects of a TopoJSON document, by the names of these. */
async function features<Name extends string>(
  document: Promise<{ default: unknown }>,
  ...names: readonly Name[]
): Promise<Record<Name, Feature[]>> {
  const [{ feature }, { default: atlas }] = await Promise.all([import('topojson-client'), document]);
  const topology = atlas as Parameters<typeof feature>[0];
  const of = (name: Name) => {
    const object = topology.objects[name];
    const collection = object && feature(topology, object);
    return collection?.type === 'FeatureCollection' ? collection.features : [];
  };
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Feature[]>;
}

/** Areas of countries, with their names. */
export async function countries(detail: Detail): Promise<Feature[]> {
  return (await features(detail.load(), 'countries')).countries.map(whole);
}

/** Lines of rivers and areas of lakes. */
export function waters(detail: Detail): Promise<Record<'rivers' | 'lakes', Feature[]>> {
  return features(detail.waters(), 'rivers', 'lakes');
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
