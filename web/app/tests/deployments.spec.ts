// Changes of deployments are undone and done again beside those of their nodes.
import { expect, nodesOf, open, plan, test } from './server';

// The browser itself logs what is refused.
test.use({ terrain: false, errors: /the server responded with a status of 4/ });

test('environment and name of a deployment are changed, undone and done again', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}`);
  const stored = async () => (await request.get(`/api/v1/deployments/${id}`)).json();
  const before = await stored();
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Deployment and environment…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Älvsborg');
  await dialog.getByRole('textbox', { name: 'Rain, mm/h' }).fill('12,5');
  await dialog.locator('[name=surroundings]').selectOption({ index: 3 });
  await dialog.getByRole('button', { name: 'Keep' }).click();
  await expect(dialog).toHaveCount(0);
  await expect.poll(async () => (await stored()).environment.rain_rate_mm_h).toBe(12.5);
  await expect(page.locator('#deployment option:checked')).toHaveText('Älvsborg');

  const undo = page.getByRole('button', { name: 'Undo' });
  await expect(undo).toHaveAttribute('title', /Name and environment of Göteborg/);
  await undo.click();
  await expect.poll(async () => (await stored()).name).toBe('Göteborg');
  expect((await stored()).environment).toEqual(before.environment);
  await page.getByRole('button', { name: 'Redo' }).click();
  await expect.poll(async () => (await stored()).environment.clutter).not.toBeNull();
  expect((await stored()).name).toBe('Älvsborg');

  // What another client has set since stays.
  const { environment } = await stored();
  await request.patch(`/api/v1/deployments/${id}`, { data: { environment: { ...environment, rain_rate_mm_h: 40 } } });
  await page.waitForFunction(() => window.groundwave.app.plan.deployment?.environment.rain_rate_mm_h === 40);
  await undo.click();
  await expect(page.locator('.messages')).toContainText('changed by another client since');
  expect((await stored()).environment.rain_rate_mm_h).toBe(40);
});

test('a deleted deployment comes back as it was, by the message and by the history', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  const other = await plan(request, ['Långedrag'], 'Elsewhere');
  await request.patch(`/api/v1/nodes/${nodes['Ramberget']}`, {
    data: { radio: { antenna: { preset: 'sector_17_90' } }, pointing: { azimuth_deg: 200, elevation_deg: -2 }, woodland_depth_m: 30 },
  });
  const whole = async (within: string) =>
    (await nodesOf(request, within))
      .map((node) => ({ ...node, deployment_id: '', created_at: '', updated_at: '' }))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  const [before, outline] = [await whole(id), await (await request.get(`/api/v1/deployments/${id}`)).json()];
  await open(page, `/#d=${id}`);
  await page.getByRole('option', { name: /Ramberget/ }).click();
  await page.locator('[name=height_agl_m]').fill('45');
  await page.locator('[name=height_agl_m]').press('Enter');
  await page.waitForFunction(() => window.groundwave.app.history.done.length === 1);

  const remove = async () => {
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('button', { name: 'Deployment and environment…' }).click();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: /^Delete .* and its nodes$/ }).click();
    await expect(page.locator('#deployment option:checked')).toHaveText('Elsewhere');
  };
  await remove();
  expect((await request.get(`/api/v1/deployments/${id}`)).status()).toBe(404);
  // The message offers it for a while.
  const message = page.locator('.messages > div', { hasText: 'Deleted Göteborg.' });
  await message.getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('#deployment option:checked')).toHaveText('Göteborg');
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  const shown = () => page.evaluate(() => window.groundwave.app.plan.deployment!.id);
  const again = await (await request.get(`/api/v1/deployments/${await shown()}`)).json();
  expect(again.environment).toEqual(outline.environment);
  // What was changed before the deletion is undone in it, and then it is as it was at first.
  await page.locator('.top').getByRole('button', { name: 'Undo' }).click();
  await expect.poll(async () => whole(await shown())).toEqual(before);

  // After the message has gone the history has it, also after another deployment was changed.
  await remove();
  await page.keyboard.press('n');
  await page.locator('.map').click({ position: { x: 300, y: 300 } });
  await expect.poll(async () => (await nodesOf(request, other.id)).length).toBe(2);
  await page.keyboard.press('Escape');
  const undo = page.locator('.top').getByRole('button', { name: 'Undo' });
  await undo.click();
  await expect.poll(async () => (await nodesOf(request, other.id)).length).toBe(1);
  await undo.click();
  await expect(page.locator('#deployment option:checked')).toHaveText('Göteborg');
  expect((await nodesOf(request, other.id)).length).toBe(1);
  expect(await whole(await shown())).toEqual(before);
});

test('a deployment whose deletion is refused stays, and follows its changes', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}`);
  await page.route(`**/api/v1/deployments/${id}`, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'Out of order.' }) })
      : route.fallback(),
  );
  await page.evaluate(() => window.groundwave.app.removeDeployment(window.groundwave.app.plan.deployment!));
  await expect(page.locator('.messages')).toContainText('Out of order.');
  await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name: 'Later', lat: 57.7, lon: 11.9 } });
  await expect(page.locator('#nodes [role=option]')).toHaveCount(2);
  expect(await page.evaluate(() => window.groundwave.app.history.done.length)).toBe(0);
});

test('a deleted template comes back', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await request.post('/api/v1/templates', { data: { name: 'Roof', height_agl_m: 12 } });
  await open(page, `/#d=${id}&tab=tools`);
  await page.locator('#template').selectOption({ label: 'Roof' });
  await page.getByRole('button', { name: 'Delete this template…' }).click();
  await page.getByRole('button', { name: 'Delete the template Roof' }).click();
  await expect(page.locator('#template option', { hasText: 'Roof' })).toHaveCount(0);
  await page.locator('.messages').getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('#template option', { hasText: 'Roof' })).toHaveCount(1);
  const templates = await (await request.get('/api/v1/templates')).json();
  expect(templates.find((one: { name: string }) => one.name === 'Roof').height_agl_m).toBe(12);
});
