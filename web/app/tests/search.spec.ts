// Search of towns: marks and case, names in other languages, keys, the place on the map.
import { distance_m } from '../src/geo';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { drawn, expect, open, test } from './server';

test.use({ terrain: false });

const centre = (page: Page) => page.evaluate(() => window.groundwave.map.view());

test('a town is found in any spelling, and the map goes there', async ({ page }) => {
  const files: string[] = [];
  page.on('request', (request) => void files.push(request.url()));
  await open(page);
  await drawn(page);
  // The towns are loaded when they are searched first.
  expect(files.filter((url) => /virtual_towns/.test(url))).toEqual([]);
  const field = page.locator('#search');
  const first = page.locator('#found [role=option]').first();
  for (const [text, name, country] of [
    ['goteborg', 'Göteborg', 'Sweden'],
    ['Göteb', 'Göteborg', 'Sweden'],
    ['gothenburg', 'Göteborg', 'Sweden'],
    ['ÉVORA', 'Évora', 'Portugal'],
    ['münchen', 'Munich', 'Germany'],
    ['łódź', 'Łódź', 'Poland'],
    ['tromso', 'Tromsø', 'Norway'],
    ['paris, us', 'Paris', 'United States'],
    ['lund sweden', 'Lund', 'Sweden'],
    ['zuerich', 'Zürich', 'Switzerland'],
  ] as const) {
    await field.fill(text);
    await expect(first, text).toContainText(name);
    await expect(first, text).toContainText(country);
  }
  expect(files.filter((url) => /virtual_towns/.test(url)).length).toBeGreaterThan(0);
  // Two towns of this name are on one rounded place.
  await field.fill('Bristol');
  await expect(first).toContainText('United Kingdom');
  await field.fill('Springfield');
  await expect(first).toContainText(/United States, \d+ km from /);
  await field.fill('Paris, Texas');
  await expect(page.locator('#found')).toContainText('A comma stands before a country');
  await field.fill('freiburg');
  await expect(first).toContainText('Germany');
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id)).toEqual([]);
  // Keys alone: the second town, then back to the first.
  await field.press('ArrowDown');
  await field.press('ArrowUp');
  await field.press('Enter');
  await expect.poll(async () => distance_m(await centre(page), { lat: 47.9959, lon: 7.8522 })).toBeLessThan(3000);
  expect((await centre(page)).zoom).toBeGreaterThanOrEqual(12);
  await field.fill('qqqq');
  await expect(page.getByText('No node or town has this name')).toBeVisible();
  await field.fill('57.7 11.97');
  await expect(first).toContainText('coordinates');
});
