// Ground that the page fetches on consent, from a source on this machine.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { mkdirSync } from 'node:fs';
import { outside } from './rectangles';
import { drawn, expect, open, pixel, plan, PLACES, test as base } from './server';
import { Tiles } from './tiles';

const STOCKHOLM = { lat: 59.3293, lon: 18.0686 };
const SQUARES = ['N59E017', 'N59E018', 'N57E011', 'N57E012'];
/** Folder of pictures to look at. */
const SHOTS = process.env['GROUNDWAVE_SHOTS'];

const test = base.extend<{ shot: (name: string) => Promise<void> }>({
  terrain: false,
  source: async ({}, use) => {
    const tiles = await Tiles.of(SQUARES);
    await use(tiles);
    await tiles.close();
  },
  shot: async ({ page }, use) =>
    use(async (name) => {
      if (!SHOTS) return;
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: `${SHOTS}/${name}.png` });
    }),
});

const card = (page: Page) => page.getByRole('region', { name: 'Ground', exact: true });
const get = (page: Page) => page.getByRole('button', { name: 'Get the ground here' });

async function serious(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

test('a newcomer comes from an empty server to a coverage over real ground within ten clicks', async ({ page, request, source, shot }) => {
  const begun = performance.now();
  let clicks = 0;
  const click = async (act: () => Promise<void>) => {
    clicks++;
    await act();
  };
  await open(page);
  await shot('newcomer-1-empty');
  await click(() => page.getByRole('combobox', { name: 'Town or coordinates' }).click());
  await page.keyboard.type('stockholm');
  await click(() => page.getByRole('region', { name: 'Begin' }).getByRole('option').first().click());
  await expect(page.locator('#ground-size')).toHaveText(/^\d tiles?, up to \d+ MB$/);
  await drawn(page);
  await shot('newcomer-2-offer');
  await click(() => get(page).click());
  await expect(card(page)).toHaveCount(0);
  await drawn(page);
  await shot('newcomer-3-ground');
  for (const [name, place] of [
    ['first', STOCKHOLM],
    ['second', { lat: 59.342, lon: 18.09 }],
  ] as const) {
    await click(async () => {
      const at = await pixel(page, place);
      await page.mouse.click(at.x, at.y);
    });
    await page.waitForFunction(() => !window.groundwave.app.history.busy);
    await shot(`newcomer-4-${name}`);
  }
  await page.keyboard.press('Escape');
  await click(() => page.getByRole('option', { name: /Node 1/ }).click());
  await click(() => page.getByRole('tab', { name: /Coverage/ }).click());
  await click(() => page.getByRole('button', { name: /Compute from Node 1/ }).click());
  await expect(page.locator('.jobs [data-state=done]')).toHaveCount(1);
  await shot('newcomer-5-coverage');
  console.log(`newcomer: ${clicks} clicks, ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  expect(clicks).toBeLessThanOrEqual(10);
  // Nothing of it rests on ground that is not known.
  await expect(page.locator('.jobs .statistics')).toContainText('% covered');
  await expect(page.locator('.jobs .statistics')).not.toContainText('missing ground');
  const height = await (await request.get(`/api/v1/terrain/elevation?lat=${STOCKHOLM.lat}&lon=${STOCKHOLM.lon}`)).json();
  expect(height.elevation_msl_m).toBeGreaterThanOrEqual(20);
  expect(await page.evaluate((place) => window.groundwave.map.known(place), STOCKHOLM)).toBe(true);
  expect(await page.evaluate(() => window.groundwave.map.relief.squares)).toBeGreaterThan(4);
  // Only the source was asked, and only for tiles of the view.
  expect(source!.asked.every((path) => /^\/N59\/N59E01[78]\.hgt\.gz$/.test(path))).toBe(true);
});

test('links, coverages and other pages follow ground that has come, without a restart', async ({ page, context, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  const begin = await request.put(`/api/v1/deployments/${id}/mesh-coverage`, {
    data: { bounds: { south: 57.66, west: 11.85, north: 57.74, east: 12.0 }, cell_arcsec: 10, rx_height_agl_m: 2 },
  });
  expect(begin.ok(), await begin.text()).toBe(true);
  const settled = () =>
    expect.poll(async () => (await (await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).json()).pending_nodes).toBe(0);
  await settled();
  const revision = (await (await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).json()).revision;
  const ground = async () => (await (await request.get(`/api/v1/deployments/${id}/links`)).json()).links[0].ground;
  expect(await ground()).toBe('unknown');
  await open(page, `/#m=12/57.7/11.93&d=${id}&tab=coverage&sel=${nodes['Ramberget']}`);
  await page.getByRole('button', { name: /Compute from Ramberget/ }).click();
  await expect(page.locator('.jobs .statistics')).toContainText('missing ground');
  const job = () => page.evaluate(() => window.groundwave.app.coverages.jobs[0]!.id);
  const before = await job();
  const other = await context.newPage();
  await other.goto(`/#m=12/57.7/11.93&d=${id}`);
  await expect(other.getByRole('region', { name: 'Ground', exact: true })).toBeVisible();
  await get(page).click();
  await expect(card(page)).toHaveCount(0);
  await expect.poll(job).not.toBe(before);
  await expect(page.locator('.jobs [data-state=done]')).toHaveCount(1);
  await expect(page.locator('.jobs .statistics')).not.toContainText('missing ground');
  expect(await ground()).not.toBe('unknown');
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links[0]?.ground)).not.toBe('unknown');
  // The live coverage is computed again by the server.
  await expect
    .poll(async () => (await (await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).json()).revision)
    .toBeGreaterThan(revision);
  await settled();
  // A page that has not asked for it shows it too, once it is looked at.
  await other.bringToFront();
  await expect(other.getByRole('region', { name: 'Ground', exact: true })).toHaveCount(0);
  await expect.poll(() => other.evaluate((place) => window.groundwave.map.known(place), PLACES.Ramberget)).toBe(true);
});

test('a fetch shows its progress, is cancelled, and goes on from its last byte', async ({ page, request, source, shot }) => {
  const { id } = await plan(request, ['Ramberget']);
  source!.hold();
  await open(page, `/#m=13/57.6/11.8&d=${id}`);
  await expect(page.locator('#ground-size')).toHaveText('1 tile, up to 25 MB');
  await page.getByText('From Terrain Tiles').click();
  await expect(card(page)).toContainText(source!.url);
  await shot('offer-terms');
  await get(page).click();
  await expect(card(page).getByRole('status')).toHaveText(/^N57E011: \d.* of \d.* MB$/);
  await expect
    .poll(() => page.getByRole('progressbar', { name: 'Progress of the ground' }).evaluate((bar: HTMLProgressElement) => bar.value))
    .toBeGreaterThan(0.3);
  await shot('progress');
  // Loaded again, the page shows the same fetch.
  await page.reload();
  await expect(card(page)).toContainText('Getting the ground');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(get(page)).toBeVisible();
  expect((await (await request.get('/api/v1/terrain/area')).json()).areas).toEqual([]);
  source!.release();
  await get(page).click();
  await expect(card(page)).toHaveCount(0);
  expect((await (await request.get('/api/v1/terrain/area')).json()).areas).toHaveLength(1);
  expect(source!.continued).toHaveLength(1);
  expect(source!.continued[0]).toBeGreaterThan(1000);
});

test('a source that refuses is named, and tiles that it does not have are not offered again', async ({ page, request, source, shot }) => {
  const { id } = await plan(request, ['Ramberget']);
  source!.status = 403;
  await open(page, `/#m=13/57.6/11.8&d=${id}`);
  await get(page).click();
  await expect(card(page).getByRole('alert')).toContainText('found status 403, allowed 200 or 206');
  await shot('refused');
  source!.status = 200;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(card(page)).toHaveCount(0);
  await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [3.5, 56.5], zoom: 12 }));
  await get(page).click();
  await expect(card(page)).toContainText('has none for the hatched part, as for open sea');
  await expect(get(page)).toHaveCount(0);
});

test.describe('beside ground that is there', () => {
  test.use({ terrain: true });

  test('the offer is a line until it is asked for', async ({ page, request, shot }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/#m=11/57.7/11.9&d=${id}`);
    await expect(card(page)).toContainText('Hatched ground has no data.');
    await expect(get(page)).toHaveCount(0);
    expect((await card(page).boundingBox())!.height).toBeLessThan(32);
    await shot('line');
    await page.getByRole('button', { name: 'Get it…' }).click();
    await expect(page.locator('#ground-size')).toHaveText('1 tile, up to 25 MB');
    await get(page).click();
    await expect(card(page)).toHaveCount(0);
    expect((await (await request.get('/api/v1/terrain/area')).json()).areas).toHaveLength(2);
  });
});

test('land cover is fetched on consent, with its size, and counts around the antennas', async ({ page, request, source, shot }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#m=13/57.7/11.93&d=${id}`);
  await get(page).click();
  await expect(card(page)).toHaveCount(0);
  const cover = async () =>
    (await (await request.get(`/api/v1/terrain/elevation?lat=${PLACES.Ramberget.lat}&lon=${PLACES.Ramberget.lon}`)).json()).land_cover ??
    null;
  expect(await cover()).toBeNull();
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Trees and buildings…' }).click();
  const offer = page.getByRole('region', { name: 'Land cover' });
  await expect(page.locator('#land-cover-size')).toHaveText('1 tile, up to 130 MB');
  await offer.getByText('From ESA WorldCover').click();
  await expect(offer).toContainText(source!.url);
  expect(await outside(page)).toEqual([]);
  expect(await serious(page)).toEqual([]);
  await shot('land-cover');
  source!.hold();
  await offer.getByRole('button', { name: 'Get the land cover here' }).click();
  await expect(offer.getByRole('status')).toHaveText(/^N57E009: \d.* of \d.* MB$/);
  source!.release();
  await expect(offer).toHaveCount(0);
  await expect.poll(cover).toBe('forest');
  await expect(page.locator('.messages')).toContainText('Land cover is in use');
  // What a node states counts before it.
  const link = await (await request.get(`/api/v1/deployments/${id}/links`)).json();
  expect(link.links).toHaveLength(1);
  // It is read again after a restart, and not offered any more.
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Trees and buildings…' }).click();
  await expect(offer).toContainText('The view has it.');
});

for (const [width, height] of [
  [1440, 900],
  [820, 1180],
  [390, 844],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.describe(`at ${width} px, ${colorScheme}`, () => {
      test.use({ viewport: { width, height }, colorScheme });

      test('the card of the ground fits', async ({ page, request, source, shot }) => {
        const { id } = await plan(request, ['Ramberget', 'Masthugget']);
        await open(page, `/#m=11/57.7/11.93&d=${id}`);
        await expect(get(page)).toBeVisible();
        await drawn(page);
        expect(await outside(page)).toEqual([]);
        expect(await serious(page)).toEqual([]);
        await shot(`offer-${width}-${colorScheme}`);
        source!.hold();
        await get(page).click();
        await expect(card(page)).toContainText('MB');
        expect(await outside(page)).toEqual([]);
        expect(await serious(page)).toEqual([]);
        await shot(`progress-${width}-${colorScheme}`);
      });
    });
  }
}
