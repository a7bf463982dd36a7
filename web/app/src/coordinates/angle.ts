// One angle: decimals, or degrees, minutes and seconds, with a sign or a letter of the hemisphere.
// As `io/coordinate/angle.rs`.

/** Value, degrees, south and west negative, and the letter of the hemisphere. */
export interface Angle {
  deg: number;
  letter: string | null;
}

export type Mark = '.' | ',';

const MARKS = '°º˚\'’′`"”″:';

export const isLatitude = ({ letter }: Angle) => letter === 'N' || letter === 'S';
export const isLongitude = ({ letter }: Angle) => letter === 'E' || letter === 'W';

/** True for a mark of degrees, minutes or seconds, and for white space. */
export const isGap = (letter: string) => MARKS.includes(letter) || /\s/.test(letter);

/** Reads an angle with a decimal mark. */
export function parseAngle(raw: string, mark: Mark): Angle | null {
  let text = raw.trim();
  let letter: string | null = null;
  if (/^[nsew]/i.test(text)) [letter, text] = [text.charAt(0).toUpperCase(), text.slice(1).trimStart()];
  else if (/[nsew]$/i.test(text)) [letter, text] = [text.slice(-1).toUpperCase(), text.slice(0, -1).trimEnd()];
  const isNegative = /^[-−]/.test(text);
  const unsigned = text.replace(/^[-−+]/, '');
  // A sign and a letter that means the same or the opposite: which counts?
  if (letter && unsigned.length !== text.length) return null;
  const parts = [...unsigned].map((at) => (isGap(at) ? ' ' : at)).join('').split(' ').filter(Boolean);
  if (!parts.length || parts.length > 3) return null;
  let deg = 0;
  for (const [at, part] of parts.entries()) {
    const pattern = at < parts.length - 1 ? /^\d+$/ : mark === '.' ? /^\d+(\.\d*)?$/ : /^\d+(,\d*)?$/;
    if (!pattern.test(part)) return null;
    const value = Number(part.replace(mark, '.'));
    if (!Number.isFinite(value) || (at > 0 && value >= 60)) return null;
    deg += value / 60 ** at;
  }
  const isSouth = letter === 'S' || letter === 'W';
  return { deg: isNegative || isSouth ? -deg : deg, letter };
}
