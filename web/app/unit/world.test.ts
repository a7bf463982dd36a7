// Names as they are compared, contour lines, and the waters of the world.
import { expect, test } from 'vitest';
import { folded } from '../src/folded';
import { contourInterval_m, contourLines, levelsWithin } from '../src/map/contours';
import { PERCENT_MIN, ratingOf } from '../src/verdict';
import { waters } from '../waters';

test('names are compared without case, marks and hyphens', () => {
  for (const [name, other] of [
    ['Göteborg', 'goteborg'],
    ['SAINT-ÉTIENNE', 'saint etienne'],
    ['Łódź', 'lodz'],
    ['Straße', 'strasse'],
    ['  Aix‑en ', 'aix‑en'],
    ['Malmö', 'malmo'],
    ['L’Aquila', "l'aquila"],
  ] as const)
    expect(folded(name)).toBe(other);
});

test('a contour of a cone is a closed ring at its height', () => {
  const side = 41;
  const heights_m = Float32Array.from(
    { length: side * side },
    (_, at) => 100 - 4 * Math.hypot((at % side) - 20, Math.floor(at / side) - 20),
  );
  expect(levelsWithin(heights_m, 50)).toEqual([50, 100]);
  const lines = contourLines(heights_m, side, 50);
  expect(lines).toHaveLength(1);
  const [ring = []] = lines;
  expect(ring[0]).toEqual(ring.at(-1));
  for (const [column, row] of ring) expect(Math.hypot(column - 20, row - 20)).toBeCloseTo(12.5, 1);
});

test('contours of a slope end at the edges, one for each level', () => {
  const side = 9;
  const heights_m = Float32Array.from({ length: side * side }, (_, at) => 10 * (at % side) + 3);
  for (const level of levelsWithin(heights_m, 20)) {
    const lines = contourLines(heights_m, side, level);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toHaveLength(side);
    for (const [column] of lines[0] ?? []) expect(column).toBeCloseTo((level - 3) / 10, 6);
  }
  expect(levelsWithin(Float32Array.from([-5, 5]), 10)).toEqual([]);
});

test('contour intervals are those of the interface', () => {
  expect([7, 8, 9, 10, 11, 12, 13, 14, 15].map(contourInterval_m)).toEqual([500, 500, 200, 100, 100, 50, 20, 10, 10]);
});

test('verdicts begin at their probabilities', () => {
  for (const [verdict, least] of Object.entries(PERCENT_MIN)) expect(ratingOf(least / 100)).toBe(verdict);
  expect([ratingOf(0.0999), ratingOf(0), ratingOf(1)]).toEqual(['no_link', 'no_link', 'excellent']);
});

test('rivers and lakes keep their arcs, and others are left out', () => {
  const all = {
    transform: null,
    objects: {
      rivers: { geometries: [{ type: 'LineString', arcs: [3, -2] }] },
      lakes: { geometries: [{ type: 'Polygon', arcs: [[~3, 0]] }] },
      countries: { geometries: [{ type: 'Polygon', arcs: [[2]] }] },
    },
    arcs: ['a', 'b', 'c', 'd'],
  };
  expect(waters(all)).toEqual({
    type: 'Topology',
    transform: null,
    objects: {
      rivers: { type: 'GeometryCollection', geometries: [{ type: 'LineString', arcs: [0, ~1] }] },
      lakes: { type: 'GeometryCollection', geometries: [{ type: 'Polygon', arcs: [[~0, 2]] }] },
    },
    arcs: ['d', 'b', 'a'],
  });
});
