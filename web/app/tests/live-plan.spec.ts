// What needs more than one answer: links that follow a drag, scans, changes of other clients, exports.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
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
  await expect
    .poll(async () => (await nodesOf(request, id)).find((node) => node.name === 'Masthugget')!.lon)
    .toBeLessThan(PLACES.Masthugget.lon);
  // The links of the new place are those of the server.
  const stored = async () =>
    (await (await request.get(`/api/v1/deployments/${id}/links`)).json()).links
      .map((link: { forward: { link_margin_db: number } }) => link.forward.link_margin_db.toFixed(3))
      .sort();
  const shown = () => page.evaluate(() => window.groundwave.app.plan.links.map((link) => link.forward.link_margin_db.toFixed(3)).sort());
  await expect.poll(async () => JSON.stringify(await shown()) === JSON.stringify(await stored())).toBe(true);
});

test('a scan ranks the nodes in reach of a place, and a node is built there', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page, `/#d=${id}`);
  await page.keyboard.press('s');
  const place = { lat: 57.7, lon: 11.92 };
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
  await expect
    .poll(() =>
      page.evaluate(
        (ids) =>
          window.groundwave.app.plan.links.find((link) => ids.includes(link.a_node_id) && ids.includes(link.b_node_id))?.distance_m ?? 0,
        [nodes['Ramberget']!, nodes['Masthugget']!],
      ),
    )
    .not.toBe(before);
  await request.delete(`/api/v1/nodes/${nodes['Ramberget']}`);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toHaveCount(0);
});

test('a coverage is exported as a picture, a raster and an overlay', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}&tab=coverage`);
  await page.getByLabel('Cells along a side').fill('24');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toContainText('% covered');
  for (const [format, magic] of [
    ['png', '89504e47'],
    ['tif', '49492a00'],
    ['kmz', '504b0304'],
  ] as const) {
    const download = page.waitForEvent('download');
    await page.getByRole('combobox', { name: 'Export Ramberget' }).selectOption(format);
    expect(
      readFileSync(await (await download).path())
        .subarray(0, 4)
        .toString('hex'),
    ).toBe(magic);
  }
});

/** Opens the dialog of the environment. */
async function environment(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: /Deployment and environment/ }).click();
}

test('another environment is computed anew, and what others changed in it stays', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget'], 'Göteborg', 'ptp_11g');
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Masthugget']}`);
  const loss = () => page.evaluate(() => window.groundwave.app.analysis?.result.margin.link_margin_db ?? null);
  await expect.poll(loss).not.toBeNull();
  const before = await loss();
  await environment(page);
  // Another client changes the climate while the dialog is open.
  await request.patch(`/api/v1/deployments/${id}`, {
    data: { environment: { ...(await (await request.get(`/api/v1/deployments/${id}`)).json()).environment, climate: 'desert' } },
  });
  await page.getByLabel('Rain, mm/h').fill('80');
  await page.getByRole('button', { name: 'Keep' }).click();
  await expect.poll(loss).toBeLessThan(before! - 0.5);
  const stored = (await (await request.get(`/api/v1/deployments/${id}`)).json()).environment;
  expect([stored.climate, stored.rain_rate_mm_h]).toEqual(['desert', 80]);
});

test('an undo does not delete what another client has worked on', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}`);
  await page.evaluate(() => void window.groundwave.app.commands.add([{ name: 'New', lat: 57.7, lon: 11.9 }]));
  await expect.poll(async () => (await nodesOf(request, id)).length).toBe(2);
  const made = (await nodesOf(request, id)).find((node) => node.name === 'New')!;
  await request.patch(`/api/v1/nodes/${made.id}`, { data: { name: 'Ours', height_agl_m: 33 } });
  await expect(page.getByRole('option', { name: /Ours/ })).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(page.getByText('was changed by another client')).toBeVisible();
  expect((await nodesOf(request, id)).map((node) => node.name)).toContain('Ours');
});

test('keys that a list has used do nothing else', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page, `/#d=${id}`);
  await page.getByLabel('Filter nodes').fill('Ram');
  await page.getByRole('option', { name: /Ramberget/ }).click();
  await page.getByRole('listbox', { name: 'Nodes' }).focus();
  await page.keyboard.press('Control+a');
  expect(await page.evaluate(() => window.groundwave.app.ui.selected.length)).toBe(1);
});

test('whoever returns to the plan sees what happened meanwhile, and a deleted last plan gives way to the doors', async ({
  page,
  request,
}) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page, `/#d=${id}`);
  await expect(page.getByRole('option', { name: /Masthugget/ })).toBeVisible();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await expect(page.getByRole('option', { name: /Masthugget/ })).toHaveCount(0);
  await request.delete(`/api/v1/nodes/${nodes['Masthugget']}`);
  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /Masthugget/ })).toHaveCount(0);
  for (const { id: other } of await (await request.get('/api/v1/deployments')).json())
    if (other !== id) await request.delete(`/api/v1/deployments/${other}`);
  await environment(page);
  await page.getByRole('button', { name: /Delete/ }).click();
  await page
    .getByRole('button', { name: /Delete/ })
    .last()
    .click();
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.deployments.length)).toBe(0);
  await expect(page.getByText('by another client')).toHaveCount(0);
  expect(await page.evaluate(() => window.groundwave.app.plan.absent)).toBe(false);
});

test('nodes on both sides of 180 degrees are covered by one small grid', async ({ page, request }) => {
  const made = await (await request.post('/api/v1/deployments', { data: { name: 'Fiji' } })).json();
  for (const [name, lon] of [
    ['East', 179.95],
    ['West', -179.95],
  ] as const)
    await request.post(`/api/v1/deployments/${made.id}/nodes`, { data: { name, lat: -16.8, lon } });
  await open(page, `/#d=${made.id}&tab=coverage`);
  await page.getByRole('button', { name: /Cover the whole mesh/ }).click();
  await expect
    .poll(() => page.evaluate(() => window.groundwave.app.coverages.mesh.grid?.shape.columns ?? 0), { timeout: 30_000 })
    .toBeGreaterThan(20);
});

test('a selected pair is analysed once', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  let requests = 0;
  page.on('request', (one) => void (one.url().endsWith('/links/analyze') && requests++));
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Masthugget']}`);
  await expect.poll(() => page.evaluate(() => window.groundwave.app.analysis !== null)).toBe(true);
  await drawn(page);
  expect(requests).toBeLessThan(4);
});
