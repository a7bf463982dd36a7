// Interval and probability of a link in the wording that every report has.
import { figure, percent } from './units';

interface Expectation {
  rx_power_interval_dbm: number[];
  link_prob: number;
}

/** Received power of 90 % of links like this one, the strong end first. */
export function interval({ rx_power_interval_dbm: [low, high] }: Pick<Expectation, 'rx_power_interval_dbm'>): string {
  return `${figure(high ?? NaN, 0)} to ${figure(low ?? NaN, 0)}`;
}

/** Probability that a link like this one works: a decimal where whole percent would hide how near it is to 0 or 100. */
export const chance = (prob: number): string => percent(prob, prob > 0.99 || prob < 0.1 ? 1 : 0);

/** The sentence of reports: `90 % of links like this: -98 to -141 dBm; works with 62 %`. */
export const expectation = (one: Expectation): string => `90 % of links like this: ${interval(one)} dBm; works with ${chance(one.link_prob)}`;
