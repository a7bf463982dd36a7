// Planning by clicks and keys: each job on the page, and what the server holds after it.
import { readFileSync } from 'node:fs';
import { drawn, expect, nodesOf, open, pixel, plan, PLACES, test } from './server';

const NEAR_DEG = 0.002;

test('a deployment is made, nodes are added, dragged, moved by keys, deleted, undone and redone', async ({ page, request }) => {
  await open(page);
  await expect(page.getByText('There is no deployment yet.')).toBeVisible();
  await page.getByRole('button', { name: 'New deployment' }).click();
  await page.locator('#deployment-name').fill('Harbour');
  await page.getByRole('button', { name: 'Make' }).click();
  await expect(page.locator('#deployment option:checked')).toHaveText('Harbour');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  const [{ id }] = await (await request.get('/api/v1/deployments')).json();

  await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [11.93, 57.705], zoom: 12 }));
  await page.keyboard.press('n');
  await expect(page.getByRole('button', { name: 'Add nodes' })).toHaveAttribute('aria-pressed', 'true');
  for (const place of [PLACES.Ramberget, PLACES.Masthugget]) {
    const at = await pixel(page, place);
    await page.mouse.click(at.x, at.y);
    await page.waitForFunction(() => !window.groundwave.app.history.busy);
  }
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  await page.keyboard.press('Escape');
  let nodes = await nodesOf(request, id);
  expect(nodes.map((node) => node.name).sort()).toEqual(['Node 1', 'Node 2']);
  const first = nodes.find((node) => node.name === 'Node 1')!;
  expect(Math.abs(first.lat - PLACES.Ramberget.lat)).toBeLessThan(NEAR_DEG);

  // A double click adds a node as well.
  const third = await pixel(page, { lat: 57.72, lon: 11.9 });
  await page.mouse.dblclick(third.x, third.y);
  await expect(page.locator('#nodes [role=option]')).toHaveCount(3);
  await page.keyboard.press('Control+z');
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);

  // Drag.
  const from = await pixel(page, first);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y + 10, { steps: 4 });
  await page.mouse.move(from.x + 80, from.y - 30, { steps: 4 });
  const target = await page.evaluate(
    ({ x, y }) => {
      const box = document.querySelector('.map')!.getBoundingClientRect();
      const place = window.groundwave.map.map.unproject([x - box.x, y - box.y]);
      return { lat: place.lat, lon: place.lng };
    },
    { x: from.x + 80, y: from.y - 30 },
  );
  await page.mouse.up();
  const moved = async () => (await nodesOf(request, id)).find((node) => node.id === first.id)!;
  await expect
    .poll(async () => Math.abs((await moved()).lat - target.lat) < NEAR_DEG && Math.abs((await moved()).lon - target.lon) < NEAR_DEG)
    .toBe(true);
  await page.keyboard.press('Control+z');
  await expect.poll(async () => (await moved()).lat).toBeCloseTo(first.lat, 9);
  await page.keyboard.press('Control+Shift+z');
  await expect.poll(async () => Math.abs((await moved()).lat - target.lat) < NEAR_DEG).toBe(true);

  // Keys move it too.
  await page.getByRole('option', { name: /Node 1/ }).click();
  const before = await moved();
  await page.keyboard.press('Alt+Shift+ArrowUp');
  await expect.poll(async () => (await moved()).lat).toBeGreaterThan(before.lat);

  // Delete, undo: the node is back under its name.
  await page.keyboard.press('Delete');
  await expect(page.locator('#nodes [role=option]')).toHaveCount(1);
  await expect.poll(async () => (await nodesOf(request, id)).map((node) => node.name)).toEqual(['Node 2']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  nodes = await nodesOf(request, id);
  expect(nodes.map((node) => node.name).sort()).toEqual(['Node 1', 'Node 2']);
  // What was done before the deletion can still be undone, though the node has a new id.
  await page.keyboard.press('Control+z');
  await expect.poll(async () => (await nodesOf(request, id)).find((node) => node.name === 'Node 1')!.lat).toBeCloseTo(before.lat, 9);
});

test('fields of nodes are edited, of several at once, and kept as a template', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page);
  const node = async (name: string) => (await nodesOf(request, id)).find((found) => found.name === name)!;
  await page.getByRole('option', { name: /Ramberget/ }).click();
  await page.locator('[name=height_agl_m]').fill('45');
  await page.locator('[name=height_agl_m]').press('Enter');
  await expect.poll(async () => (await node('Ramberget')).height_agl_m).toBe(45);
  await page.locator('[name=antenna]').selectOption('sector_17_90');
  await expect.poll(async () => (await node('Ramberget')).radio.antenna?.azimuth_beamwidth_deg).toBe(90);
  await page.locator('[name=azimuth_deg]').fill('200');
  await page.locator('[name=azimuth_deg]').press('Enter');
  await expect.poll(async () => (await node('Ramberget')).pointing?.azimuth_deg).toBe(200);
  await page.locator('[name=elevation_deg]').fill('-2');
  await page.locator('[name=elevation_deg]').press('Enter');
  await expect.poll(async () => (await node('Ramberget')).pointing).toEqual({ azimuth_deg: 200, elevation_deg: -2 });
  await drawn(page);
  expect(await page.evaluate(() => window.groundwave.map.map.querySourceFeatures('lobe').length)).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Point at the other ends' }).click();
  await expect.poll(async () => (await node('Ramberget')).pointing).toBeNull();

  await page.locator('[name=place]').fill("57°42'30\"N 11°56'E");
  await page.locator('[name=place]').press('Enter');
  await expect.poll(async () => (await node('Ramberget')).lat).toBeCloseTo(57.70833, 4);

  await page.getByRole('button', { name: 'Keep as template' }).click();
  await expect
    .poll(async () => (await (await request.get('/api/v1/templates')).json()).map((template: { name: string }) => template.name))
    .toContain('Ramberget');

  await page.locator('#nodes').focus();
  await page.keyboard.press('Control+a');
  await expect(page.locator('.card')).toContainText('3 nodes');
  await page.locator('[name=role]').selectOption('sensor');
  await expect.poll(async () => (await nodesOf(request, id)).every((found) => found.role === 'sensor')).toBe(true);
  await page.keyboard.press('Escape');
  await page.locator('.map').click({ position: { x: 300, y: 420 } });
  await page.keyboard.press('Control+z');
  await expect.poll(async () => (await node('Ramberget')).role).toBe('command');
});

test('relays, a route and protocol advice are found and shown', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag'], 'Göteborg', 'wifi_5g_mesh');
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}&tab=tools`);
  await expect(page.locator('#pair')).toHaveText('Ramberget → Långedrag');
  const margin = page.locator('[name=relay_margin_db]');
  await expect(margin).toHaveValue('10');
  await margin.fill('6');
  await margin.press('Enter');
  if (!(await page.locator('#relay-answer').isVisible())) await page.getByRole('button', { name: 'Find relays' }).click();
  const answer = page.locator('#relay-answer');
  await expect(answer).toBeVisible();
  const relays = Number(await answer.getAttribute('data-relays'));
  expect(relays).toBeGreaterThan(0);
  // Each hop leaves the margin in its weaker direction.
  const margins = await page.evaluate(() =>
    window.groundwave.app.tools.relay!.segments.map((segment) =>
      Math.min(segment.result.margin.link_margin_db, segment.reverse.margin.link_margin_db),
    ),
  );
  expect(await page.evaluate(() => window.groundwave.app.tools.relay!.margin_db)).toBe(6);
  for (const margin_db of margins) expect(margin_db).toBeGreaterThanOrEqual(6);
  const planned = await page.evaluate(() =>
    window.groundwave.app.tools.relay!.segments.map((segment) => segment.result.margin.link_margin_db),
  );
  await page.getByRole('button', { name: 'Add the relays' }).click();
  await expect.poll(async () => (await nodesOf(request, id)).length).toBe(3 + relays);
  // Each hop is what was promised, and the page says so.
  await expect(page.locator('.messages')).toContainText('carries the rate as built');
  const built = await page.evaluate(() => window.groundwave.app.ui.selected);
  const ids = [nodes['Ramberget']!, ...built, nodes['Långedrag']!];
  for (const [at, margin] of planned.entries()) {
    const { result } = await (
      await request.post('/api/v1/links/analyze', { data: { tx_node_id: ids[at], rx_node_id: ids[at + 1] } })
    ).json();
    expect(Math.abs(result.margin.link_margin_db - margin), `hop ${at + 1}`).toBeLessThan(1);
  }
  // The page selects them when it has heard.
  await expect
    .poll(() => page.evaluate((known) => window.groundwave.app.ui.selected.some((one) => known.includes(one)), Object.values(nodes)))
    .toBe(false);

  await page.evaluate((ids) => (window.groundwave.app.ui.selected = ids), [nodes['Ramberget']!, nodes['Långedrag']!]);
  await page.getByRole('button', { name: 'Find route' }).click();
  await expect(page.locator('#route-answer')).toBeVisible();
  const route = await (
    await request.post('/api/v1/mesh/route', { data: { src_node_id: nodes['Ramberget'], dst_node_id: nodes['Långedrag'], metric: 'ett' } })
  ).json();
  await expect(page.locator('#route-answer')).toHaveAttribute('data-hops', String(route.segments.length));
  expect(route.segments.length).toBeGreaterThan(1);

  await page.getByRole('button', { name: 'Advise' }).click();
  await expect(page.locator('#advice-answer > li').first()).toBeVisible();
  const advice = await (await request.post('/api/v1/mesh/recommend-protocol', { data: { deployment_id: id } })).json();
  await expect(page.locator('#advice-answer summary').first()).toContainText(advice.protocols[0].name);
});

test('a margin that no chain leaves is said to be, and a chain that is built is judged by it', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget'], 'Göteborg', 'wifi_5g_mesh');
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Masthugget']}&tab=tools`);
  const margin = page.locator('[name=relay_margin_db]');
  await expect(margin).toHaveValue('10');
  await page.getByLabel('Hops at most').fill('2');
  await page.getByLabel('Hops at most').press('Enter');
  await margin.fill('60');
  await margin.press('Enter');
  await page.getByRole('button', { name: 'Find relays' }).click();
  await expect(page.locator('#relay-answer')).toContainText('No chain leaves the margin');
  await expect(page.locator('#relay-answer')).toContainText('of the 60.0 dB asked for');
  if (await page.getByRole('button', { name: 'Add the relays' }).isEnabled()) {
    await page.getByRole('button', { name: 'Add the relays' }).click();
    await expect(page.locator('.messages')).toContainText('below the 60.0 dB asked for');
  }
});

test('several coverages show the best server, and are coloured, cut and cancelled', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}&tab=coverage`);
  await page.getByLabel('Cells along a side').fill('32');
  await page.getByRole('button', { name: 'Compute 2 coverages' }).click();
  await expect(page.locator('.statistics')).toHaveCount(2);
  await page.getByRole('button', { name: 'Best server' }).click();
  await expect(page.locator('#legend')).toHaveAttribute('data-colouring', 'server');
  // Nothing lies over the name of a server.
  expect(
    await page.locator('#legend .pair').evaluateAll((pairs) =>
      pairs.every((pair) => {
        const box = pair.getBoundingClientRect();
        return pair.contains(document.elementFromPoint(box.right - 3, box.top + box.height / 2));
      }),
    ),
  ).toBe(true);
  await expect(page.locator('#legend')).toContainText('Långedrag');
  const servers = await page.evaluate(() => {
    const grid = window.groundwave.app.coverages.grid!;
    const found = new Set<number>();
    grid.power.forEach((power, at) => void (power !== -32768 && found.add(grid.meta[at]! & 63)));
    return [...found].sort();
  });
  expect(servers).toEqual([0, 1]);

  // The share is that of the server at margin 0, and follows the threshold in dB and in percent.
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('power');
  const first = page.locator('.statistics').first();
  const share = async () => Number(/([\d.]+) %/.exec((await first.textContent())!)![1]);
  const job = await page.evaluate(() => window.groundwave.app.coverages.jobs[0]!.statistics!);
  const whole = await share();
  expect(whole).toBeCloseTo(job.covered_percent, 0);
  await expect(first).toContainText(`${job.covered_area_km2.toFixed(job.covered_area_km2 < 100 ? 1 : 0)} km²`);
  // One slider: the handle on the ramp of the legend, whose text is in the unit of the legend.
  const slider = page.getByRole('slider', { name: 'Threshold' });
  await expect(slider).toHaveCount(1);
  const needed_dbm = await page.evaluate(() => window.groundwave.app.coverages.needed!);
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await expect(slider).toHaveAttribute('aria-valuetext', `${(needed_dbm + 1).toFixed(0).replace('-', '−')} dBm`);
  await expect(page.locator('#legend output')).toHaveText(`from ${(needed_dbm + 1).toFixed(0).replace('-', '−')} dBm`);
  const ramp = (await page.locator('.strip .ramp').boundingBox())!;
  await page.mouse.move(ramp.x + 2, ramp.y + 4);
  await page.mouse.down();
  await page.mouse.move(ramp.x + ramp.width * 0.5, ramp.y + 4, { steps: 4 });
  await page.mouse.up();
  const { cut, value, range } = await page.evaluate(() => ({
    cut: document.querySelector('.cut')!.getBoundingClientRect().right,
    value: window.groundwave.app.coverages.threshold_db,
    range: Number(document.querySelector<HTMLInputElement>('[aria-label=Threshold]')!.max) + 20,
  }));
  expect(Math.abs(value + 20 - range / 2)).toBeLessThan(2);
  expect(Math.abs(cut - (ramp.x + ramp.width / 2))).toBeLessThan(4);
  await slider.fill('20');
  await expect.poll(share).toBeLessThan(whole);
  await slider.fill('0');
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('probability');
  await slider.fill('10');
  const likely = await share();
  await slider.fill('99');
  await expect.poll(share).toBeLessThan(likely);
  await slider.fill('10');

  // The area that both serve, counted cell by cell.
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('common');
  await expect(page.locator('#legend')).toContainText('Both nodes');
  const parts = () =>
    page.locator('#legend .pair').evaluateAll((pairs) => pairs.map((pair) => Number(/: ([\d.]+) km²/.exec(pair.textContent!)![1])));
  const [both, second, first_alone] = (await parts()) as [number, number, number];
  expect(both).toBeGreaterThan(0);
  const served = await page.evaluate(() =>
    window.groundwave.app.coverages.jobs.map((job) => window.groundwave.app.coverages.covers.get(job.id)!.area_km2),
  );
  expect(Math.abs(both + first_alone - served[0]!) / served[0]!).toBeLessThan(0.03);
  expect(Math.abs(both + second - served[1]!) / served[1]!).toBeLessThan(0.03);
  await expect(page.locator('#common')).toContainText(`${Math.round((both / (both + second + first_alone)) * 100)} % of the area`);
  await slider.fill('25');
  expect((await parts())[0]!).toBeLessThan(both);
  await slider.fill('0');

  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('power');
  await page.getByRole('combobox', { name: 'Unit' }).selectOption('margin');
  await expect(page.locator('#legend')).toContainText('Margin');
  await page.getByRole('combobox', { name: 'Palette' }).selectOption('cividis');
  await page.getByRole('slider', { name: 'Opacity' }).fill('0.5');
  const look = await page.evaluate(() => window.groundwave.map.coverage.style!);
  expect(look.opacity).toBeCloseTo(0.5, 2);
  await page.locator('.strip').getByRole('slider', { name: 'Threshold' }).fill('10');
  expect(await page.evaluate(() => window.groundwave.map.coverage.style!.threshold)).toBeCloseTo(look.threshold + 10, 5);
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('probability');
  await expect(page.locator('#legend')).toContainText('Link works with');
  await page.locator('.strip').getByRole('slider', { name: 'Threshold' }).fill('50');
  expect(await page.evaluate(() => window.groundwave.map.coverage.style!.threshold_percent)).toBe(50);
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('power');

  await page.getByRole('button', { name: 'Remove Ramberget' }).click();
  await expect(page.locator('.jobs li')).toHaveCount(1);
  // The squares are held back, so that the computation cannot end before it is cancelled.
  await page.route('**/api/v1/coverage/*/tiles', () => undefined);
  await page.getByRole('button', { name: 'Compute 2 coverages' }).click();
  await page.getByRole('button', { name: 'Cancel Ramberget' }).click();
  await page.getByRole('button', { name: 'Remove all…' }).click();
  expect(await page.evaluate(() => window.groundwave.app.coverages.jobs.length)).toBeGreaterThan(0);
  await page.getByRole('button', { name: /^Remove \d coverages?$/ }).click();
  await expect(page.locator('.jobs')).toContainText('No coverage yet');
  expect(await page.evaluate(() => window.groundwave.app.coverages.jobs.length)).toBe(0);
});

test('a file is dropped on the page, and a plan is exported', async ({ page, request }) => {
  await open(page);
  const text = JSON.stringify({
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', properties: { name: 'Fort', role: 'relay', mystery: 7 }, geometry: { type: 'Point', coordinates: [11.95, 57.7] } },
      {
        type: 'Feature',
        properties: { name: 'Road' },
        geometry: {
          type: 'LineString',
          coordinates: [
            [11.9, 57.7],
            [12, 57.7],
          ],
        },
      },
    ],
  });
  await page.evaluate((content) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([content], 'islands.geojson'));
    window.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, text);
  await expect(page.locator('#import-report')).toContainText('1 node.');
  await expect(page.locator('#import-report tbody tr')).not.toHaveCount(0);
  const [{ id, name }] = await (await request.get('/api/v1/deployments')).json();
  await expect(page.locator('#import-report')).toContainText(name);
  expect((await nodesOf(request, id)).map((node) => node.name)).toEqual(['Fort']);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV' }).click();
  expect(readFileSync(await (await download).path(), 'utf8')).toContain('Fort');
});

test('a coverage of a node that moved or is gone is marked as old, and computed again', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}&tab=coverage`);
  await page.getByLabel('Cells along a side').fill('32');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toHaveCount(1);
  await expect(page.locator('.old')).toHaveCount(0);

  // At this width nothing of a row lies over another part of it, and the legend holds its lines.
  const row = page.locator('.jobs li');
  const boxes = await row
    .locator(':scope > :not(.what)')
    .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect()).map(({ left, right }) => [left, right] as const));
  for (const [at, [left]] of boxes.entries()) if (at) expect(left).toBeGreaterThanOrEqual(boxes[at - 1]![1] - 0.5);
  expect(await row.locator('.name').evaluate((name) => name.scrollWidth - name.clientWidth)).toBeLessThanOrEqual(0);
  expect((await row.locator('.statistics').boundingBox())!.height).toBeLessThan(40);
  const [strip, bare] = [(await page.locator('.strip').boundingBox())!, (await page.locator('.assumed').boundingBox())!];
  expect(bare.x + bare.width).toBeLessThanOrEqual(strip.x + strip.width);

  await request.put(`/api/v1/nodes/${nodes['Ramberget']}/position`, { data: { lat: 57.72, lon: 11.95 } });
  await expect(row.locator('.old')).toContainText('old: Ramberget was changed since');
  await expect(page.locator('.strip .old')).toContainText('Ramberget');
  await row.getByRole('button', { name: 'Compute again' }).click();
  await expect(page.locator('.old')).toHaveCount(0);
  await expect(row).toHaveAttribute('data-state', 'done');

  await page.locator('#delete-node').click();
  await expect(row.locator('.old')).toContainText('old: Ramberget was deleted since');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('.old')).toHaveCount(0);

  // Clutter is assumed as absent only where nothing describes it.
  await request.patch(`/api/v1/nodes/${(await nodesOf(request, id)).find((node) => node.name === 'Ramberget')!.id}`, {
    data: { surroundings: 'urban' },
  });
  await expect(page.locator('.assumed')).toHaveCount(0);
});

test('metrics of routes, formats and models are those of the server', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}&tab=tools`);
  const { schemas } = (await (await request.get('/openapi.json')).json()).components;
  const values = (schema: string) => schemas[schema].oneOf.map((one: { const: string }) => one.const);
  const offered = (select: string) =>
    page.locator(`${select} option`).evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
  expect(await offered('label:has-text("Route by") select')).toEqual(values('Metric'));
  await page.evaluate(() => (window.groundwave.app.ui.dialog = 'environment'));
  const models = await (await request.get('/api/v1/presets/models')).json();
  expect(await offered('[name=model]')).toEqual(models.map((one: { id: string }) => one.id));
  await page.keyboard.press('Escape');
  await page.evaluate(() => (window.groundwave.app.ui.dialog = 'import'));
  const formats = await (await request.get('/api/v1/presets/formats')).json();
  const links = await page.getByRole('dialog').locator('a[download]').allTextContents();
  expect(links.map((text) => text.toLowerCase())).toEqual(
    formats.filter((one: { exports: boolean }) => one.exports).map((one: { label: string }) => one.label.toLowerCase()),
  );
});
