// Positions in all spellings, by the vectors of the command line.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAngle } from '../src/coordinates/angle';
import { maidenhead, mgrs, plusCode, utm } from '../src/coordinates/grid';
import { parsePosition } from '../src/coordinates/position';
import { unproject } from '../src/coordinates/utm';

const SPELLINGS = JSON.parse(readFileSync(join(import.meta.dirname, '../../../tests/fixtures/coordinate/spellings.json'), 'utf8')) as {
  positions: { text: string; lat_deg: number; lon_deg: number; within_deg: number }[];
  refusals: { text: string; reason: string }[];
};

test.each(SPELLINGS.positions)('$text', ({ text, lat_deg, lon_deg, within_deg }) => {
  const position = parsePosition(text);
  if (!('place' in position)) throw new Error(position.reason);
  expect(Math.abs(position.place.lat - lat_deg)).toBeLessThanOrEqual(within_deg);
  expect(Math.abs(position.place.lon - lon_deg)).toBeLessThanOrEqual(within_deg);
});

test.each(SPELLINGS.refusals)('$text is refused', ({ text, reason }) => {
  const position = parsePosition(text);
  expect('reason' in position ? position.reason : position.place).toContain(reason);
});

test('an angle has one sign or one letter', () => {
  expect(parseAngle('57°42\'51"N', '.')?.deg).toBeCloseTo(57 + 42 / 60 + 51 / 3600, 9);
  expect(parseAngle('-0° 7\'', '.')?.deg).toBeCloseTo(-7 / 60, 9);
  expect(parseAngle('11,5 W', ',')).toEqual({ deg: -11.5, letter: 'W' });
  for (const text of ['-12 S', '12 60', '1 2 3 4', '', 'N', '12.5.5']) expect(parseAngle(text, '.'), text).toBeNull();
});

test('the middle of a zone has its meridian, and northings are those of WGS84', () => {
  // Arc of the meridian from the equator to 45 degrees on WGS84: 4,984,944.378 m.
  const [lat, lon] = unproject(32, false, 500_000, 4_984_944.378 * 0.9996);
  expect(lat).toBeCloseTo(45, 8);
  expect(lon).toBe(9);
  expect(unproject(56, true, 500_000, 1e7)[0]).toBeCloseTo(0, 9);
});

test('grids are read or give null', () => {
  expect(utm('32V 674934 6400683')).toBeInstanceOf(Array);
  const [lat, lon] = mgrs('32VPK7493400683') as [number, number];
  expect([lat.toFixed(3), lon.toFixed(3)]).toEqual((utm('32V 674934 6400683') as [number, number]).map((value) => value.toFixed(3)));
  const [north, east] = maidenhead('JO57XR') as [number, number];
  expect(north).toBeCloseTo(57 + 17 / 24 + 1 / 48, 9);
  expect(east).toBeCloseTo(10 + 23 / 12 + 1 / 24, 9);
  expect(plusCode('a town')).toBeNull();
});
