// A file of land cover: a GeoTIFF file of classes in one strip, EPSG:4326, rows from the north.

/** Classes of ESA WorldCover. */
export const TREES = 10;
export const BUILT_UP = 50;

/** One class over a square of so many degrees, by its south-western corner. */
export function coverFile(south: number, west: number, side_deg: number, kind: number, side = 300): Buffer {
  const step = side_deg / side;
  const doubles = (values: readonly number[]) => Buffer.from(Float64Array.from(values).buffer);
  const extra: readonly (readonly [number, number, number, Buffer])[] = [
    [33550, 12, 3, doubles([step, step, 0])],
    [33922, 12, 6, doubles([0, 0, 0, west, south + side_deg, 0])],
    [34735, 3, 16, Buffer.from(Uint16Array.from([1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326]).buffer)],
  ];
  const entries = 9 + extra.length;
  let place = 8 + 2 + 12 * entries + 4;
  const data = place + extra.reduce((sum, [, , , bytes]) => sum + bytes.length, 0);
  const plain: readonly (readonly [number, number, number])[] = [
    [256, 4, side],
    [257, 4, side],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, data],
    [277, 3, 1],
    [278, 4, side],
    [279, 4, side * side],
  ];
  const head = Buffer.alloc(place);
  head.write('II*\0', 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(entries, 8);
  let at = 10;
  const entry = (tag: number, type: number, count: number, value: number) => {
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(count, at + 4);
    head.writeUInt32LE(value, at + 8);
    at += 12;
  };
  for (const [tag, type, value] of plain) entry(tag, type, 1, value);
  for (const [tag, type, count, bytes] of extra) {
    entry(tag, type, count, place);
    place += bytes.length;
  }
  return Buffer.concat([head, ...extra.map(([, , , bytes]) => bytes), Buffer.alloc(side * side, kind)]);
}
