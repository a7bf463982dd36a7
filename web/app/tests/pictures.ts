// Pictures of the planner for docs/web.md: `npm run pictures`, with GROUNDWAVE naming a program.
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { drawn, expect, open, plan, test } from './server';

const FOLDER = join(import.meta.dirname, '../../../docs/web');
const NODES = ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården'] as const;
const COVERAGE = {
  radius_km: 12,
  resolution: 120,
  rx_height_agl_m: 2,
  rx_surroundings: 'unknown',
  rx_indoor: 'outdoors',
  receiver: null,
} as const;

/** Takes a picture when all is drawn. */
async function picture(page: Page, name: string): Promise<void> {
  await page.mouse.move(2, 2);
  await drawn(page);
  await page.waitForTimeout(700);
  await page.screenshot({ path: join(FOLDER, `${name}.jpg`), type: 'jpeg', quality: 82 });
}

/** Computes the coverage of a node, and waits for its last cell. */
async function cover(page: Page, node: string, name: string): Promise<void> {
  await page.evaluate(([node, name, question]) => window.groundwave.app.coverages.start(node, name, question), [
    node,
    name,
    COVERAGE,
  ] as const);
  await expect(page.locator('#legend')).toBeVisible();
  await page.waitForFunction(() => window.groundwave.app.coverages.jobs.every((job) => job.state === 'done'), undefined, {
    timeout: 120_000,
  });
}

for (const scheme of ['light', 'dark'] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme, viewport: { width: 1440, height: 900 } });

    test('link and coverage', async ({ page, request }) => {
      const { id, nodes } = await plan(request, NODES);
      await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
      await expect(page.locator('#verdict')).toBeVisible();
      await picture(page, `link-${scheme}`);
      await cover(page, nodes['Ramberget']!, 'Ramberget');
      await picture(page, `coverage-${scheme}`);
    });

    test.describe('on a phone', () => {
      test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

      test('link', async ({ page, request }) => {
        const { id, nodes } = await plan(request, NODES);
        await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
        await expect(page.locator('#verdict')).toBeVisible();
        await picture(page, `phone-${scheme}`);
      });
    });

    test.describe('on a tablet', () => {
      test.use({ viewport: { width: 820, height: 1180 }, hasTouch: true });

      test('coverage', async ({ page, request }) => {
        const { id, nodes } = await plan(request, NODES);
        await open(page, `/#d=${id}&sel=${nodes['Masthugget']}`);
        await cover(page, nodes['Masthugget']!, 'Masthugget');
        await picture(page, `tablet-${scheme}`);
      });
    });
  });
}

test.describe('more', () => {
  test.use({ viewport: { width: 1440, height: 900 } });

  test('node', async ({ page, request }) => {
    const { id, nodes } = await plan(request, NODES);
    await open(page, `/#d=${id}&sel=${nodes['Långedrag']}`);
    await picture(page, 'node-light');
  });

  test('best server of the whole mesh', async ({ page, request }) => {
    const { id } = await plan(request, NODES, 'Göteborg', 'wifi_2g4_mesh');
    await open(page, `/#d=${id}`);
    await picture(page, 'mesh-light');
    await open(page, `/?mesh#d=${id}&tab=coverage`);
    await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
    await expect(page.locator('#mesh-state')).toContainText('of the area is covered');
    await page.getByRole('combobox', { name: /^Colour/ }).selectOption('server');
    await picture(page, 'servers-light');
  });

  test('relays', async ({ page, request }) => {
    const { id, nodes } = await plan(request, NODES, 'Göteborg', 'wifi_5g_mesh');
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}&tab=tools`);
    await page.getByRole('button', { name: 'Find relays' }).click();
    await expect(page.locator('#relay-answer')).toBeVisible();
    await picture(page, 'relays-light');
  });
});
