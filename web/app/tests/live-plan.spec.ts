// What needs more than one answer: links that follow a drag, scans, changes of other clients, exports.
import { readFileSync } from 'node:fs';
import { drawn, expect, nodesOf, open, pixel, plan, PLACES, test } from './server';

test('links follow a node while it is dragged, before anything is stored', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Biskopsgården']);
  await open(page, `/#d=${id}`);
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBeGreaterThan(0);
  await drawn(page);
  const at = await pixel(page, PLACES.Masthugget);
  const preview = page.waitForResponse((answer) => answer.url().endsWith('/links/preview'));
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x - 60, at.y + 20, { steps: 5 });
  const answer = await preview;
  expect(answer.status()).toBe(200);
  const told = await answer.json();
  expect(told.node_id).toBe(nodes['Masthugget']);
  expect((await nodesOf(request, id)).find((node) => node.name === 'Masthugget')!.lat).toBe(PLACES.Masthugget.lat);
  await page.mouse.up();
  await expect.poll(async () => (await nodesOf(request, id)).find((node) => node.name === 'Masthugget')!.lon).toBeLessThan(PLACES.Masthugget.lon);
  // The links of the new place are those of the server.
  const stored = async () => (await (await request.get(`/api/v1/deployments/${id}/links`)).json()).links.map((link: { forward: { link_margin_db: number } }) => link.forward.link_margin_db.toFixed(3)).sort();
  const shown = () => page.evaluate(() => window.groundwave.app.plan.links.map((link) => link.forward.link_margin_db.toFixed(3)).sort());
  await expect.poll(async () => JSON.stringify(await shown()) === JSON.stringify(await stored())).toBe(true);
});

test('a scan ranks the nodes in reach of a place, and a node is built there', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page, `/#d=${id}`);
  await page.keyboard.press('s');
  const place = { lat: 57.70, lon: 11.92 };
  const at = await pixel(page, place);
  const asked = page.waitForResponse((answer) => answer.url().endsWith('/scan'));
  await page.mouse.click(at.x, at.y);
  const { candidates } = await (await asked).json();
  expect(candidates.length).toBeGreaterThan(0);
  const rows = page.locator('#scan-answer > li');
  await expect(rows).toHaveCount(candidates.length);
  await expect(rows.first()).toContainText(candidates[0].name);
  await page.getByRole('button', { name: 'Add a node here' }).click();
  await expect.poll(async () => (await nodesOf(request, id)).length).toBe(4);
});

test('changes of another client appear without a reload', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}`);
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBe(1);
  const before = await page.evaluate(() => window.groundwave.app.plan.links[0]!.distance_m);
  await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name: 'Other', lat: 57.71, lon: 11.9 } });
  await expect(page.getByRole('option', { name: /Other/ })).toBeVisible();
  await request.put(`/api/v1/nodes/${nodes['Masthugget']}/position`, { data: { lat: 57.69, lon: 11.95 } });
  await expect.poll(() => page.evaluate((id_) => window.groundwave.app.plan.byId.get(id_)!.lat, nodes['Masthugget']!)).toBe(57.69);
  await expect.poll(() => page.evaluate((ids) => window.groundwave.app.plan.links.find((link) => ids.includes(link.a_node_id) && ids.includes(link.b_node_id))?.distance_m ?? 0, [nodes['Ramberget']!, nodes['Masthugget']!])).not.toBe(before);
  await request.delete(`/api/v1/nodes/${nodes['Ramberget']}`);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toHaveCount(0);
});

test('a coverage is exported as a picture, a raster and an overlay', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}&tab=coverage`);
  await page.getByLabel('Cells along a side').fill('24');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toContainText('% covered');
  for (const [format, magic] of [['png', '89504e47'], ['tif', '49492a00'], ['kmz', '504b0304']] as const) {
    const download = page.waitForEvent('download');
    await page.getByRole('combobox', { name: 'Export Ramberget' }).selectOption(format);
    expect(readFileSync(await (await download).path()).subarray(0, 4).toString('hex')).toBe(magic);
  }
});
