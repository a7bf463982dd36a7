// Figures as text: metric or imperial, with true minus signs.

export type Units = 'metric' | 'imperial';

const FEET_PER_METRE = 1 / 0.3048;
const METRES_PER_MILE = 1609.344;
/** Shorter distances are written in feet, miles. */
const MILES_MIN = 0.2;
/** Digits that a stored number shows. */
const DIGITS_MAX = 10;

/** A number with `digits` decimals and a true minus. */
export function figure(value: number, digits = 1): string {
  const text = value.toFixed(digits);
  return text.startsWith('-') && Number(text) !== 0 ? `−${text.slice(1)}` : text.replace(/^-/, '');
}

/** A number with its sign. */
export function signed(value: number, digits = 1): string {
  const text = figure(value, digits);
  return text.startsWith('−') || Number(text) === 0 ? text : `+${text}`;
}

/** A figure of a preview, its sign apart. */
export function about(text: string): string {
  return `≈\u202f${text}`;
}

export function height(value_m: number, units: Units): string {
  return units === 'metric' ? `${figure(value_m, value_m < 100 && value_m % 1 ? 1 : 0)} m` : `${figure(value_m * FEET_PER_METRE, 0)} ft`;
}

export function distance(value_m: number, units: Units): string {
  if (units === 'imperial') {
    const miles = value_m / METRES_PER_MILE;
    return miles < MILES_MIN ? `${figure(value_m * FEET_PER_METRE, 0)} ft` : `${figure(miles, 2)} mi`;
  }
  return value_m < 1000 ? `${figure(value_m, 0)} m` : `${figure(value_m / 1000, value_m < 100_000 ? 2 : 0)} km`;
}

/** An area, given in km². */
export function area(value_km2: number, units: Units): string {
  const value = units === 'metric' ? value_km2 : value_km2 / (METRES_PER_MILE / 1000) ** 2;
  return `${figure(value, value < 100 ? 1 : 0)} ${units === 'metric' ? 'km²' : 'mi²'}`;
}

/** A number as it was stored, without the digits that binary fractions add. */
export function plain(value: number): string {
  return String(Number(value.toPrecision(DIGITS_MAX))).replace('-', '−');
}

/** A number of few digits that is not beyond another one: rounded up, or down. */
export function inward(value: number, digits: number, up: boolean): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const size = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  // Steps of binary fractions are no digits.
  const steps = up ? Math.ceil(value / size - 1e-6) : Math.floor(value / size + 1e-6);
  return Number((steps * size).toPrecision(digits));
}

/** A number of things: `1 hop`, `2 hops`. */
export function count(number: number, one: string, several = `${one}s`): string {
  return `${number} ${number === 1 ? one : several}`;
}

/** Quantities of fields: heights are kept in m, distances in km. */
export type Quantity = 'height' | 'distance';

/** The unit in which a field shows a quantity, and how much of the stored unit one of it is. */
export function fieldUnit(quantity: Quantity, units: Units): { name: string; size: number } {
  if (quantity === 'height') return units === 'metric' ? { name: 'm', size: 1 } : { name: 'ft', size: 0.3048 };
  return units === 'metric' ? { name: 'km', size: 1 } : { name: 'mi', size: METRES_PER_MILE / 1000 };
}

/** Metres in one unit of a height axis. */
export function heightUnit(units: Units): { name: string; metres: number } {
  return units === 'metric' ? { name: 'm', metres: 1 } : { name: 'ft', metres: 0.3048 };
}

/** Metres in one unit of a distance axis of a length, the unit in which that length is written. */
export function distanceUnit(units: Units, length_m: number): { name: string; metres: number } {
  if (units === 'metric') return length_m < 1000 ? { name: 'm', metres: 1 } : { name: 'km', metres: 1000 };
  return length_m / METRES_PER_MILE < MILES_MIN ? { name: 'ft', metres: 0.3048 } : { name: 'mi', metres: METRES_PER_MILE };
}

/** A short time: ms below a second, s above. */
export function shortTime(value_ms: number): string {
  return value_ms < 1000 ? `${figure(value_ms)} ms` : `${figure(value_ms / 1000)} s`;
}

export function rate(value_bps: number): string {
  if (!(value_bps > 0)) return '–';
  if (value_bps >= 1e6) return `${Number((value_bps / 1e6).toPrecision(3))} Mbit/s`;
  if (value_bps >= 1e3) return `${Number((value_bps / 1e3).toPrecision(3))} kbit/s`;
  return `${Number(value_bps.toPrecision(3))} bit/s`;
}

export function percent(share: number, digits = 0): string {
  return `${figure(share * 100, digits)} %`;
}

/** Time of day where the page is read, of 24 hours. */
export function timeOfDay(time: Date, seconds = true): string {
  return time.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...(seconds ? { second: '2-digit' } : {}) });
}

/** Day and month where the page is read. */
export function dayOf(time: Date): string {
  return time.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

/** Round steps of an axis: about `count` of them over `span`. */
export function steps(low: number, high: number, count: number): number[] {
  const span = Math.max(high - low, 1e-9);
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= count) ?? power * 10;
  const found: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(Math.abs(at) < step * 1e-6 ? 0 : at);
  return found;
}

/** Sizes of units of one quantity, by their names in small letters. */
const SIZES: readonly ReadonlyMap<string, number>[] = [
  new Map([
    ['m', 1],
    ['km', 1000],
    ['ft', 0.3048],
    ['mi', METRES_PER_MILE],
  ]),
  new Map([
    ['hz', 1],
    ['khz', 1e3],
    ['mhz', 1e6],
    ['ghz', 1e9],
  ]),
  new Map([
    ['bit/s', 1],
    ['kbit/s', 1e3],
    ['mbit/s', 1e6],
    ['gbit/s', 1e9],
  ]),
];

/** A number in a unit, with the name of that unit, of another one of the same quantity, or of none behind it; null for other texts. */
export function readQuantity(text: string, unit: string): number | null {
  const [, figures = '', name = ''] = /^(.*[\d.,])\s*([^\d\s.,]+)$/.exec(text.trim()) ?? [];
  if (!name) return readNumber(text);
  const number = readNumber(figures);
  const [own, other] = [unit.toLowerCase(), name.toLowerCase()];
  if (number === null || own === other) return number;
  const sizes = SIZES.find((units) => units.has(own));
  const [from, to] = [sizes?.get(other), sizes?.get(own)];
  return from === undefined || to === undefined ? null : Number(((number * from) / to).toPrecision(DIGITS_MAX + 2));
}

/** A number with a decimal point or comma; null for a text that is none, or has a separator of thousands. */
export function readNumber(text: string): number | null {
  const plain = text.trim().replace(/^\u2212/, '-');
  if (/^[-+]?[1-9]\d{0,2}(,\d{3})+$/.test(plain) || !/^[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain.replace(',', '.'));
  return Number.isFinite(value) ? value : null;
}
