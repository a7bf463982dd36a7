// Rough edges that were found once: curtains in three dimensions, times, names of files, notices, legends.
import { test as base, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { timeOfDay } from '../src/units';
import { Picture } from './pixels';
import { drawn, expect, nodesOf, open, plan, test } from './server';

const LOG = join(import.meta.dirname, '../../../tests/fixtures/compat/failover.gwlog');
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}/;

base('times have 24 hours, whatever the language of the system', () => {
  expect(timeOfDay(new Date(2026, 0, 31, 15, 5, 6))).toBe('15:05:06');
  expect(timeOfDay(new Date(2026, 0, 31, 0, 5, 6), false)).toBe('00:05');
});

test('raised ground ends without a curtain', async ({ page, request }) => {
  // A software renderer draws a frame of a large raised view in a second.
  test.slow();
  await page.setViewportSize({ width: 700, height: 520 });
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#m=11/57.8/12.0&d=${id}`);
  await page.evaluate(() => window.groundwave.app.ui.setPanel(false));
  await page.keyboard.press('t');
  await page.waitForFunction(() => window.groundwave.map.map.getPitch() > 59);
  // The ground of the tests ends at 12 degrees east; seen from beyond, its edge faces the eye.
  await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [12.02, 57.8], zoom: 11, bearing: 270, pitch: 60 }));
  const shares = async () => {
    await drawn(page);
    const places = await page.evaluate(() => {
      const at = (lon: number) => window.groundwave.map.map.project([lon, 57.8]).y;
      return { ground: at(11.97), edge: at(12.0), beyond: at(12.02) };
    });
    const [picture, top] = [Picture.of(await page.screenshot()), (await page.locator('.map').boundingBox())!.y];
    /** Share of grey pixels, as the relief has; the hatching is brown on cream. */
    const grey = (from: number, to: number) => {
      let [count, all] = [0, 0];
      for (let y = Math.round(from + top); y < to + top; y++)
        for (let x = 90; x < 660; x++) {
          const [red, , blue] = picture.at(x, y);
          all++;
          if (Math.abs(red - blue) < 8) count++;
        }
      return all ? count / all : 0;
    };
    return { ground: grey(places.ground, places.edge - 12), beyond: grey(places.edge + 12, places.beyond) };
  };
  await expect.poll(async () => (await shares()).ground, { timeout: 60_000 }).toBeGreaterThan(0.5);
  expect((await shares()).beyond).toBeLessThan(0.01);
});

test('the time of a change is that since the change', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Långedrag'], 'Göteborg', 'wifi_2g4_mesh');
  await open(page, `/#d=${id}&tab=coverage`);
  await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
  const state = page.locator('#mesh-state');
  await expect(state).toContainText('of the area is covered');
  await expect(state).toHaveAttribute('data-pending', '0');
  // Nothing has changed yet.
  await expect(state).not.toContainText('The last change took');
  const [node] = await nodesOf(request, id);
  const begun = Date.now();
  await request.put(`/api/v1/nodes/${node!.id}/position`, { data: { lat: node!.lat + 0.004, lon: node!.lon } });
  await expect(state).toContainText('The last change took');
  const told_s = Number(/took ([\d.]+) s/.exec((await state.textContent())!)![1]);
  expect(told_s).toBeGreaterThan(0);
  // Bounded by what passed here, whatever the age of the page.
  expect(told_s * 1000).toBeLessThanOrEqual(Date.now() - begun + 10);
});

test('files are called by what they are about', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}&tab=coverage`);
  await page.getByLabel('Cells along a side').fill('16');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toHaveCount(1);
  const name = async (act: () => Promise<unknown>) => {
    const download = page.waitForEvent('download');
    await act();
    return (await download).suggestedFilename();
  };
  const coverage = await name(() => page.getByRole('combobox', { name: 'Export Ramberget' }).selectOption('png'));
  expect(coverage).toContain('Ramberget');
  expect(coverage).not.toMatch(UUID);
  await page.evaluate(() => (window.groundwave.app.ui.dialog = 'import'));
  const exported = await name(() => page.getByRole('link', { name: 'GeoJSON' }).click());
  expect(exported).toMatch(/^G.*teborg\.geojson$/);
  await page.keyboard.press('Escape');

  // An import has the name of its file, not a common one.
  await page.evaluate(() => (window.groundwave.app.ui.dialog = 'import'));
  const content = 'name,lat,lon\nNorth,57.71,11.93\n';
  await page.locator('#import-file').setInputFiles({ name: 'harbour masts.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
  await expect(page.locator('#deployment option:checked')).toHaveText('harbour masts');
});

/** A replay of a recording on ground that the server lacks. */
async function unknownGround(page: Page): Promise<void> {
  await page.goto('/#v=replay');
  await page.waitForFunction(() => document.documentElement.dataset['loaded'] === 'true');
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'failover.gwlog', mimeType: 'application/octet-stream', buffer: readFileSync(LOG) });
  await expect(page.locator('.mark').first()).toBeVisible();
}

test.describe('without ground', () => {
  test.use({ terrain: false });

  test('notices on hatched ground are closed', async ({ page, request }) => {
    await unknownGround(page);
    const notice = page.getByText('Hatched ground has no terrain data');
    await expect(notice).toBeVisible();
    await page.getByRole('button', { name: 'Close the notice' }).click();
    await expect(notice).toHaveCount(0);
    const { id } = await plan(request, ['Ramberget', 'Masthugget']);
    await open(page, `/?x=1#d=${id}`);
    const card = page.getByRole('region', { name: 'Ground', exact: true });
    await expect(card).toBeVisible();
    await page.getByRole('button', { name: 'Close the offer of ground' }).click();
    await expect(card).toHaveCount(0);
  });
});

test.describe('at 1440 px', () => {
  test.use({ viewport: { width: 1440, height: 900 } });

  test('no legend is cut, whatever it shows', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Masthugget']}&tab=coverage`);
    await page.getByLabel('Cells along a side').fill('16');
    await page.getByRole('button', { name: 'Compute 2 coverages' }).click();
    await expect(page.locator('.statistics')).toHaveCount(2);
    await page.getByRole('button', { name: 'Unfold the key of the links' }).click();
    for (const layer of ['power', 'probability', 'verdict', 'server', 'common']) {
      await page.getByRole('combobox', { name: 'Colour by' }).selectOption(layer);
      const cut = await page.evaluate(() => {
        const map = document.querySelector('.map')!.getBoundingClientRect();
        return [...document.querySelectorAll<HTMLElement>('.legends > *, .legends .pair, .legends .title > *')]
          .filter((part) => {
            const box = part.getBoundingClientRect();
            const isInside = box.left >= map.left && box.right <= map.right && box.top >= map.top && box.bottom <= map.bottom;
            return !isInside || part.scrollWidth > part.clientWidth + 1;
          })
          .map((part) => part.textContent);
      });
      expect(cut, layer).toEqual([]);
    }
  });
});
