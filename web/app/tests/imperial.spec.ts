// Imperial units everywhere on the page: axes, map, lists, cards and paper.
import { drawn, expect, open, plan, PLACES, test } from './server';

/** Metres and kilometres in a text; `dB/m` and products of `m` are quantities of their own. */
const METRIC = /\d\s*(?:m|km|km²)(?![\w²/])/;

test('axes, map, cards and paper follow the units', async ({ page, request }) => {
  await page.addInitScript(() => localStorage.setItem('groundwave.units', 'imperial'));
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
  await open(page, `/#m=13/57.71/11.91&d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  const axis = page.locator('#profile .axis');
  await expect(axis.filter({ hasText: / ft$/ })).toHaveCount(1);
  await expect(axis.filter({ hasText: / mi$/ })).toHaveCount(1);
  // The last mark of the axis is within the length of the path.
  const length = Number(/([\d.]+) mi/.exec((await page.locator('.card .head').textContent())!)![1]);
  const marks = (await page.locator('#profile .axis.middle').allTextContents()).map(Number.parseFloat);
  expect(Math.max(...marks)).toBeGreaterThan(length / 2);
  expect(Math.max(...marks)).toBeLessThanOrEqual(length);
  await expect(page.locator('.maplibregl-ctrl-scale')).toHaveText(/ft|mi/);
  for (const part of ['.profile', '.card', '#nodes']) expect(await page.locator(part).textContent(), part).not.toMatch(METRIC);

  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('checkbox', { name: 'Contour lines' }).check();
  await drawn(page);
  const names = () =>
    page.evaluate(() =>
      window.groundwave.map.map.queryRenderedFeatures({ layers: ['contour-names'] }).map(({ properties }) => String(properties['name'])),
    );
  await expect.poll(async () => (await names()).length).toBeGreaterThan(0);
  for (const name of await names()) expect(name).toMatch(/^−?\d+ ft$/);
  // The other way at once.
  await page.getByRole('combobox', { name: 'Units' }).selectOption('metric');
  await expect.poll(async () => (await names()).every((name) => /^−?\d+ m$/.test(name))).toBe(true);
  await expect(axis.filter({ hasText: / km$/ })).toHaveCount(1);
  await page.getByRole('combobox', { name: 'Units' }).selectOption('imperial');
  await page.getByRole('button', { name: 'Menu' }).click();

  await page.keyboard.press('Control+p');
  const paper = page.locator('.paper');
  await expect(paper).toHaveAttribute('data-ready', 'true', { timeout: 120_000 });
  await expect(paper.locator('.scale')).toHaveText(/ft|mi/);
  for (const section of await paper.locator('section:not(.assumptions), figcaption').all())
    expect(await section.textContent()).not.toMatch(METRIC);
});

test('a short path has its axis in feet, or in metres', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  const { lat, lon } = PLACES.Ramberget;
  const near = await (await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name: 'Near', lat: lat + 0.002, lon } })).json();
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${near.id}`);
  const along = page.locator('#profile .axis.middle').last();
  await expect(along).toHaveText(/^\d+0 m$/);
  await page.evaluate(() => (window.groundwave.app.ui.units = 'imperial'));
  await expect(along).toHaveText(/^\d00 ft$/);
});
