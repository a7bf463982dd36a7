// The testbed panel over a real testbed: fail, repair, cut, restore, move, time; packets show what is in force.
import { Bed } from './lab';
import { mesh, serious, watch } from './mesh';
import { expect, pixel, test } from './server';

const bed = new Bed();
test.use({ terrain: false, services: 'gateway', heartbeat_s: 60, extra: ['--testbed-socket', bed.socket] });
test.beforeAll(() => bed.start());
test.afterAll(() => bed.end());

test('an operator fails, cuts and moves nodes of a testbed', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  await admin.person('olga', 'operator');
  const look = async () => (await admin.ask(admin.token, 'GET', '/v1/testbed')).body;
  const nodeOf = async (name: string) => (await look()).nodes.find((node: { name: string }) => node.name === name);
  await watch(page, '/#v=live&tab=testbed', 'olga');
  const [nodes, links] = [page.locator('#bed-nodes > li'), page.locator('#bed-links > li')];
  await expect(nodes).toHaveCount(3);
  await expect(links).toHaveCount(2);
  // A kernel without netem limits the rate alone, and the page says so.
  const full = (await look()).kernel === 'full';
  const held = page.locator(`.direction[data-state=${full ? 'in-force' : 'partial'}]`);
  await expect(held).toHaveCount(4);
  await expect(page.locator('#bed-state')).toContainText(full ? '✓ 4 of 4 directions in force' : '▲ 0 of 4 directions in force');
  await expect(held.first()).toContainText(full ? 'in force' : 'rate only in force');
  // Below each direction is what the kernel has, which without netem is a rate alone.
  const read = page.locator('.direction.read');
  await expect(read).toHaveCount(4);
  await expect(read.first()).toContainText(/as read at \d\d:\d\d:\d\d: [\d.]+ Mbit\/s/);
  await expect(read.first()).toContainText(full ? 'broadcast loss' : 'no delay');
  await expect(page.locator('[data-node=west] .program')).toContainText('2 routes as read');
  const west = (await nodeOf('west')).address as string;
  const relay = (await nodeOf('relay')).address as string;
  expect(bed.reaches('relay', west)).toBe(true);
  // The map is that of the testbed.
  expect(
    await page.evaluate(() =>
      [...new Set(window.groundwave.map.map.querySourceFeatures('nodes').map((one) => String(one.properties['name'])))].sort(),
    ),
  ).toEqual(['east', 'relay', 'west']);
  expect(await serious(page)).toEqual([]);

  // A node fails: its directions are down, and no packet passes.
  await page.getByRole('button', { name: 'Fail relay' }).click();
  await expect(page.locator('[data-node=relay]')).toContainText('failed');
  await expect(page.locator('.direction[data-state=down]')).toHaveCount(4);
  expect((await nodeOf('relay')).operating).toBe(false);
  expect(bed.reaches('west', relay)).toBe(false);
  await page.getByRole('button', { name: 'Repair relay' }).press('Enter');
  await expect(held).toHaveCount(4);
  expect(bed.reaches('west', relay)).toBe(true);

  // A link is cut and restored.
  await page.getByRole('button', { name: 'Cut relay – west' }).click();
  await expect(page.locator('[data-link="relay|west"] .direction[data-state=cut]')).toHaveCount(2);
  expect(bed.reaches('west', relay)).toBe(false);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await serious(page)).toEqual([]);
  await page.getByRole('button', { name: 'Restore relay – west' }).click();
  await expect(held).toHaveCount(4);
  expect(bed.reaches('west', relay)).toBe(true);

  // A node is moved out of range by its coordinates, and back by hand.
  await page.getByRole('button', { name: 'Move east' }).click();
  await page.getByLabel('Longitude, °E').fill('12.5');
  await page.getByRole('button', { name: 'Move there' }).click();
  await expect.poll(async () => (await nodeOf('east')).lon_deg).toBe(12.5);
  await expect(page.locator('[data-link="east|relay"] .direction[data-state=down]')).toHaveCount(2);
  await page.getByRole('button', { name: 'Move east' }).click();
  await page.getByLabel('Longitude, °E').fill('11.91');
  await page.getByRole('button', { name: 'Move there' }).click();
  await expect(held).toHaveCount(4);
  await page.getByRole('button', { name: 'Show all nodes' }).click();
  await page.waitForFunction(() => !window.groundwave.map.map.isMoving());
  const at = await pixel(page, { lat: 57.7, lon: 11.91 });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x - 30, at.y + 20, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => (await nodeOf('east')).lat_deg).toBeLessThan(57.7);

  // The selection is in the address.
  await page.locator('[data-node=relay] .name').click();
  await expect.poll(() => page.evaluate(() => location.hash)).toContain('sel=relay');

  // Its time is paused and goes on in steps.
  await page.getByLabel('Speed').selectOption('paused');
  await expect.poll(async () => (await look()).speed).toBe(0);
  const { tick } = await look();
  await page.getByRole('button', { name: 'Take steps' }).click();
  await expect.poll(async () => (await look()).tick).toBeGreaterThanOrEqual(tick + 10);
  await page.getByLabel('Speed').selectOption('1x');
  await expect.poll(async () => (await look()).speed).toBe(1);
  const { body } = await admin.ask(admin.token, 'GET', '/v1/admin/audit?limit=100');
  const told = body.items
    .filter((row: { actor: string }) => row.actor === 'olga')
    .map((row: { action: string; outcome: number }) => `${row.action} ${row.outcome}`);
  for (const action of [
    'testbed_fail 200',
    'testbed_repair 200',
    'testbed_cut 200',
    'testbed_mend 200',
    'testbed_place 200',
    'testbed_pace 200',
    'testbed_step 200',
  ])
    expect(told).toContain(action);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('navigation', { name: 'Panels' }).getByRole('button', { name: 'More' }).click();
  await page.getByRole('navigation', { name: 'More panels' }).getByRole('button', { name: 'Testbed' }).click();
  await expect(nodes.first()).toBeVisible();
  expect(await serious(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

test('a viewer looks at a testbed and steers nothing', async ({ page, server, request }) => {
  const admin = await mesh(request, server);
  await admin.person('vera', 'viewer');
  await watch(page, '/#v=live&tab=testbed', 'vera');
  await expect(page.locator('#bed-nodes > li')).toHaveCount(3);
  await expect(page.locator('#testbed')).toContainText('Operators steer the testbed.');
  await expect(page.locator('#testbed').getByRole('button', { name: /Fail|Repair|Cut|Restore|Move|steps/ })).toHaveCount(0);
});
