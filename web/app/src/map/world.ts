// Coasts and borders of the world, which the page brings along.
import type { Feature, FeatureCollection, Polygon, Position } from 'geojson';

export async function world(): Promise<FeatureCollection | null> {
  // A server that is gone is told of elsewhere.
  const parts = await Promise.all([import('topojson-client'), import('world-atlas/countries-110m.json')]).catch(() => null);
  if (!parts) return null;
  const [{ feature }, { default: atlas }] = parts;
  const topology = atlas as unknown as Parameters<typeof feature>[0];
  const countries = topology.objects['countries'];
  const found = countries && feature(topology, countries);
  return found?.type === 'FeatureCollection' ? { ...found, features: found.features.flatMap(cut) } : null;
}

/** Longitudes of a ring without jumps of 360 degrees; around a pole it ends a turn further than it begins. */
function unwrapped(ring: readonly Position[]): Position[] {
  let [turn, before] = [0, ring[0]?.[0] ?? 0];
  return ring.map(([lon = 0, lat = 0]) => {
    if (lon - before > 180) turn -= 360;
    else if (lon - before < -180) turn += 360;
    before = lon;
    return [lon + turn, lat];
  });
}

/** The part of a ring between two longitudes (Sutherland and Hodgman); empty where there is none. */
function between(ring: readonly Position[], west: number, east: number): Position[] {
  let found = [...ring];
  for (const [edge, side] of [[west, 1], [east, -1]] as const) {
    const inside = ([lon = 0]: Position) => (lon - edge) * side >= 0;
    const from = found;
    found = from.flatMap((place, at): Position[] => {
      const before = from.at(at - 1) as Position;
      const [[lon0 = 0, lat0 = 0], [lon1 = 0, lat1 = 0]] = [before, place];
      const crossing: Position[] = inside(before) === inside(place) ? [] : [[edge, lat0 + ((lat1 - lat0) * (edge - lon0)) / (lon1 - lon0)]];
      return inside(place) ? [...crossing, place] : crossing;
    });
  }
  const [first] = found;
  return found.length >= 3 && first ? [...found, first] : [];
}

/** A ring cut at 180 degrees, with the parts of both sides in their places. */
function parts(ring: readonly Position[]): Position[][] {
  const whole = unwrapped(ring);
  const lons = whole.map(([lon = 0]) => lon);
  const [least, most] = [Math.min(...lons), Math.max(...lons)];
  if (least >= -180 && most <= 180) return [[...ring]];
  const turns = [-360, 0, 360].filter((turn) => most > turn - 180 && least < turn + 180);
  return turns.map((turn) => between(whole, turn - 180, turn + 180).map(([lon = 0, lat = 0]) => [lon - turn, lat])).filter((part) => part.length);
}

/** Areas cut at 180 degrees: uncut, they are drawn across the world. */
function cut(area: Feature): Feature[] {
  const { geometry } = area;
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.type === 'MultiPolygon' ? geometry.coordinates : [];
  const pieces = polygons.flatMap(([outer, ...holes]): Position[][][] => {
    const shells = outer ? parts(outer) : [];
    return shells.length === 1 && shells[0] ? [[shells[0], ...holes]] : shells.map((shell) => [shell]);
  });
  return pieces.map((coordinates) => ({ ...area, geometry: { type: 'Polygon', coordinates } satisfies Polygon }));
}
