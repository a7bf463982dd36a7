// Nodes and links on the map: on one spot, by keys, many at once, below the pointer; profiles; dropped files.
import type { APIRequestContext, Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Picture, rgb, type Colour } from './pixels';
import { drawn, expect, nodesOf, open, pixel, plan, test, PLACES } from './server';

const LOGS = join(import.meta.dirname, '../../../tests/fixtures/compat');
const [RED, INK] = [rgb('#d1190d'), rgb('#15202b')];

/** Number of pixels of a colour in an element. */
async function count(page: Page, selector: string, colour: Colour): Promise<number> {
  const box = (await page.locator(selector).boundingBox())!;
  const picture = Picture.of(await page.screenshot());
  let pixels = 0;
  for (let y = box.y; y < box.y + box.height; y++)
    for (let x = box.x; x < box.x + box.width; x++) if (picture.has({ x, y }, colour, 0, 10)) pixels++;
  return pixels;
}

test('nodes on one spot are spread, and each can be selected', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  const twin = { name: 'Twin', lat: PLACES.Ramberget.lat, lon: PLACES.Ramberget.lon, height_agl_m: 30 };
  await request.post(`/api/v1/deployments/${id}/nodes`, { data: twin });
  await open(page, `/#d=${id}`);
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  await drawn(page);
  const fan = page.getByRole('group', { name: 'Nodes on this spot' });
  for (const name of ['Twin', 'Ramberget']) {
    const at = await pixel(page, PLACES.Ramberget);
    await page.mouse.click(at.x, at.y);
    await fan.getByRole('button', { name }).click();
    await expect(page.locator('.card')).toContainText(name);
    await page.keyboard.press('Escape');
    await expect(fan).toHaveCount(0);
  }
});

test('two nodes on one spot have a link card, over a profile of no length', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  const data = { name: 'Twin', lat: PLACES.Ramberget.lat, lon: PLACES.Ramberget.lon, height_agl_m: 30, radio: { preset: 'lora_868_eu' } };
  const twin = await (await request.post(`/api/v1/deployments/${id}/nodes`, { data })).json();
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${twin.id}`);
  await expect(page.locator('.card')).toContainText('Sensitivity');
  await expect(page.locator('#profile')).toHaveCount(1);
  await expect(page.locator('#profile .mast')).toHaveAttribute('d', /^(?!.*NaN)M/);
});

test('a link between nodes of one long name has a button for each mast, with its height', async ({ page, request }) => {
  const { id } = await (await request.post('/api/v1/deployments', { data: { name: 'Twins' } })).json();
  const name = 'Water tower of Saint Bartholomew, northern sector, uplink';
  const ids: string[] = [];
  for (const place of [PLACES.Ramberget, PLACES.Långedrag]) {
    const data = { ...place, name, radio: { preset: 'lora_868_eu' } };
    ids.push((await (await request.post(`/api/v1/deployments/${id}/nodes`, { data })).json()).id);
  }
  await open(page, `/#d=${id}&sel=${ids.join(',')}`);
  await expect(page.locator('#raising button').first()).toBeVisible();
  for (const by of await page.locator('#raising button').all()) {
    const [whole, height] = [(await by.boundingBox())!, (await by.locator('.by').boundingBox())!];
    expect(height.x + height.width).toBeLessThanOrEqual(whole.x + whole.width);
  }
});

test('a node is placed by keys alone, under the cross in the middle of the map', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}`);
  await page.keyboard.press('n');
  await page.keyboard.press('ArrowLeft');
  await drawn(page);
  const box = (await page.locator('.map').boundingBox())!;
  const cross = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await expect.poll(async () => Picture.of(await page.screenshot()).has(cross, INK, 1, 10)).toBe(true);
  const middle = await page.evaluate(({ width, height }) => window.groundwave.map.map.unproject([width / 2, height / 2]), box);
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id)).length).toBe(2);
  const node = (await nodesOf(request, id)).find(({ name }) => name !== 'Ramberget')!;
  expect(node.lat).toBeCloseTo(middle.lat, 5);
  expect(node.lon).toBeCloseTo(middle.lng, 5);
});

test.describe('without terrain', () => {
  test.use({ terrain: false });

  test('of many links the best of each node are drawn, and all of a selected node', async ({ page, request }) => {
    const { id } = await (await request.post('/api/v1/deployments', { data: { name: 'Dense' } })).json();
    const side = 5;
    for (let at = 0; at < side * side; at++) {
      const data = {
        name: `Node ${at}`,
        lat: 57.7 + 0.004 * Math.floor(at / side),
        lon: 11.9 + 0.007 * (at % side) + 0.0007 * Math.floor(at / side),
        height_agl_m: 10 + at,
        radio: { preset: 'lora_868_eu' },
      };
      await request.post(`/api/v1/deployments/${id}/nodes`, { data });
    }
    await open(page, `/#d=${id}`);
    const all = (side * side * (side * side - 1)) / 2;
    await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBe(all);
    await drawn(page);
    const ends = () =>
      page.evaluate(() => {
        const features = window.groundwave.map.map.queryRenderedFeatures({ layers: ['links'] });
        return [...new Set(features.map(({ properties }) => `${properties['a']}|${properties['b']}`))];
      });
    await expect.poll(async () => (await ends()).length).toBeGreaterThan(side * side - 2);
    expect((await ends()).length).toBeLessThan(all / 3);
    const { id: chosen } = (await nodesOf(request, id)).find(({ name }) => name === 'Node 12')!;
    await page.evaluate((node) => (window.groundwave.app.ui.selected = [node]), chosen);
    await expect.poll(async () => (await ends()).filter((link) => link.includes(chosen)).length).toBe(side * side - 1);
  });
});

/** A link that the ground blocks is open; the ids of its nodes. */
async function blocked(page: Page, request: APIRequestContext): Promise<{ id: string; tx: string; rx: string }> {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  const [tx, rx] = [nodes['Ramberget']!, nodes['Långedrag']!];
  await open(page, `/#d=${id}&sel=${tx},${rx}`);
  await expect(page.locator('#verdict')).toBeVisible();
  await page.getByRole('button', { name: 'Make the profile taller' }).click();
  await drawn(page);
  return { id, tx, rx };
}

test('the blocked part of a link is red on map and profile, and the heights that clear it are true', async ({ page, request }) => {
  const { tx, rx } = await blocked(page, request);
  await expect.poll(() => count(page, '#profile', RED)).toBeGreaterThan(10);
  await expect.poll(() => count(page, '.map', RED)).toBeGreaterThan(10);
  // The mast that the other end needs is none that is built. Each way names the level that it reaches, where the page has the model.
  await expect(page.locator('#raising')).toContainText(
    /Raise .* Långedrag by \d+ m(\s*≈\s*−\d+\s*dBm)?\s?both by \d+ m(\s*≈\s*−\d+\s*dBm)?$/,
  );
  const heights = (await page.locator('#raising b').allTextContents()).map((text) => Number.parseFloat(text));
  const analyse = async () =>
    (await (await request.post('/api/v1/links/analyze', { data: { tx_node_id: tx, rx_node_id: rx, is_per_post: true } })).json()).result
      .clearance;
  expect((await analyse()).line_of_sight).toBe(false);
  await request.patch(`/api/v1/nodes/${rx}`, { data: { height_agl_m: PLACES.Långedrag.height_agl_m + heights[0]! } });
  const clearance = await analyse();
  expect(clearance.line_of_sight).toBe(true);
  expect(clearance.fresnel_clearance_ratio).toBeGreaterThanOrEqual(0.6);
  await expect(page.locator('#raising')).toHaveCount(0);
  await expect.poll(() => count(page, '#profile', RED)).toBe(0);
});

test('one marker moves on map and profile, and a card names what is below the pointer', async ({ page, request }) => {
  await blocked(page, request);
  const between = (part: number) => ({
    lat: PLACES.Ramberget.lat + (PLACES.Långedrag.lat - PLACES.Ramberget.lat) * part,
    lon: PLACES.Ramberget.lon + (PLACES.Långedrag.lon - PLACES.Ramberget.lon) * part,
  });
  const profile = (await page.locator('#profile').boundingBox())!;
  // On the profile: the map has the marker at that part of the link.
  await page.mouse.move(profile.x + 46 + (profile.width - 60) * 0.5, profile.y + 40);
  const there = await pixel(page, between(0.5));
  await expect.poll(async () => Picture.of(await page.screenshot()).has(there, INK, 2, 10)).toBe(true);
  // On the map: the profile has it.
  await page.mouse.move(there.x, there.y);
  await expect(page.locator('#profile .dot')).toBeVisible();
  const dot = (await page.locator('#profile .dot').boundingBox())!;
  expect(Math.abs(dot.x + dot.width / 2 - (profile.x + 46 + (profile.width - 60) * 0.5))).toBeLessThan(8);
  await expect(page.locator('#hover')).toContainText('Ramberget – Långedrag');
  const node = await pixel(page, PLACES.Ramberget);
  await page.mouse.move(node.x, node.y);
  await expect(page.locator('#hover')).toContainText('antenna 20 m');
  await page.mouse.move(node.x + 150, node.y - 60);
  await expect(page.locator('#hover')).toHaveCount(0);
});

test.describe('with a file that is refused', () => {
  test.use({ errors: /the server responded with a status of 400/ });

  test('several files are dropped at once, and a recording is replayed', async ({ page, request }) => {
    await open(page);
    const plans = ['North', 'South'].map(
      (name, at) =>
        [
          `${name}.geojson`,
          Buffer.from(
            JSON.stringify({
              type: 'FeatureCollection',
              features: [{ type: 'Feature', properties: { name }, geometry: { type: 'Point', coordinates: [11.9, 57.7 + at / 100] } }],
            }),
          ).toString('base64'),
        ] as const,
    );
    const drop = (files: readonly (readonly [string, string])[]) =>
      page.evaluate((files) => {
        const transfer = new DataTransfer();
        for (const [name, content] of files)
          transfer.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
        window.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
      }, files);
    await drop([...plans, ['track.txt', '']]);
    await expect.poll(async () => (await (await request.get('/api/v1/deployments')).json()).length).toBe(2);
    await expect(page.locator('.messages')).toContainText('track.txt: unknown format');
    await drop([['failover.gwlog', readFileSync(join(LOGS, 'failover.gwlog')).toString('base64')]]);
    await expect(page.locator('#events li').first()).toBeVisible();
    const [info] = await (await request.get('/api/v1/replays')).json();
    expect(info.name).toBe('failover.gwlog');
  });
});
