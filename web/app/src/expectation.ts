// Interval and probability of a link in the wording that every report has.
import type { Effect, LinkDirection } from './api/client';
import { figure, percent } from './units';

/** Knowledge that the interval rests on, in a few words. */
export const BASES: Record<LinkDirection['basis'], string> = {
  line_of_sight: 'clear line of sight',
  terrain: 'terrain known',
  calibrated: 'calibrated',
  indoor: 'indoors',
  surroundings_unknown: 'surroundings unknown',
  ground_unknown: 'ground unknown',
};

/** Effects that a prediction leaves out, in words. */
export const EFFECTS: Record<Effect, string> = {
  clutter: 'clutter',
  vegetation: 'woodland',
  rain: 'rain',
  man_made_noise: 'man-made noise',
};

interface Expectation {
  rx_power_interval_dbm: number[];
  link_prob: number;
  basis: LinkDirection['basis'];
  /** Over unknown ground the probability rests on assumed ground, and is not shown. */
  ground?: 'known' | 'partial' | 'unknown';
}

/** Received power of 90 % of links like this one, the strong end first. */
export function interval({ rx_power_interval_dbm: [low, high] }: Pick<Expectation, 'rx_power_interval_dbm'>): string {
  return `${figure(high ?? NaN, 0)} to ${figure(low ?? NaN, 0)}`;
}

/** Probability that a link like this one works: a decimal where whole percent would hide how near it is to 0 or 100. */
export const chance = (prob: number): string => percent(prob, prob > 0.99 || prob < 0.1 ? 1 : 0);

/** The sentence of reports: `90 % of links like this: -98 to -141 dBm; works with 62 %; surroundings unknown`. */
export function expectation(one: Expectation): string {
  const works = one.ground === 'unknown' ? '' : `works with ${chance(one.link_prob)}; `;
  return `90 % of links like this: ${interval(one)} dBm; ${works}${BASES[one.basis]}`;
}
