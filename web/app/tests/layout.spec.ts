// The place that panels leave to the map, on screens of all sizes.
import type { Page } from '@playwright/test';
import { small, uncovered } from './rectangles';
import { drawn, expect, nodesOf, open, pixel, plan, test, PLACES } from './server';

/** Period of a press on the map after which actions are offered, with a reserve, ms. */
const LONG_PRESS_MS = 900;

/** A link is selected, and the coverage of one of its nodes drawn. */
async function linkAndCoverage(page: Page, id: string, nodes: Record<string, string>): Promise<void> {
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  await expect(page.locator('#verdict')).toBeVisible();
  await page.evaluate(
    (node) =>
      window.groundwave.app.coverages.start(node, 'Ramberget', {
        radius_km: 4,
        resolution: 16,
        rx_height_agl_m: 2,
        rx_surroundings: 'unknown',
        rx_indoor: 'outdoors',
        receiver: null,
      }),
    nodes['Ramberget']!,
  );
  await expect(page.locator('#legend')).toBeVisible();
}

test.describe('on a wide screen', () => {
  test.use({ viewport: { width: 1440, height: 900 } });

  test('the map has most of it beside a link and a coverage, and panels fold', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
    await linkAndCoverage(page, id, nodes);
    await expect(page.locator('#profile')).toBeVisible();
    // Nodes that were in view stay there with their names, above the profile too.
    const map = (await page.locator('.map').boundingBox())!;
    for (const place of Object.values(PLACES))
      await expect
        .poll(async () => {
          const at = await pixel(page, place);
          return at.y > map.y + 24 && at.y < map.y + map.height - 24;
        })
        .toBe(true);
    // A marginal link has no tick.
    await expect(page.locator('#verdict')).toHaveAttribute('data-rating', 'marginal');
    await expect(page.locator('#verdict [data-mark=tick]')).toHaveCount(0);
    const share = await uncovered(page);
    expect(share).toBeGreaterThan(0.65);

    await page.getByRole('button', { name: 'Fold the profile' }).click();
    await expect(page.locator('#profile')).toBeHidden();
    expect(await uncovered(page)).toBeGreaterThan(share + 0.04);
    await page.getByRole('button', { name: 'Fold the list' }).click();
    await expect(page.locator('#nodes')).toBeHidden();
    await page.getByRole('tab', { name: /Links/ }).click();
    await expect(page.locator('#links')).toBeVisible();
    await page.getByRole('button', { name: 'Close the panel at the side' }).click();
    await expect(page.locator('.dock')).toHaveCount(0);
    expect(await uncovered(page)).toBeGreaterThan(0.85);
    await page.getByRole('button', { name: 'Open the panel at the side' }).click();
    await page.getByRole('button', { name: 'Unfold the profile' }).click();
    await page.getByRole('button', { name: 'Make the profile taller' }).click();
    const tall = (await page.locator('#profile').boundingBox())!.height;
    await page.getByRole('button', { name: 'Make the profile lower' }).click();
    expect(tall).toBeGreaterThan(2 * (await page.locator('#profile').boundingBox())!.height);
  });
});

for (const width of [641, 720, 820, 870, 1280]) {
  test.describe(`at ${width} px`, () => {
    test.use({ viewport: { width, height: 800 } });

    test('every part of the bar is on the screen', async ({ page, request }) => {
      await plan(request, ['Ramberget'], 'A deployment with a long name of the archipelago');
      await open(page);
      for (const name of ['Menu', 'Undo', 'Redo', 'Share']) {
        const box = (await page.getByRole('button', { name, exact: true }).boundingBox())!;
        expect(box.x + box.width, name).toBeLessThanOrEqual(width);
      }
      await page.getByRole('button', { name: 'Menu' }).click();
      const menu = (await page.locator('#menu').boundingBox())!;
      expect(menu.x).toBeGreaterThanOrEqual(0);
      expect(menu.x + menu.width).toBeLessThanOrEqual(width);
      expect(await page.evaluate(() => document.querySelector('.top')!.scrollWidth)).toBe(width);
    });
  });
}

test('lists show usual names whole, and both ends of a link', async ({ page, request }) => {
  const { id } = await plan(request, ['Biskopsgården', 'Masthugget']);
  await open(page, `/#d=${id}`);
  const isCut = (name: Element) => name.scrollWidth > name.clientWidth || name.scrollHeight > name.clientHeight + 1;
  const node = page.locator('#nodes .name', { hasText: 'Biskopsgården' });
  expect(await node.evaluate(isCut)).toBe(false);
  await page.getByRole('tab', { name: /Links/ }).click();
  const link = page.locator('#links .name').first();
  await expect(link).toContainText('Masthugget');
  expect(await link.evaluate(isCut)).toBe(false);
});

test.describe('on a tablet', () => {
  test.use({ viewport: { width: 820, height: 1180 }, hasTouch: true });

  test('nothing lies over the tabs, and buttons of the bar have their words', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}`);
    const [tab, fold] = [(await page.getByRole('tab', { name: 'Tools' }).boundingBox())!, (await page.locator('.fold').boundingBox())!];
    expect(tab.x + tab.width).toBeLessThanOrEqual(fold.x + 0.5);
    const share = page.getByRole('button', { name: 'Share' });
    expect(await share.evaluate((button) => button.scrollWidth - button.clientWidth)).toBeLessThanOrEqual(0);
  });

  test('buttons are large enough for a finger', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
    await linkAndCoverage(page, id, nodes);
    expect(await small(page)).toEqual([]);
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  /** A finger that moves, or rests. */
  async function finger(page: Page, from: { x: number; y: number }, to: { x: number; y: number }, rest_ms = 0): Promise<void> {
    const session = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: { x: number; y: number }) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: at ? [at] : [] });
    await touch('touchStart', from);
    if (rest_ms) await page.waitForTimeout(rest_ms);
    for (let step = 1; step <= 6 && !rest_ms; step++)
      await touch('touchMove', { x: from.x + ((to.x - from.x) * step) / 6, y: from.y + ((to.y - from.y) * step) / 6 });
    await touch('touchEnd');
  }

  test('a pan that begins on a node leaves it; a selected node is dragged; a long press offers actions', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget', 'Masthugget']);
    await open(page, `/#d=${id}`);
    await drawn(page);
    const place = async () => (await nodesOf(request, id)).find((node) => node.name === 'Ramberget')!;
    const before = await place();
    const centre = await page.evaluate(() => window.groundwave.map.map.getCenter().lng);
    let at = await pixel(page, PLACES.Ramberget);
    await finger(page, at, { x: at.x - 90, y: at.y });
    await drawn(page);
    expect(await page.evaluate(() => window.groundwave.map.map.getCenter().lng)).toBeGreaterThan(centre);
    expect((await place()).lon).toBe(before.lon);
    expect(await page.evaluate(() => window.groundwave.app.history.done.length)).toBe(0);

    at = await pixel(page, PLACES.Ramberget);
    await page.touchscreen.tap(at.x, at.y);
    await expect(page.locator('.card')).toContainText('Ramberget');
    await drawn(page);
    at = await pixel(page, PLACES.Ramberget);
    await finger(page, at, { x: at.x, y: at.y - 60 });
    await expect.poll(async () => (await place()).lat).toBeGreaterThan(before.lat);

    await page.waitForFunction(() => !window.groundwave.app.history.busy);
    await drawn(page);
    const free = { x: 110, y: 420 };
    await finger(page, free, free, LONG_PRESS_MS);
    await page.getByRole('button', { name: 'Add a node' }).tap();
    await expect.poll(async () => (await nodesOf(request, id)).length).toBe(3);
  });

  test('changes are undone, nodes are searched, and cards have three heights', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
    expect(await small(page)).toEqual([]);
    await page.getByRole('button', { name: 'Search nodes and places' }).tap();
    await page.locator('#search').fill('mast');
    await page.getByRole('option', { name: /Masthugget/ }).tap();
    await expect(page.locator('.card')).toContainText('Masthugget');

    const card = page.locator('.card');
    const share = async () => 1 - (await card.boundingBox())!.y / 844;
    expect(await share()).toBeCloseTo(0.3, 2);
    const pull = async (up: number) => {
      const grip = (await page.locator('.grab').first().boundingBox())!;
      await page.mouse.move(grip.x + 100, grip.y + 12);
      await page.mouse.down();
      await page.mouse.move(grip.x + 100, grip.y + 12 - up, { steps: 3 });
      await page.mouse.up();
    };
    await pull(120);
    expect(await share()).toBeCloseTo(0.6, 2);
    await pull(120);
    expect(await share()).toBeCloseTo(0.95, 2);
    await pull(-120);
    expect(await share()).toBeCloseTo(0.6, 2);

    await page.locator('#delete-node').tap();
    await expect.poll(async () => (await nodesOf(request, id)).length).toBe(1);
    await page.getByRole('button', { name: 'Undo' }).tap();
    await expect.poll(async () => (await nodesOf(request, id)).length).toBe(2);
    await page.getByRole('button', { name: 'Menu' }).tap();
    await expect(page.getByRole('button', { name: 'Share this view' })).toBeVisible();
  });
});
