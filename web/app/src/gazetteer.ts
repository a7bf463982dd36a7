// Towns of the world by name: GeoNames, CC BY 4.0, loaded when a name is searched first.
import { EXONYMS } from './exonyms';
import { folded } from './folded';
import type { LatLon } from './geo';

export interface Town extends LatLon {
  name: string;
  /** Name without case and marks. */
  folded: string;
  /** Country of two letters, ISO 3166-1. */
  country: string;
  /** Inhabitants, to about a fifth. */
  population: number;
  capital: boolean;
}

/** Steps of positions of the tables, of a degree. */
const STEPS = 100;
/** Towns of a table that the build made. */
export function parsed(table: string): Town[] {
  return table.split('\n').flatMap((line) => {
    const [country = '', names = '', lats = '', lons = '', ranks = '', capital = '-1'] = line.split('\t');
    const numbers = (part: string) => part.split(' ').map(Number);
    const [north, east, rank] = [numbers(lats), numbers(lons), numbers(ranks)];
    return names
      .split('|')
      .map((name, at): Town => ({
        name,
        folded: folded(name),
        country,
        population: 1000 * 2 ** ((rank[at] ?? 0) / 2),
        capital: at === Number(capital),
        lat: (north[at] ?? 0) / STEPS,
        lon: (east[at] ?? 0) / STEPS,
      }));
  });
}

let asked: Promise<Town[]> | null = null;

/** All towns; asked for once, and again after it did not come. */
export function towns(): Promise<Town[]> {
  asked ??= import('virtual:towns').then(({ default: table }) => parsed(table));
  asked.catch(() => (asked = null));
  return asked;
}

/** Towns by a name or its beginning: the whole name first, then the most inhabitants. */
export function search(all: readonly Town[], text: string, limit: number): Town[] {
  const [name = '', region = ''] = text.split(',').map(folded);
  if (name.length < 2) return [];
  const within = (town: Town) => !region || folded(town.country) === region || folded(countryName(town.country)).startsWith(region);
  const others = new Set(EXONYMS.flatMap(([other, listed]) => (folded(other).startsWith(name) ? [folded(listed)] : [])));
  const kind = (town: Town) =>
    town.folded === name ? 0 : town.folded.startsWith(name) || others.has(town.folded) ? 1 : town.folded.includes(` ${name}`) ? 2 : null;
  const matching = all.flatMap((town) => {
    const found = kind(town);
    return found !== null && within(town) ? [{ town, kind: found }] : [];
  });
  return matching
    .sort((a, b) => a.kind - b.kind || b.town.population - a.town.population)
    .slice(0, limit)
    .map(({ town }) => town);
}

const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code;
}
