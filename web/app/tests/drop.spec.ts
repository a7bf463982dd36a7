// Files that are dropped on any view, and the report of several at once.
import type { Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, open, plan, test } from './server';

const EXAMPLES = join(import.meta.dirname, '../../../examples');
const LOG = join(import.meta.dirname, '../../../tests/fixtures/compat/failover.gwlog');

test.use({ services: 'both', terrain: false, errors: /the server responded with a status of 4/ });

const table = (...rows: string[]) => Buffer.from(['name,lat,lon', ...rows].join('\n')).toString('base64');
const GOOD = ['north.csv', table('North,57.71,11.93', 'South,57.70,11.94')] as const;
const PARTIAL = ['part.csv', table('Here,57.71,11.93', 'Nowhere,57.70,')] as const;
const REFUSED = ['broken.csv', Buffer.from('nothing').toString('base64')] as const;

/** Drops files where a person does: on the view, whichever it is. */
async function drop(page: Page, files: readonly (readonly [string, string])[]): Promise<boolean> {
  return page.evaluate((files) => {
    const transfer = new DataTransfer();
    for (const [name, content] of files)
      transfer.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
    const over = new DragEvent('dragover', { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector('main')!.dispatchEvent(over);
    const dropped = new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector('main')!.dispatchEvent(dropped);
    return over.defaultPrevented && dropped.defaultPrevented;
  }, files);
}

test('plans that are dropped on the live view and on a replay open in the plan, each with its report', async ({ page, request }) => {
  await page.goto('/#v=live');
  await expect(page.locator('#login')).toBeVisible();
  expect(await drop(page, [PARTIAL, REFUSED, GOOD])).toBe(true);
  const report = page.locator('#import-report');
  await expect(report.getByRole('region')).toHaveCount(3);
  await expect(report.getByRole('region', { name: 'part.csv' })).toContainText('1 node.');
  await expect(report.getByRole('region', { name: 'part.csv' }).locator('tbody tr')).not.toHaveCount(0);
  await expect(report.getByRole('region', { name: 'broken.csv' }).locator('.bad')).not.toBeEmpty();
  await expect(report.getByRole('region', { name: 'north.csv' })).toContainText('2 nodes.');
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  // What was imported is in view.
  await page.waitForFunction(() => window.groundwave.map.map.getZoom() > 8);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Replay' }).click();
  await expect(page.getByText('No recording yet')).toBeVisible();
  expect(await drop(page, [GOOD])).toBe(true);
  await expect(report.getByRole('region')).toHaveCount(1);
  await expect.poll(async () => (await (await request.get('/api/v1/deployments')).json()).length).toBe(3);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Live' }).click();
  expect(await drop(page, [['failover.gwlog', readFileSync(LOG).toString('base64')]])).toBe(true);
  await expect(page.locator('#events li').first()).toBeVisible();
});

test('files of any format the server reads are taken: measurements and tracks are replayed', async ({ page, request }) => {
  await open(page);
  // A recording with positions is a plan, too.
  expect(await drop(page, [['emane.eel', readFileSync(join(EXAMPLES, 'emane.eel')).toString('base64')]])).toBe(true);
  const report = page.locator('#import-report');
  await expect(report).toContainText('4 nodes.');
  await expect(report).toContainText('wait in the view Replay');
  await page.keyboard.press('Escape');
  const recordings = async () => (await (await request.get('/api/v1/replays')).json()).map(({ name }: { name: string }) => name);
  expect(await recordings()).toEqual(['emane.eel']);
  expect(await drop(page, [['odd.xyz', Buffer.from('nothing').toString('base64')]])).toBe(true);
  await expect(page.locator('.messages')).toContainText('odd.xyz');
  // Its ends have no position: it is a recording alone.
  expect(await drop(page, [['trace.down', readFileSync(join(EXAMPLES, 'trace.down')).toString('base64')]])).toBe(true);
  await expect(page).toHaveURL(/v=replay/);
  await expect.poll(async () => (await recordings()).length).toBe(2);
});

test('a file that was refused can be chosen again once it is mended', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}`);
  await page.evaluate(() => (window.groundwave.app.ui.dialog = 'import'));
  const input = page.locator('#import-file');
  await input.setInputFiles({ name: 'plan.csv', mimeType: 'text/csv', buffer: Buffer.from('nothing') });
  await expect(page.locator('#import-report')).toContainText('plan.csv');
  expect(await input.evaluate((field: HTMLInputElement) => field.value)).toBe('');
  await input.setInputFiles({ name: 'plan.csv', mimeType: 'text/csv', buffer: Buffer.from(GOOD[1], 'base64') });
  await expect(page.locator('#import-report')).toContainText('2 nodes.');
  await expect(page.locator('#import-report .bad')).toHaveCount(0);
});

test('a file without nodes makes no deployment and says what was in it; no refusal names options of a command', async ({
  page,
  request,
}) => {
  await open(page);
  const text = (content: string) => Buffer.from(content).toString('base64');
  const line = {
    type: 'LineString',
    coordinates: [
      [11.9, 57.7],
      [12, 57.7],
    ],
  };
  const feature = { type: 'Feature', properties: {}, geometry: line };
  const roads = JSON.stringify({ type: 'FeatureCollection', features: [feature, feature] });
  const levels = 'time,link,rsl_dbm\n1777629600,a,-42.0\n1777629600,b,-45.0\n';
  const dropped = 'roads.geojson: geojson: found no node with a position (2 x LineString is not a node: dropped)';
  const files = [
    ['roads.geojson', text(roads), dropped],
    [...REFUSED, 'csv: line 1'],
    ['levels.csv', text(levels), 'csv: line 1'],
    ['empty.csv', text('name,lat,lon\n'), 'found no node with a position'],
    ['letter.txt', text('Dear neighbour,\n'), 'listed under “Import and export”'],
  ] as const;
  for (const [name, content, part] of files) {
    await drop(page, [[name, content]]);
    const message = page.locator('.messages > .bad', { hasText: name });
    await expect(message).toContainText(part);
    expect(await message.textContent()).not.toMatch(/--[a-z]|groundwave /);
  }
  expect(await (await request.get('/api/v1/deployments')).json()).toEqual([]);
});
