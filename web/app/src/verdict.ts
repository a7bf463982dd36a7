// Verdicts as words, colours and dashes.
import type { Link, LinkDirection, Verdict } from './api/client';

/** A verdict, or that terrain data is missing, which leaves none. */
export type Rating = Verdict | 'unknown';

export const RATINGS: readonly Rating[] = ['excellent', 'good', 'marginal', 'poor', 'no_link', 'unknown'];

export const WORDS: Record<Rating, string> = {
  excellent: 'excellent',
  good: 'good',
  marginal: 'marginal',
  poor: 'poor',
  no_link: 'no link',
  unknown: 'no terrain data',
};

/** Least probability that a link works of each verdict above the last, percent, as the server has them. */
export const PERCENT_MIN = { excellent: 99, good: 90, marginal: 50, poor: 10 } as const;

export const RULES: Record<Rating, string> = {
  excellent: `works with ${PERCENT_MIN.excellent} % or more`,
  good: `${PERCENT_MIN.good} % or more`,
  marginal: `${PERCENT_MIN.marginal} % or more`,
  poor: `${PERCENT_MIN.poor} % or more`,
  no_link: `below ${PERCENT_MIN.poor} %`,
  unknown: 'ground below more than 5 % of the path, or below an end, is not known',
};

/** Colours of verdicts as text and as lines; style sheets have them by their names (tokens.ts). */
export const COLOURS: Record<'light' | 'dark', Record<Rating, string>> = {
  light: { excellent: '#003f73', good: '#0069ad', marginal: '#3c7a33', poor: '#8a5c00', no_link: '#a63a00', unknown: '#5d5d68' },
  dark: { excellent: '#9fd2ff', good: '#6bb8f5', marginal: '#8ecb7f', poor: '#e8b93e', no_link: '#ff9466', unknown: '#b9b9c4' },
};

/** Colours of answers on the map: routes, chains of relays, places. */
export const ANSWER_COLOURS = { light: '#8a2be2', dark: '#c9a2ff' } as const;
/** Colours of the part of a path below the ground, on map and profile. */
export const BLOCKED_COLOURS = { light: '#d1190d', dark: '#ff6b5c' } as const;

/** Dashes in line widths; a pattern of one length is solid. */
export const DASHES: Record<Rating, number[]> = {
  excellent: [1, 0],
  good: [1, 0],
  marginal: [4, 1.6],
  poor: [2, 1.6],
  no_link: [0.6, 1.6],
  unknown: [3, 1.2, 0.6, 1.2],
};

export const WIDTHS: Record<Rating, number> = { excellent: 3.4, good: 2.4, marginal: 2.4, poor: 2.4, no_link: 1.8, unknown: 2 };

/** Margin of the strongest links, dB: those above it are drawn as broad. */
const STRONG_DB = 40;
/** Breadth of the weakest link and of the strongest, in that of their rating. */
export const BREADTHS = [0.7, 1.6] as const;

/** Strength of a link by its margin, [0, 1): 1 itself would be the next number of a rating. */
export const strength = (margin_db: number): number => Math.min(0.98, Math.max(0, margin_db / STRONG_DB));

/** The rating of a direction of a link. */
export function rating(link: Link, direction: LinkDirection): Rating {
  return link.ground === 'unknown' ? 'unknown' : direction.verdict;
}

/** The rating of the worse direction. */
export function worse(link: Link): Rating {
  return rating(link, link.forward.link_margin_db < link.reverse.link_margin_db ? link.forward : link.reverse);
}

/** The rating of the probability that a link works. */
export function ratingOf(link_prob: number): Verdict {
  for (const verdict of ['excellent', 'good', 'marginal', 'poor'] as const) if (link_prob * 100 >= PERCENT_MIN[verdict]) return verdict;
  return 'no_link';
}

/** True if the margin is not negative and the ends understand each other. */
export const closes = (direction: LinkDirection): boolean => direction.link_prob > 0 && direction.link_margin_db >= 0;
