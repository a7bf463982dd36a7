// The panels that manage a gateway, over a real one: what they change is read back over HTTP.
import type { Page } from '@playwright/test';
import { mesh, serious, watch } from './mesh';
import { expect, test } from './server';

test.use({ terrain: false, services: 'gateway', heartbeat_s: 60, errors: /4\d\d/ });

/** Opens a panel of a group. */
async function enter(page: Page, group: string, tab: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Groups of panels' }).getByRole('button', { name: group }).click();
  await page.getByRole('tab', { name: tab }).click();
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/${name}.png` });
}

test('an admin lets nodes, people and programs in', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  const items = async (path: string) => (await admin.ask(admin.token, 'GET', path)).body.items;
  await watch(page);

  // A join key: a mistake is told at its field, the key is shown once and admits a node.
  await enter(page, 'Access', 'Join keys');
  await page.getByRole('button', { name: 'New join key' }).click();
  const key = page.getByRole('form', { name: 'New join key' });
  await key.getByLabel('Name').fill('site a');
  await key.getByLabel('Nodes at most').fill('99999');
  await key.getByRole('button', { name: 'Create join key' }).click();
  await expect(key.locator('[data-field=nodes_max]').getByRole('alert')).toContainText('found 99999, allowed 1 to 10,000');
  await key.getByLabel('Nodes at most').fill('3');
  await key.getByLabel('Tags').fill('roof, north');
  expect(await serious(page)).toEqual([]);
  await picture(page, 'keys-form');
  await key.getByRole('button', { name: 'Create join key' }).click();
  const secret = await page.getByRole('textbox', { name: 'Join key site a' }).inputValue();
  expect((await admin.register(31, 'roof-31', secret)).status).toBe(201);
  await expect
    .poll(async () => (await items('/v1/trust/join-keys'))[0])
    .toMatchObject({ name: 'site a', nodes_max: 3, nodes_used: 1, tags: ['roof', 'north'] });
  await picture(page, 'keys');
  await page.getByRole('button', { name: 'I have it' }).click();
  await expect(page.getByRole('textbox', { name: 'Join key site a' })).toHaveCount(0);
  await page.getByRole('button', { name: 'site a' }).click();
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke site a?' }).click();
  await expect.poll(() => items('/v1/trust/join-keys')).toEqual([]);
  await expect(page.getByText('No join key.')).toBeVisible();
  await page.getByRole('button', { name: 'Change policy' }).click();
  await page.getByRole('form', { name: 'Policy for join requests' }).getByLabel('Policy').selectOption('closed');
  await page.getByRole('button', { name: 'Set policy' }).click();
  await expect.poll(async () => (await admin.ask(admin.token, 'GET', '/v1/trust')).body.policy).toBe('closed');

  // A user: its first password logs in, its role is changed, and it is disabled.
  await page.getByRole('tab', { name: 'Users' }).click();
  await page.getByRole('button', { name: 'New user' }).click();
  const user = page.getByRole('form', { name: 'New user' });
  await user.getByLabel('Username').fill('admin');
  await user.getByRole('button', { name: 'Create user' }).click();
  await expect(user.getByRole('alert')).toContainText('admin');
  await user.getByLabel('Username').fill('olga');
  await user.getByRole('button', { name: 'Create user' }).click();
  const password = await page.getByRole('textbox', { name: 'Password of olga' }).inputValue();
  expect((await admin.login('olga', password)).length).toBeGreaterThan(20);
  await page.getByRole('button', { name: 'olga', exact: true }).click();
  const account = page.getByRole('form', { name: 'Account of olga' });
  await account.getByLabel('Role').selectOption('operator');
  await account.getByLabel('Disabled').check();
  await picture(page, 'users');
  expect(await serious(page)).toEqual([]);
  await account.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await items('/v1/admin/users')).find((one: { username: string }) => one.username === 'olga'))
    .toMatchObject({ role: 'operator', disabled: true });

  // A token: it reads what its scope names, and nothing once it is revoked.
  await page.getByRole('tab', { name: 'API tokens' }).click();
  await page.getByRole('button', { name: 'New token' }).click();
  const token = page.getByRole('form', { name: 'New token' });
  await token.getByLabel('Name').fill('prometheus');
  await token.getByLabel('nodes: read').check();
  await picture(page, 'tokens');
  expect(await serious(page)).toEqual([]);
  await token.getByRole('button', { name: 'Create token' }).click();
  const bearer = await page.getByRole('textbox', { name: 'Token prometheus' }).inputValue();
  expect((await admin.ask(bearer, 'GET', '/v1/nodes')).status).toBe(200);
  expect((await admin.ask(bearer, 'GET', '/v1/trust')).status).toBe(403);
  await page.getByRole('button', { name: 'prometheus', exact: true }).click();
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke prometheus?' }).click();
  await expect.poll(async () => (await admin.ask(bearer, 'GET', '/v1/nodes')).status).toBe(401);
});

test('an operator makes rules and flows', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  await admin.person('olga', 'operator');
  const items = async (path: string) => (await admin.ask(admin.token, 'GET', path)).body.items;
  await watch(page, '/', 'olga');
  await enter(page, 'Rules', 'Alerts');
  await page.getByRole('button', { name: 'New rule' }).click();
  await page.getByRole('form', { name: 'New rule' }).getByLabel('Name').fill('newcomers');
  // Another cause keeps what was typed.
  await page.getByLabel('Open an alert when').selectOption('a reading crosses a limit');
  await page.getByLabel('Open an alert when').selectOption('a node waits for approval');
  await picture(page, 'rule');
  expect(await serious(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create rule' }).click();
  await expect.poll(async () => (await items('/v1/flows')).map((one: { name: string }) => one.name)).toEqual(['newcomers']);
  // A test of it opens an alert, and so does a node that waits.
  await page.getByRole('button', { name: 'newcomers', exact: true }).click();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(page.getByRole('table', { name: 'Alerts' })).toContainText('test (test) waits for approval');
  await admin.register(41, 'mast-41');
  const alert = page.getByRole('button', { name: /mast-41 .* waits for approval/ });
  await alert.click();
  await page.getByLabel('Note').fill('on my way');
  // Each alert has its own note.
  await page.getByRole('button', { name: /test \(test\) waits for approval/ }).click();
  await expect(page.getByLabel('Note')).toHaveValue('');
  await alert.click();
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await expect
    .poll(async () => (await items('/v1/flows/alerts')).find((one: { message: string }) => one.message.startsWith('mast-41')))
    .toMatchObject({ state: 'acked', acked_by: 'olga', note: 'on my way' });
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, 'alerts-dark');
  expect(await serious(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });

  // A rule that another client changes follows; one that is stale is refused once, and is then the present one.
  const [rule] = await items('/v1/flows');
  const turn = (enabled: boolean) => admin.ask(admin.token, 'PATCH', `/v1/flows/${rule.flow_id}`, { enabled });
  expect((await turn(false)).status).toBe(200);
  await expect(page.getByRole('button', { name: 'Turn on' })).toBeVisible();
  await page.waitForResponse((answer) => answer.url().includes('/v1/flows?'));
  expect((await turn(true)).status).toBe(200);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect(page.locator('.messages')).toContainText('stale');
  await page.getByRole('button', { name: 'Turn off' }).click();
  await expect.poll(async () => (await items('/v1/flows'))[0].enabled).toBe(false);

  // A flow of its own steps: a mistake is told at its field, then it is saved, changed and deleted.
  await page.getByRole('tab', { name: 'Flows' }).click();
  await page.getByRole('button', { name: 'New flow' }).click();
  const flow = page.getByRole('form', { name: 'New flow' });
  await flow.getByLabel('Name', { exact: true }).fill('drill');
  await flow.getByRole('button', { name: 'Save flow' }).click();
  await expect(flow.locator('[data-field=message]').getByRole('alert')).toContainText('Message is needed.');
  await flow.getByLabel('Message').fill('a drill');
  await picture(page, 'flow');
  expect(await serious(page)).toEqual([]);
  await flow.getByRole('button', { name: 'Save flow' }).click();
  const drill = async () => (await items('/v1/flows')).find((one: { name: string }) => one.name === 'drill');
  await expect.poll(drill).toMatchObject({ enabled: true, trigger_kinds: ['manual'] });
  const { flow_id } = await drill();
  const steps = async () => (await admin.ask(admin.token, 'GET', `/v1/flows/${flow_id}`)).body;
  expect(await steps()).toMatchObject({
    edges: [{ from: 'manual', to: 'alert' }],
    steps: [{ kind: 'manual' }, { kind: 'alert', params: { message: 'a drill' } }],
  });
  await page.getByRole('button', { name: 'drill', exact: true }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  const change = page.getByRole('form', { name: 'Flow drill' });
  await change.getByLabel('Message').fill('a second drill');
  await change.getByRole('button', { name: 'Save flow' }).click();
  await expect.poll(async () => (await steps()).steps[1].params.message).toBe('a second drill');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete drill?' }).click();
  await expect.poll(drill).toBeUndefined();
});

test('firmware is rolled out, readings, power and the firewall are read', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  const items = async (path: string) => (await admin.ask(admin.token, 'GET', path)).body.items;
  const north = await admin.station(51, 'North');
  await admin.beat(north, [], { 'i2c.lm75.temperature_c': 21.5 });
  expect(
    (
      await admin.ask(admin.token, 'POST', '/v1/power/ups/samples', [
        { ups_id: 'hut', ts: new Date().toISOString(), status: ['OB', 'LB'], battery_charge_pct: 15 },
      ])
    ).status,
  ).toBe(202);
  expect(
    (
      await admin.ask(admin.token, 'POST', '/v1/firewall/zones', {
        name: 'mesh',
        interfaces: ['bat0'],
        input: 'accept',
        output: 'accept',
        forward: 'drop',
      })
    ).status,
  ).toBe(201);
  const join = { board: 'rpi-4', firmware: { firmware: '2.3.1' }, supported_commands: ['firmware'] };
  expect((await admin.ask(north.token, 'POST', '/v1/nodes/join', join)).status).toBe(200);
  await watch(page);
  await enter(page, 'Devices', 'Firmware');
  await page.getByRole('button', { name: 'Upload image' }).click();
  const upload = page.getByRole('form', { name: 'Upload image' });
  await upload.getByLabel('Version').fill('2.4.0');
  await upload
    .getByLabel('File')
    .setInputFiles({ name: 'firmware.img', mimeType: 'application/octet-stream', buffer: Buffer.alloc(4096, 7) });
  await upload.getByRole('button', { name: 'Upload', exact: true }).click();
  await expect.poll(async () => (await items('/v1/firmware/images'))[0]).toMatchObject({ version: '2.4.0', size_bytes: 4096 });
  // Its nodes are listed before it begins; then the state of each is read, and it is cancelled.
  await page.getByRole('button', { name: 'New roll-out' }).click();
  await page.getByRole('button', { name: 'List its nodes' }).click();
  await expect(page.getByRole('form', { name: 'New roll-out' })).toContainText('North: stage 1');
  await picture(page, 'firmware');
  expect(await serious(page)).toEqual([]);
  await page.getByRole('button', { name: 'Begin roll-out' }).click();
  await expect
    .poll(async () => (await items('/v1/firmware/rollouts'))[0])
    .toMatchObject({ state: 'running', nodes: [{ node_id: north.id }] });
  await page.getByRole('table', { name: 'Roll-outs' }).getByRole('button', { name: '2.4.0' }).click();
  await expect(page.locator(`[data-node="${north.id}"]`)).toContainText('North: ');
  await picture(page, 'rollout');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Stop here?' }).click();
  await expect.poll(async () => (await items('/v1/firmware/rollouts'))[0].state).toBe('cancelled');
  await page.getByRole('tab', { name: 'Sensors' }).click();
  await page.getByRole('button', { name: /temperature/i }).click();
  await expect(page.getByRole('table', { name: 'Readings' })).toContainText('21.5 °C');
  await picture(page, 'sensors');
  await page.getByRole('tab', { name: 'Cameras' }).click();
  await expect(page.getByText('No camera.')).toBeVisible();
  await page.getByRole('tab', { name: 'Power, firewall' }).click();
  await expect(page.getByRole('table', { name: 'Power supplies' })).toContainText('on battery, ▲ battery low');
  await expect(page.getByRole('table', { name: 'Zones' })).toContainText('drop');
  await picture(page, 'protection');
  expect(await serious(page)).toEqual([]);
});

test('a viewer reads the panels and is offered nothing that is refused', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  await admin.person('vera', 'viewer');
  const refused: string[] = [];
  page.on('response', (answer) => void (answer.status() === 403 && refused.push(answer.url())));
  await page.setViewportSize({ width: 390, height: 844 });
  await watch(page, '/', 'vera');
  const panels = page.getByRole('navigation', { name: 'Panels', exact: true });
  const more = page.getByRole('navigation', { name: 'More panels' });
  await panels.getByRole('button', { name: 'More' }).click();
  await picture(page, 'more-phone');
  await expect(more.getByRole('button', { name: 'Users' })).toHaveCount(0);
  const names = await more.getByRole('button').allTextContents();
  for (const name of names) {
    await panels.getByRole('button', { name: 'More' }).click();
    await more.getByRole('button', { name }).click();
    await expect(page.locator('[role=tabpanel][data-state=active]')).toBeVisible();
    await expect(page.locator('[role=tabpanel]').getByRole('button', { name: /^(New|Add|Change|Upload|Create|Delete)/ })).toHaveCount(
      name === 'API tokens' ? 1 : 0,
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(390);
    expect(await serious(page), name).toEqual([]);
    await picture(page, `phone-${name.replaceAll(' ', '-')}`);
  }
  expect(refused).toEqual([]);
});
