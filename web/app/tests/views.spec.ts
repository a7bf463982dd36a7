// The place that panels leave to the map in the live view and in a replay, on screens of all sizes.
import type { APIRequestContext, Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Replay } from '../src/replay/replay.svelte';
import { login, mesh, serious, watch, type Station } from './mesh';
import { outside, small, uncovered } from './rectangles';
import { drawn, expect, pixel, test, type Server } from './server';

const LOG = join(import.meta.dirname, '../../../tests/fixtures/compat/failover.gwlog');
const PLACES = { North: { lat: 57.7142, lon: 11.9367 }, South: { lat: 57.6966, lon: 11.9378 } };

test.setTimeout(180_000);

async function stations(request: APIRequestContext, server: Server): Promise<[Station, Station]> {
  const admin = await mesh(request, server);
  const north = await admin.station(11, 'North', PLACES.North);
  const south = await admin.station(12, 'South', PLACES.South);
  await admin.beat(north, [[12, -61.5]]);
  await admin.beat(south, [[11, -63]]);
  return [north, south];
}

async function recording(page: Page): Promise<void> {
  await page.goto('/#v=replay');
  await page.waitForFunction(
    () =>
      document.documentElement.dataset['loaded'] === 'true' &&
      document.querySelector<HTMLElement>('.replay-map')?.dataset['ready'] === 'true',
  );
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'failover.gwlog', mimeType: 'application/octet-stream', buffer: readFileSync(LOG) });
  await expect(page.getByRole('group', { name: 'Key of the links' })).toBeVisible({ timeout: 60_000 });
}

/** Clicks the middle of the link between two nodes of the first frame. */
async function chooseLink(page: Page): Promise<void> {
  await page.waitForFunction(() => (window.groundwave as unknown as { replay: { shown: unknown } }).replay.shown !== null);
  const places = await page.evaluate(() => {
    const { nodes, links } = (window.groundwave as unknown as { replay: Replay }).replay.shown!.recorded;
    const [link] = links;
    return [link!.a_node_id, link!.b_node_id].map((id) => nodes.find((node) => node.node_id === id)!).map(({ lat, lon }) => ({ lat, lon }));
  });
  const [a, b] = [await pixel(page, places[0]!, '.replay-map'), await pixel(page, places[1]!, '.replay-map')];
  // Beside the middle, where another link may cross.
  await page.mouse.click(a.x + (b.x - a.x) * 0.4, a.y + (b.y - a.y) * 0.4);
  await expect(page.locator('#link-state')).toBeVisible();
}

test.describe('the live view', () => {
  test.use({ terrain: false, services: 'gateway', heartbeat_s: 60 });

  test.describe('on a wide screen', () => {
    test.use({ viewport: { width: 1440, height: 900 } });

    test('leaves most of it to the map beside a node and its chart, and panels fold', async ({ page, server, request }) => {
      const [north] = await stations(request, server);
      await watch(page);
      await page.locator(`#node-${north.id}`).click();
      await expect(page.locator('#chart canvas')).toBeVisible();
      const share = await uncovered(page);
      expect(share).toBeGreaterThan(0.65);
      expect(await outside(page)).toEqual([]);
      expect(await serious(page)).toEqual([]);
      await page.getByRole('button', { name: 'Fold the chart' }).click();
      await expect.poll(() => uncovered(page)).toBeGreaterThan(share + 0.05);
      await page.getByRole('button', { name: 'Fold the list' }).click();
      await expect(page.locator('#nodes')).toBeHidden();
      await page.getByRole('tab', { name: /Links/ }).click();
      await expect(page.locator('#nodes')).toBeHidden();
      await expect(page.getByText('North – South')).toBeVisible();
      await page.getByRole('button', { name: 'Close the panel at the side' }).click();
      expect(await uncovered(page)).toBeGreaterThan(0.85);
      // The map is as broad as its place: a node is where the map puts it.
      await drawn(page);
      const map = (await page.locator('.map').boundingBox())!;
      expect(map.width).toBe(1440);
      expect((await page.locator('.map canvas').boundingBox())!.width).toBe(1440);
    });
  });

  test.describe('on a tablet', () => {
    test.use({ viewport: { width: 820, height: 1180 }, hasTouch: true });

    test('has buttons for fingers, and a bar that fits', async ({ page, server, request }) => {
      const [north] = await stations(request, server);
      await watch(page);
      await page.locator(`#node-${north.id}`).tap();
      await expect(page.locator('#chart canvas')).toBeVisible();
      expect(await small(page)).toEqual([]);
      expect(await outside(page)).toEqual([]);
    });
  });

  test.describe('on a phone', () => {
    test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

    test('has the node and its chart in a sheet of three heights', async ({ page, server, request }) => {
      const [north] = await stations(request, server);
      await watch(page);
      await page.getByRole('button', { name: 'Nodes', exact: true }).tap();
      // Nothing of the map is drawn above a sheet.
      expect(
        await page.evaluate(() => {
          const box = document.querySelector('.left')!.getBoundingClientRect();
          return [...document.querySelectorAll('.maplibregl-ctrl')]
            .map((element) => element.getBoundingClientRect())
            .filter((part) => part.width && part.bottom > box.top)
            .every((part) => document.elementFromPoint(part.x + part.width / 2, part.y + part.height / 2)?.closest('.left'));
        }),
      ).toBe(true);
      await page.locator(`#node-${north.id}`).tap();
      await page.getByRole('button', { name: 'Map', exact: true }).tap();
      const top = async () => 1 - (await page.locator('.card').boundingBox())!.y / 844;
      await expect.poll(top).toBeCloseTo(0.3, 2);
      await page.locator('.card .grab').tap();
      await page.locator('.card .grab').tap();
      await expect.poll(top).toBeCloseTo(0.95, 2);
      await page.locator('#chart').scrollIntoViewIfNeeded();
      await expect(page.locator('#chart canvas')).toBeVisible();
      expect(await outside(page)).toEqual([]);
      expect(await serious(page)).toEqual([]);
    });
  });
});

test.describe('a replay', () => {
  for (const [width, height, share] of [
    [1440, 900, 0.65],
    [820, 1180, 0.55],
  ] as const) {
    test.describe(`at ${width} px`, () => {
      test.use({ viewport: { width, height } });

      test('has the map under a link, the key and the time', async ({ page }) => {
        await recording(page);
        await chooseLink(page);
        expect(await uncovered(page, '.replay-map')).toBeGreaterThan(share);
        expect(await outside(page)).toEqual([]);
        const names = page.getByText('route of a flow');
        await expect(names).toBeHidden();
        await page.getByRole('button', { name: 'Unfold the key of the links' }).click();
        await expect(names).toBeVisible();
        expect(await serious(page)).toEqual([]);
      });
    });
  }

  test.describe('on a phone', () => {
    test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

    test('keeps the time in reach below its sheets', async ({ page }) => {
      await recording(page);
      // The key takes one or two lines, without a bar to scroll it.
      expect(await page.locator('.legends > .key').evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThanOrEqual(
        2,
      );
      const reaches = () => page.getByRole('button', { name: 'Play', exact: true }).click({ trial: true, timeout: 4000 });
      await chooseLink(page);
      await reaches();
      await page.getByRole('button', { name: 'Recording', exact: true }).tap();
      await expect(page.locator('#events')).toBeVisible();
      await expect(page.locator('.card')).toHaveCount(0);
      await reaches();
      expect(await outside(page)).toEqual([]);
      expect(await serious(page)).toEqual([]);
    });
  });
});

test.describe('planning and a gateway in one process', () => {
  test.use({ terrain: false, services: 'both', heartbeat_s: 60 });

  test('the command of the first agent has the address of the gateway', async ({ page, server, request }) => {
    await mesh(request, server, '/gateway');
    await page.goto('/#v=live');
    await login(page);
    const command = page.locator('.start pre');
    await expect(command).toContainText('groundwave agent --gateway ');
    const address = (await command.textContent())!.split(' ').at(-1)!;
    expect(`http://${address}`).not.toBe(server.url);
    // Agents request to join there; planning has no such operation.
    const path = '/v1/mesh/wg-register';
    expect((await request.post(`http://${address}${path}`, { data: {} })).status()).toBe(422);
    expect((await request.post(server.url + path, { data: {} })).status()).toBe(404);
  });
});
