// The live view: login, nodes and their liveness, approvals, charts, topology, events, a gateway that goes and comes back.
import type { Page } from '@playwright/test';
import type { Live } from '../src/live/live.svelte';
import { bootstrap, login, mesh, Mesh, PASSWORD, serious, watch, type Station } from './mesh';
import { expect, test } from './server';

const HOSTILE = '<img src=x onerror=alert(1)>';
const PLACES = { north: { lat: 57.7142, lon: 11.9367 }, south: { lat: 57.6966, lon: 11.9378 }, west: { lat: 57.67, lon: 11.855 } };

// A long period: no node falls silent while a slow machine looks.
test.use({ terrain: false, services: 'gateway', heartbeat_s: 60 });

const row = (page: Page, station: Station) => page.locator(`#node-${station.id}`);

test.describe('a password', () => {
  test.use({ errors: /401/ });

  test('that is wrong is refused, and a generated one is changed first', async ({ page, server, request }) => {
    await page.goto('/');
    await login(page, 'admin', 'a wrong one');
    await expect(page.getByRole('alert')).toContainText(/password|credentials/i);
    const first = bootstrap(server.folder);
    await login(page, 'admin', first);
    await expect(page.getByRole('heading', { name: 'Choose a password' })).toBeVisible();
    await expect(page.getByLabel('Present password')).toBeFocused();
    await page.getByLabel('Present password').fill(first);
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('New password again').fill('another one');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await expect(page.getByRole('alert')).toContainText('differ');
    await page.getByLabel('New password again').fill(PASSWORD);
    expect(await serious(page)).toEqual([]);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await expect(page.locator('#account')).toContainText('admin');
    await expect(page.getByText('No node yet', { exact: true })).toBeVisible();
    await expect(page.locator('.map .maplibregl-canvas')).toBeFocused();
    expect((await new Mesh(request, server.url).login('admin', PASSWORD)).length).toBeGreaterThan(20);
    // The login lasts as long as the tab, and ends when one says so.
    await page.reload();
    await expect(page.locator('#account')).toContainText('admin');
    const token = await page.evaluate(() => sessionStorage.getItem('groundwave.token') ?? '');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await expect(page.locator('#login')).toBeVisible();
    const status = async () => (await new Mesh(request, server.url).ask(token, 'GET', '/v1/nodes')).status;
    await expect.poll(status).toBe(401);
    // No planning server is here, so there is no plan to show.
    await expect(page.getByRole('button', { name: 'Plan', exact: true })).toHaveCount(0);
  });
});

test.describe('a logout', () => {
  test.use({ errors: /ERR_FAILED/ });

  test('that does not reach the gateway leaves a valid login, and says until when', async ({ page, server, request }) => {
    const admin = await mesh(request, server);
    await watch(page);
    const token = await page.evaluate(() => sessionStorage.getItem('groundwave.token') ?? '');
    await page.route('**/api/auth/logout', (route) => route.abort());
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await expect(page.locator('#login')).toContainText(/takes the old login until \d\d:\d\d/);
    expect((await admin.ask(token, 'GET', '/v1/nodes')).status).toBe(200);
  });
});

test('nodes are listed and drawn with their liveness, and a name is text', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  const north = await admin.station(11, HOSTILE, PLACES.north);
  const south = await admin.station(12, 'South', PLACES.south);
  const silent = await admin.station(13, 'Silent', PLACES.west);
  const lost = await admin.station(14, 'Nowhere');
  await admin.beat(north, [[12, -61.5]]);
  await admin.beat(south, [[11, -63]]);
  await admin.beat(lost);
  await watch(page);
  page.on('dialog', () => {
    throw new Error('a name ran as a script');
  });
  await expect(page.locator('#nodes [role=option]')).toHaveCount(4);
  await expect(row(page, north)).toHaveAttribute('data-state', 'online');
  await expect(row(page, silent)).toHaveAttribute('data-state', 'joining');
  await expect(row(page, north).locator('.name')).toHaveText(HOSTILE);
  expect(await page.locator('img[src=x]').count()).toBe(0);
  await expect(page.getByText('One node has no position')).toBeVisible();
  // The map draws the three that have a place, and the link that two of them report.
  const drawn = () =>
    page.evaluate(() => {
      const found = window.groundwave.map.map.querySourceFeatures('nodes');
      // A node at the edge of a tile is in several.
      return [...new Map(found.map((feature) => [feature.id, String(feature.properties['role'])])).values()].sort();
    });
  await expect.poll(drawn).toEqual(['joining', 'online', 'online']);
  await row(page, south).click();
  await expect(page.locator('#state')).toHaveAttribute('data-state', 'online');
  await expect(page.locator('.card')).toContainText('wlan0');
  await expect(page.locator('#neighbours')).toContainText(HOSTILE);
  expect(await serious(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await serious(page)).toEqual([]);
  // A node without a place is put where one clicks.
  await page.keyboard.press('Escape');
  await row(page, lost).click();
  await page.getByRole('button', { name: 'Place on the map' }).click();
  const box = (await page.locator('.map').boundingBox())!;
  await page.mouse.click(box.x + 200, box.y + 200);
  await expect.poll(async () => (await admin.ask(admin.token, 'GET', `/v1/nodes/${lost.id}`)).body.position?.source).toBe('override');
  await expect.poll(drawn).toHaveLength(4);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Nodes', exact: true }).click();
  await expect(row(page, south)).toBeVisible();
  expect(await serious(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test('several requests are approved or rejected at once', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  for (const number of [21, 22, 23, 24]) expect((await admin.register(number)).status).toBe(202);
  await watch(page);
  await page.getByRole('tab', { name: /Approvals/ }).click();
  await expect(page.locator('#pending li')).toHaveCount(4);
  expect(await serious(page)).toEqual([]);
  for (const number of [21, 22, 24]) await page.getByLabel(`Select node-${number}`).check();
  await page.getByRole('button', { name: 'Approve 3' }).click();
  await expect(page.getByText('3 of 3 nodes approved.')).toBeVisible();
  await expect(page.locator('#pending li')).toHaveCount(1);
  await page.getByLabel('All 1').check();
  await page.getByLabel('Reason of a rejection').fill('not ours');
  await page.getByRole('button', { name: 'Reject 1' }).click();
  await expect(page.getByText('No request is pending.')).toBeVisible();
  const rows = (await admin.ask(admin.token, 'GET', '/v1/admin/registrations')).body.items as {
    hostname: string;
    state: string;
    reason?: string;
  }[];
  expect(Object.fromEntries(rows.map((one) => [one.hostname, one.state]))).toEqual({
    'node-21': 'approved',
    'node-22': 'approved',
    'node-23': 'rejected',
    'node-24': 'approved',
  });
  expect(rows.find((one) => one.hostname === 'node-23')?.reason).toBe('not ours');
  await page.getByRole('tab', { name: /Nodes/ }).click();
  await expect(page.locator('#nodes [role=option]')).toHaveCount(3);
  // What happened is in the events and, for admins, in the audit log.
  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(page.locator('#events [data-kind=registration]').filter({ hasText: 'not ours' })).toHaveCount(1);
  await page.getByLabel('List', { exact: true }).selectOption('audit');
  await expect(page.locator('#audit')).toContainText('/v1/admin/registrations/reject');
});

test('a viewer sees the mesh and decides nothing', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  await admin.account('guest', 'viewer');
  const change = { current_password: PASSWORD, new_password: 'my own password' };
  await admin.ask(await admin.login('guest', PASSWORD), 'POST', '/api/auth/password', change);
  await admin.station(11, 'North', PLACES.north);
  await admin.register(21);
  await page.goto('/');
  await login(page, 'guest', 'my own password');
  await expect(page.locator('#account')).toContainText('viewer');
  await page.getByRole('option', { name: /North/ }).click();
  await expect(page.getByRole('button', { name: 'Place on the map' })).toHaveCount(0);
  await page.getByRole('tab', { name: /Approvals/ }).click();
  await expect(page.getByText('You are logged in as viewer.')).toBeVisible();
  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(page.getByLabel('List', { exact: true })).toHaveCount(0);
});

test('readings are drawn over any range', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  const north = await admin.station(11, 'North', PLACES.north);
  const now = Date.now();
  // An upload tells of the last hour; the heartbeat of now.
  const samples = [50, 40, 30, 20, 10].flatMap((age) => {
    const ts = new Date(now - age * 60_000).toISOString();
    return [
      { ts, metric: 'mesh.tx_mbps', value: age / 10 },
      { ts, metric: 'sys.temp_c', value: 20 + age / 10 },
    ];
  });
  const told = await admin.ask(north.token, 'POST', `/v1/nodes/${north.id}/telemetry`, { samples });
  expect(told.status, JSON.stringify(told.body)).toBeLessThan(300);
  await admin.beat(north, [], { 'mesh.tx_mbps': 7.5 });
  await watch(page, `/#sel=${north.id}`);
  const chart = page.locator('#chart');
  await expect(chart.locator('canvas')).toBeVisible();
  await expect(chart).toHaveAttribute('data-points', '6');
  await expect(chart).toHaveAttribute('aria-label', /Mesh: transmitted from 1.0 to 7.5 Mbit\/s/);
  await page.locator('.metrics summary').click();
  await page.getByLabel(/Sys: temperature/).check();
  await expect(chart).toHaveAttribute('data-points', '11');
  await page.locator('.metrics summary').click();
  await page.getByLabel('Range').selectOption('15m');
  await expect(chart).toHaveAttribute('data-points', '3');
  // A range is chosen by dragging over it.
  await page.getByLabel('Range').selectOption('1h');
  await expect(chart).toHaveAttribute('data-points', '11');
  const over = (await chart.locator('.u-over').boundingBox())!;
  await page.mouse.move(over.x + over.width * 0.05, over.y + 12);
  await page.mouse.down();
  await page.mouse.move(over.x + over.width * 0.6, over.y + 12, { steps: 4 });
  await page.mouse.up();
  await expect(page.getByLabel('From', { exact: true })).toBeVisible();
  await expect(chart).toHaveAttribute('data-points', '6');
  // What comes in is drawn while one looks.
  await page.getByLabel('Range').selectOption('1h');
  await admin.beat(north, [], { 'mesh.tx_mbps': 9.25 });
  await expect(chart).toHaveAttribute('aria-label', /to 9.3|to 9.25/);
  expect(await serious(page)).toEqual([]);
});

test('a flow is run, and disabled', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  const steps = [
    { step_id: 'go', type: 'trigger', kind: 'manual', params: {} },
    { step_id: 'tell', type: 'action', kind: 'alert', params: { message: 'Water at the mast' } },
  ];
  const made = await admin.ask(admin.token, 'POST', '/v1/flows', { name: 'Water', steps, edges: [{ from: 'go', to: 'tell' }] });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const path = `/v1/flows/${made.body.flow_id}`;
  await watch(page, '/#tab=flows');
  await page.getByRole('button', { name: 'Water' }).click();
  await expect(page.getByText('It has not run yet.')).toBeVisible();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('#flows tbody')).toContainText('succeeded');
  const executions = (await admin.ask(admin.token, 'GET', `${path}/executions`)).body.items;
  expect(executions.map((one: { state: string }) => one.state)).toEqual(['succeeded']);
  await expect(page.locator('.alert')).toContainText('Water at the mast');
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await expect(page.locator('.alert')).toContainText('acknowledged by admin');
  expect(await serious(page)).toEqual([]);
  await page.getByLabel('Enabled').uncheck();
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toBeDisabled();
  expect((await admin.ask(admin.token, 'GET', path)).body.enabled).toBe(false);
});

test.describe('a silent node', () => {
  test.use({ heartbeat_s: 1 });

  test('is seen to die and to come back while one looks', async ({ page, server, request }) => {
    const admin = await mesh(request, server);
    const [north, south] = [await admin.station(11, 'North', PLACES.north), await admin.station(12, 'South', PLACES.south)];
    let ended = false;
    // One after the other: heartbeats that overtake each other are refused.
    const beats = (async () => {
      for (; !ended; await page.waitForTimeout(400)) await admin.beat(south);
    })();
    try {
      await watch(page);
      await expect(page.locator('[data-streaming=true]')).toBeVisible();
      await row(page, north).click();
      // Silence begins under the eyes of the page, however long it took to open. Two, as it may be offline by now.
      await admin.beat(north);
      await admin.beat(north);
      await expect(page.locator('#state')).toHaveAttribute('data-state', 'stale');
      await expect(page.locator('#state')).toHaveAttribute('data-state', 'offline');
      await expect(row(page, south)).toHaveAttribute('data-state', 'online');
      await expect(page.getByRole('list', { name: 'Nodes by state' })).toContainText('1 offline');
      await expect(page.locator('#outages li')).toHaveText(/North is silent|1 node is silent/);
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/outage.png` });
      await page.locator('#outages button').click();
      await expect(page.locator('#state')).toHaveAttribute('data-state', 'offline');
      await page.getByRole('tab', { name: 'Events' }).click();
      await expect(page.locator('#events li').filter({ hasText: 'North is offline' }).first()).toBeVisible();
      const returns = page.locator('#events li').filter({ hasText: 'North is online (was stale)' });
      const before = await returns.count();
      await admin.beat(north);
      await admin.beat(north);
      await expect(returns).toHaveCount(before + 1);
      await expect(page.locator('#events li[data-kind=outage]').first()).toContainText('back after');
      await page.getByRole('tab', { name: 'Nodes' }).click();
      await expect(page.locator('#outages')).toHaveCount(0);
      if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/live.png` });
    } finally {
      ended = true;
      await beats;
    }
  });
});

test.describe('planning and gateway in one process', () => {
  test.use({ services: 'both', terrain: true });

  test('links are compared: planned, predicted, measured', async ({ page, server, request }) => {
    const admin = await mesh(request, server, '/gateway');
    const made = await (await request.post('/api/v1/deployments', { data: { name: 'Göteborg' } })).json();
    const planned: Record<string, string> = {};
    for (const [name, at] of Object.entries(PLACES)) {
      const node = await (
        await request.post(`/api/v1/deployments/${made.id}/nodes`, {
          data: { name, ...at, height_agl_m: 20, radio: { preset: 'lora_868_eu' } },
        })
      ).json();
      planned[name] = node.id;
    }
    const north = await admin.station(31, 'north', undefined, planned['north']);
    const south = await admin.station(32, 'south', undefined, planned['south']);
    await admin.station(33, 'west', undefined, planned['west']);
    await admin.beat(north, [[32, -119.5]]);
    await admin.beat(south, [[31, -118]]);
    await watch(page, '/#v=live');
    // The relief of the planning server lies under the live mesh.
    await page.getByRole('tab', { name: /Links/ }).click();
    const link = page.locator('#links li').filter({ hasText: 'north' }).filter({ hasText: 'south' });
    await expect(link).toContainText(/dB/);
    await link.getByRole('button').click();
    const told = (await admin.ask(admin.token, 'GET', '/v1/mesh/topology')).body.links.find(
      (one: { properties: { kind: string } }) => one.properties.kind !== 'planned',
    ).properties;
    const dbm = (value: number) => value.toFixed(1).replace('-', '−');
    await expect(page.locator('#predicted')).toContainText(dbm(told.predicted.rx_power_dbm));
    await expect(page.locator('#at-source')).toContainText(dbm(told.at_source.signal_dbm));
    await expect(page.locator('#difference')).toContainText(dbm(told.signal_above_prediction_db));
    await expect(page.locator('#finding')).toContainText(
      told.signal_above_prediction_db < -6 ? 'worse than predicted' : 'better than predicted',
    );
    await expect(page.locator('#links')).toContainText(/predicted, not heard|planned, not viable/);
    expect(await serious(page)).toEqual([]);
    // The same page plans: nothing is asked of the gateway there, and one comes back logged in.
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    await expect(page.locator('#nodes [role=option]')).toHaveCount(3);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await expect(page.locator('#account')).toContainText('admin');
    await expect(page.locator('#links li')).not.toHaveCount(0);
    // The link is in the address, and in one that is shared.
    await link.getByRole('button').click();
    await expect(page).toHaveURL(/sel=[^&]*%7C/);
    await page.reload();
    await expect(page.locator('#finding')).toBeVisible();
    // What an account was shown is gone with its login.
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await expect(page.locator('#login')).toBeVisible();
    expect(
      await page.evaluate(() => {
        const { live } = window.groundwave as unknown as { live: Live };
        return [live.nodes.length, live.links.length, live.pending.length, live.events.length];
      }),
    ).toEqual([0, 0, 0, 0]);
  });
});

test.describe('a gateway that ends', () => {
  // The browser itself logs requests that find nobody.
  test.use({
    errors: /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED|ERR_INCOMPLETE_CHUNKED_ENCODING/,
  });

  test('is missed, and found again with what changed', async ({ page, server, request }) => {
    const admin = await mesh(request, server);
    await admin.station(11, 'North', PLACES.north);
    await watch(page);
    await server.stop();
    await expect(page.locator('[data-server]')).toHaveAttribute('data-server', 'gone');
    await expect(page.getByText('The gateway does not answer.')).toBeVisible();
    await server.start();
    await admin.station(12, 'Late', PLACES.south);
    await expect(page.locator('[data-server]')).toHaveAttribute('data-server', 'there');
    await expect(page.getByRole('option', { name: /Late/ })).toBeVisible();
    await expect(page.locator('[data-streaming=true]')).toBeVisible();
  });
});
