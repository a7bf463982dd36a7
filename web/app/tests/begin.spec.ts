// How the page begins: with slow answers, in browsers that lack something, and when a part of it fails.
import type { Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DENSE, fill, lacking, spots } from './lattice';
import { mesh, watch } from './mesh';
import { drawn, expect, nodesOf, open, plan, test } from './server';

const SLOW_MS = 1000;

/** Delays what the server says that it offers. */
async function slow(page: Page): Promise<void> {
  await page.route('**/page.json', async (route) => {
    await new Promise((done) => setTimeout(done, SLOW_MS));
    await route.continue();
  });
}

test.describe('planning and gateway in one process', () => {
  test.use({ services: 'both', terrain: false });

  test('a login lasts when the offer of the server comes after the view', async ({ page, server, request }) => {
    const admin = await mesh(request, server, '/gateway');
    await admin.station(11, 'North', { lat: 57.7142, lon: 11.9367 });
    await watch(page, '/#v=live');
    await expect(page.getByRole('option', { name: /North/ })).toBeVisible();
    await slow(page);
    const asked: string[] = [];
    const refused: string[] = [];
    page.on('request', (one) => void asked.push(new URL(one.url()).pathname));
    page.on('response', (one) => void (one.status() >= 400 && refused.push(`${one.status()} ${one.url()}`)));
    for (const tab of ['nodes', 'flows', 'impairment', 'testbed']) {
      await page.goto('about:blank');
      await page.goto(`/#v=live&tab=${tab}`);
      await expect(page.locator('#account')).toContainText('admin');
      await expect(page.getByRole('button', { name: 'Log in' })).toHaveCount(0);
      await expect(page.locator('[data-streaming=true]')).toBeVisible();
      await expect(page.locator('[data-live]')).toHaveAttribute('data-live', 'loaded');
    }
    // The login form as well asks the gateway where it is.
    await page.evaluate(() => sessionStorage.clear());
    await watch(page, '/?again#v=live');
    expect(asked.filter((path) => /^\/(v1|api\/auth|capabilities|health)(\/|$)/.test(path))).toEqual([]);
    expect(asked.filter((path) => path === '/gateway/capabilities').length).toBeGreaterThanOrEqual(2);
    expect(asked).toContain('/gateway/v1/events');
    expect(asked).toContain('/gateway/api/auth/login');
    expect(refused).toEqual([]);
  });
});

test.describe('a gateway alone', () => {
  test.use({ services: 'gateway', terrain: false });

  test('is not asked for plans, whatever the address names', async ({ page, server, request }) => {
    await mesh(request, server);
    await slow(page);
    const asked: string[] = [];
    page.on('request', (one) => void asked.push(new URL(one.url()).pathname));
    for (const mode of ['plan', 'replay', 'live']) {
      await page.goto(`/?${mode}#v=${mode}`);
      await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
    }
    expect(asked.filter((path) => path.startsWith('/api/v1'))).toEqual([]);
  });
});

test.describe('an offer that does not come', () => {
  test.use({ terrain: false, errors: /ERR_FAILED/ });

  test('is awaited, and said to be', async ({ page, request }) => {
    await plan(request, ['Ramberget']);
    await page.route('**/page.json', (route) => route.abort());
    await page.goto('/');
    await expect(page.getByRole('alert')).toContainText('The server does not answer.');
    await page.unroute('**/page.json');
    await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
  });
});

test('the view begins where the ground is', async ({ page }) => {
  await page.goto('/');
  await drawn(page);
  const area = await (await page.request.get('/api/v1/terrain/area')).json();
  const [south, north] = [
    Math.min(...area.areas.map((box: { south: number }) => box.south)),
    Math.max(...area.areas.map((box: { north: number }) => box.north)),
  ];
  const view = () => page.evaluate(() => window.groundwave.map.view());
  await expect.poll(async () => Math.abs((await view()).lat - (south + north) / 2)).toBeLessThan((north - south) / 2);
  expect((await view()).zoom).toBeGreaterThan(4);
});

test('a step back leads to the deployment, the view and the recording before', async ({ page, request }) => {
  const [first, second] = [await plan(request, ['Ramberget'], 'First'), await plan(request, ['Masthugget'], 'Second')];
  const log = readFileSync(join(import.meta.dirname, '../../../tests/fixtures/compat/failover.gwlog'));
  const { id: recording } = await (
    await request.post('/api/v1/replays?name=failover.gwlog', { data: log, headers: { 'content-type': 'application/octet-stream' } })
  ).json();
  const hash = () => page.evaluate(() => location.hash);
  await open(page, `/#m=11/57.7/11.9&d=${first.id}`);
  // Another place is no step.
  await page.evaluate(() => window.groundwave.map.map.panBy([60, 0], { animate: false }));
  await page.locator('#deployment').selectOption(second.id);
  await expect(page.getByRole('option', { name: /Masthugget/ })).toBeVisible();
  await expect.poll(hash).toContain(second.id);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await expect.poll(hash).toContain(`r=${recording}`);
  await page.goBack();
  await expect(page.getByRole('option', { name: /Masthugget/ })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /Masthugget/ })).toHaveCount(0);
  await page.goForward();
  await expect(page.getByRole('option', { name: /Masthugget/ })).toBeVisible();
});

test.describe('a place that another page hands over', () => {
  test('is shown with what can be done there, once', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/?lat=57,70&lon=11,95#d=${id}`);
    const menu = page.getByRole('group', { name: 'Actions at this place' });
    await expect(menu).toContainText('57.7000° N 11.9500° E');
    const view = await page.evaluate(() => window.groundwave.map.view());
    expect([view.lat, view.lon, view.zoom].map((value) => Number(value.toFixed(3)))).toEqual([57.7, 11.95, 14]);
    expect(new URL(page.url()).search).toBe('');
    await menu.getByRole('button', { name: 'Add a node' }).click();
    await expect.poll(async () => (await nodesOf(request, id)).length).toBe(2);
    const [added] = (await nodesOf(request, id)).filter(({ name }) => name !== 'Ramberget');
    expect([added!.lat, added!.lon]).toEqual([57.7, 11.95]);
  });

  test('is where an empty server begins', async ({ page, request }) => {
    await open(page, '/?lat=57.7&lng=11.95');
    await expect(page.getByRole('combobox', { name: 'Town or coordinates' })).toHaveValue('57.7, 11.95');
    await page.getByRole('region', { name: 'Begin' }).getByRole('option').first().click();
    await expect.poll(async () => (await (await request.get('/api/v1/deployments')).json())[0]?.center).toEqual({ lat: 57.7, lon: 11.95 });
  });

  test('is refused with the reason where it is none', async ({ page, request }) => {
    await plan(request, ['Ramberget']);
    await open(page, '/?lat=157.7&lon=11.95');
    await expect(page.locator('.messages')).toContainText('swapped');
    await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  });
});

test('another address in the same tab is read, and a deployment that is gone is said to be', async ({ page, request }) => {
  const [first, second] = [await plan(request, ['Ramberget'], 'First'), await plan(request, ['Masthugget'], 'Second')];
  await open(page, `/#m=11/57.7/11.9&d=${first.id}`);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  await page.evaluate((id) => void (location.hash = `m=11/57.7/11.9&d=${id}`), second.id);
  await expect(page.getByRole('option', { name: /Masthugget/ })).toBeVisible();
  await request.delete(`/api/v1/deployments/${first.id}`);
  // The page is about to write its own address, and is late: that of somebody else stays.
  await page.evaluate((id) => {
    window.groundwave.map.map.panBy([40, 0], { animate: false });
    location.hash = `m=11/57.7/11.9&d=${id}`;
    for (const begun = performance.now(); performance.now() - begun < 1500;);
  }, first.id);
  await expect(page.getByText('it may have been deleted')).toBeVisible();
  await expect(page.getByRole('option', { name: /Masthugget/ })).toHaveCount(0);
});

test('a browser that lacks what WebKit lacks draws ground and a mesh', async ({ page, request }) => {
  await page.addInitScript(() => {
    for (const name of ['requestIdleCallback', 'cancelIdleCallback', 'OffscreenCanvas', 'scheduler']) Reflect.deleteProperty(window, name);
    Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator);
  });
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#m=11/57.7/11.9&d=${id}`);
  await drawn(page);
  await expect.poll(() => page.evaluate(() => window.groundwave.map.relief.squares)).toBeGreaterThan(8);
  await page.getByRole('button', { name: 'Close the offer of ground' }).click();
  await fill(page, DENSE);
  const all = await spots(page, DENSE);
  await expect.poll(() => lacking(page, all)).toEqual([]);
  await expect(page.locator('.messages > *')).toHaveCount(0);
});

test.describe('a fault', () => {
  test.use({ terrain: false, errors: /.*/ });

  test('of the map is shown, and the lists work', async ({ page, request }) => {
    await plan(request, ['Ramberget']);
    await page.addInitScript(() => {
      const own = HTMLCanvasElement.prototype.getContext as (kind: string, ...rest: unknown[]) => unknown;
      HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...rest: unknown[]) {
        return kind === 'webgl2' ? null : own.call(this, kind, ...rest);
      } as never;
    });
    await page.goto('/');
    await expect(page.locator('.map')).toContainText('the map needs WebGL 2');
    await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  });

  test('while the layers of the map are made is shown', async ({ page, request }) => {
    await plan(request, ['Ramberget']);
    await page.addInitScript(() => {
      window.Path2D = class {
        constructor() {
          throw new Error('there are no paths here');
        }
      } as never;
    });
    await page.goto('/');
    await expect(page.locator('.messages')).toContainText('there are no paths here');
  });

  test('before the page has begun is shown', async ({ page }) => {
    await page.addInitScript(() => Reflect.deleteProperty(window, 'matchMedia'));
    await page.goto('/');
    await expect(page.getByRole('alert')).toContainText('The page has not begun: ');
    await expect(page.getByRole('alert')).toContainText('matchMedia');
  });

  test('of a script that does not come is shown', async ({ page }) => {
    await page.route('**/assets/index-*.js', (route) => route.abort());
    await page.goto('/');
    await expect(page.getByRole('alert')).toContainText('a script did not load');
  });
});
