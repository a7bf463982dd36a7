// Towns of the world by name: GeoNames, CC BY 4.0, loaded when a name is searched first.
import { EXONYMS } from './exonyms';
import { folded } from './folded';
import { coordinates, distance_m, type LatLon } from './geo';
import { distance, type Units } from './units';

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

/** Towns by a name or its beginning, with a country behind it: the whole name first, then the most inhabitants. */
export function search(all: readonly Town[], text: string, limit: number): Town[] {
  const [name = '', region = ''] = text.split(',').map(folded);
  const found = named(all, name, region);
  return (found.length ? found : respelled(all, name, region)).slice(0, limit);
}

/** Towns of a name without a comma before its country, or with vowels in place of marks: `Lund Sweden`, `Zuerich`. */
function respelled(all: readonly Town[], name: string, region: string): Town[] {
  const words = region ? [] : name.split(' ');
  for (let at = words.length - 1; at > 0; at--) {
    const found = named(all, words.slice(0, at).join(' '), words.slice(at).join(' '));
    if (found.length) return found;
  }
  const unmarked = name.replace(/([aou])e/g, '$1');
  return unmarked === name ? [] : named(all, unmarked, region);
}

/** Towns of a name and a country, both folded. */
function named(all: readonly Town[], name: string, region: string): Town[] {
  if (name.length < 2) return [];
  const within = (town: Town) => !region || folded(town.country) === region || folded(countryName(town.country)).startsWith(region);
  const others = new Set(EXONYMS.flatMap(([other, listed]) => (folded(other).startsWith(name) ? [folded(listed)] : [])));
  const kind = (town: Town) =>
    town.folded === name ? 0 : town.folded.startsWith(name) || others.has(town.folded) ? 1 : town.folded.includes(` ${name}`) ? 2 : null;
  const matching = all.flatMap((town) => {
    const found = kind(town);
    return found !== null && within(town) ? [{ town, kind: found }] : [];
  });
  // Twin towns on one rounded place are one.
  const seen = new Set<string>();
  const isFirst = ({ name, country, lat, lon }: Town) => {
    const before = seen.size;
    return seen.add(`${name} ${country} ${lat} ${lon}`).size > before;
  };
  return matching
    .sort((a, b) => a.kind - b.kind || b.town.population - a.town.population)
    .map(({ town }) => town)
    .filter(isFirst);
}

/** Inhabitants from which a city places the towns around it. */
const LANDMARK_POPULATION_MIN = 200_000;

/** Country of a town; with the nearest city where others of a list have its name there. */
export function whereabouts(town: Town, list: readonly Town[], all: readonly Town[], units: Units): string {
  const country = countryName(town.country);
  if (list.filter(({ name, country }) => name === town.name && country === town.country).length < 2) return country;
  const cities = all
    .filter(({ name, country, population }) => country === town.country && name !== town.name && population >= LANDMARK_POPULATION_MIN)
    .map((city) => ({ city, away_m: distance_m(town, city) }));
  const [nearest] = cities.sort((a, b) => a.away_m - b.away_m);
  return `${country}, ${nearest ? `${distance(nearest.away_m, units)} from ${nearest.city.name}` : coordinates(town)}`;
}

const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code;
}
