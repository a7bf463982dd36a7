// Clearance along a path, and the links that are drawn of many.
import { expect, test } from 'vitest';
import type { Link } from '../src/api/client';
import { blockedParts, raising, section, sight, sightText, stands, type Course } from '../src/clearance';
import { isRanked, ranked, weight } from '../src/map/ranked';

const TOTAL_M = 10_000;

/** A path over level ground with a hill in its middle; masts of 20 m. */
function course(hill_m: number, frequency_mhz = 868): Course {
  const samples = Array.from({ length: 11 }, (_, at) => ({
    distance_m: (at * TOTAL_M) / 10,
    elevation_msl_m: at === 5 ? hill_m : 0,
    ...(at === 3 || at === 4 ? { land_cover: 'forest', clutter_agl_m: 15 } : {}),
  }));
  const end = (name: string) => ({ id: null, name, place: { lat: 0, lon: 0 }, ground_msl_m: 0, height_agl_m: 20 });
  // An Earth so great that it has no bulge.
  return {
    ends: [end('A'), end('B')],
    azimuth_deg: 0,
    effective_earth_radius_m: Infinity,
    k_factor: 1,
    frequency_mhz,
    profile: { total_distance_m: TOTAL_M, samples } as unknown as Course['profile'],
    terrain_known: true,
  };
}

test('the first Fresnel zone of the middle is half the root of wavelength times length', () => {
  const { zone, ray } = section(course(0));
  expect(zone(TOTAL_M / 2)).toBeCloseTo(0.5 * Math.sqrt((299.792458 / 868) * TOTAL_M), 6);
  expect([ray(0), ray(TOTAL_M / 2), zone(0)]).toEqual([20, 20, 0]);
});

test('a hill above the ray blocks its stretch, and masts clear it', () => {
  const path = section(course(26));
  expect(sight(path)).toMatchObject({ line_of_sight: false, lowest: { distance_m: 5000, height_msl_m: 26 } });
  expect(sightText(sight(path))).toBe('No line of sight');
  expect(blockedParts(path)).toEqual([[4000, 6000]]);
  const zone_m = path.zone(5000);
  const lack_m = 26 + 0.6 * zone_m - 20;
  expect(raising(path)).toEqual({ tx_m: Math.ceil(2 * lack_m), rx_m: Math.ceil(2 * lack_m), both_m: Math.ceil(lack_m) });
  const { both_m } = raising(path) as { both_m: number };
  expect(raising(section(course(26), [20 + both_m, 20 + both_m]))).toBeNull();
  expect(blockedParts(section(course(0)))).toEqual([]);
});

test('trees stand on the ground halfway to their neighbours', () => {
  const [stand, ...others] = stands(section(course(0)));
  expect(others).toEqual([]);
  expect([stand?.kind, stand?.outline[0]?.d, stand?.outline.at(-1)?.d, stand?.outline[1]?.top]).toEqual(['trees', 2500, 4500, 15]);
});

/** A link between two numbers, with the margins of its directions. */
function link(a: number, b: number, margin_db: number, back_db = margin_db): Link {
  const direction = (link_margin_db: number) => ({ link_margin_db, link_prob: 0.9, verdict: 'good' });
  return { a_node_id: `${a}`, b_node_id: `${b}`, forward: direction(margin_db), reverse: direction(back_db) } as unknown as Link;
}

test('of many links the best of each node are drawn, and those of selected ones', () => {
  // Each of 60 nodes with the next four: the nearer, the more margin.
  const links = Array.from({ length: 60 }, (_, a) => [1, 2, 3, 4].map((step) => link(a, (a + step) % 60, 40 - 10 * step + 1))).flat();
  expect(isRanked(links)).toBe(true);
  const drawn = ranked(links, new Set(), 2);
  expect(drawn).toHaveLength(60);
  expect(drawn.every((one) => weight(one) === 31)).toBe(true);
  const chosen = ranked(links, new Set(['7']), 2);
  expect(chosen.filter((one) => one.a_node_id === '7' || one.b_node_id === '7')).toHaveLength(8);
  expect(ranked(links, new Set(), Infinity)).toBe(links);
});

test('few links are all drawn, and the weaker direction counts', () => {
  const few = [link(1, 2, 30, -5), link(2, 3, 10)];
  expect(ranked(few, new Set())).toBe(few);
  expect(few.map(weight)).toEqual([-5, 10]);
});
