// Antenna patterns of files: chosen or dropped, drawn, used and taken away.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, nodesOf, open, pixel, plan, test, PLACES } from './server';
import { Picture, rgb } from './pixels';

const SECTOR = join(import.meta.dirname, '../../../examples/sector.msi');

/** Points of a drawn cut, in the units of its picture. */
async function points(page: Page, cut: 'horizontal' | 'vertical'): Promise<[number, number][]> {
  const path = (await page.locator(`#pattern [data-cut=${cut}] path.cut`).getAttribute('d')) ?? '';
  return path
    .replace(/[MZ]/g, '')
    .split('L')
    .map((point) => point.split(' ').map(Number) as [number, number]);
}

/** Drops files on an element. */
async function drop(page: Page, selector: string, files: Record<string, string>): Promise<void> {
  const transfer = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer();
    for (const [name, text] of Object.entries(files)) transfer.items.add(new File([text], name));
    return transfer;
  }, files);
  await page.dispatchEvent(selector, 'drop', { dataTransfer: transfer });
}

test('a file is drawn with its facts, used for the node, undone and removed', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  const before = (await nodesOf(request, id)).find((node) => node.name === 'Ramberget')!.radio;
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  await page.getByRole('button', { name: 'Antenna pattern file…' }).click();
  await page.locator('#pattern-file').setInputFiles(SECTOR);
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Sector 65');
  await expect(dialog.getByRole('row', { name: 'Gain' })).toContainText('18.0 dBi');
  await expect(dialog.getByRole('row', { name: 'Frequency' })).toContainText('868 MHz');

  // The boresight of the horizontal cut is up and that of the vertical one to the right, 6 degrees down.
  const farthest = (cut: [number, number][]) => cut.reduce((best, point) => (Math.hypot(...point) > Math.hypot(...best) ? point : best));
  const horizontal = farthest(await points(page, 'horizontal'));
  expect(Math.abs(horizontal[0])).toBeLessThan(3);
  expect(horizontal[1]).toBeLessThan(-60);
  const vertical = farthest(await points(page, 'vertical'));
  expect(Math.atan2(vertical[1], vertical[0]) * (180 / Math.PI)).toBeCloseTo(6, 0);
  // It is on the screen, in the colour of the page.
  const box = (await page.locator('#pattern [data-cut=horizontal] path.cut').boundingBox())!;
  expect(
    Picture.of(await page.screenshot()).has(
      { x: box.x + box.width / 2, y: box.y + box.height / 2 },
      rgb('#005a94'),
      Math.ceil(box.width / 2),
      24,
    ),
  ).toBe(true);

  await page.getByRole('button', { name: 'Use for Ramberget' }).click();
  await expect(dialog).toBeHidden();
  const radio = async () =>
    (await nodesOf(request, id)).find((node) => node.name === 'Ramberget')!.radio as unknown as {
      antenna: { gain_dbi: number; pattern?: { horizontal_loss_db: number[] } };
    };
  await expect.poll(async () => (await radio()).antenna.gain_dbi).toBe(18);
  expect((await radio()).antenna.pattern?.horizontal_loss_db).toHaveLength(360);
  await expect(page.locator('[name=antenna]')).toHaveValue('own');
  await expect(page.locator('#node-pattern [data-cut=vertical]')).toBeVisible();

  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(radio).toEqual(before);
  await expect(page.locator('#node-pattern [data-cut]')).toHaveCount(0);
  await page.getByRole('button', { name: 'Redo' }).click();
  await page.getByRole('button', { name: 'Remove the pattern' }).click();
  await expect.poll(async () => (await radio()).antenna.pattern).toBeUndefined();
});

test('the lobe on the map is that of the pattern', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  const text = readFileSync(SECTOR, 'utf8');
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  await drop(page, '#node-pattern', { 'sector.msi': text });
  await page.getByRole('button', { name: 'Use for Ramberget' }).click();
  const azimuth = page.locator('[name=azimuth_deg]');
  await azimuth.fill('90');
  await azimuth.press('Enter');
  const ring = () =>
    page.evaluate(async () => {
      const source = window.groundwave.map.map.getSource('lobe') as unknown as {
        getData(): Promise<{ features: { geometry: { coordinates: [number, number][][] } }[] }>;
      };
      return (await source.getData()).features[0]?.geometry.coordinates[0] ?? [];
    });
  await expect.poll(async () => (await ring()).length).toBeGreaterThan(80);
  const east = Math.max(...(await ring()).map(([lon]) => lon)) - PLACES.Ramberget.lon;
  const west = PLACES.Ramberget.lon - Math.min(...(await ring()).map(([lon]) => lon));
  expect(east).toBeGreaterThan(5 * west);
  expect((await pixel(page, PLACES.Ramberget)).x).toBeGreaterThan(0);
});

test.describe('refusals', () => {
  test.use({ errors: /the server responded with a status of 4/ });

  test('an invalid file is shown with its line, and both cuts of SPLAT! are one antenna', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}`);
    // Without a node there is nothing to use it for.
    await drop(page, 'main', { 'mast.az': '0\n0 1\n90 0.1\n' });
    await expect(page.locator('.messages')).toContainText('Select the node whose antenna this is');
    await page.evaluate((node) => (window.groundwave.app.ui.selected = [node]), nodes['Ramberget']!);
    await drop(page, 'main', { 'mast.az': '0\n0 1\n90 1.5\n' });
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByRole('alert')).toHaveText('mast.az: invalid field ratio of line 3: found "1.5", allowed 0 to 1');
    await expect(dialog.getByRole('button', { name: /^Use/ })).toHaveCount(0);
    await drop(page, '#pattern', { 'mast.el': '0 0\n-10 0.5\n0 1\n10 0.5\n', 'mast.az': '0\n0 1\n90 0.1\n180 0.1\n270 0.1\n' });
    await expect(dialog.getByRole('alert')).toHaveCount(0);
    await expect(dialog).toContainText('SPLAT!');
    await page.getByRole('button', { name: 'Use for Ramberget' }).click();
    await expect(dialog).toBeHidden();
    // Files of SPLAT! have no gain: that of the node stays.
    await expect
      .poll(async () => (await nodesOf(request, id))[0]!.radio)
      .toMatchObject({ antenna: { gain_dbi: 2.15, pattern: { vertical_loss_db: expect.any(Array) } } });
  });
});
