// The page for everyone: axe, keyboard, address, units, hostile names, a server that goes and comes back.
import AxeBuilder from '@axe-core/playwright';
import type { APIRequestContext, Page } from '@playwright/test';
import { expect, nodesOf, open, plan, test } from './server';

async function serious(page: Page): Promise<string[]> {
  // The page has no frames of other origins, for which axe otherwise opens a page of its own.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  return violations
    .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
    .map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(' ')}`);
}

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "'; DROP TABLE nodes; --",
  '{{7*7}}${7*7}',
  '=HYPERLINK("http://example.com")',
  'عقدة العقدة',
  '👩‍🚒 brandstation',
  'x'.repeat(64),
];

// A link is selected, its verdict shown.
async function openLink(page: Page, request: APIRequestContext) {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  await expect(page.locator('#verdict')).toBeVisible();
  return nodes;
}

test.describe('axe finds nothing serious', () => {
  test('in the light, in any tab', async ({ page, request }) => {
    await openLink(page, request);
    expect(await serious(page)).toEqual([]);
    for (const tab of ['Links', 'Coverage', 'Tools']) {
      await page.getByRole('tab', { name: tab }).click();
      expect(await serious(page), tab).toEqual([]);
    }
  });

  test('in the dark, in menu and help', async ({ page, request }) => {
    const nodes = await openLink(page, request);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.evaluate((selected) => (window.groundwave.app.ui.selected = selected), [nodes['Ramberget']!]);
    await expect(page.locator('#node-fields')).toBeVisible();
    expect(await serious(page)).toEqual([]);
    await page.getByRole('button', { name: 'Menu' }).click();
    expect(await serious(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keys and help' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    expect(await serious(page)).toEqual([]);
  });

  test('on a phone', async ({ page, request }) => {
    await openLink(page, request);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await serious(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.getByRole('button', { name: 'Nodes', exact: true }).click();
    await expect(page.locator('#nodes')).toBeVisible();
    expect(await serious(page)).toEqual([]);
  });
});

test('the keyboard alone makes a link visible', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}`);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Undo');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.locator('#nodes').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await expect(page.locator('#verdict')).toBeVisible();
  await page.keyboard.press('2');
  await expect(page.getByRole('tab', { name: /Links/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Escape');
  await expect(page.locator('#verdict')).toBeHidden();
  await page.keyboard.press('/');
  await page.keyboard.type('mast');
  await page.keyboard.press('Enter');
  await expect(page.locator('.card')).toContainText('Masthugget');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('57 42.07 N, 11 53.25 E');
  await expect(page.getByRole('option', { name: /57.7012° N 11.8875° E/ })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => window.groundwave.map.map.getCenter().lat)).toBeCloseTo(57.7012, 2);
});

test('the address holds the view, and another page opens it', async ({ page, request, context }) => {
  await plan(request, ['Ramberget'], 'First');
  const { id, nodes } = await plan(request, ['Masthugget', 'Långedrag'], 'Second');
  await open(page);
  await page.locator('#deployment').selectOption(id);
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  await page.getByRole('option', { name: /Långedrag/ }).click();
  await page.getByRole('tab', { name: /Coverage/ }).click();
  await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [11.9, 57.68], zoom: 11.5 }));
  await expect.poll(() => page.url()).toContain('m=11.50/57.68000/11.90000');
  expect(page.url()).toContain(`d=${id}`);
  expect(page.url()).toContain(`sel=${nodes['Långedrag']}`);
  const other = await context.newPage();
  await open(other, page.url());
  await expect(other.locator('.card')).toContainText('Långedrag');
  await expect(other.getByRole('tab', { name: /Coverage/ })).toHaveAttribute('aria-selected', 'true');
  expect(await other.evaluate(() => window.groundwave.map.map.getZoom())).toBeCloseTo(11.5, 2);
});

test('units, theme and hostile names', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  for (const name of HOSTILE) {
    const made = await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name, lat: 57.71, lon: 11.9 } });
    expect(made.status(), name).toBe(201);
  }
  page.on('dialog', () => {
    throw new Error('a name ran as a script');
  });
  await open(page, `/#d=${id}`);
  for (const name of HOSTILE) await expect(page.locator('.name', { hasText: name }).first()).toHaveText(name);
  expect(await page.locator('img[src=x]').count()).toBe(0);
  await page.getByRole('option', { name: /Ramberget/ }).click();
  await page.locator('[name=name]').fill(HOSTILE[0]!);
  await page.locator('[name=name]').press('Enter');
  await expect.poll(async () => (await nodesOf(request, id)).filter((node) => node.name === HOSTILE[0]).length).toBe(2);

  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('combobox', { name: 'Units' }).selectOption('imperial');
  await expect(page.getByRole('option', { name: /Masthugget/ })).toContainText('66 ft');
  await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expect(page.getByRole('option', { name: /Masthugget/ })).toContainText('66 ft');
});

test.describe('a server that ends', () => {
  // The browser itself logs requests that find nobody.
  test.use({ errors: /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED/ });

  test('is missed, and found again with what changed', async ({ page, request, server }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}`);
    await server.stop();
    await expect(page.locator('[data-server]')).toHaveAttribute('data-server', 'gone');
    await expect(page.locator('.messages')).toContainText('does not answer');
    await server.start();
    await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name: 'Late', lat: 57.7, lon: 11.9 } });
    await expect(page.locator('[data-server]')).toHaveAttribute('data-server', 'there');
    await expect(page.getByRole('option', { name: /Late/ })).toBeVisible();
  });
});
