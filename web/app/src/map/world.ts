// Coasts and borders of the world, which the page brings along.
import type { Feature, FeatureCollection, Position } from 'geojson';

export async function world(): Promise<FeatureCollection | null> {
  // A server that is gone is told of elsewhere.
  const parts = await Promise.all([import('topojson-client'), import('world-atlas/countries-110m.json')]).catch(() => null);
  if (!parts) return null;
  const [{ feature }, { default: atlas }] = parts;
  const topology = atlas as unknown as Parameters<typeof feature>[0];
  const countries = topology.objects['countries'];
  const found = countries && feature(topology, countries);
  return found?.type === 'FeatureCollection' ? { ...found, features: found.features.map(whole) } : null;
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
