// What the page shows without a change: nodes, links, ground, profile, coverage.
import { drawn, expect, open, pixel, plan, test, PLACES } from './server';

test('a planner sees nodes, links and coverage on real ground', async ({ page, request }) => {
  const { nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  await expect(page.locator('#nodes [role=option]')).toHaveCount(3);
  await expect(page.locator('.map')).toHaveAttribute('data-cells', '1');
  await drawn(page);
  expect(await page.evaluate(() => window.groundwave.map.relief.squares)).toBeGreaterThan(8);

  const links = await (await request.get(`/api/v1/deployments/${(await (await request.get('/api/v1/deployments')).json())[0].id}/links`)).json();
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBe(links.links.length);
  expect(await page.evaluate(() => window.groundwave.map.drawnLinks)).toBeGreaterThan(0);

  const at = await pixel(page, PLACES.Ramberget);
  await page.mouse.click(at.x, at.y);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: /Coverage/ }).click();
  await page.getByLabel('Cells along a side').fill('24');
  await page.getByLabel('Radius, km').fill('5');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toContainText('% covered');
  await expect.poll(() => page.evaluate(() => window.groundwave.map.coverage.cells)).toBe(576);
  await expect(page.locator('#legend')).toContainText('dBm');
  await expect(page.locator('.strip')).toContainText('no clutter assumed');

  // The value under the pointer is that of the server's cell.
  const shown = await page.evaluate(() => {
    const { grid } = window.groundwave.app.coverages;
    return grid && [...grid.power.slice(0, 24)];
  });
  expect(shown).toHaveLength(24);
  await drawn(page);
  const near = await pixel(page, { lat: 57.708, lon: 11.925 });
  await page.mouse.move(near.x, near.y);
  await expect(page.locator('#power')).toContainText('dBm');

  await page.getByRole('tab', { name: /Nodes/ }).click();
  await page.getByRole('option', { name: /Långedrag/ }).click({ modifiers: ['Shift'] });
  const analysis = await (await request.post('/api/v1/links/analyze', { data: { tx_node_id: nodes['Ramberget'], rx_node_id: nodes['Långedrag'], samples: 512 } })).json();
  const margin = analysis.result.margin.link_margin_db.toFixed(1).replace('-', '−');
  // What the prediction leaves out is said beside it.
  expect(analysis.assumptions.left_out).toEqual(['clutter', 'vegetation', 'rain', 'man_made_noise']);
  await expect(page.locator('#assumed')).toHaveText('Assumed: no clutter, no woodland, no rain, no man-made noise.');
  await expect(page.locator('#budget')).toContainText(`${margin} dB`);
  await expect(page.locator('#verdict')).toHaveAttribute('data-rating', /excellent|good|marginal|poor|no_link/);
  await expect(page.locator('#profile')).toHaveAttribute('data-samples', '512');
  if (!analysis.result.clearance.line_of_sight) await expect(page.locator('[data-obstruction]')).toBeVisible();
});

test.describe('without terrain', () => {
  test.use({ terrain: false });

  test('the ground is hatched and there is no verdict', async ({ page, request }) => {
    await plan(request, ['Ramberget', 'Masthugget']);
    await open(page);
    await expect(page.locator('#ground')).toContainText('No ground data here');
    expect(await page.evaluate(() => window.groundwave.map.missing.count)).toBe(1);
    await page.getByRole('option', { name: /Ramberget/ }).click();
    await page.getByRole('option', { name: /Masthugget/ }).click({ modifiers: ['Shift'] });
    await expect(page.locator('#verdict')).toHaveAttribute('data-rating', 'unknown');
    await expect(page.locator('#budget')).toContainText('no terrain data');
    expect(Number(await page.locator('#profile').getAttribute('data-missing'))).toBeGreaterThan(100);
  });
});
