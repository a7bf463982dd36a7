// Fields: values that are refused, spellings of numbers, terms of the environment; state of one view in another.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Picture, rgb } from './pixels';
import { expect, nodesOf, open, plan, test } from './server';

const LOGS = join(import.meta.dirname, '../../../tests/fixtures/compat');

test.describe('refusals', () => {
  // The browser itself logs them.
  test.use({ errors: /the server responded with a status of 4/ });

  test('numbers are read with a comma, marked until they are stored, and give way to the stored ones when refused', async ({
    page,
    request,
  }) => {
    const { id, nodes } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
    const node = async () => (await nodesOf(request, id))[0]!;
    const field = page.locator('[name=height_agl_m]');
    await field.fill('12,5');
    await expect(page.locator('#node-fields')).toContainText('not stored');
    await field.press('Enter');
    await expect.poll(async () => (await node()).height_agl_m).toBe(12.5);
    await expect(page.locator('#node-fields')).not.toContainText('not stored');
    await expect(field).toHaveValue('12.5');

    for (const text of ['-4', 'tall', '1,000', '30000', '']) {
      await field.fill(text);
      await field.press('Enter');
      await expect(field, text).toHaveValue('12.5');
    }
    await expect(page.locator('.messages')).toContainText('invalid Antenna height, m: found 30000, allowed 0 to 20000');
    expect((await node()).height_agl_m).toBe(12.5);

    // The server refuses too.
    const name = page.locator('[name=name]');
    await name.fill('');
    await name.press('Enter');
    await expect(name).toHaveValue('Ramberget');
    await page.route('**/api/v1/nodes/*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 422, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'No such role.' }) })
        : route.fallback(),
    );
    await page.locator('[name=role]').selectOption('sensor');
    await expect(page.locator('[name=role]')).toHaveValue('command');
    await field.fill('13');
    await field.press('Enter');
    await expect(field).toHaveValue('12.5');
  });
});

test('what is written while another client changes the field stays, and has its blanks and units taken off', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  const path = `/api/v1/nodes/${nodes['Ramberget']}`;
  const node = async () => (await nodesOf(request, id))[0]!;
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  const [name, height] = [page.locator('[name=name]'), page.locator('[name=height_agl_m]')];
  await name.pressSequentially(' x');
  await request.patch(path, { data: { name: 'Other' } });
  await expect(page.locator('.card .head b')).toHaveText('Other');
  await expect(name).toHaveValue(/ x/);
  await name.fill('\tNäs ');
  await name.press('Enter');
  await expect.poll(async () => (await node()).name).toBe('Näs');
  await expect(name).toHaveValue('Näs');

  await height.fill('12,5 m');
  await request.patch(path, { data: { height_agl_m: 44, name: 'Again' } });
  await expect(name).toHaveValue('Again');
  await expect(height).toHaveValue('12,5 m');
  await height.press('Enter');
  await expect.poll(async () => (await node()).height_agl_m).toBe(12.5);
  await expect(height).toHaveValue('12.5');
  // The same number in another spelling is stored already.
  await height.fill('12,50');
  await height.press('Enter');
  await expect(height).toHaveValue('12.5');
  const power = page.locator('[name=tx_power_dbm]');
  await power.fill('20 W');
  await power.press('Enter');
  await expect(page.locator('.messages')).toContainText('invalid Power, dBm: found 20 W, allowed a number such as 12.5, -50 to 80');
});

test('arrows step a number, ten with Shift, within its limits and as one change', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  const height_m = async () => (await nodesOf(request, id))[0]!.height_agl_m;
  const field = page.locator('[name=height_agl_m]');
  await field.focus();
  for (const key of ['ArrowUp', 'Shift+ArrowUp', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
  await expect(field).toHaveValue('31');
  await expect.poll(height_m).toBe(31);
  await expect.poll(() => page.evaluate(() => window.groundwave.app.history.done.length)).toBe(1);
  await field.focus();
  for (let step = 0; step < 4; step++) await page.keyboard.press('Shift+ArrowDown');
  await expect.poll(height_m).toBe(0);
});

test('a form is not sent with the value before one that is refused', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}&tab=coverage`);
  let asked = 0;
  page.on('request', (sent) => void (sent.method() !== 'GET' && asked++));
  const radius = page.getByLabel('Radius, km');
  await radius.fill('900');
  await radius.press('Enter');
  await expect(page.locator('.messages')).toContainText('invalid Radius, km: found 900, allowed 0.1 to 500');
  await expect(radius).toHaveValue('10');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Deployment and environment…' }).click();
  const rain = page.getByLabel('Rain, mm/h');
  for (const send of [
    () => rain.press('Enter'),
    () => page.getByRole('dialog').getByRole('button', { name: 'Keep', exact: true }).click(),
  ]) {
    await rain.fill('500');
    await send();
    await expect(rain).toHaveValue('0');
    await expect(page.getByRole('dialog')).toBeVisible();
  }
  expect(asked).toBe(0);
  await rain.fill('20');
  await rain.press('Enter');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect.poll(async () => (await (await request.get(`/api/v1/deployments/${id}`)).json()).environment.rain_rate_mm_h).toBe(20);
});

test('every term of the environment has a field', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}`);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Deployment and environment…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.locator('summary')).toHaveCount(4);
  for (const summary of await dialog.locator('summary').all()) await summary.click();
  await dialog.getByLabel('Surroundings').selectOption('suburban');
  await dialog.getByLabel('Every path crosses woodland').check();
  await dialog.locator('[name=vegetation_depth_m]').fill('62,5');
  await dialog.locator('[name=man_made_noise]').selectOption('residential');
  await dialog.locator('[name=interference_dbm]').fill('-97');
  await dialog.getByLabel('Permittivity').fill('25');
  await dialog.getByLabel('Rain in 0.01 % of it').fill('32');
  await dialog.getByLabel('Multipath fading').check();
  await dialog.getByRole('button', { name: 'Keep' }).click();
  await expect(dialog).toBeHidden();
  const { environment } = await (await request.get(`/api/v1/deployments/${id}`)).json();
  expect(environment).toMatchObject({
    clutter: { kind: 'height_gain', category: 'suburban' },
    vegetation: { depth_m: 62.5, specific_attenuation_db_m: 0.17 },
    man_made_noise: 'residential',
    interference_dbm: -97,
    permittivity: 25,
    rain_rate_001_mm_h: 32,
    multipath: { terrain_roughness_m: 20 },
  });
});

test.describe('with a file that is refused', () => {
  test.use({ errors: /the server responded with a status of 400/ });

  test('a calibration is given as the file of the command, and taken away', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}`);
    const stored = async () => (await (await request.get(`/api/v1/deployments/${id}`)).json()).environment.calibration;
    const dialog = page.getByRole('dialog');
    const edit = async () => {
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'Deployment and environment…' }).click();
    };
    await edit();
    const field = dialog.locator('[name=calibration]');
    const profile = 'name = "harbour"\n\n[[class]]\nfrequency_mhz = [800.0, 900.0]\ndistance_km = [0.0, 5.0]\nloss_db = 4.2\nlinks = 41\n';
    const file = (content: string) => ({ name: 'profile.toml', mimeType: 'application/toml', buffer: Buffer.from(content) });
    await field.setInputFiles(file('name = 3'));
    await expect(dialog.getByRole('alert')).toContainText('profile.toml');
    await field.setInputFiles(file(profile));
    await expect(dialog).toContainText('Calibration by harbour, 1 class of paths');
    await expect(dialog.getByRole('alert')).toHaveCount(0);
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await expect(dialog).toBeHidden();
    expect(await stored()).toMatchObject({ name: 'harbour', classes: [{ loss_db: 4.2 }] });
    await edit();
    await dialog.getByRole('button', { name: 'Remove it' }).click();
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await expect(dialog).toBeHidden();
    expect(await stored()).toBeFalsy();
  });
});

test.describe('without terrain', () => {
  test.use({ terrain: false });

  test('nodes and links have no rating but that of unknown ground', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget', 'Masthugget']);
    await open(page, `/#d=${id}`);
    await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBe(1);
    const row = page.getByRole('option', { name: /Ramberget/ });
    await expect(row.locator('.best')).toHaveText('?');
    const box = (await row.locator('.best').boundingBox())!;
    const picture = Picture.of(await page.screenshot());
    const colours = { excellent: rgb('#003f73'), unknown: rgb('#5d5d68') };
    const has = (colour: readonly [number, number, number]) =>
      picture.has({ x: box.x + box.width / 2, y: box.y + box.height / 2 }, colour, Math.ceil(box.width / 2), 24);
    expect(has(colours.unknown)).toBe(true);
    expect(has(colours.excellent)).toBe(false);
    await page.getByRole('tab', { name: /Links/ }).click();
    await expect(page.locator('#links .margin')).toHaveText('?');
  });

  test('tools have no verdict over unknown ground, and dashed lines', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Masthugget']}&tab=tools`);
    const grounds = () =>
      page.evaluate(() =>
        window.groundwave.app.tools.drawn.filter((one) => one.geometry.type === 'LineString').map((one) => one.properties!['ground']),
      );
    await page.getByRole('button', { name: 'Find route' }).click();
    await expect(page.locator('#route-answer')).toContainText('It is not known whether this route works: 1 of 1 hop has no terrain data.');
    await expect(page.locator('#route-answer')).not.toContainText('Delivery');
    expect(await grounds()).toEqual(['unknown']);
    await page.getByRole('button', { name: 'Find relays' }).click();
    await expect(page.locator('#relay-answer')).toContainText('It is not known whether the chain carries the rate');
    await expect(page.locator('#relay-answer')).not.toContainText('margin');
    expect(new Set(await grounds())).toEqual(new Set(['unknown']));
    await page.evaluate(() => window.groundwave.app.scanFrom({ lat: 57.7, lon: 11.93 }));
    await expect(page.locator('#scan-answer li')).toHaveCount(2);
    await expect(page.locator('#scan-answer li').first()).toContainText('no terrain data');
    await expect(page.locator('#scan-answer')).not.toContainText('margin');
    expect(await grounds()).toEqual(['unknown', 'unknown']);
    await page.getByRole('button', { name: 'Find sites in view' }).click();
    await expect(page.locator('#placement-answer')).toContainText('The ground in view has no terrain data');
  });
});

test('the coverage of a plan lies under no recording', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}&tab=coverage`);
  await page.getByRole('button', { name: 'Cover the whole mesh' }).click();
  await expect(page.locator('#mesh-state')).toHaveAttribute('data-pending', '0');
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.waitForFunction(() => document.querySelector<HTMLElement>('.replay-map')?.dataset['ready'] === 'true');
  const content = readFileSync(join(LOGS, 'failover.gwlog')).toString('base64');
  const transfer = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], 'failover.gwlog'));
    return transfer;
  }, content);
  await page.dispatchEvent('main.replay', 'drop', { dataTransfer: transfer });
  await expect(page.locator('#events li').first()).toBeVisible();
  // The map that the planner looks at is where the coverage was.
  type Shown = { replayMap: { view: { map: import('maplibre-gl').Map; relief: { settled: boolean }; coverage: { cells: number } } } };
  await page.evaluate(() => (window.groundwave as unknown as Shown).replayMap.view.map.jumpTo({ center: [11.9367, 57.7142], zoom: 12.5 }));
  await page.waitForFunction(() => (window.groundwave as unknown as Shown).replayMap.view.relief.settled);
  const box = (await page.locator('.replay-map').boundingBox())!;
  const picture = Picture.of(await page.screenshot());
  // The ground is grey, the palette of a coverage is not.
  let coloured = 0;
  for (let y = box.y + 80; y < box.y + box.height - 120; y += 6) {
    for (let x = box.x + 100; x < box.x + box.width - 60; x += 6) {
      const colour = picture.at(x, y);
      if (Math.max(...colour) - Math.min(...colour) > 60) coloured++;
    }
  }
  const all = ((box.height - 200) / 6) * ((box.width - 160) / 6);
  expect(coloured / all).toBeLessThan(0.05);
});
