// The plan on paper: its content, its theme, and its pages as a PDF.
import { writeFileSync } from 'node:fs';
import { metresPerPixel, scaleOf } from '../src/print/scale';
import { test as base } from '@playwright/test';
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
  await page.evaluate((node) => window.groundwave.app.coverages.start(node, 'Ramberget', { radius_km: 8, resolution: 64, rx_height_agl_m: 2, rx_surroundings: 'unknown', rx_indoor: 'outdoors', receiver: null }), nodes['Ramberget']!);
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
  expect(await row.allTextContents()).toEqual(expect.arrayContaining([expect.stringMatching(/^\d+(\.\d)? %$/), expect.stringMatching(/^−?\d+ to −?\d+$/)]));
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
