// The plan on paper: its content, its theme, and its pages as a PDF.
import { writeFileSync } from 'node:fs';
import { metresPerPixel, scaleOf } from '../src/print/scale';
import { test as base, type Locator, type Page } from '@playwright/test';
import { Picture } from './pixels';
import { expect, open, plan, test } from './server';

base('the bar of the scale is round and fits the ground', () => {
  // At zoom 0 the world is 512 px wide.
  expect(metresPerPixel(0, 0) * 512).toBeCloseTo(40_075_016.6856, 3);
  expect(metresPerPixel(60, 1) * 1024).toBeCloseTo(40_075_016.6856 / 2, 3);
  for (const zoom of [2, 7.3, 11.9, 14, 17]) {
    const { px, text } = scaleOf(57.7, zoom, 'metric');
    expect(px).toBeLessThanOrEqual(160);
    expect(px).toBeGreaterThan(60);
    expect(text).toMatch(/^[1235]0* (m|km)$/);
    const [length, unit] = text.split(' ') as [string, string];
    expect(px * metresPerPixel(57.7, zoom)).toBeCloseTo(Number(length) * (unit === 'km' ? 1000 : 1), 6);
  }
  expect(scaleOf(57.7, 11, 'imperial').text).toMatch(/^[1235]0* (ft|mi)$/);
});

test.use({ colorScheme: 'dark' });

test('the sheet has map, legend, nodes, links and assumptions, in light colours', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
  await open(page, `/#d=${id}`);
  await page.evaluate(
    (node) =>
      window.groundwave.app.coverages.start(node, 'Ramberget', {
        radius_km: 8,
        resolution: 64,
        rx_height_agl_m: 2,
        rx_surroundings: 'unknown',
        rx_indoor: 'outdoors',
        receiver: null,
      }),
    nodes['Ramberget']!,
  );
  await page.waitForFunction(() => window.groundwave.app.coverages.jobs.every((job) => job.state === 'done'));
  await page.keyboard.press('Control+p');
  const paper = page.locator('.paper');
  await expect(paper).toHaveAttribute('data-ready', 'true', { timeout: 120_000 });
  await expect(paper.getByRole('heading', { level: 1 })).toHaveText('Göteborg');
  await expect(paper).toContainText('4 nodes');
  for (const part of ['Nodes', 'Links', 'Assumptions']) await expect(paper.getByRole('heading', { name: part })).toBeVisible();
  await expect(paper.locator('.scale')).toHaveText(/^[1235]0* (m|km)$/);
  await expect(paper.getByRole('img', { name: 'North is up' })).toBeVisible();
  await expect(paper).toContainText('received power');
  await expect(paper.locator('.assumptions')).toContainText('Path loss by NTIA ITM');
  await expect(paper.locator('.assumptions')).toContainText('Natural Earth');
  // Both directions of a link, each with its probability and its interval.
  const row = paper.locator('.links tbody tr').first().locator('td');
  expect(await row.allTextContents()).toEqual(
    expect.arrayContaining([expect.stringMatching(/^\d+(\.\d)? %$/), expect.stringMatching(/^−?\d+ to −?\d+$/)]),
  );
  expect(await paper.locator('section').first().locator('tbody tr').count()).toBe(4);

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(page.locator('.top')).toBeHidden();
  await expect(page.locator('.bar')).toBeHidden();
  const { naturalWidth } = await paper.locator('img').evaluate((image: HTMLImageElement) => ({ naturalWidth: image.naturalWidth }));
  expect(naturalWidth).toBe(2000);
  const picture = Picture.of(await page.screenshot());
  expect(picture.at(picture.width - 4, 4), 'the paper is white').toEqual([255, 255, 255]);
  for (const landscape of [false, true]) {
    const pdf = await page.pdf({ format: 'A4', landscape, preferCSSPageSize: false, printBackground: true });
    const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    expect(pages).toBeGreaterThan(0);
    expect(pages).toBeLessThanOrEqual(2);
    if (process.env['SHEETS']) writeFileSync(`${process.env['SHEETS']}/sheet-${landscape ? 'landscape' : 'portrait'}.pdf`, pdf);
  }
  await page.emulateMedia({ media: 'screen' });
  await page.keyboard.press('Escape');
  await expect(paper).toHaveCount(0);
});

/** Opens the sheet and waits for it. */
async function paper(page: Page): Promise<Locator> {
  await page.keyboard.press('Control+p');
  const sheet = page.locator('.paper');
  await expect(sheet).toHaveAttribute('data-ready', 'true', { timeout: 120_000 });
  return sheet;
}

test('the key on paper is that of the screen, and failed nodes have no working links', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Biskopsgården']);
  await open(page, `/#d=${id}&tab=coverage`);
  await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
  await expect(page.locator('#mesh-state')).toHaveAttribute('data-pending', '0');
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('server');
  await page.evaluate((node) => window.groundwave.app.coverages.mesh.fail(node, true), nodes['Masthugget']!);
  const swatches = (root: Locator) =>
    root
      .locator('span:has(> .swatch)')
      .evaluateAll((all) => all.map((one) => [one.textContent!.trim(), (one.firstElementChild as HTMLElement).style.background]));
  await expect(page.locator('#legend .swatch')).toHaveCount(2);
  const screen = await swatches(page.locator('#legend'));
  expect(screen.map(([name]) => name)).toEqual(['Ramberget', 'Biskopsgården']);
  let sheet = await paper(page);
  expect(await swatches(sheet.locator('#coverage-key'))).toEqual(screen);
  await expect(sheet.locator('#coverage-key')).toContainText('Best server');
  await expect(sheet.locator('#summary')).toContainText('3 nodes, 1 taken as failed, 1 working link ·');
  await expect(sheet.locator('figcaption')).toContainText('Masthugget: drawn without its links');
  await expect(sheet.locator('.links tbody')).toHaveCount(1);
  await expect(sheet.locator('.links tbody')).not.toContainText('Masthugget');
  await page.keyboard.press('Escape');

  // Steps of a data rate are steps on paper too.
  await page.evaluate((node) => {
    const { coverages } = window.groundwave.app;
    void coverages.mesh.stop();
    return coverages.start(node, 'Ramberget', {
      radius_km: 3,
      resolution: 32,
      rx_height_agl_m: 2,
      rx_surroundings: 'unknown',
      rx_indoor: 'outdoors',
      receiver: { preset: 'wifi_2g4_mesh' },
    });
  }, nodes['Ramberget']!);
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('power');
  await page.evaluate(() => (window.groundwave.app.coverages.unit = 'rate'));
  const rates = await page.evaluate(() => window.groundwave.app.coverages.rates.length);
  sheet = await paper(page);
  if (rates) await expect(sheet.locator('#coverage-key .swatch')).toHaveCount(rates);
  expect(await swatches(sheet.locator('#coverage-key'))).toEqual(await swatches(page.locator('#legend')));
});

test.describe('without terrain', () => {
  test.use({ terrain: false });

  test('links of unknown ground are counted apart, on paper and on the card without figures of another path', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Biskopsgården']);
    await open(page, `/#d=${id}`);
    await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBe(3);
    const sheet = await paper(page);
    await expect(sheet.locator('#summary')).toContainText('3 nodes, 0 working links, 3 links without terrain data ·');
    await expect(sheet.locator('.links tbody')).toHaveCount(3);
    const cells = await sheet.locator('.links tbody').first().locator('tr').first().locator('td').allTextContents();
    expect(cells.slice(1)).toEqual(['no terrain data', '–', '–', '–', expect.stringMatching(/ to /), '–']);
    await page.keyboard.press('Escape');

    await page.evaluate((ids) => (window.groundwave.app.ui.selected = ids), [nodes['Ramberget']!, nodes['Masthugget']!]);
    await expect(page.locator('#verdict')).toHaveAttribute('data-rating', 'unknown');
    expect((await page.locator('#budget tbody th').allTextContents()).map((text) => text.split(',')[0])).toEqual([
      'Sensitivity',
      '90 % of links like this',
      'Verdict',
    ]);
  });
});
