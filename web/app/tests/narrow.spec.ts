// Keys, legends and marks of narrow screens: what lines mean, what legends leave free, which marks a finger meets.
import type { Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Replay } from '../src/replay/replay.svelte';
import { outside, small } from './rectangles';
import { drawn, expect, open, pixel, plan, PLACES, test } from './server';

const LOG = join(import.meta.dirname, '../../../tests/fixtures/compat/failover.gwlog');

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test('the map has a key of the links, and its legends lie over no node', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
    await open(page, `/#d=${id}`);
    const key = page.getByRole('group', { name: 'Key of the links' });
    await expect(key).toBeVisible();
    await expect(key.getByText('works with 99 % or more')).toHaveCount(0);
    await page.getByRole('button', { name: 'Unfold the key of the links' }).tap();
    for (const text of ['excellent: works with 99 % or more', 'no link: below 10 %']) await expect(key.getByText(text)).toBeVisible();
    // Each line is drawn beside its words, in the colour of the map.
    for (const line of await key.locator('svg').all()) expect((await line.boundingBox())!.width).toBeGreaterThan(20);
    expect(await outside(page)).toEqual([]);
    expect(await small(page)).toEqual([]);
    await page.getByRole('button', { name: 'Fold the key of the links' }).tap();
    await expect(key.locator('svg').first()).toBeHidden();

    // A node at the upper edge comes out from below the legend of its coverage.
    await page.evaluate(
      async ({ id, place }) => {
        const { app, map } = window.groundwave;
        map.map.jumpTo({ center: [place.lon, place.lat - 0.045], zoom: 11.5 });
        app.ui.selected = [id];
        const question = {
          radius_km: 8,
          resolution: 32,
          rx_height_agl_m: 2,
          rx_surroundings: 'unknown',
          rx_indoor: 'outdoors',
          receiver: null,
        } as const;
        await app.coverages.start(id, 'Ramberget', question);
      },
      { id: nodes['Ramberget']!, place: PLACES.Ramberget },
    );
    await expect(page.locator('.strip')).toBeVisible();
    await drawn(page);
    const legends = (await page.locator('.legends').boundingBox())!;
    await expect.poll(async () => (await pixel(page, PLACES.Ramberget)).y).toBeGreaterThan(legends.y + legends.height);
    // Names on the map do not shine through it.
    const opacity = await page.locator('.strip').evaluate((strip) => getComputedStyle(strip).backgroundColor);
    expect(opacity).toMatch(/^rgb\(/);
  });
});

/** A recording whose events are crowded. */
async function crowded(page: Page): Promise<void> {
  await page.goto('/#v=replay');
  await page.waitForFunction(() => document.documentElement.dataset['loaded'] === 'true');
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'failover.gwlog', mimeType: 'application/octet-stream', buffer: readFileSync(LOG) });
  await expect(page.locator('.mark').first()).toBeVisible();
  await page.evaluate(() => {
    const { replay } = window.groundwave as unknown as { replay: Replay };
    const info = replay.info!;
    const shares = [0, 0.01, 0.02, 0.1, 0.105, 0.13, 0.2, 0.24, 0.5, 0.97, 0.99, 1];
    const [first] = info.events;
    replay.info = { ...info, events: shares.map((share) => ({ ...first!, at_s: share * info.duration_s })) };
  });
}

for (const [width, height, touch] of [
  [1440, 900, false],
  [820, 1180, true],
  [390, 844, true],
] as const) {
  test.describe(`a replay at ${width} px`, () => {
    test.use({ viewport: { width, height }, hasTouch: touch, terrain: false });

    test('has marks of events beside each other, each with all its events', async ({ page }) => {
      await crowded(page);
      const marks = await page.locator('.mark').evaluateAll((all) =>
        all.map((mark) => {
          const { left, right, top, height } = mark.getBoundingClientRect();
          const hit = document.elementFromPoint((left + right) / 2, top + 6);
          return { left, right, height, isFree: hit === mark, events: mark.getAttribute('aria-label')!.split('\n').length };
        }),
      );
      expect(marks.length).toBeGreaterThan(1);
      marks.forEach(({ left, right, height, isFree }, at) => {
        expect(isFree, `mark ${at}`).toBe(true);
        expect(right - left).toBeGreaterThanOrEqual(touch ? 44 : 22);
        expect(height).toBeGreaterThanOrEqual(touch ? 44 : 22);
        if (at) expect(left).toBeGreaterThanOrEqual(marks[at - 1]!.right - 0.5);
      });
      expect(marks.reduce((sum, { events }) => sum + events, 0)).toBe(12);
      // Several of them have their number, and lead to the first.
      await page.locator('.mark.several').first().click();
      await expect(page.locator('#clock')).toContainText('00:00 /');
      expect(await outside(page)).toEqual([]);
    });
  });
}
