// The focus: where menus and dialogs take it from, and where they give it back; results that are spoken.
import type { Page } from '@playwright/test';
import { drawn, expect, open, pixel, plan, test } from './server';

test.use({ terrain: false });

/** The accessible name of what has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? '');

test('menus close by Escape and by a click elsewhere, and give the focus back', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  const menu = page.getByRole('group', { name: 'Menu' });
  await page.getByRole('button', { name: 'Menu' }).focus();
  await page.keyboard.press('Enter');
  await expect(menu).toBeVisible();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
  expect(await focused(page)).toBe('Menu');
  // It was the menu that Escape closed, not the selection.
  await expect(page.locator('.card')).toContainText('Ramberget');
  await page.keyboard.press('Enter');
  await page.mouse.click(500, 500);
  await expect(menu).toHaveCount(0);

  await page.locator('.map canvas').focus();
  await drawn(page);
  const at = await pixel(page, { lat: 57.715, lon: 11.96 });
  await page.mouse.click(at.x, at.y, { button: 'right' });
  await expect(page.getByRole('group', { name: 'Actions at this place' })).toBeVisible();
  await expect.poll(() => focused(page)).toBe('Add a node');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('group', { name: 'Actions at this place' })).toHaveCount(0);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('CANVAS');
});

test('a card that goes leaves the focus to the map', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  await page.locator('.card').getByRole('button', { name: 'Close' }).click();
  await expect(page.locator('.card')).toHaveCount(0);
  await expect(page.locator('.map .maplibregl-canvas')).toBeFocused();
  await page.evaluate((node) => (window.groundwave.app.ui.selected = [node]), nodes['Ramberget']!);
  await page.locator('#delete-node').click();
  await expect(page.locator('.card')).toHaveCount(0);
  await expect(page.locator('.map .maplibregl-canvas')).toBeFocused();
});

test('dialogs and the print sheet keep the focus and give it back', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}`);
  const filter = page.getByLabel('Filter nodes');
  for (const [dialog, way] of [
    ['help', 'Escape'],
    ['environment', 'Escape'],
    ['import', 'Close'],
  ] as const) {
    await filter.focus();
    await page.evaluate((dialog) => (window.groundwave.app.ui.dialog = dialog), dialog);
    const box = page.getByRole('dialog');
    await expect(box).toBeVisible();
    for (let press = 0; press < 12; press++) {
      await page.keyboard.press('Tab');
      expect(await box.evaluate((box) => box.contains(document.activeElement)), `${dialog} ${press}`).toBe(true);
    }
    if (way === 'Escape') await page.keyboard.press('Escape');
    else await box.getByRole('button', { name: 'Close' }).click();
    await expect(box).toHaveCount(0);
    await expect(filter).toBeFocused();
  }
  await filter.focus();
  await page.keyboard.press('Control+p');
  const sheet = page.getByRole('dialog', { name: 'Print' });
  await expect(sheet).toBeVisible();
  for (let press = 0; press < 5; press++) {
    await page.keyboard.press('Tab');
    expect(await sheet.evaluate((sheet) => sheet.contains(document.activeElement)), `print ${press}`).toBe(true);
  }
  await page.keyboard.press('Escape');
  await expect(sheet).toHaveCount(0);
  await expect(filter).toBeFocused();
});

test('results are spoken when they come', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Masthugget']}&tab=tools`);
  const status = page.getByRole('status');
  await expect(status.filter({ hasText: /^Ramberget to Masthugget: / })).toHaveCount(1);
  await page.getByRole('button', { name: 'Find route' }).click();
  await expect(status.filter({ hasText: /^(Route over \d|No route)/ })).toHaveCount(1);
  await page.evaluate(() => (window.groundwave.app.ui.tab = 'coverage'));
  await page.getByLabel('Cells along a side').fill('16');
  await page.getByRole('button', { name: 'Compute 2 coverages' }).click();
  await expect(status.filter({ hasText: 'Coverage of Masthugget is computed.' })).toHaveCount(1);
  // A message that is bad has a sign besides its colour.
  await page.evaluate(() => window.groundwave.app.ui.tell('Something is wrong.', true));
  const sign = await page
    .locator('.messages > .bad > span')
    .first()
    .evaluate((span) => getComputedStyle(span, '::before').content);
  expect(sign).toContain('▲');
});
