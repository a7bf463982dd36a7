// The coverage of the whole mesh, which follows its nodes; sites to build next; percentiles of a link.
import { drawn, expect, nodesOf, open, pixel, plan, PLACES, test } from './server';
import type { Page } from '@playwright/test';

/** State of the live coverage when nothing is left to compute. */
async function settled(page: Page, beyond = -1): Promise<{ revision: number; evaluated: number }> {
  const state = page.locator('#mesh-state');
  await expect(state).toHaveAttribute('data-pending', '0');
  await expect.poll(async () => Number(await state.getAttribute('data-evaluated'))).toBeGreaterThan(beyond);
  await expect(state).toHaveAttribute('data-pending', '0');
  return { revision: Number(await state.getAttribute('data-revision')), evaluated: Number(await state.getAttribute('data-evaluated')) };
}

const served = (page: Page) => page.evaluate(() => window.groundwave.app.coverages.grid!.power.filter((power) => power > -32767).length);

test('the coverage of the mesh follows a node that moves, fails and comes back', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag'], 'Göteborg', 'wifi_2g4_mesh');
  await open(page, `/#d=${id}&tab=coverage`);
  await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
  await expect(page.locator('#mesh-state')).toContainText('of the area is covered');
  const first = await settled(page, 0);
  expect(await served(page)).toBeGreaterThan(0);
  // The page shows the cells of the server.
  const told = await (await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).json();
  expect(told.evaluated_cells).toBe(first.evaluated);
  await expect(page.locator('#legend')).toContainText('Received power');
  // A node is dragged: the cells it reached and reaches are computed again, no others.
  await drawn(page);
  const at = await pixel(page, PLACES.Långedrag);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 25, at.y - 25, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await nodesOf(request, id)).find((node) => node.name === 'Långedrag')!.lat).toBeGreaterThan(PLACES.Långedrag.lat);
  const moved = await settled(page, first.evaluated);
  expect(moved.evaluated - first.evaluated).toBeLessThan(first.evaluated);
  await expect(page.locator('#mesh-state')).toContainText('The last change took');
  // A failed node serves nobody, and nothing is evaluated for it.
  const before = await served(page);
  await page.evaluate((node) => (window.groundwave.app.ui.selected = [node]), nodes['Ramberget']!);
  await page.getByRole('button', { name: 'Let fail' }).click();
  await expect.poll(() => served(page)).toBeLessThan(before);
  expect((await (await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).json()).failed_node_ids).toEqual([nodes['Ramberget']]);
  await expect(page.getByRole('region', { name: 'Coverage of the mesh' })).toContainText('Failed: Ramberget');
  expect((await settled(page)).evaluated).toBe(moved.evaluated);
  await page.getByRole('button', { name: 'Repair' }).first().click();
  await expect.poll(() => served(page)).toBe(before);
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await expect(page.locator('#mesh-state')).toHaveCount(0);
  expect((await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).status()).toBe(404);
});

test('sites to build next are found in view, drawn and added', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget'], 'Göteborg', 'wifi_2g4_mesh');
  await open(page, `/#m=15/57.705/11.93&d=${id}&tab=tools`);
  const form = page.locator('#placement-form');
  await form.getByLabel('Sites at most').fill('2');
  const asked = page.waitForResponse((answer) => answer.url().endsWith('/placement'));
  await form.getByRole('button', { name: 'Find sites in view' }).click();
  const advice = await (await asked).json();
  expect(advice.sites.length).toBeGreaterThan(0);
  const answer = page.locator('#placement-answer');
  await expect(answer).toHaveAttribute('data-sites', String(advice.sites.length));
  await expect(answer.locator('li').first()).toContainText(`${advice.sites[0].added_area_km2.toFixed(1)} km²`);
  expect(await page.evaluate(() => window.groundwave.app.tools.drawn.length)).toBe(advice.sites.length);
  await answer.getByRole('button', { name: 'Add all' }).click();
  await expect.poll(async () => (await nodesOf(request, id)).length).toBe(1 + advice.sites.length);
  const built = (await nodesOf(request, id)).find((node) => node.name === 'Site 1')!;
  expect([built.lat, built.lon]).toEqual([advice.sites[0].lat, advice.sites[0].lon]);
  await expect(answer).toHaveCount(0);
});

test('a link says in how many cases it has which margin', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  const spread = page.locator('#percentiles');
  await spread.locator('summary').click();
  const { percentiles } = await (await request.post('/api/v1/links/analyze', { data: { tx_node_id: nodes['Ramberget'], rx_node_id: nodes['Långedrag'], samples: 512 } })).json();
  expect(percentiles.map((one: { percent: number }) => one.percent)).toEqual([10, 50, 90]);
  await expect(spread.locator('tbody tr')).toHaveCount(3);
  await expect(spread.locator('tbody tr').last()).toContainText(Math.abs(percentiles[2].link_margin_db).toFixed(1));
  expect(percentiles[0].link_margin_db).toBeGreaterThan(percentiles[2].link_margin_db);
});
