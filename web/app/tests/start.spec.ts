// An empty server: three ways to begin, and the map of the world below them.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distance_m } from '../src/geo';
import { Picture, rgb, type Colour } from './pixels';
import { outside } from './rectangles';
import { drawn, expect, open, pixel, plan, test } from './server';

const EXAMPLES = join(import.meta.dirname, '../../../examples');
const STOCKHOLM = { lat: 59.3293, lon: 18.0686 };
const WAY_POINTS =
  '<gpx version="1.1" creator="a receiver"><wpt lat="57.7" lon="11.9"><name>Tower</name></wpt><wpt lat="57.71" lon="11.95"><name>Hill</name></wpt></gpx>';
const LAND = rgb('#f2f0e9');
const SEA = rgb('#cfdfe9');

async function serious(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

/** True if a place of the map, or what is beside a name there, has a colour. */
async function has(page: Page, place: { lat: number; lon: number }, colour: Colour): Promise<boolean> {
  return Picture.of(await page.screenshot()).has(await pixel(page, place), colour, 9, 8);
}

for (const [width, height] of [
  [1440, 900],
  [820, 1180],
  [390, 844],
] as const) {
  test.describe(`an empty server at ${width} px`, () => {
    test.use({ terrain: false, viewport: { width, height } });

    test('is begun by the name of the own town, within ten clicks', async ({ page, request }) => {
      await open(page);
      const doors = page.getByRole('region', { name: 'Begin' });
      await expect(doors).toBeVisible();
      const box = (await doors.boundingBox())!;
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(width);
      expect(await outside(page)).toEqual([]);
      expect(await serious(page)).toEqual([]);
      await page.getByRole('combobox', { name: 'Town or coordinates' }).fill('stockholm');
      await expect(doors.getByRole('option').first()).toContainText('Sweden');
      await page.keyboard.press('Enter');
      await expect(doors).toHaveCount(0);
      // Without ground there, and without a source of it, the reason and the command are named.
      const card = page.getByRole('region', { name: 'Ground' });
      await expect(card).toContainText('No ground data here');
      await expect(card).toContainText('this server was started with --offline');
      await page.getByText('Get it by a command').click();
      await expect(page.locator('#fetch-command')).toContainText('groundwave terrain fetch N59E01');
      expect(await outside(page)).toEqual([]);
      expect(await serious(page)).toEqual([]);
      await page.getByRole('button', { name: 'Close the offer of ground' }).click();
      await expect(card).toHaveCount(0);
      const [deployment] = await (await request.get('/api/v1/deployments')).json();
      expect(deployment.name).toBe('Stockholm');
      expect(distance_m(deployment.center, STOCKHOLM)).toBeLessThan(3000);
      // The next click on the map is a node.
      await drawn(page);
      const at = await pixel(page, STOCKHOLM);
      await page.mouse.click(at.x, at.y);
      await expect.poll(async () => (await (await request.get(`/api/v1/deployments/${deployment.id}/nodes`)).json()).length).toBe(1);
    });
  });
}

test.describe('an empty server', () => {
  test.use({ terrain: false });

  test('takes the position of the device, or names why there is none', async ({ page, context, request, server }) => {
    await context.grantPermissions(['geolocation'], { origin: server.url });
    await context.setGeolocation({ latitude: 57.7, longitude: 11.97 });
    await open(page);
    await page.getByRole('button', { name: 'My position' }).click();
    await expect.poll(async () => (await (await request.get('/api/v1/deployments')).json())[0]?.center).toEqual({ lat: 57.7, lon: 11.97 });
    await request.delete(`/api/v1/deployments/${(await (await request.get('/api/v1/deployments')).json())[0].id}`);
    await context.clearPermissions();
    await page.goto('about:blank');
    await open(page);
    await page.getByRole('button', { name: 'My position' }).click();
    await expect(page.getByRole('alert').filter({ hasText: /position of this device/ })).toBeVisible();
  });

  test('opens its example, and files of maps and tracks', async ({ page, request }) => {
    await open(page);
    await page.getByRole('button', { name: 'Open the example' }).click();
    await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.nodes.length)).toBeGreaterThan(5);
    const [example] = await (await request.get('/api/v1/deployments')).json();
    expect(example.name).toBe('Storm over Gothenburg');
    await request.delete(`/api/v1/deployments/${example.id}`);
    await page.goto('about:blank');
    await open(page);
    const files = ['meshviewer.json', 'masts.csv'].map((name) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: readFileSync(join(EXAMPLES, name)),
    }));
    files.unshift({ name: 'towers.gpx', mimeType: 'application/octet-stream', buffer: Buffer.from(WAY_POINTS) });
    await page.getByLabel('Files to begin with').setInputFiles(files);
    await expect(page.getByRole('dialog')).toContainText('masts');
    const names = (await (await request.get('/api/v1/deployments')).json()).map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(['masts', 'meshviewer', 'towers']);
  });
});

test.describe('without terrain', () => {
  test.use({ terrain: false });

  test('the map shows countries, coasts and towns in the detail of the view', async ({ page, request }) => {
    await plan(request, [], 'Nowhere');
    await open(page, '/#m=4/50/10');
    const features = (layer: string) =>
      page.evaluate(
        (layer) => [
          ...new Set(
            window.groundwave.map.map
              .queryRenderedFeatures(undefined, { layers: [layer] })
              .map((feature) => String(feature.properties['name'])),
          ),
        ],
        layer,
      );
    await expect.poll(() => features('countries')).toContain('Germany');
    await expect.poll(() => features('towns')).toContain('Berlin');
    await drawn(page);
    await expect.poll(() => has(page, { lat: 51, lon: 9.2 }, LAND)).toBe(true);
    expect(await has(page, { lat: 56, lon: 3 }, SEA)).toBe(true);
    expect(await has(page, { lat: 56, lon: 3 }, LAND)).toBe(false);

    await open(page, '/?near#m=9/59.33/18.6');
    await expect.poll(() => features('towns')).toContain('Åkersberga');
    // The coast shines through the hatching: land and sea differ where no ground is.
    await drawn(page);
    const differ = async () => {
      const file = Picture.of(await page.screenshot());
      const mean = async (place: { lat: number; lon: number }) => {
        const at = await pixel(page, place);
        let blue = 0;
        for (let down = -10; down < 10; down++)
          for (let across = -10; across < 10; across++)
            blue += file.at(at.x + across, at.y + down)[2] - file.at(at.x + across, at.y + down)[0];
        return blue / 400;
      };
      return (await mean({ lat: 59.25, lon: 19.1 })) - (await mean({ lat: 59.55, lon: 18.3 }));
    };
    await expect.poll(differ, { timeout: 60_000 }).toBeGreaterThan(10);
  });
});

test('with terrain the map begins small: neither fine coasts nor all towns are loaded', async ({ page, request }) => {
  const sizes = new Map<string, number>();
  page.on('response', (answer) => void sizes.set(answer.url(), Number(answer.headers()['content-length'] ?? 0)));
  const { id } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
  await open(page, `/#d=${id}`);
  await page.waitForFunction(() => window.groundwave.app.plan.links.length > 0);
  await drawn(page);
  await expect.poll(() => page.evaluate(() => window.groundwave.map.map.querySourceFeatures('towns').length)).toBeGreaterThan(0);
  expect([...sizes.keys()].filter((url) => /countries-(10|50)m|virtual_towns/.test(url))).toEqual([]);
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeLessThan(1_000_000);
  // Relief depends on the place and the screen; all else is the page.
  const page_bytes = [...sizes].filter(([url]) => !/\/relief\//.test(url)).reduce((sum, [, size]) => sum + size, 0);
  expect(page_bytes).toBeGreaterThan(300_000);
  expect(page_bytes).toBeLessThan(650_000);
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/start.png` });
});
