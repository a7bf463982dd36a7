// Changes of several nodes of which one fails: what was done is kept, named, and can be undone.
import type { Page } from '@playwright/test';
import { expect, nodesOf, open, plan, test } from './server';

const NAMES = ['Ramberget', 'Masthugget', 'Långedrag'] as const;

// The browser itself logs what is refused.
test.use({ terrain: false, errors: /the server responded with a status of 503/ });

/** Refuses requests of a method to an address after `allowed` of them, until the returned function is called. */
async function refuse(page: Page, method: string, allowed: number, address = '**/api/v1/nodes/**'): Promise<() => Promise<void>> {
  let count = 0;
  await page.route(address, (route) => {
    if (route.request().method() !== method || ++count <= allowed) return route.fallback();
    return route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'Out of order.' }) });
  });
  return () => page.unroute(address);
}

const done = (page: Page) => page.evaluate(() => window.groundwave.app.history.done.map((command) => command.label));
const undone = (page: Page) => page.evaluate(() => window.groundwave.app.history.undone.map((command) => command.label));

test('an edit that fails midway is kept for the nodes that were changed', async ({ page, request }) => {
  const { id, nodes } = await plan(request, NAMES);
  await open(page, `/#d=${id}&sel=${NAMES.map((name) => nodes[name]).join()}`);
  const heights = async () => Object.fromEntries((await nodesOf(request, id)).map((node) => [node.name, node.height_agl_m]));
  const before = await heights();
  const allow = await refuse(page, 'PATCH', 1);
  await page.locator('[name=height_agl_m]').fill('55');
  await page.locator('[name=height_agl_m]').press('Enter');
  await expect(page.locator('.messages')).toContainText('1 of 3 nodes changed: Ramberget. Masthugget: Out of order.');
  await allow();
  expect(await heights()).toEqual({ ...before, Ramberget: 55 });
  expect(await done(page)).toEqual(['Height of Ramberget']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(heights).toEqual(before);
  expect([await done(page), await undone(page)]).toEqual([[], ['Height of Ramberget']]);
});

test('a delete that fails midway can be undone, and an undo that fails midway goes on', async ({ page, request }) => {
  const { id, nodes } = await plan(request, NAMES);
  await open(page, `/#d=${id}&sel=${NAMES.map((name) => nodes[name]).join()}`);
  const names = async () => (await nodesOf(request, id)).map((node) => node.name).toSorted();
  let allow = await refuse(page, 'DELETE', 2);
  await page.locator('#delete-node').click();
  await expect(page.locator('.messages')).toContainText('2 of 3 nodes deleted: Ramberget, Masthugget. Långedrag: Out of order.');
  await allow();
  expect(await names()).toEqual(['Långedrag']);
  await expect(page.locator('#nodes [role=option]')).toHaveCount(1);
  expect(await done(page)).toEqual(['Delete 2 nodes']);

  allow = await refuse(page, 'POST', 1, '**/api/v1/deployments/*/nodes');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('.messages')).toContainText('1 of 2 nodes made again: Ramberget. Masthugget: Out of order.');
  await allow();
  expect(await names()).toEqual(['Långedrag', 'Ramberget']);
  expect([await done(page), await undone(page)]).toEqual([['Delete Masthugget'], ['Delete Ramberget']]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(names).toEqual([...NAMES].toSorted());
  // Done again, each once.
  await page.getByRole('button', { name: 'Redo' }).click();
  await page.getByRole('button', { name: 'Redo' }).click();
  await expect.poll(names).toEqual(['Långedrag']);
});

test('nodes that were added and moved before a failure are named and can be undone', async ({ page, request }) => {
  const { id, nodes } = await plan(request, NAMES);
  await open(page, `/#d=${id}&sel=${NAMES.map((name) => nodes[name]).join()}`);
  const all = async () => Object.fromEntries((await nodesOf(request, id)).map((node) => [node.name, node.lat]));
  const before = await all();
  let allow = await refuse(page, 'PUT', 1);
  await page.evaluate(() => {
    const { app } = window.groundwave;
    const moves = app.chosenNodes.map(({ id, lat, lon }) => ({ id, from: { lat, lon }, to: { lat: lat + 0.01, lon } }));
    return app.attempt(() => app.commands.move(moves));
  });
  await expect(page.locator('.messages')).toContainText('1 of 3 nodes moved: Ramberget.');
  await allow();
  expect(await all()).toEqual({ ...before, Ramberget: before['Ramberget']! + 0.01 });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(all).toEqual(before);

  allow = await refuse(page, 'POST', 1, '**/api/v1/deployments/*/nodes');
  await page.evaluate(() => {
    const { app } = window.groundwave;
    return app.attempt(() =>
      app.commands.add(
        ['Site 1', 'Site 2'].map((name, at) => ({ name, lat: 57.7, lon: 11.9 + at / 100 })),
        'Add 2 sites',
      ),
    );
  });
  await expect(page.locator('.messages')).toContainText('1 of 2 nodes added: Site 1. Site 2: Out of order.');
  await allow();
  expect(Object.keys(await all())).toContain('Site 1');
  expect(await done(page)).toEqual(['Add Site 1']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(all).toEqual(before);
});
