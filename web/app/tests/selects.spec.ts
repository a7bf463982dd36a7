// Selects have room for their options in panels of all breadths.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cutSelects } from './rectangles';
import { expect, open, plan, test } from './server';

const LOG = join(import.meta.dirname, '../../../tests/fixtures/compat/failover.gwlog');

for (const [width, height, touch] of [
  [1280, 800, false],
  [820, 1180, true],
  [390, 844, true],
] as const) {
  test.describe(`at ${width} px`, () => {
    test.use({ viewport: { width, height }, hasTouch: touch, terrain: false });

    test('no option is cut in lists, cards, tools, environment and what-if', async ({ page, request }) => {
      const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
      await open(page, `/#d=${id}`);
      await page.evaluate(
        ([id]) =>
          window.groundwave.app.coverages.start(id!, 'Ramberget', {
            radius_km: 5,
            resolution: 16,
            rx_height_agl_m: 2,
            rx_surroundings: 'unknown',
            rx_indoor: 'outdoors',
            receiver: null,
          }),
        [nodes['Ramberget']],
      );
      for (const tab of ['nodes', 'links', 'coverage', 'tools'] as const) {
        await page.evaluate((tab) => ([window.groundwave.app.ui.tab, window.groundwave.app.ui.sheet] = [tab, tab]), tab);
        await expect(page.getByRole('tabpanel')).toBeVisible();
        expect(await cutSelects(page), tab).toEqual([]);
      }
      await page.evaluate(
        ([id]) => ([window.groundwave.app.ui.sheet, window.groundwave.app.ui.selected] = ['map', [id!]]),
        [nodes['Ramberget']],
      );
      await expect(page.locator('[name=radio]')).toBeVisible();
      expect(await cutSelects(page), 'card').toEqual([]);
      await page.evaluate(() => (window.groundwave.app.ui.dialog = 'environment'));
      for (const summary of await page.getByRole('dialog').locator('summary').all()) await summary.click();
      await expect(page.locator('[name=model]')).toBeVisible();
      expect(await cutSelects(page), 'environment').toEqual([]);
      await page.keyboard.press('Escape');

      await page.evaluate(() => (window.groundwave.app.ui.mode = 'replay'));
      await expect(page.locator('.replay-map')).toBeVisible();
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'failover.gwlog', mimeType: 'application/octet-stream', buffer: readFileSync(LOG) });
      await expect(page.locator('#clock')).toContainText('/');
      if (width < 700) await page.getByRole('button', { name: 'Recording', exact: true }).tap();
      await expect(page.locator('[name=action]')).toBeVisible();
      expect(await cutSelects(page), 'what if').toEqual([]);
      // A name that has no room is whole for whoever points at it.
      await expect(page.locator('#recording')).toHaveAttribute('title', /./);
    });
  });
}
