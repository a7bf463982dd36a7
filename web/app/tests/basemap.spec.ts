// Roads and names of a PMTiles archive that the server was given; rivers and lakes of the world without one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Feature } from 'geojson';
import { archive } from './archive';
import { Picture, rgb } from './pixels';
import { drawn, expect, open, plan, test } from './server';

const ROAD: Feature = {
  type: 'Feature',
  properties: { kind: 'major_road', name: 'Hisingsleden' },
  geometry: {
    type: 'LineString',
    coordinates: [
      [11.8, 57.7],
      [12, 57.72],
    ],
  },
};
const PLACE: Feature = {
  type: 'Feature',
  properties: { kind: 'locality', name: 'Tuve' },
  geometry: { type: 'Point', coordinates: [11.92, 57.705] },
};

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
  const found = () =>
    page.evaluate(() =>
      window.groundwave.map.map
        .queryRenderedFeatures()
        .filter((one) => one.source === 'basemap')
        .map((one) => one.properties['name'] as string),
    );
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

/** Middle of a lake, and a place at a river far from towns, with how far the line may be, px. */
const WATERS = [
  { name: 'Victoria', lat: -1.2, lon: 33.2, kind: 'lakes', zoom: 4 },
  { name: 'Ladoga', lat: 60.8, lon: 31.5, kind: 'lakes', zoom: 5.4 },
  { name: 'Yenisei', lat: 63.5, lon: 87.5, kind: 'rivers', zoom: 4 },
  { name: 'Nile', lat: 21.9, lon: 31.3, kind: 'rivers', zoom: 2 },
] as const;
const THEMES = {
  light: { lakes: rgb('#cfdfe9'), rivers: rgb('#8db4cf') },
  dark: { lakes: rgb('#14202a'), rivers: rgb('#3f6a86') },
} as const;

for (const scheme of ['light', 'dark'] as const) {
  test.describe(`the world, ${scheme}`, () => {
    test.use({ basemap: null, terrain: false, colorScheme: scheme });

    test('has rivers and lakes where neither ground nor an archive is', async ({ page, request }) => {
      const { id } = await (await request.post('/api/v1/deployments', { data: { name: 'World' } })).json();
      await open(page, `/#d=${id}`);
      for (const { name, lat, lon, kind, zoom } of WATERS) {
        await page.evaluate(({ lat, lon, zoom }) => window.groundwave.map.map.jumpTo({ center: [lon, lat], zoom }), { lat, lon, zoom });
        const middle = await page.evaluate(() => {
          const box = document.querySelector('.map')!.getBoundingClientRect();
          return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
        });
        const reach = kind === 'lakes' ? 0 : 24;
        await expect
          .poll(
            async () => {
              await drawn(page);
              return Picture.of(await page.screenshot()).has(middle, THEMES[scheme][kind], reach, 8);
            },
            { message: name },
          )
          .toBe(true);
        if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/world-${name}-${scheme}.png` });
      }
      // They end where their coarse lines would mislead.
      await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [33.2, -1.2], zoom: 9.5 }));
      await expect
        .poll(() => page.evaluate(() => window.groundwave.map.map.queryRenderedFeatures({ layers: ['lakes', 'rivers'] }).length))
        .toBe(0);
    });
  });
}
