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

export const RULES: Record<Rating, string> = {
  excellent: 'works with 99 % or more',
  good: '90 % or more',
  marginal: '50 % or more',
  poor: '10 % or more',
  no_link: 'below 10 %',
  unknown: 'ground below more than 5 % of the path, or below an end, is not known',
};

export const COLOURS: Record<'light' | 'dark', Record<Rating, string>> = {
  light: { excellent: '#003f73', good: '#0069ad', marginal: '#3c7a33', poor: '#9a6700', no_link: '#a63a00', unknown: '#5d5d68' },
  dark: { excellent: '#9fd2ff', good: '#6bb8f5', marginal: '#8ecb7f', poor: '#e8b93e', no_link: '#ff9466', unknown: '#b9b9c4' },
};

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
  if (link_prob >= 0.99) return 'excellent';
  if (link_prob >= 0.9) return 'good';
  if (link_prob >= 0.5) return 'marginal';
  return link_prob >= 0.1 ? 'poor' : 'no_link';
}

/** True if the margin is not negative and the ends understand each other. */
export const closes = (direction: LinkDirection): boolean => direction.link_prob > 0 && direction.link_margin_db >= 0;
