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
  excellent: '20 dB or more to spare',
  good: '10 dB or more',
  marginal: '3 dB or more',
  poor: '0 dB or more',
  no_link: 'below 0 dB',
  unknown: 'ground on the path is not known, 0 m assumed',
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

/** The rating of a direction of a link. */
export function rating(link: Link, direction: LinkDirection): Rating {
  return link.missing_samples > 0 ? 'unknown' : direction.verdict;
}

/** The rating of the worse direction. */
export function worse(link: Link): Rating {
  return rating(link, link.forward.link_margin_db < link.reverse.link_margin_db ? link.forward : link.reverse);
}

/** The rating of a margin, dB. */
export function ratingOf(margin_db: number): Verdict {
  if (margin_db >= 20) return 'excellent';
  if (margin_db >= 10) return 'good';
  if (margin_db >= 3) return 'marginal';
  return margin_db >= 0 ? 'poor' : 'no_link';
}
