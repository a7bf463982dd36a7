// The impairment panel over a daemon with real interfaces: changes, divergence, timelines, a daemon that goes.
import type { Page } from '@playwright/test';
import { ImpairLab } from './lab';
import { mesh, serious, watch } from './mesh';
import { expect, test } from './server';

const lab = new ImpairLab();
const PORT1 = '/v1/impairment/ports/port1';
const TIMELINE =
  'title = "Dusk"\nlength = "600s"\n[[step]]\nat = "0s"\ndirection = "port2"\nset = { rate = "2mbit" }\n[[step]]\nat = "300s"\ndirection = "port2"\nset = { rate = "1mbit" }\n';
test.use({ terrain: false, services: 'gateway', heartbeat_s: 60 });

const direction = (page: Page, name: string) => page.locator(`#direction-${name}`);

test('without daemon and testbed the panels tell how to start them', async ({ page, server, request }) => {
  await mesh(request, server);
  await watch(page, '/#v=live&tab=impairment');
  await expect(page.locator('#impairment')).toContainText('groundwave serve --impaird-socket');
  await page.getByRole('tab', { name: 'Testbed' }).click();
  await expect(page.locator('#testbed')).toContainText('--testbed-socket /run/groundwave/ridge/control.sock');
  await expect.poll(() => page.evaluate(() => location.hash)).toContain('tab=testbed');
  expect(await serious(page)).toEqual([]);
});

test.describe('with a daemon', () => {
  test.use({ extra: ['--impaird-socket', lab.socket], errors: /status of (422|503|502)/ });
  test.beforeAll(() => lab.start());
  test.afterAll(() => lab.end());

  test('an admin changes a direction and sees where the kernel differs', async ({ page, server, request }) => {
    const admin = await mesh(request, server);
    await watch(page, '/#v=live&tab=impairment');
    const port1 = direction(page, 'port1');
    await expect(port1).toContainText('No impairment.');
    await page.getByRole('button', { name: 'Change port1' }).click();
    await expect(page.getByLabel('Delay, ms')).toBeFocused();
    await page.getByLabel('Rate, kbit/s').fill('8000');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await expect(port1.locator('tr', { hasText: 'Rate' })).toContainText('8 Mbit/s, burst 16000\u00a0B');
    await expect(port1.locator('.verdict')).toHaveText('✓ as requested');
    expect(lab.bucket('port1')?.bps).toBe(8_000_000);
    const wanted = { rate: { bps: 8_000_000, burst_bytes: 16_000 } };
    const told = (await admin.ask(admin.token, 'GET', PORT1)).body;
    expect([told.impairment, told.requested]).toEqual([wanted, wanted]);
    // Another program changes it: requested and kernel are told apart, by sign and word.
    lab.tc(
      'qdisc',
      'change',
      'dev',
      'port1',
      'root',
      'handle',
      lab.bucket('port1')!.handle,
      'tbf',
      'rate',
      '4mbit',
      'burst',
      '16000',
      'latency',
      '50ms',
    );
    await expect(port1.locator('.verdict')).toContainText('▲');
    const row = port1.locator('tr.differs', { hasText: 'Rate' });
    await expect(row.locator('td').first()).toContainText('8 Mbit/s');
    await expect(row.locator('td').last()).toContainText('4 Mbit/s');
    await expect(row.getByRole('img', { name: 'differs' })).toBeVisible();
    await expect(port1.locator('.items')).toContainText('differs: tbf');
    expect((await admin.ask(admin.token, 'GET', PORT1)).body.divergence.length).toBeGreaterThan(0);
    expect(await serious(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await serious(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    // What this kernel lacks is refused with the reason; the form stays.
    await page.getByRole('button', { name: 'Change port1' }).click();
    await page.getByLabel('Delay, ms').fill('40');
    await page.getByLabel('Jitter, ms').fill('5');
    await page.getByRole('button', { name: 'Apply' }).click();
    if (lab.netem) await expect(port1.locator('tr', { hasText: 'Delay' })).toContainText('40 ms ± 5 ms');
    else {
      await expect(port1.getByRole('alert')).toContainText('sch_netem');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await expect(page.locator('#impairment')).toContainText('This kernel has no netem');
    }
    await page.getByRole('button', { name: 'Remove the impairment of port1' }).click();
    await expect(port1).toContainText('No impairment.');
    expect(lab.bucket('port1')).toBeNull();
    const { body } = await admin.ask(admin.token, 'GET', '/v1/admin/audit?limit=100');
    const changes = body.items.filter((row: { action: string }) => ['impairment_replace', 'impairment_clear'].includes(row.action));
    expect(changes.map((row: { outcome: number }) => row.outcome)).toContain(200);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('navigation', { name: 'Panels' }).getByRole('button', { name: 'More' }).click();
    await page.getByRole('navigation', { name: 'More panels' }).getByRole('button', { name: 'Impairment' }).click();
    await expect(port1).toBeVisible();
    expect(await serious(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });

  test('a change for some seconds is a lease that ends by itself or by hand', async ({ page, server, request }, info) => {
    const admin = await mesh(request, server);
    await admin.ask(admin.token, 'PUT', PORT1, { rate: { bps: 16_000_000, burst_bytes: 32_000 } });
    await watch(page, '/#v=live&tab=impairment');
    const [port1, leases] = [direction(page, 'port1'), page.locator('#leases')];
    await expect(port1).toContainText('16 Mbit/s');
    await expect(leases).toHaveCount(0);
    const lease = async (kbit_s: string, lasts_s: string) => {
      await page.getByRole('button', { name: 'Change port1' }).click();
      await page.getByLabel('Rate, kbit/s').fill(kbit_s);
      await page.getByLabel('For, s').fill(lasts_s);
      await page.getByRole('button', { name: 'Apply' }).click();
    };
    // One that outlasts the test, beneath one that does not.
    await lease('4000', '3600');
    await expect(leases.locator('li')).toHaveCount(1);
    expect(lab.bucket('port1')?.bps).toBe(4_000_000);
    const listed = (await admin.ask(admin.token, 'GET', '/v1/impairment/leases')).body;
    expect(listed[0].changes.port1.fields).not.toContain('rules');
    await expect(leases.locator('li').first()).toContainText('port1: rate 4 Mbit/s');
    await expect(leases.locator('li').first()).toContainText('by gateway, admin');
    await lease('2000', '3');
    await expect.poll(() => lab.bucket('port1')?.bps).toBe(2_000_000);
    expect(await serious(page)).toEqual([]);
    // It ends while no page is open.
    await page.goto('about:blank');
    await expect.poll(() => lab.bucket('port1')?.bps).toBe(4_000_000);
    await page.goto(`${server.url}/#v=live&tab=impairment`);
    await expect(leases.locator('li')).toHaveCount(1);
    for (const [width, height] of [
      [1440, 900],
      [820, 1180],
      [390, 844],
    ]) {
      await page.setViewportSize({ width, height });
      if (width === 390) {
        await page.getByRole('navigation', { name: 'Panels' }).getByRole('button', { name: 'More' }).click();
        await page.getByRole('navigation', { name: 'More panels' }).getByRole('button', { name: 'Impairment' }).click();
      }
      await leases.scrollIntoViewIfNeeded();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await serious(page)).toEqual([]);
        await page.screenshot({ path: info.outputPath(`leases-${width}-${colorScheme}.png`) });
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1440, height: 900 });
    // By hand, as an admin; a viewer looks only.
    await page.getByRole('button', { name: /^End lease/ }).click();
    await expect(leases).toHaveCount(0);
    await expect.poll(() => lab.bucket('port1')?.bps).toBe(16_000_000);
    await admin.ask(admin.token, 'DELETE', PORT1);
  });

  test('a timeline goes on without the page and restores what was before', async ({ page, server, request }) => {
    const admin = await mesh(request, server);
    await admin.person('vera', 'viewer');
    await admin.ask(admin.token, 'PUT', '/v1/impairment/ports/port2', { rate: { bps: 16_000_000, burst_bytes: 32_000 } });
    await watch(page, '/#v=live&tab=impairment');
    const player = page.locator('#player');
    await player.getByLabel('Content').fill('[[step]]\nat = "soon"\n');
    await player.getByRole('button', { name: 'Play' }).click();
    await expect(player.getByRole('alert')).toContainText('soon');
    await player.getByLabel('File').setInputFiles({ name: 'dusk.toml', mimeType: 'text/plain', buffer: Buffer.from(TIMELINE) });
    await player.getByLabel('Start at, s').fill('299');
    await player.getByRole('button', { name: 'Play' }).click();
    await expect(player).toHaveAttribute('data-state', 'playing');
    await expect(player).toContainText('Dusk');
    // The second step comes while no page is open.
    await page.goto('about:blank');
    await expect.poll(() => lab.bucket('port2')?.bps).toBe(1_000_000);
    await page.goto(`${server.url}/#v=live&tab=impairment`);
    await expect(player).toContainText('port2 since 5:00: rate 1 Mbit/s');
    await expect(page.getByRole('button', { name: 'Change port2' })).toBeDisabled();
    expect((await admin.ask(admin.token, 'GET', '/v1/impairment/playback')).body).toMatchObject({
      state: 'playing',
      name: 'dusk.toml',
      directions: ['port2'],
      started_by: 'admin',
    });
    expect(await serious(page)).toEqual([]);
    await player.getByRole('button', { name: 'Stop' }).click();
    await expect(player).toHaveAttribute('data-state', 'stopped');
    await expect(direction(page, 'port2').locator('tr', { hasText: 'Rate' })).toContainText('16 Mbit/s');
    expect(lab.bucket('port2')?.bps).toBe(16_000_000);
    // A viewer looks, and changes nothing.
    await page.evaluate(() => sessionStorage.clear());
    await page.goto('about:blank');
    await watch(page, '/#v=live&tab=impairment', 'vera');
    await expect(direction(page, 'port2')).toContainText('16 Mbit/s');
    await expect(page.locator('#impairment')).toContainText('Admins change impairments.');
    await expect(page.locator('#impairment').getByRole('button')).toHaveCount(0);
  });

  test('a daemon that is gone is told, and shown again when it is back', async ({ page, server, request }) => {
    await mesh(request, server);
    await watch(page, '/#v=live&tab=impairment');
    await expect(direction(page, 'port1')).toBeVisible();
    await lab.stop();
    await expect(page.locator('#impairment').getByRole('alert')).toContainText('groundwave impaird');
    await expect(direction(page, 'port1')).toHaveCount(0);
    await lab.resume();
    await expect(direction(page, 'port1')).toBeVisible();
    await expect(page.locator('#impairment').getByRole('alert')).toHaveCount(0);
  });
});
