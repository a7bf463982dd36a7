// Positions in all spellings: those of the command line, by its vectors, and what is pasted from maps and messages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePosition } from '../src/coordinates/position';
import { readerOf } from '../src/coordinates/reader';

const reader = await readerOf(readFileSync(join(import.meta.dirname, '../wasm/positions.wasm')));

const SPELLINGS = JSON.parse(readFileSync(join(import.meta.dirname, '../../../tests/fixtures/coordinate/spellings.json'), 'utf8')) as {
  positions: { text: string; lat_deg: number; lon_deg: number; within_deg: number }[];
  refusals: { text: string; reason: string }[];
};

const near = async (text: string, lat: number, lon: number, within: number) => {
  const position = await parsePosition(text, reader);
  if (!('place' in position)) throw new Error(position.reason);
  expect(Math.abs(position.place.lat - lat), `latitude of ${text}`).toBeLessThanOrEqual(within);
  expect(Math.abs(position.place.lon - lon), `longitude of ${text}`).toBeLessThanOrEqual(within);
};

const refused = async (text: string, part: string) => {
  const position = await parsePosition(text, reader);
  expect('reason' in position ? position.reason : position.place, text).toContain(part);
};

test.each(SPELLINGS.positions)('$text', ({ text, lat_deg, lon_deg, within_deg }) => near(text, lat_deg, lon_deg, within_deg));

test.each(SPELLINGS.refusals)('$text is refused', ({ text, reason }) => refused(text, reason));

test('links, labels, look-alike signs and words of other languages are read', async () => {
  for (const text of [
    'https://www.google.com/maps/@57.7142,11.9367,15z',
    'https://www.google.com/maps/place/Ramberget/@57.1,11.1,15z/data=!3m1!4b1!4m6!3m5!1s0x0:0x0!8m2!3d57.7142!4d11.9367',
    'https://maps.google.com/?q=57.7142,11.9367',
    'https://www.google.com/maps/search/?api=1&query=57.7142%2C11.9367',
    'https://www.openstreetmap.org/#map=15/57.7142/11.9367',
    'https://www.openstreetmap.org/?mlat=57.7142&mlon=11.9367#map=12/57.1/11.1',
    'https://maps.apple.com/?ll=57.7142,11.9367',
    'https://www.bing.com/maps?cp=57.7142~11.9367&lvl=15',
    'https://yandex.com/maps/?ll=11.9367%2C57.7142&z=12',
    'https://www.openstreetmap.org/?mlon=11.9367&mlat=57.7142',
    'https://maps.apple.com/place?coordinate=57.7142,11.9367&name=Mast',
    'SRID=4326;POINT(11.9367 57.7142)',
    'GPS: 57.7142, 11.9367',
    '57.7142, 11.9367 (home)',
    '57.7142 ,11.9367.',
    '５７.7142, 11.9367',
    '57-42-51.12N 11-56-12.12E',
    'geo:57.7142,11.9367;u=35',
    'geo:57.7142,11.9367,20?z=15',
    'geo:0,0?q=57.7142,11.9367(Ramberget)',
    'POINT(11.9367 57.7142)',
    '+57.7142+011.9367/',
    'lat: 57.7142, lon: 11.9367',
    'Longitude 11.9367 Latitude 57.7142',
    '{"lat": 57.7142, "lng": 11.9367}',
    '57.7142 / 11.9367',
    '57.7142\u00a0N\u00a011.9367\u00a0E',
    '57.7142 Nord 11.9367 Ost',
    '57,7142° Nord; 11,9367° Ost',
    '57.7142º norte, 11.9367º este',
    'N 57° 42.852 E 011° 56.202',
    '57∘42.852ʹ N, 11∘56.202ʹ E',
    '57d42m51.12s N 11d56m12.12s E',
    "57 deg 42.852' N 11 deg 56.202' E",
  ])
    await near(text, 57.7142, 11.9367, 1e-9);
  await near('40,4168 Norte 3,7038 Oeste', 40.4168, -3.7038, 1e-9);
  await near('48.8566 nord, 2.3522 ouest', 48.8566, -2.3522, 1e-9);
  await near('33.8688 Süd 151.2093 Ost', -33.8688, 151.2093, 1e-9);
  await near('51.5, –0.1167', 51.5, -0.1167, 1e-9);
  await near('−33.8688 −70.6693', -33.8688, -70.6693, 1e-9);
});

test('a text of other spellings without a meaning or with two is refused with the reason', async () => {
  for (const [text, part] of [
    ['57.7 N 11.9 O', 'east in German and west in Spanish'],
    ['57.7 – 11.9', 'LAT,LON'],
    ['https://example.org/57', 'link of a map'],
  ] as const)
    await refused(text, part);
});
