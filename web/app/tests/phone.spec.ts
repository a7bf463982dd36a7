// Words of the live view stay whole on narrow screens.
import { mesh, serious, watch } from './mesh';
import { expect, open, plan, test } from './server';

test.use({ services: 'both', terrain: false, heartbeat_s: 60, hasTouch: true });

test('a notice has all its lines on a phone, and a tablet the range of the telemetry', async ({ page, server, request }) => {
  const admin = await mesh(request, server, '/gateway');
  const north = await admin.station(11, 'North', { lat: 57.7142, lon: 11.9367 });
  const lost = await admin.station(12, 'Nowhere');
  await admin.beat(north, [], { 'mesh.tx_mbps': 7.5 });
  await admin.beat(lost);
  await page.setViewportSize({ width: 390, height: 844 });
  await watch(page, '/#v=live');
  const notice = page.locator('.notice');
  const [box, text] = [(await notice.boundingBox())!, (await notice.locator('span').boundingBox())!];
  expect(text.y - box.y).toBeGreaterThanOrEqual(4);
  expect(box.y + box.height - text.y - text.height).toBeGreaterThanOrEqual(4);
  await page.setViewportSize({ width: 820, height: 1180 });
  await page.locator(`#node-${north.id}`).click();
  const range = page.getByRole('combobox', { name: 'Range' });
  await expect(range).toBeVisible();
  // As broad as it is where nothing presses on it.
  const broad = (await range.boundingBox())!.width;
  await range.evaluate((select) => (select.style.position = 'fixed'));
  expect(broad).toBeGreaterThanOrEqual((await range.boundingBox())!.width - 1);
});

test('a phone has the states in numbers and the key of the links in its lists', async ({ page, server, request }) => {
  const admin = await mesh(request, server, '/gateway');
  const [north, south] = [
    await admin.station(11, 'North', { lat: 57.7142, lon: 11.9367 }),
    await admin.station(12, 'South', { lat: 57.6966, lon: 11.9378 }),
  ];
  await admin.beat(north, [[12, -61.5]]);
  await admin.beat(south, [[11, -63]]);
  await page.setViewportSize({ width: 390, height: 844 });
  await watch(page, '/#v=live');
  await page.getByRole('button', { name: 'Nodes', exact: true }).tap();
  await expect(page.getByRole('list', { name: 'Nodes by state' })).toContainText('2 online');
  await expect(page.getByRole('list', { name: 'Nodes by state' })).toContainText('0 offline');
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/phone-states.png` });
  await page.getByRole('button', { name: 'Links', exact: true }).tap();
  await page.getByText('Key of the links').tap();
  await expect(page.locator('.link-key li')).toContainText('at least one end is not in the plan');
  expect(await serious(page)).toEqual([]);
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/phone-key.png` });

  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  await page.goto('about:blank');
  await open(page, `/#d=${id}`);
  await page.getByRole('button', { name: 'Links', exact: true }).tap();
  await page.getByText('Key of the links').tap();
  await expect(page.locator('.link-key li')).toHaveCount(6);
  expect(await serious(page)).toEqual([]);
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/phone-plan-key.png` });
});
