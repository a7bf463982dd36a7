// Roads and names of a PMTiles archive that the server was given.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Feature } from 'geojson';
import { archive } from './archive';
import { drawn, expect, open, plan, test } from './server';

const ROAD: Feature = { type: 'Feature', properties: { kind: 'major_road', name: 'Hisingsleden' }, geometry: { type: 'LineString', coordinates: [[11.8, 57.7], [12, 57.72]] } };
const PLACE: Feature = { type: 'Feature', properties: { kind: 'locality', name: 'Tuve' }, geometry: { type: 'Point', coordinates: [11.92, 57.705] } };

const folder = mkdtempSync(join(tmpdir(), 'groundwave-basemap-'));
const path = join(folder, 'roads.pmtiles');
const collection = (...features: Feature[]) => ({ type: 'FeatureCollection' as const, features });
writeFileSync(path, archive([8, 136, 77], { roads: collection(ROAD), places: collection(PLACE) }));

test.use({ basemap: path });
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('roads and names of a file lie below the mesh, and can be hidden', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  const part = await request.get('/basemap.pmtiles', { headers: { range: 'bytes=0-6' } });
  expect([part.status(), await part.text()]).toEqual([206, 'PMTiles']);
  await open(page, `/#d=${id}`);
  await drawn(page);
  const found = () => page.evaluate(() => window.groundwave.map.map.queryRenderedFeatures().filter((one) => one.source === 'basemap').map((one) => one.properties['name'] as string));
  await expect.poll(async () => [...new Set(await found())].sort()).toEqual(['Hisingsleden', 'Tuve']);
  const order = await page.evaluate(() => window.groundwave.map.map.getLayersOrder());
  expect(order.indexOf('basemap-roads')).toBeGreaterThan(order.indexOf('picture'));
  expect(order.indexOf('basemap-roads')).toBeLessThan(order.indexOf('links'));
  // Those who made it are named.
  await expect(page.locator('.maplibregl-ctrl-attrib')).toContainText('A test');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('checkbox', { name: 'Base map' }).uncheck();
  await expect.poll(found).toEqual([]);
  await page.reload();
  await page.waitForFunction(() => window.groundwave?.map.ready);
  await drawn(page);
  expect(await found()).toEqual([]);
});
