// Two angles in one text, latitude first unless letters name the axes. As `io/coordinate/pair.rs`.
import { isGap, isLatitude, isLongitude, parseAngle, type Angle, type Mark } from './angle';
import type { Reading } from './grid';

type Pair = [Angle, Angle];

/** Latitude and longitude of a text. */
export function pair(raw: string): Reading {
  const text = raw.replace(/^[()[\]]+|[()[\]]+$/g, '').replace(/^geo:/, '');
  for (const split of [bySemicolon, byComma, byLetter, bySpace]) {
    const found = split(text);
    if (found) return ordered(...found);
  }
  return null;
}

function ordered(one: Angle, other: Angle): Reading {
  const isSwapped = isLongitude(one) || isLatitude(other);
  const isPlain = isLatitude(one) || isLongitude(other);
  if (isSwapped && isPlain) return 'one latitude (N, S) and one longitude (E, W)';
  return isSwapped ? [other.deg, one.deg] : [one.deg, other.deg];
}

function both(one: string, other: string, mark: Mark): Pair | null {
  const [first, second] = [parseAngle(one, mark), parseAngle(other, mark)];
  return first && second && [first, second];
}

/** Decimal mark of two parts that another sign separates. */
const markOf = (...parts: string[]): Mark => (parts.some((part) => part.includes(',')) ? ',' : '.');

function bySemicolon(text: string): Pair | null {
  const at = text.indexOf(';');
  if (at < 0) return null;
  const [one, other] = [text.slice(0, at), text.slice(at + 1)];
  return both(one, other, markOf(one, other));
}

/** `57.7,11.9`; with decimal commas `57,7,11,9`, `57,7 11,9` and `57,7, 11,9`. */
function byComma(text: string): Pair | null {
  const commas = [...text.matchAll(/,/g)].map(({ index }) => index);
  const split = (at: number, mark: Mark) => both(text.slice(0, at), text.slice(at + 1), mark);
  if (commas.length === 1) return split(commas[0] as number, '.');
  return commas.length === 3 && !text.includes('.') ? split(commas[1] as number, ',') : null;
}

/** `57°42'51"N 11°56'12"E`, `N57.7 E11.9`, without a separator or with space. */
function byLetter(text: string): Pair | null {
  const letters = [...text.matchAll(/[nsew]/gi)].map(({ index }) => index);
  const [first, second] = letters;
  if (letters.length !== 2 || first === undefined || second === undefined) return null;
  const cut = first === 0 ? second : first + 1;
  const [one, other] = [text.slice(0, cut), text.slice(cut)];
  return both(one, other, markOf(one, other));
}

/** `57.7 11.9`, `57 42 51 11 56 12`: as many parts on both sides. */
function bySpace(text: string): Pair | null {
  const starts: number[] = [];
  for (let at = 0; at < text.length; at++) if (!isGap(text.charAt(at)) && (at === 0 || isGap(text.charAt(at - 1)))) starts.push(at);
  if (!starts.length || starts.length % 2) return null;
  const cut = starts[starts.length / 2] as number;
  const [one, other] = [text.slice(0, cut), text.slice(cut)];
  return both(one, other, markOf(one, other));
}
