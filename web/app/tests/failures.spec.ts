// Each question to the server that is refused, breaks off or gets no answer is shown, and asked again by a button.
import type { Page, Route } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { login, mesh } from './mesh';
import { expect, open, plan, test } from './server';

const LOG = join(import.meta.dirname, '../../../tests/fixtures/compat/failover.gwlog');

test.use({ terrain: false, errors: /the server responded with a status of|ERR_FAILED|ERR_CONTENT_LENGTH_MISMATCH|net::ERR/ });

type Way = 'refused' | 'absent' | 'html' | 'half';
const ANSWERS: Record<Way, (route: Route) => Promise<void>> = {
  refused: (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'Out of order.' }) }),
  absent: (route) => route.abort(),
  html: (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<html><body>Bad gateway</body></html>' }),
  half: (route) => route.fulfill({ status: 200, contentType: 'application/json', body: '[{"id":' }),
};
const TEXTS: Record<Way, string> = {
  refused: 'Out of order.',
  absent: 'The server does not answer.',
  html: 'The server answered 502.',
  half: 'not complete',
};

/** Has a question fail until the returned function is called. */
async function fail(page: Page, address: string | RegExp, way: Way, method = 'GET'): Promise<() => Promise<void>> {
  const answer = (route: Route) => (route.request().method() === method ? ANSWERS[way](route) : route.fallback());
  await page.route(address, answer);
  return () => page.unroute(address, answer);
}

const again = (page: Page) => page.getByRole('button', { name: 'Try again' });

for (const way of Object.keys(ANSWERS) as Way[]) {
  test(`lists of a plan that are ${way} are asked for again`, async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget', 'Masthugget']);
    const answer = await fail(page, '**/api/v1/presets/models', way);
    await page.goto(`/#d=${id}`);
    await expect(page.getByRole('alert').first()).toContainText(TEXTS[way]);
    await answer();
    await again(page).first().click();
    await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
    await expect(again(page)).toHaveCount(0);
  });

  test(`nodes that are ${way} are no empty plan`, async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget', 'Masthugget']);
    const answer = await fail(page, `**/api/v1/deployments/${id}/nodes`, way);
    await page.goto(`/#d=${id}`);
    await expect(page.getByText(`The nodes did not come: `)).toContainText(TEXTS[way]);
    await expect(page.getByText('No node yet')).toHaveCount(0);
    await answer();
    await again(page).first().click();
    await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  });

  test(`an analysis, a coverage and a file that are ${way} say so, and work afterwards`, async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
    await open(page, `/#d=${id}`);
    let answer = await fail(page, '**/api/v1/links/analyze', way, 'POST');
    await page.evaluate((ids) => (window.groundwave.app.ui.selected = ids), [nodes['Ramberget']!, nodes['Masthugget']!]);
    await expect(page.locator('.card').getByRole('alert')).toContainText(TEXTS[way]);
    await answer();
    await page.locator('.card').getByRole('button', { name: 'Try again' }).click();
    await expect(page.locator('#verdict')).toBeVisible();

    await page.evaluate(
      (id) => ([window.groundwave.app.ui.selected, window.groundwave.app.ui.tab] = [[id], 'coverage']),
      nodes['Ramberget']!,
    );
    await page.getByLabel('Cells along a side').fill('16');
    answer = await fail(page, '**/api/v1/coverage', way, 'POST');
    const compute = page.getByRole('button', { name: 'Compute from Ramberget' });
    await compute.click();
    await expect(page.locator('.messages')).toContainText(TEXTS[way]);
    await answer();
    // The page notices that the server is there again by itself.
    await page.waitForFunction(() => !window.groundwave.app.ui.serverGone);
    await compute.click();
    await expect(page.locator('.statistics')).toHaveCount(1);

    answer = await fail(page, '**/api/v1/coverage/*/export**', way === 'half' ? 'absent' : way);
    const select = page.getByRole('combobox', { name: 'Export Ramberget' });
    await page.evaluate(() => (window.groundwave.app.ui.messages = []));
    await select.selectOption('png');
    await expect(page.locator('.messages')).toContainText(TEXTS[way === 'half' ? 'absent' : way]);
    await answer();
    await page.waitForFunction(() => !window.groundwave.app.ui.serverGone);
    const download = page.waitForEvent('download');
    await select.selectOption('png');
    expect((await download).suggestedFilename()).toContain('Ramberget');
  });
}

test('a slow file is named while it is read, and the page stays usable', async ({ page }) => {
  await open(page);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/api/v1/deployments/import**', async (route) => {
    await held;
    await route.fallback();
  });
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['name,lat,lon\nNorth,57.71,11.93\n'], 'north.csv'));
    document.querySelector('main')!.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
  });
  await expect(page.locator('#reading')).toHaveText('Reading north.csv…');
  await page.getByRole('button', { name: 'Menu' }).click();
  await expect(page.getByRole('group', { name: 'Menu' })).toBeVisible();
  release();
  await expect(page.locator('#reading')).toHaveCount(0);
  await expect(page.locator('#deployment option:checked')).toHaveText('north');
});

test('ground, its offer and the print sheet that do not come are asked for again, or left out', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  let answer = await fail(page, '**/api/v1/terrain/area', 'refused');
  await open(page, `/#d=${id}`);
  const card = page.getByRole('region', { name: 'Ground', exact: true });
  await expect(card).toContainText('The ground did not come.');
  await page.keyboard.press('Control+p');
  await expect(page.locator('.paper')).toContainText('No map: Out of order.');
  await expect(page.locator('.paper')).toHaveAttribute('data-ready', 'true');
  await page.keyboard.press('Escape');
  await answer();
  answer = await fail(page, '**/api/v1/terrain/offer', 'refused', 'POST');
  await card.getByRole('button', { name: 'Try again' }).click();
  await expect(card).toContainText('Out of order.');
  await page.evaluate(() => window.groundwave.app.offerLandCover());
  await expect(page.locator('#land-cover')).toContainText('Out of order.');
  await answer();
  await page.locator('#land-cover').getByRole('button', { name: 'Try again' }).click();
  await expect(page.locator('#land-cover')).not.toContainText('Out of order.');
});

test('a list of recordings and frames that do not come are asked for again', async ({ page, request }) => {
  let answer = await fail(page, '**/api/v1/replays', 'refused');
  await page.goto('/#v=replay');
  await expect(page.getByText('The recordings of the server did not come.')).toBeVisible();
  await expect(page.getByText('No recording yet')).toHaveCount(0);
  await answer();
  await again(page).click();
  await expect(page.getByText('No recording yet')).toBeVisible();

  const headers = { 'content-type': 'application/octet-stream' };
  const { id } = await (await request.post('/api/v1/replays?name=failover.gwlog', { data: readFileSync(LOG), headers })).json();
  answer = await fail(page, '**/api/v1/replays/*/frames**', 'refused');
  await page.evaluate((id) => void (location.hash = `v=replay&r=${id}`), id);
  await expect(page.locator('.side').getByRole('alert')).toContainText('Out of order.');
  await answer();
  await again(page).click();
  await expect(page.locator('#flows, #events').first()).toBeVisible();
  await page.waitForFunction(() => (window.groundwave as unknown as { replay: { shown: unknown } }).replay.shown !== null);
  await expect(again(page)).toHaveCount(0);
});

test('a position that no module and no server reads has a reason', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await page.route(/positions.*\.wasm|position\.json/, (route) => route.abort());
  await page.goto(`/?lat=57.7&lon=11.97#d=${id}`);
  await expect(page.locator('#nodes')).toContainText('Ramberget');
  await expect(page.locator('.messages')).toContainText('The position cannot be read');
});

test.describe('the live view', () => {
  test.use({ services: 'both', heartbeat_s: 60 });

  test('lists that do not come are not empty ones', async ({ page, server, request }) => {
    await mesh(request, server, '/gateway');
    const answer = await fail(page, /\/v1\/(flows|admin\/users|tokens|firmware)(\/|\?|$)/, 'refused');
    await page.goto('/#v=live');
    await login(page);
    for (const [group, tab] of [
      ['Rules', 'Flows'],
      ['Access', 'Users'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Groups of panels' }).getByRole('button', { name: group }).click();
      await page.getByRole('tab', { name: tab }).click();
      await expect(
        page
          .getByRole('tabpanel')
          .getByText(/did not come/)
          .first(),
      ).toBeVisible();
    }
    await answer();
    await again(page).first().click();
    await expect(page.getByRole('tabpanel').getByText(/did not come/)).toHaveCount(0);
  });
});

test('a refusal in a dialog is above it, and its dismissal leaves the dialog open', async ({ page, request }) => {
  await plan(request, ['Ramberget']);
  await open(page);
  await fail(page, '**/api/v1/deployments', 'refused', 'POST');
  const dialog = page.getByRole('dialog');
  const message = page.locator('.messages').getByText('Out of order.');
  for (const size of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size);
    await page.evaluate(() => (window.groundwave.app.ui.dialog = 'deployment'));
    await dialog.getByLabel('Name').fill('Second');
    await dialog.getByRole('button', { name: 'Make' }).click();
    await expect(message).toBeVisible();
    const seen = await message.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2) === element;
    });
    expect(seen, `${size.width}`).toBe(true);
    await page.locator('.messages').getByRole('button', { name: 'Dismiss' }).click();
    await expect(message).toHaveCount(0);
    await expect(dialog.getByLabel('Name')).toHaveValue('Second');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(dialog).toHaveCount(0);
  }
});
