// Places on the sphere, checked by distances that follow from its radius.
import { expect, test } from 'vitest';
import { azimuth_deg, between, coordinates, destination, distance_m, kept, turned, wrapped, wrappedBounds } from '../src/geo';

/** A degree of a great circle of the mean radius of the Earth, 6,371,008.8 m. */
const DEGREE_M = (Math.PI / 180) * 6_371_008.8;

test('distances are those of great circles', () => {
  expect(distance_m({ lat: 0, lon: 0 }, { lat: 0, lon: 1 })).toBeCloseTo(DEGREE_M, 3);
  expect(distance_m({ lat: 10, lon: 20 }, { lat: -10, lon: -160 })).toBeCloseTo(180 * DEGREE_M, 0);
  expect(distance_m({ lat: 0, lon: 179.5 }, { lat: 0, lon: -179.5 })).toBeCloseTo(DEGREE_M, 3);
});

test('a destination lies at its distance and direction, also across 180 degrees', () => {
  for (const from of [
    { lat: 57.7, lon: 11.97 },
    { lat: -33.9, lon: 179.99 },
    { lat: 70, lon: -179.9 },
  ]) {
    for (const azimuth of [0, 45, 90, 200, 359]) {
      const to = destination(from, azimuth, 25_000);
      expect(distance_m(from, to)).toBeCloseTo(25_000, 2);
      expect(Math.abs(turned(azimuth_deg(from, to), azimuth) - azimuth)).toBeLessThan(1e-6);
      expect(Math.abs(to.lon)).toBeLessThanOrEqual(180);
    }
  }
});

test('longitudes are turned and wrapped', () => {
  expect([turned(-179, 179), turned(179, -179), turned(10, 20), wrapped(181), wrapped(-540), wrapped(180)]).toEqual([
    181, -181, 10, -179, -180, 180,
  ]);
  expect(wrappedBounds({ west: -181, east: 185 })).toEqual({ west: 179, east: -175 });
  expect(between({ lat: 0, lon: 179 }, { lat: 2, lon: -179 }, 0.5)).toEqual({ lat: 1, lon: 180 });
});

test('coordinates as text are kept where the text is the same', () => {
  expect(coordinates({ lat: -57.71421, lon: 11.93668 })).toBe('57.7142° S 11.9367° E');
  expect(kept({ lat: 57.7142, lon: 12 }, { lat: 57.714213, lon: 11.9367 })).toEqual({ lat: 57.714213, lon: 12 });
});
