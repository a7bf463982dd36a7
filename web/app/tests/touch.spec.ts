// Fingers: whatever is touched has 44 px in every panel, and numbers have buttons.
import type { Page } from '@playwright/test';
import { small } from './rectangles';
import { drawn, expect, nodesOf, open, pixel, plan, PLACES, test } from './server';

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, services: 'both' });

/** Unfolds all groups of fields. */
async function unfold(page: Page): Promise<void> {
  for (const group of await page.locator('details').all()) await group.evaluate((element) => ((element as HTMLDetailsElement).open = true));
}

test('every panel, dialog and sheet of a phone is large enough', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  const look = async (name: string) => {
    await unfold(page);
    if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/touch-${name.replaceAll(/\W/g, '')}.png` });
    expect(await small(page), name).toEqual([]);
  };
  const at = async (selected = '') => {
    await page.goto('about:blank');
    await open(page, `/#d=${id}${selected && `&sel=${selected}`}`);
  };
  await at();
  await drawn(page);
  await look('map');
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
  await page.waitForFunction(() => window.groundwave.app.coverages.jobs[0]?.state === 'done');
  await look('map with coverage');
  for (const name of ['Nodes', 'Links', 'Coverage', 'Tools']) {
    await page.locator('.tabbar').getByRole('button', { name }).tap();
    await look(name);
  }
  for (const [item, dialog] of [
    ['Import and export…', '.dialog'],
    ['Deployment and environment…', '.dialog'],
    ['Keys and help', '.dialog'],
    ['Trees and buildings…', '#land-cover-size, .legends'],
    ['Print…', '.print-view'],
  ] as const) {
    await at();
    await page.getByRole('button', { name: 'Menu' }).tap();
    await look('menu');
    await page.locator('#menu').getByRole('button', { name: item }).tap();
    await expect(page.locator(dialog).first()).toBeVisible();
    await look(item);
  }
  await at(nodes['Ramberget']);
  for (const height of ['low', 'half', 'full']) {
    await look(`node, ${height}`);
    await page.locator('.grab').first().tap();
  }
  await at(`${nodes['Ramberget']},${nodes['Masthugget']}`);
  await expect(page.locator('#verdict')).toBeVisible();
  for (const height of ['low', 'half', 'full']) {
    await look(`link, ${height}`);
    await page.locator('.grab').first().tap();
  }
  await page.goto('about:blank');
  await page.goto('/#v=live');
  await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
  await look('login');
  await page.goto('about:blank');
  await page.goto('/#v=replay');
  await expect(page.getByRole('combobox', { name: 'Speed' })).toBeVisible();
  await look('replay');
});

test('buttons beside a number step it, a hold repeats, and the end of it is one change', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}`);
  await drawn(page);
  const at = await pixel(page, PLACES.Ramberget);
  await page.touchscreen.tap(at.x, at.y);
  await expect(page.locator('.card')).toContainText('Ramberget');
  // What a mouse shows of a node it rests on would cover others.
  await expect(page.locator('#hover')).toHaveCount(0);
  await page.locator('.grab').first().tap();
  await page.locator('.grab').first().tap();
  const field = page.locator('label').filter({ has: page.locator('input[name=height_agl_m]') });
  const [down, up] = [field.getByRole('button', { name: 'Step down' }), field.getByRole('button', { name: 'Step up' })];
  const height_m = async () => (await nodesOf(request, id))[0]!.height_agl_m;
  const done = () => page.evaluate(() => window.groundwave.app.history.done.length);
  await up.tap();
  await up.tap();
  await expect(field.getByRole('textbox')).toHaveValue('22');
  await expect.poll(height_m).toBe(22);
  await expect.poll(done).toBe(1);
  await down.tap();
  await expect.poll(height_m).toBe(21);
  const box = (await up.boundingBox())!;
  expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(44);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await expect.poll(async () => Number(await field.getByRole('textbox').inputValue())).toBeGreaterThan(24);
  await page.mouse.up();
  const text = Number(await field.getByRole('textbox').inputValue());
  await expect.poll(height_m).toBe(text);
  await expect.poll(done).toBe(3);
  // No further than the limits: a mast has no height below the ground.
  await field.getByRole('textbox').fill('0');
  await down.tap();
  await expect(field.getByRole('textbox')).toHaveValue('0');
});

test.describe('with a mouse', () => {
  test.use({ hasTouch: false, viewport: { width: 1280, height: 800 } });

  test('numbers have no buttons beside them', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
    await expect(page.locator('input[name=height_agl_m]')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Step up' })).toHaveCount(0);
  });
});
