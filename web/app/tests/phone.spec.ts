// Words of the live view stay whole on narrow screens.
import { mesh, watch } from './mesh';
import { expect, test } from './server';

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
