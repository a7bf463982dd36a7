// Towns by name: twins on one place, countries behind names, marks written as vowels, towns of one name.
import { expect, test } from 'vitest';
import { parsed, search, whereabouts } from '../src/gazetteer';

const TABLE = [
  'CH\tZürich\t4738\t854\t17\t-1',
  'GB\tBristol\t5146\t-260\t18\t-1',
  'SE\tLund|Lundby|Stockholm\t5570 5771 5933\t1319 1193 1807\t13 10 21\t2',
  'US\tBristol|Bristol|Springfield|Springfield|Chicago|Boston\t3660 3660 3980 4210 4185 4236\t-8219 -8219 -8964 -7259 -8765 -7106\t9 8 14 14 22 19\t-1',
].join('\n');
const towns = parsed(TABLE);
const names = (text: string) => search(towns, text, 6).map(({ name, country }) => `${name} ${country}`);

test('towns of one name on one rounded place are listed once', () => {
  expect(names('Bristol')).toEqual(['Bristol GB', 'Bristol US']);
  expect(names('bri')).toEqual(['Bristol GB', 'Bristol US']);
});

test('a country may follow a name by a comma or a blank', () => {
  for (const text of ['Lund, Sweden', 'Lund Sweden', 'lund se', 'Lund,SE']) expect(names(text)[0], text).toBe('Lund SE');
  expect(names('Lund Norway')).toEqual([]);
  expect(names('Sweden')).toEqual([]);
});

test('marks may be written as vowels', () => {
  expect(names('zuerich')).toEqual(['Zürich CH']);
  expect(names('Zuerich, CH')).toEqual(['Zürich CH']);
});

test('towns of one name in a country are told apart by the nearest city', () => {
  const list = search(towns, 'Springfield', 6);
  expect(list.map((town) => whereabouts(town, list, towns, 'metric'))).toEqual([
    'United States, 283 km from Chicago',
    'United States, 129 km from Boston',
  ]);
  const [lund] = search(towns, 'Lund', 1);
  expect(whereabouts(lund!, [lund!], towns, 'metric')).toBe('Sweden');
});
