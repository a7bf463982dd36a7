// A PMTiles archive of one vector tile, written by its specification (version 3, nothing compressed).
import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { FeatureCollection } from 'geojson';
import { zxyToTileId, TileType } from 'pmtiles';

const HEADER_OCTETS = 127;
const UNCOMPRESSED = 1;

function varint(value: number): number[] {
  const octets: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...octets, left];
    octets.push((left % 128) | 128);
  }
}

/** The archive with a tile z/x/y of these layers. */
export function archive([z, x, y]: readonly [number, number, number], layers: Record<string, FeatureCollection>): Buffer {
  const cut = Object.fromEntries(
    Object.entries(layers).map(([name, data]) => [name, new GeoJSONVT(data, { maxZoom: z, indexMaxZoom: z }).getTile(z, x, y)]),
  );
  const tile = Buffer.from(fromGeojsonVt(cut as Parameters<typeof fromGeojsonVt>[0]));
  const directory = Buffer.from([1, zxyToTileId(z, x, y), 1, tile.length, 1].flatMap(varint));
  const metadata = Buffer.from(
    JSON.stringify({ attribution: 'A test', vector_layers: Object.keys(layers).map((id) => ({ id, fields: {} })) }),
  );
  const header = Buffer.alloc(HEADER_OCTETS);
  header.write('PMTiles\x03', 'latin1');
  const sections = [directory.length, metadata.length, 0, tile.length];
  let offset = HEADER_OCTETS;
  sections.forEach((length, at) => {
    header.writeBigUInt64LE(BigInt(offset), 8 + at * 16);
    header.writeBigUInt64LE(BigInt(length), 16 + at * 16);
    offset += length;
  });
  for (const at of [72, 80, 88]) header.writeBigUInt64LE(1n, at);
  header.set([1, UNCOMPRESSED, UNCOMPRESSED, TileType.Mvt, z, z], 96);
  [-180, -85, 180, 85].forEach((degrees, at) => header.writeInt32LE(degrees * 1e7, 102 + at * 4));
  header[118] = z;
  return Buffer.concat([header, directory, metadata, tile]);
}
