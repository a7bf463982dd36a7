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
  const region = page.getByRole('region', { name: 'Coverage of the mesh' });
  await region.getByRole('textbox', { name: 'Receiver height' }).fill('10');
  await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
  await expect(page.locator('#mesh-state')).toContainText('of the area is covered');
  // The height is that of the coverage, also in a panel that was closed.
  await page.getByRole('button', { name: 'Close the panel at the side' }).click();
  await page.getByRole('button', { name: 'Open the panel at the side' }).click();
  await expect(region).toContainText('Receivers at 10 m');
  const first = await settled(page, 0);
  expect(await served(page)).toBeGreaterThan(0);
  // The page shows the cells of the server.
  const told = await (await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).json();
  expect(told.evaluated_cells).toBe(first.evaluated);
  await expect(page.locator('#mesh-state')).toContainText(/covered\. \d+ × \d+ cells/);
  await expect(page.locator('#legend')).toContainText('Received power');
  // A node is dragged: the cells it reached and reaches are computed again, no others.
  await drawn(page);
  const at = await pixel(page, PLACES.Långedrag);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 25, at.y - 25, { steps: 4 });
  await page.mouse.up();
  await expect
    .poll(async () => (await nodesOf(request, id)).find((node) => node.name === 'Långedrag')!.lat)
    .toBeGreaterThan(PLACES.Långedrag.lat);
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
  // The share follows the threshold in percent.
  await page.getByLabel('Colour by').selectOption('verdict');
  const share = async () => Number(/([\d.]+) %/.exec((await page.locator('#mesh-state').textContent())!)![1]);
  const slider = page.locator('.strip').getByRole('slider', { name: 'Threshold' });
  const likely = await share();
  await slider.fill('99');
  await expect.poll(share).toBeLessThan(likely);
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await expect(page.locator('#mesh-state')).toHaveCount(0);
  expect((await request.get(`/api/v1/deployments/${id}/mesh-coverage`)).status()).toBe(404);
});

test('nodes in one channel disturb each other where that is switched on', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Långedrag'], 'Göteborg', 'wifi_2g4_mesh');
  await open(page, `/#d=${id}&tab=coverage`);
  const mesh = page.getByRole('region', { name: 'Coverage of the mesh' });
  const share = async () => Number(/([\d.]+) %/.exec((await page.locator('#mesh-state').textContent())!)![1]);
  await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
  await settled(page, 0);
  await expect(page.getByLabel('Colour by').locator('option[value=sinr]')).toHaveCount(0);
  const quiet = await share();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await mesh.getByLabel('Nodes in one channel disturb each other').check();
  await mesh.getByLabel('Each transmits, % of the time').fill('100');
  await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
  await settled(page, 0);
  await expect(mesh).toContainText('each node transmits 100 % of the time');
  expect(await share()).toBeLessThan(quiet);
  await page.getByLabel('Colour by').selectOption('sinr');
  await expect(page.locator('#legend')).toContainText('SINR');
  await expect(page.locator('#legend')).toContainText('dB');
  // Between the two there is power, but no SINR that is worth a colour.
  const colours = () =>
    page.evaluate(() => {
      const { drawn, threshold } = window.groundwave.app.coverages;
      return drawn!.power.filter((value) => value / 100 >= threshold).length;
    });
  const bySinr = await colours();
  await page.getByLabel('Colour by').selectOption('power');
  expect(bySinr).toBeLessThan(await colours());
  await page.getByLabel('Colour by').selectOption('sinr');
  const at = await pixel(page, PLACES.Ramberget);
  await page.mouse.move(at.x + 12, at.y + 12);
  await expect(page.locator('#sinr')).toContainText('dB');
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/sinr.png` });
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await expect(page.getByLabel('Colour by')).toHaveCount(0);
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
  const { percentiles } = await (
    await request.post('/api/v1/links/analyze', {
      data: { tx_node_id: nodes['Ramberget'], rx_node_id: nodes['Långedrag'], is_per_post: true },
    })
  ).json();
  expect(percentiles.map((one: { percent: number }) => one.percent)).toEqual([10, 50, 90]);
  await expect(spread.locator('tbody tr')).toHaveCount(3);
  await expect(spread.locator('tbody tr').last()).toContainText(Math.abs(percentiles[2].link_margin_db).toFixed(1));
  expect(percentiles[0].link_margin_db).toBeGreaterThan(percentiles[2].link_margin_db);
});

test('raised ground has the links as tubes', async ({ page, request }) => {
  // A software renderer draws a frame of a large raised view in a second.
  test.slow();
  await page.setViewportSize({ width: 660, height: 360 });
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
  await open(page, `/#d=${id}`);
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBeGreaterThan(3);
  await page.keyboard.press('t');
  await expect
    .poll(() => page.evaluate(() => window.groundwave.map.tubes.count), { timeout: 120_000 })
    .toBe(
      await page.evaluate(
        () =>
          2 *
          window.groundwave.app.plan.links.filter((link) => link.forward.link_margin_db >= 0 || link.reverse.link_margin_db >= 0).length,
      ),
    );
  expect(await page.evaluate(() => window.groundwave.map.map.getLayoutProperty('links', 'visibility'))).toBe('none');
  // A failed node has no tubes.
  await page.evaluate((node) => window.groundwave.map.setFailed(new Set([node])), nodes['Ramberget']!);
  await expect
    .poll(() => page.evaluate(() => window.groundwave.map.tubes.count))
    .toBe(
      await page.evaluate(
        (node) =>
          2 *
          window.groundwave.app.plan.links.filter(
            (link) =>
              ![link.a_node_id, link.b_node_id].includes(node) && (link.forward.link_margin_db >= 0 || link.reverse.link_margin_db >= 0),
          ).length,
        nodes['Ramberget']!,
      ),
    );
  await page.evaluate(() => window.groundwave.map.setFailed(new Set()));
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/raised.png` });
  await page.keyboard.press('t');
  await expect.poll(() => page.evaluate(() => window.groundwave.map.tubes.count)).toBe(0);
});

test('a large mesh is drawn by a layer of its own; nodes and links are still picked', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#m=11/57.7/11.9&d=${id}`);
  await page.evaluate(() => {
    const side = 40;
    const all = Array.from({ length: side * side }, (_, at) => ({
      id: `n${at}`,
      name: `Node ${at}`,
      role: ['relay', 'team', 'sensor'][at % 3],
      lat: 57.6 + (0.2 * Math.floor(at / side)) / side,
      lon: 11.7 + (0.4 * (at % side)) / side,
      height_agl_m: 5,
    }));
    const direction = { verdict: 'good', link_margin_db: 12, link_prob: 0.95 };
    const links = all.flatMap((node, at) =>
      at % side ? [{ a_node_id: node.id, b_node_id: `n${at - 1}`, missing_samples: 0, forward: direction, reverse: direction }] : [],
    );
    const { map } = window.groundwave;
    map.setNodes(all as never, new Map(all.map((node) => [node.id, node])) as never);
    map.setLinks(links as never);
  });
  await expect.poll(() => page.evaluate(() => window.groundwave.map.net.drawings)).toBeGreaterThan(0);
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/large.png` });
  // Pixels of the map have the colour of the links.
  const at = await pixel(page, { lat: 57.7, lon: 11.9 });
  const node = await page.evaluate(async () => {
    const { map, events } = window.groundwave.map as unknown as {
      map: { project(at: [number, number]): { x: number; y: number }; fire(name: string, event: unknown): void };
      events: { picked(what: unknown): void };
    };
    const found: unknown[] = [];
    const before = events.picked;
    events.picked = (what) => void found.push(what);
    const click = (x: number, y: number) => map.fire('click', { point: { x, y }, lngLat: { lat: 57.7, lng: 11.9 }, originalEvent: {} });
    const a = map.project([11.9, 57.7]);
    const b = map.project([11.91, 57.7]);
    click(a.x, a.y);
    click((a.x + b.x) / 2, a.y);
    events.picked = before;
    return found as { node?: string; link?: string[] }[];
  });
  expect(node[0]?.node).toBe('n820');
  expect(node[1]?.link?.toSorted()).toEqual(['n820', 'n821']);
  expect(at.x).toBeGreaterThan(0);
});

test('a coverage is shown as data rate, by the steps of the modulations', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget'], 'Göteborg', 'wifi_2g4_mesh');
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}&tab=coverage`);
  await page.getByLabel('Radius, km').fill('3');
  await page.getByLabel('Cells along a side').fill('32');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toContainText('% covered');
  await page.getByRole('combobox', { name: /^Unit/ }).selectOption('rate');
  const rates = await page.evaluate(() => window.groundwave.app.coverages.rates);
  expect(rates).toHaveLength(10);
  expect(
    rates.every((step, at) => at === 0 || (step.from_dbm > rates[at - 1]!.from_dbm && step.data_rate_bps > rates[at - 1]!.data_rate_bps)),
  ).toBe(true);
  await expect(page.locator('#legend .pair')).toHaveCount(10);
  await expect(page.locator('#legend .pair').first()).toContainText('bit/s');
  // Next to the transmitter the fastest rate is told.
  const at = await pixel(page, { lat: PLACES.Ramberget.lat + 0.001, lon: PLACES.Ramberget.lon });
  await page.mouse.move(at.x, at.y);
  await expect(page.locator('#rate')).toContainText(String(Number((rates.at(-1)!.data_rate_bps / 1e6).toPrecision(3))));
});
