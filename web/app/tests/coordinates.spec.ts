// Spellings of positions: those of the command line, and what is pasted from maps and messages.
import { parsePosition } from '../src/coordinates/position';
import { expect, nodesOf, open, plan, test } from './server';
import { test as plain } from '@playwright/test';

const near = (text: string, lat: number, lon: number, within: number) => {
  const position = parsePosition(text);
  if (!('place' in position)) throw new Error(position.reason);
  expect(Math.abs(position.place.lat - lat), `latitude of ${text}`).toBeLessThanOrEqual(within);
  expect(Math.abs(position.place.lon - lon), `longitude of ${text}`).toBeLessThanOrEqual(within);
};

// The vectors of io/coordinate/tests.rs.
plain('spellings of the command line mean the same here', () => {
  const [lat, lon] = [57 + 42 / 60 + 51 / 3600, 11 + 56 / 60 + 12 / 3600];
  for (const text of ['57°42\'51"N 11°56\'12"E', '57°42′51″N, 11°56′12″E', '57° 42\' 51" N 11° 56\' 12" E', 'N57°42\'51" E11°56\'12"', '11°56\'12"E 57°42\'51"N', '57:42:51, 11:56:12', '57 42 51 11 56 12', '57 42 51N 11 56 12E', '57°42\'51"N11°56\'12"E']) near(text, lat, lon, 1e-12);
  for (const text of ['57.7142,11.9367', '57.7142, 11.9367', '57.7142 11.9367', '57.7142;11.9367', '57,7142;11,9367', '57,7142 11,9367', '57,7142, 11,9367', '57,7142,11,9367', '57.7142N,11.9367E', '57.7142° N, 11.9367° E', 'N57.7142 E11.9367', 'E11.9367 N57.7142', '(57.7142, 11.9367)', 'geo:57.7142,11.9367', "57°42.852'N 11°56.202'E"]) near(text, 57.7142, 11.9367, 1e-9);
  near('33.8688S 151.2093E', -33.8688, 151.2093, 1e-12);
  near('45N 12 30E', 45, 12.5, 1e-12);
  near("51°30', -0°7'", 51.5, -7 / 60, 1e-12);
  near('-33.8688,151.2093', -33.8688, 151.2093, 1e-12);
  near('40.7128N 74.0060W', 40.7128, -74.006, 1e-12);
  near('32V 674934.5 6400683.5', 57.7142, 11.9367, 2e-5);
  near('32 V 674934mE 6400683mN', 57.7142, 11.9367, 2e-5);
  near('18TWL8073104684', 40.68918, -74.04441, 2e-4);
  near('18S UJ 23394 07395', 38.8976, -77.0364, 2e-4);
  near('56H LH 34369 50948', -33.8688, 151.2093, 1e-4);
  near('32VPK7493400683', 57.7142, 11.9367, 2e-5);
  near('9F9HPW7P+MM', 57.7142, 11.9367, 1e-4);
  near('JO57', 57.5, 11, 1e-9);
  near('JO57xr', 57.729166667, 11.958333333, 1e-6);
  near('8FVC9G8F+6X', 47.3655625, 8.5249375, 1e-9);
});

plain('links, labels, look-alike signs and words of other languages are read', () => {
  for (const text of [
    'https://www.google.com/maps/@57.7142,11.9367,15z',
    'https://www.google.com/maps/place/Ramberget/@57.1,11.1,15z/data=!3m1!4b1!4m6!3m5!1s0x0:0x0!8m2!3d57.7142!4d11.9367',
    'https://maps.google.com/?q=57.7142,11.9367',
    'https://www.google.com/maps/search/?api=1&query=57.7142%2C11.9367',
    'https://www.openstreetmap.org/#map=15/57.7142/11.9367',
    'https://www.openstreetmap.org/?mlat=57.7142&mlon=11.9367#map=12/57.1/11.1',
    'https://maps.apple.com/?ll=57.7142,11.9367',
    'https://www.bing.com/maps?cp=57.7142~11.9367&lvl=15',
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
    "57∘42.852ʹ N, 11∘56.202ʹ E",
    '57d42m51.12s N 11d56m12.12s E',
    '57 deg 42.852\' N 11 deg 56.202\' E',
  ]) near(text, 57.7142, 11.9367, 1e-9);
  near('40,4168 Norte 3,7038 Oeste', 40.4168, -3.7038, 1e-9);
  near('48.8566 nord, 2.3522 ouest', 48.8566, -2.3522, 1e-9);
  near('33.8688 Süd 151.2093 Ost', -33.8688, 151.2093, 1e-9);
  near('51.5, –0.1167', 51.5, -0.1167, 1e-9);
  near('−33.8688 −70.6693', -33.8688, -70.6693, 1e-9);
});

plain('a text without a meaning or with two is refused with the reason', () => {
  for (const [text, part] of [
    ['', 'Maidenhead'],
    ['Gothenburg', 'Maidenhead'],
    ['57.7142', 'LAT,LON'],
    ['57.7142N,11.9367N', 'one latitude'],
    ['-57.7142S,11.9367E', 'LAT,LON'],
    ["57°61'N 11°E", 'LAT,LON'],
    ['157.7142,11.9367', 'swapped'],
    ['32S 674955 6400292', 'a band, not a hemisphere'],
    ['32V 50000 6400292', 'easting'],
    ['32VAK7495500292', 'a column of zone 32'],
    ['PW7P+MM', 'whole plus code'],
    ['nan,1', 'LAT,LON'],
    ['1e400,1', 'LAT,LON'],
    ['57.7 N 11.9 O', 'east in German and west in Spanish'],
    ['57.7 – 11.9', 'LAT,LON'],
    ['https://example.org/57', 'link of a map'],
  ] as const) {
    const position = parsePosition(text);
    expect('reason' in position ? position.reason : position.place, text).toContain(part);
  }
});

test('a node goes where its pasted position is, and stays where one is refused', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  const field = page.locator('[name=place]');
  await field.fill("51°30', -0°7'");
  await field.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id))[0]!.lon).toBeCloseTo(-7 / 60, 9);
  await expect(field).toHaveValue('51.5000° N 0.1167° W');
  await field.fill('57.7 N 11.9 O');
  await field.press('Enter');
  await expect(page.locator('.messages')).toContainText('east in German');
  await expect(field).toHaveValue('51.5000° N 0.1167° W');
  await page.locator('#search').fill('32S 674955 6400292');
  await expect(page.locator('#found')).toContainText('a band, not a hemisphere');
});
