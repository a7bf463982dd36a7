// Keys of the page, beside fields that take no text; moves by keys; what is shared; a template that is gone.
import type { Page } from '@playwright/test';
import { expect, nodesOf, open, plan, test, PLACES } from './server';

test.use({ terrain: false });

/** Presses a key and answers whether the page took it from the browser. */
async function taken(
  page: Page,
  key: string,
  modifiers: { altKey?: boolean; shiftKey?: boolean; ctrlKey?: boolean } = {},
): Promise<boolean> {
  return page.evaluate(
    ([key, alt, shift, ctrl]) => {
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, altKey: alt, shiftKey: shift, ctrlKey: ctrl });
      (document.activeElement ?? document.body).dispatchEvent(event);
      return event.defaultPrevented;
    },
    [key, modifiers.altKey ?? false, modifiers.shiftKey ?? false, modifiers.ctrlKey ?? false] as const,
  );
}

test('arrows with Alt are of the browser while nothing is selected, and their repeats are one move', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}`);
  expect(await taken(page, 'ArrowLeft', { altKey: true })).toBe(false);
  await page.evaluate((node) => (window.groundwave.app.ui.selected = [node]), nodes['Ramberget']!);
  let puts = 0;
  page.on('request', (sent) => void (sent.method() === 'PUT' && puts++));
  const before = (await nodesOf(request, id)).find((node) => node.name === 'Ramberget')!;
  for (let time = 0; time < 12; time++) expect(await taken(page, 'ArrowUp', { altKey: true, shiftKey: true })).toBe(true);
  const place = async () => (await nodesOf(request, id)).find((node) => node.name === 'Ramberget')!.lat;
  await expect.poll(place).toBeGreaterThan(before.lat);
  expect(puts).toBe(1);
  await expect
    .poll(() => page.evaluate(() => window.groundwave.app.history.done.map((command) => command.label)))
    .toEqual(['Move Ramberget']);
  // An undo right after a move takes back that move.
  const moved = await place();
  await taken(page, 'ArrowUp', { altKey: true });
  await taken(page, 'z', { ctrlKey: true });
  await expect(page.locator('.messages')).toContainText('Undone: Move Ramberget');
  expect(await place()).toBeCloseTo(moved, 9);
  await page.keyboard.press('Control+z');
  await expect.poll(place).toBe(before.lat);
});

test('keys work beside a checkbox and a slider, and not in fields of text', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}&tab=coverage`);
  const checkbox = page.getByLabel('Nodes in one channel disturb each other');
  await checkbox.check();
  await page.keyboard.press('2');
  await expect(page.getByRole('tab', { name: /Links/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('1');
  await page.getByLabel('Filter nodes').focus();
  expect(await taken(page, 'Delete')).toBe(false);
  await page.keyboard.press('Tab');
  await page.evaluate(() => (window.groundwave.app.ui.tab = 'coverage'));
  await checkbox.focus();
  await page.keyboard.press('Delete');
  await expect.poll(async () => (await nodesOf(request, id)).map((node) => node.name)).toEqual(['Masthugget']);
  await page.keyboard.press('Control+z');
  await expect.poll(async () => (await nodesOf(request, id)).length).toBe(2);
});

test('an address that cannot hold the selection is shared with that word', async ({ page, request }) => {
  const { id } = await plan(request, []);
  for (let number = 0; number < 21; number++)
    await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name: `N${number}`, ...PLACES.Ramberget, lon: 11.9 + number / 1000 } });
  await open(page, `/#d=${id}`);
  await page.keyboard.press('Control+a');
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.locator('.messages')).toContainText('It has no selection: 21 nodes are selected, an address holds 20.');
});

test.describe('a template that another client deleted', () => {
  test.use({ errors: /the server responded with a status of 4/ });

  test('blocks no new nodes', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    const template = await (await request.post('/api/v1/templates', { data: { name: 'Mast', role: 'sensor', height_agl_m: 30 } })).json();
    await open(page, `/#d=${id}`);
    await page.evaluate((template) => (window.groundwave.app.tools.templateId = template), template.id as string);
    const add = (lon: number) => page.evaluate((lon) => window.groundwave.app.addNode({ lat: 57.7, lon }), lon);
    expect(await add(11.91)).toBe(true);
    expect((await nodesOf(request, id)).map((node) => node.height_agl_m)).toContain(30);
    await request.delete(`/api/v1/templates/${template.id}`);
    expect(await add(11.92)).toBe(true);
    await expect(page.locator('.messages')).toContainText('The template was deleted by another client');
    expect((await nodesOf(request, id)).length).toBe(3);
    expect(await page.evaluate(() => window.groundwave.app.tools.templateId)).toBeNull();
  });
});
