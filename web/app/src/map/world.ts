// Coasts and borders of the world, which the page brings along.
import type { FeatureCollection } from 'geojson';

export async function world(): Promise<FeatureCollection | null> {
  // A server that is gone is told of elsewhere.
  const parts = await Promise.all([import('topojson-client'), import('world-atlas/countries-110m.json')]).catch(() => null);
  if (!parts) return null;
  const [{ feature }, { default: atlas }] = parts;
  const topology = atlas as unknown as Parameters<typeof feature>[0];
  const countries = topology.objects['countries'];
  const found = countries && feature(topology, countries);
  return found?.type === 'FeatureCollection' ? found : null;
}
