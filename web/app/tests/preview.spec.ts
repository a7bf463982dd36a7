// Previews: what a link comes to while it is changed is what the server answers once the change is stored.
import type { Page } from '@playwright/test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, expect, nodesOf, open, pixel, plan, PLACES, test } from './server';

/** Difference of a preview from the answer of the server, dB; figures are shown with one decimal. */
const WITHIN_DB = 0.1;

test.skip(!existsSync(join(import.meta.dirname, '../wasm/itm.wasm')), 'the page was built without the model');

/** A figure with a true minus. */
const number = (text: string) => Number(/[+−-]?\d+(\.\d+)?/.exec(text)![0].replace('−', '-'));

/** Received level and margin of both directions in the card of the link. */
async function card(page: Page): Promise<{ received_dbm: number[]; margin_db: number[]; isPreview: boolean }> {
  const cells = (name: string) =>
    page
      .locator('#budget tr')
      .filter({ has: page.locator(`th:text-is("${name}")`) })
      .locator('td')
      .allTextContents();
  const [received, margin] = [await cells('Received'), await cells('Margin')];
  return {
    received_dbm: received.map(number),
    margin_db: margin.map(number),
    isPreview: [...received, ...margin].every((text) => text.startsWith('≈')),
  };
}

/** The level that the server stores for a link, dBm there and back. */
async function analysed(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const { result, reverse } = window.groundwave.app.analysis!;
    return [result.receiver.rx_power_dbm, reverse.receiver.rx_power_dbm];
  });
}

/** The preview as it is computed, dBm there and back. */
async function previewed(page: Page): Promise<number[] | null> {
  return page.evaluate(() => {
    const preview = window.groundwave.app.preview.current;
    return preview && [preview.there.rx_power_dbm, preview.back.rx_power_dbm];
  });
}

const near = (found: number[], wanted: number[], within_db: number) =>
  found.forEach((value, at) =>
    expect(Math.abs(value - wanted[at]!), `${found.join()} beside ${wanted.join()}`).toBeLessThanOrEqual(within_db + 1e-9),
  );

test('a dragged mast has its level at once, and the server answers the same', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  const modules: string[] = [];
  page.on('request', (sent) => void (/itm[^/]*\.wasm$/.test(sent.url()) && modules.push(sent.url())));
  await open(page, `/#d=${id}`);
  await drawn(page);
  expect(modules).toEqual([]);
  await page.evaluate((pair) => (window.groundwave.app.ui.selected = pair), [nodes['Ramberget']!, nodes['Långedrag']!]);
  await expect(page.locator('#verdict')).toBeVisible();
  await page.getByRole('button', { name: 'Make the profile taller' }).click();
  await expect(page.locator('.ahead')).toHaveCount(0);
  const handle = page.getByRole('slider', { name: 'Antenna height of Långedrag' });
  const ahead = page.locator('.profile .ahead');
  for (const [pull_px, sight] of [
    [9, 'No line of sight'],
    [40, 'Line of sight'],
  ] as const) {
    const before = await card(page);
    expect(before.isPreview).toBe(false);
    const stored_m = Number(await handle.getAttribute('aria-valuenow'));
    const box = (await handle.boundingBox())!;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - pull_px, { steps: 4 });
    await expect(page.locator('#masts')).toContainText(sight);
    await expect(ahead).toHaveText(/^≈\u202f−\d+\.\d dBm, margin ≈\u202f[+−]?\d+\.\d dB preview$/);
    const during = await card(page);
    const exact = (await previewed(page))!;
    expect(during.isPreview).toBe(true);
    expect(Math.min(...during.received_dbm.map((level, at) => level - before.received_dbm[at]!))).toBeGreaterThan(1);
    expect(number((await ahead.textContent())!)).toBe(Math.min(...during.received_dbm));
    if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/preview.png` });
    // Nothing was stored or asked yet.
    expect((await nodesOf(request, id)).find(({ name }) => name === 'Långedrag')!.height_agl_m).toBe(stored_m);
    near(await analysed(page), before.received_dbm, 0.05);

    const answer = page.waitForResponse((response) => response.url().endsWith('/links/analyze'));
    await page.mouse.up();
    await answer;
    await expect(page.locator('.ahead')).toHaveCount(0);
    const after = await card(page);
    expect(after.isPreview).toBe(false);
    near(await analysed(page), exact, WITHIN_DB);
    // As they are read, both are rounded.
    near(after.received_dbm, during.received_dbm, WITHIN_DB);
    near(after.margin_db, during.margin_db, WITHIN_DB);
  }
  expect(modules.length).toBe(1);
});

test('keys, the advice to raise, and the card of an end have previews, which the server confirms', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  // The advice names the level that it reaches.
  const both = page.getByRole('button', { name: /^Raise both by \d+ m$/ });
  await expect(both).toContainText('dBm');
  const promised_dbm = number((await both.textContent())!.split('≈')[1]!);
  await both.click();
  await expect(page.locator('#raising')).toHaveCount(0);
  await expect(page.locator('.ahead')).toHaveCount(0);
  near([promised_dbm], [Math.min(...(await analysed(page)))], 0.5 + WITHIN_DB);

  const handle = page.getByRole('slider', { name: 'Antenna height of Ramberget' });
  await handle.focus();
  await page.keyboard.press('Shift+ArrowDown');
  await expect(page.locator('.ahead')).toHaveCount(1);
  const lowered = (await previewed(page))!;
  await expect(page.locator('.ahead')).toHaveCount(0);
  near(await analysed(page), lowered, WITHIN_DB);

  // The link stays in view beside the card of its end.
  await page.getByRole('button', { name: 'Edit Ramberget' }).click();
  await expect(page.locator('#beside')).toContainText('Link to Långedrag');
  await expect(page.locator('.profile')).toBeVisible();
  const stored = await analysed(page);
  await page.locator('[name=tx_power_dbm]').fill('11');
  await expect(page.locator('#beside .ahead')).toBeVisible();
  const powered = (await previewed(page))!;
  expect(powered[0]).not.toBeCloseTo(stored[0]!, 1);
  expect(powered[1]).toBeCloseTo(stored[1]!, 9);
  await page.locator('[name=height_agl_m]').fill('31');
  // The power was stored when its field was left.
  await expect.poll(async () => (await analysed(page))[0]).toBeCloseTo(powered[0]!, 3);
  await expect(page.locator('#masts')).toContainText('Ramberget 31 m');
  const typed = (await previewed(page))!;
  await page.keyboard.press('Enter');
  await expect(page.locator('.ahead')).toHaveCount(0);
  near(await analysed(page), typed, WITHIN_DB);
  await page.getByRole('button', { name: 'Långedrag', exact: true }).click();
  await expect(page.locator('#verdict')).toBeVisible();

  // A text that is given up leaves the link as it was.
  await page.getByRole('button', { name: 'Edit Ramberget' }).click();
  await page.locator('[name=height_agl_m]').fill('60');
  await expect(page.locator('#beside .ahead')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('.ahead')).toHaveCount(0);
  await page.locator('.card').getByRole('button', { name: 'Close' }).click();
  await expect(page.locator('.profile')).toHaveCount(0);
  // Opened by itself the card has no link.
  await page.evaluate((node) => (window.groundwave.app.ui.selected = [node]), nodes['Ramberget']!);
  await expect(page.locator('[name=height_agl_m]')).toHaveValue('31');
  await expect(page.locator('#beside')).toHaveCount(0);
});

test('the figures of a link are those before the change while its end is dragged on the map', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  await expect(page.locator('#budget')).toBeVisible();
  await drawn(page);
  const at = await pixel(page, PLACES.Långedrag);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 20, at.y - 20, { steps: 4 });
  await expect(page.locator('#budget')).toContainText('before the change');
  await expect(page.locator('#verdict.previewed')).toBeVisible();
  await page.mouse.up();
  await expect(page.locator('#budget')).not.toContainText('before the change');
  await expect(page.locator('#verdict.previewed')).toHaveCount(0);
});

test('a model that the page does not have gives no preview, and loads nothing', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  const { environment } = await (await request.get(`/api/v1/deployments/${id}`)).json();
  const changed = await request.patch(`/api/v1/deployments/${id}`, { data: { environment: { ...environment, model: 'p1812' } } });
  expect(changed.ok(), await changed.text()).toBe(true);
  const modules: string[] = [];
  page.on('request', (sent) => void (/itm[^/]*\.wasm$/.test(sent.url()) && modules.push(sent.url())));
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  const handle = page.getByRole('slider', { name: 'Antenna height of Långedrag' });
  await handle.focus();
  await page.keyboard.press('Shift+ArrowUp');
  await expect(page.locator('#masts')).toContainText('Långedrag 18 m');
  await expect(page.locator('.ahead')).toHaveCount(0);
  await expect(page.locator('#budget')).toContainText('before the change');
  await page.keyboard.press('Escape');
  expect(modules).toEqual([]);
});

test('a module that does not come leaves a warning in the console alone', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  const warnings: string[] = [];
  page.on('console', (message) => void (message.type() === 'warning' && warnings.push(message.text())));
  await page.route(/itm[^/]*\.wasm$/, (route) => route.fulfill({ status: 200, body: 'no module' }));
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  await expect.poll(() => warnings.filter((text) => text.includes('no previews of heights')).length).toBe(1);
  const handle = page.getByRole('slider', { name: 'Antenna height of Långedrag' });
  await handle.focus();
  await page.keyboard.press('Shift+ArrowUp');
  await expect(page.locator('#masts')).toContainText('Långedrag 18 m');
  await expect(page.locator('.ahead')).toHaveCount(0);
  await expect(page.locator('#masts')).toHaveCount(0);
  await expect.poll(async () => (await nodesOf(request, id)).find(({ name }) => name === 'Långedrag')!.height_agl_m).toBe(18);
  await expect(page.getByRole('alert')).toHaveCount(0);
});
