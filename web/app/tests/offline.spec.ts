// The page as an installed one: without its server it shows what it has read, and a newer page replaces it.
import type { Page } from '@playwright/test';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Picture } from './pixels';
import { drawn, expect, nodesOf, open, pixel, plan, test, PLACES } from './server';

test.use({ serviceWorkers: 'allow', errors: /Failed to load resource|net::ERR/ });

/** Waits until the worker answers for the page, and has kept what was read before it. */
async function kept(page: Page, path: RegExp): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await expect.poll(async () => (await urls(page)).some((url) => path.test(url)), { message: String(path) }).toBe(true);
}

/** Addresses of all kept answers. */
function urls(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const found: string[] = [];
    for (const name of await caches.keys()) for (const { url } of await (await caches.open(name)).keys()) found.push(url);
    return found;
  });
}

async function reload(page: Page): Promise<void> {
  await page.reload();
  await page.waitForFunction(
    () => document.documentElement.dataset['loaded'] === 'true' && document.querySelector<HTMLElement>('.map')?.dataset['ready'] === 'true',
  );
}

test('plan, map and coverage are there without the server, and a change is refused', async ({ page, context, request, server }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  await drawn(page);
  await kept(page, /\/nodes$/);
  await kept(page, /\/links$/);
  await kept(page, /\/terrain\/relief\//);
  await page.evaluate(
    (node) =>
      window.groundwave.app.coverages.start(node, 'Ramberget', {
        radius_km: 4,
        resolution: 24,
        rx_height_agl_m: 2,
        rx_surroundings: 'unknown',
        rx_indoor: 'outdoors',
        receiver: null,
      }),
    nodes['Ramberget']!,
  );
  await page.waitForFunction(() => window.groundwave.app.coverages.jobs[0]?.state === 'done');
  // A change after the plan was read is in what is kept.
  await page.getByLabel('Name', { exact: true }).fill('Utsikten');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id)).some(({ name }) => name === 'Utsikten')).toBe(true);
  await expect
    .poll(() =>
      page.evaluate(async (path) => (await (await caches.match(path))!.text()).includes('Utsikten'), `/api/v1/deployments/${id}/nodes`),
    )
    .toBe(true);
  await drawn(page);
  const before = Picture.of(await page.locator('.map canvas').first().screenshot());

  await context.setOffline(true);
  await reload(page);
  await expect(page.locator('[data-offline=kept]')).toContainText(/Offline: .* as of \d+ \w+, \d\d:\d\d\. Changes are refused/);
  await expect(page.locator('#nodes [role=option]')).toHaveCount(3);
  await expect(page.getByRole('option', { name: /Utsikten/ })).toBeVisible();
  await expect.poll(() => page.evaluate(() => window.groundwave.map.drawnLinks)).toBeGreaterThan(0);
  await expect.poll(() => page.evaluate(() => window.groundwave.map.coverage.cells)).toBe(576);
  await drawn(page);
  expect(await page.evaluate(() => window.groundwave.map.relief.squares)).toBeGreaterThan(8);
  // Ground and coverage have their colours.
  const after = Picture.of(await page.locator('.map canvas').first().screenshot());
  const box = (await page.locator('.map').boundingBox())!;
  for (const place of [
    { lat: 57.716, lon: 11.93 },
    { lat: 57.66, lon: 12.02 },
  ]) {
    const at = await pixel(page, place);
    expect(after.has({ x: at.x - box.x, y: at.y - box.y }, before.at(at.x - box.x, at.y - box.y), 2, 16)).toBe(true);
  }
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/offline.png` });

  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Annat');
  await page.keyboard.press('Enter');
  await expect(page.locator('.messages')).toContainText('nothing was stored or computed');
  await expect(name).toHaveValue('Utsikten');

  await context.setOffline(false);
  await expect(page.locator('.messages')).toContainText('The server is back.');
  await expect(page.locator('[data-offline]')).toHaveCount(0);
  await name.fill('Annat');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id)).some(({ name }) => name === 'Annat')).toBe(true);

  // The same where the server has ended.
  await server.stop();
  await reload(page);
  await expect(page.locator('[data-offline=kept]')).toBeVisible();
  await expect(page.locator('#nodes [role=option]')).toHaveCount(3);
  expect((await pixel(page, PLACES.Ramberget)).x).toBeGreaterThan(0);
});

test.describe('beside a gateway', () => {
  test.use({ services: 'both', terrain: false });

  test('answers of the gateway and streams are not kept', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}`);
    await kept(page, /\/nodes$/);
    await reload(page);
    await page.evaluate(async () => {
      for (const path of ['/gateway/health', '/gateway/v1/nodes', '/healthz', '/gateway/map']) await fetch(path).catch(() => undefined);
      await fetch('/api/v1/deployments', { headers: { authorization: 'Bearer a' } });
      await fetch('/api/v1/templates?mine', { headers: { authorization: 'Bearer a' } });
    });
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
    const found = (await urls(page)).map((url) => new URL(url)).map(({ pathname, search }) => pathname + search);
    expect(found.filter((path) => /gateway|healthz|changes|mine|auth/.test(path))).toEqual([]);
    expect(found).toContain('/page.json');
  });
});

const BUILT = join(import.meta.dirname, '../dist');
const folder = mkdtempSync(join(tmpdir(), 'groundwave-page-files-'));
cpSync(BUILT, folder, { recursive: true });
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.describe('a newer page', () => {
  test.use({ terrain: false, frontend: folder });

  test('replaces the one before at the next visit, also without the server after it', async ({ page, context, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    const replace = (version: string) => {
      const [index, worker] = ['index.html', 'sw.js'].map((name) => readFileSync(join(BUILT, name), 'utf8')) as [string, string];
      writeFileSync(join(folder, 'index.html'), index.replace('</head>', `<meta name="version" content="${version}"></head>`));
      writeFileSync(join(folder, 'sw.js'), worker.replace(/"?version"?:\s*"[0-9a-f]+"/, `version: "${version}"`));
    };
    const version = () => page.locator('meta[name=version]').getAttribute('content');
    const shells = () => page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('groundwave-shell-')));
    replace('first');
    await open(page, `/#d=${id}`);
    await kept(page, /index\.html$/);
    expect([await version(), await shells()]).toEqual(['first', ['groundwave-shell-first']]);
    for (const next of ['second', 'third']) {
      replace(next);
      await reload(page);
      expect(await version()).toBe(next);
      await expect.poll(shells).toContain(`groundwave-shell-${next}`);
    }
    // Of older ones that before is left for tabs that are still open.
    await expect.poll(shells).toEqual(['groundwave-shell-second', 'groundwave-shell-third']);
    await expect
      .poll(() => page.evaluate(async () => (await (await caches.open('groundwave-shell-third')).match('/index.html'))?.text()))
      .toContain('content="third"');
    await context.setOffline(true);
    await reload(page);
    expect(await version()).toBe('third');
  });
});

test('a page without service workers works as before', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  // As over HTTP from another machine.
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'serviceWorker', { get: () => undefined }));
  await open(page, `/#d=${id}`);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  await drawn(page);
  expect(await urls(page)).toEqual([]);
});
