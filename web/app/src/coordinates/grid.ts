// Grids: UTM, MGRS, Maidenhead, plus codes. A square is its centre. As `io/coordinate/grid.rs`.
import { unproject } from './utm';

/** Degrees, or what is allowed in their place; null for another spelling. */
export type Reading = [number, number] | string | null;

/** Bands of 8 degrees of latitude from 80 degrees south; the last has 12. */
const BANDS = 'CDEFGHJKLMNPQRSTUVWX';
/** Letters of columns and rows of MGRS. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
/** Digits of plus codes (Open Location Code 1.0). */
const PLUS_DIGITS = '23456789CFGHJMPQRVWX';

const compact = (text: string) => text.replace(/\s/g, '').toUpperCase();

interface Zone {
  zone: number;
  band: number;
  rest: string;
}

/** Zone and band at the start of a text, and the rest. */
function zoneOf(text: string): Zone | null {
  const found = /^(\d{1,2})\s*([C-HJ-NP-X])([\s\S]*)$/i.exec(text);
  const [zone, band] = [Number(found?.[1]), BANDS.indexOf((found?.[2] ?? '').toUpperCase())];
  return found && zone >= 1 && zone <= 60 && band >= 0 ? { zone, band, rest: found[3] ?? '' } : null;
}

/** Southern and northern edge of a band, degrees. */
function edges_deg(band: number): [number, number] {
  const south = -80 + 8 * band;
  return [south, band + 1 === BANDS.length ? 84 : south + 8];
}

function isInBand(lat_deg: number, band: number): boolean {
  const [south, north] = edges_deg(band);
  return lat_deg >= south - 0.5 && lat_deg <= north + 0.5;
}

/** `32V 674934 6400683`: zone, band, easting and northing, m. */
export function utm(text: string): Reading {
  const at = zoneOf(text);
  if (!at) return null;
  const words = at.rest.split(/[ ,;]/).filter(Boolean);
  const [easting_m = NaN, northing_m = NaN] = words.map((word) => (/^\d+(\.\d*)?[mne]*$/i.test(word) ? Number.parseFloat(word) : NaN));
  // Small numbers are degrees and minutes after a hemisphere: `45N 12 30E`.
  if (words.length !== 2 || Number.isNaN(easting_m) || Number.isNaN(northing_m) || easting_m < 1000) return null;
  if (easting_m < 100_000 || easting_m > 900_000 || northing_m > 1e7) return 'an easting of 100000 to 900000 m and a northing of 0 to 10000000 m';
  const [south, north] = edges_deg(at.band);
  const degrees = unproject(at.zone, south < 0, easting_m, northing_m);
  if (isInBand(degrees[0], at.band)) return degrees;
  return `a northing in band ${BANDS[at.band]}, ${south} to ${north} deg; the letter is a band, not a hemisphere`;
}

/** `32VPK7493400683`: zone, band, square of 100 km, easting and northing within it. */
export function mgrs(raw: string): Reading {
  const at = zoneOf(compact(raw));
  if (!at) return null;
  const digits = at.rest.slice(2);
  const [letter, row0] = [LETTERS.indexOf(at.rest[0] ?? '?'), LETTERS.indexOf(at.rest[1] ?? '?')];
  if (letter < 0 || row0 < 0 || row0 >= 20 || digits.length > 10 || digits.length % 2 || /\D/.test(digits)) return null;
  // Columns begin at A, J or S and rows at A or F, by the zone.
  const first = [16, 0, 8][at.zone % 3] as number;
  const column = letter - first;
  if (column < 0 || column >= 8) return `a column of zone ${at.zone}: one of ${LETTERS.slice(first, first + 8)}`;
  const row = (row0 + (at.zone % 2 ? 0 : 15)) % 20;
  const half = digits.length / 2;
  const size_m = 10 ** (5 - half);
  const within = (part: string) => Number(part || '0') * size_m + size_m / 2;
  const easting_m = (column + 1) * 1e5 + within(digits.slice(0, half));
  const isSouth = edges_deg(at.band)[0] < 0;
  // Rows repeat after 2,000 km: the one in the band counts.
  const places = [0, 1, 2, 3, 4].map((cycle) => unproject(at.zone, isSouth, easting_m, cycle * 2e6 + row * 1e5 + within(digits.slice(half))));
  return places.find(([lat_deg]) => isInBand(lat_deg, at.band)) ?? `a square of band ${BANDS[at.band]}`;
}

/** `JO57`, `JO57XR`, `JO57XR12`. */
export function maidenhead(raw: string): Reading {
  const text = raw.toUpperCase();
  if (![4, 6, 8, 10].includes(text.length)) return null;
  let [lat, lon, height, width] = [-90, -180, 180, 360];
  for (let at = 0; at < text.length / 2; at++) {
    const [base, count] = at === 0 ? [65, 18] : at % 2 ? [48, 10] : [65, 24];
    const [east, north] = [text.charCodeAt(2 * at) - base, text.charCodeAt(2 * at + 1) - base];
    if (east < 0 || east >= count || north < 0 || north >= count) return null;
    [height, width] = [height / count, width / count];
    [lat, lon] = [lat + north * height, lon + east * width];
  }
  return [lat + height / 2, lon + width / 2];
}

/** `9F9HPW7P+MM`, whole codes alone. */
export function plusCode(raw: string): Reading {
  const text = compact(raw);
  const at = text.indexOf('+');
  if (at < 0) return null;
  const letters = [...text].filter((letter) => letter !== '+');
  const digits = letters.map((letter) => PLUS_DIGITS.indexOf(letter));
  if (at !== 8) return [2, 4, 6].includes(at) && !digits.includes(-1) ? 'a whole plus code, with 8 digits before the +' : null;
  if (digits.includes(-1) || digits.length < 8 || digits.length > 15 || digits.length === 9) return null;
  let [lat, lon, height, width] = [-90, -180, 400, 400];
  for (let pair = 0; pair < Math.min(digits.length, 10); pair += 2) {
    [height, width] = [height / 20, width / 20];
    [lat, lon] = [lat + (digits[pair] as number) * height, lon + (digits[pair + 1] as number) * width];
  }
  // Further digits divide the square into five rows of four.
  for (const digit of digits.slice(10)) {
    [height, width] = [height / 5, width / 4];
    [lat, lon] = [lat + Math.floor(digit / 4) * height, lon + (digit % 4) * width];
  }
  return [lat + height / 2, lon + width / 2];
}
