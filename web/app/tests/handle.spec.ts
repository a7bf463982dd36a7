// Handles: masts of the profile, direction and tilt of an antenna on the map; profiles that store nothing.
import type { Page } from '@playwright/test';
import { drawn, expect, nodesOf, open, pixel, plan, PLACES, test } from './server';

interface Point {
  x: number;
  y: number;
}

/** The middle of an element. */
async function middle(page: Page, name: string): Promise<Point> {
  const box = (await page.getByRole('slider', { name }).boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** The pointer goes down at one place and on to others; it stays down. */
async function hold(page: Page, from: Point, ...to: Point[]): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (const at of to) await page.mouse.move(at.x, at.y, { steps: 4 });
}

/** A finger that drags. */
async function finger(page: Page, from: Point, to: Point): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: Point) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: at ? [at] : [] });
  await touch('touchStart', from);
  for (let step = 1; step <= 6; step++)
    await touch('touchMove', { x: from.x + ((to.x - from.x) * step) / 6, y: from.y + ((to.y - from.y) * step) / 6 });
  await touch('touchEnd');
}

test('a mast is dragged in the profile: its clearance follows at once, its height is stored on release and undone', async ({
  page,
  request,
}) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  await page.getByRole('button', { name: 'Make the profile taller' }).click();
  await expect(page.locator('[data-obstruction]')).toBeVisible();
  const stored_m = async () => (await nodesOf(request, id)).find((node) => node.id === nodes['Långedrag'])!.height_agl_m;
  const at = await middle(page, 'Antenna height of Långedrag');
  await hold(page, at, { x: at.x, y: at.y - 70 });
  const handle = page.getByRole('slider', { name: 'Antenna height of Långedrag' });
  const height_m = Number(await handle.getAttribute('aria-valuenow'));
  expect(height_m).toBeGreaterThan(PLACES.Långedrag.height_agl_m + 20);
  await expect(page.locator('#masts')).toContainText(`Långedrag ${height_m} m: Line of sight`);
  await expect(page.locator('[data-obstruction]')).toHaveCount(0);
  expect(await stored_m()).toBe(PLACES.Långedrag.height_agl_m);
  await page.mouse.up();
  await expect.poll(stored_m).toBe(height_m);
  await expect(page.locator('#masts')).toHaveCount(0);
  await expect(handle).toHaveAttribute('aria-valuenow', String(height_m));
  await page.keyboard.press('Control+z');
  await expect.poll(stored_m).toBe(PLACES.Långedrag.height_agl_m);

  // Keys, whose repeats are one change; Escape ends a drag.
  await handle.focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Shift+ArrowUp');
  await expect.poll(stored_m).toBe(PLACES.Långedrag.height_agl_m + 11);
  await expect.poll(() => page.evaluate(() => window.groundwave.app.history.done.length)).toBe(1);
  await expect(page.locator('#masts')).toHaveCount(0);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  await expect(page.locator('#masts')).toHaveCount(0);
  await expect(page.locator('#verdict')).toBeVisible();
  expect(await stored_m()).toBe(PLACES.Långedrag.height_agl_m + 11);
});

test('masts are raised by a click until the ground is clear, as one change', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  const both = page.getByRole('button', { name: /^Raise both by \d+ m$/ });
  const more_m = Number(/\d+/.exec((await both.textContent())!)![0]);
  await both.click();
  const heights = async () => (await nodesOf(request, id)).map((node) => node.height_agl_m - PLACES[node.name as 'Ramberget'].height_agl_m);
  await expect.poll(heights).toEqual([more_m, more_m]);
  await expect(page.locator('#raising')).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect.poll(heights).toEqual([0, 0]);
  await expect(both).toBeVisible();
});

test('an antenna is turned and tilted by the handles of its lobe', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await request.patch(`/api/v1/nodes/${nodes['Ramberget']}`, {
    data: { radio: { antenna: { preset: 'sector_17_90' } }, pointing: { azimuth_deg: 200, elevation_deg: -2 } },
  });
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  await drawn(page);
  /** Handles as they are on the screen. */
  const handles = async () => {
    const places = await page.evaluate(() =>
      window.groundwave.map.map
        .querySourceFeatures('aim')
        .flatMap(({ geometry, properties }) =>
          geometry.type === 'Point'
            ? [{ kind: String(properties['kind']), lat: geometry.coordinates[1]!, lon: geometry.coordinates[0]! }]
            : [],
        ),
    );
    const of = async (kind: string) =>
      pixel(
        page,
        places.find((one) => one.kind === kind)!,
      );
    return { azimuth: await of('azimuth'), tilt: await of('tilt') };
  };
  await expect.poll(() => page.evaluate(() => window.groundwave.map.map.querySourceFeatures('aim').length)).toBeGreaterThan(2);
  const pointing = async () => (await nodesOf(request, id)).find((node) => node.id === nodes['Ramberget'])!.pointing!;
  const label = () =>
    page.evaluate(
      () =>
        window.groundwave.map.map.querySourceFeatures('aim').flatMap(({ properties }) => properties['label'] ?? [])[0] as
          string | undefined,
    );
  const at = await pixel(page, PLACES.Ramberget);

  // To the east of the node.
  await hold(page, (await handles()).azimuth, { x: at.x + 60, y: at.y + 90 }, { x: at.x + 120, y: at.y });
  await expect.poll(label).toBe('90°');
  expect((await pointing()).azimuth_deg).toBe(200);
  await page.mouse.up();
  await expect.poll(pointing).toEqual({ azimuth_deg: 90, elevation_deg: -2 });
  await expect(page.locator('[name=azimuth_deg]')).toHaveValue('90');
  await expect.poll(label).toBeUndefined();

  // Nearer to the node is down, and a click on a handle leaves the selection.
  const { tilt } = await handles();
  await page.mouse.click(tilt.x, tilt.y);
  await expect(page.locator('.card')).toContainText('Ramberget');
  await hold(page, tilt, { x: tilt.x - 12, y: tilt.y + 3 });
  await expect.poll(label).toMatch(/^\d+° down$/);
  const down_deg = Number.parseInt((await label())!, 10);
  expect(down_deg).toBeGreaterThan(5);
  await page.mouse.up();
  await expect.poll(pointing).toEqual({ azimuth_deg: 90, elevation_deg: -down_deg });
  await page.keyboard.press('Control+z');
  await expect.poll(pointing).toEqual({ azimuth_deg: 90, elevation_deg: -2 });
  expect((await nodesOf(request, id)).map(({ lat, lon }) => [lat, lon])).toEqual(
    [PLACES.Ramberget, PLACES.Masthugget].map(({ lat, lon }) => [lat, lon]),
  );
});

test('a profile has both ends where a node has the letter of the free one', async ({ page, request }) => {
  const { id } = await (await request.post('/api/v1/deployments', { data: { name: 'Letters' } })).json();
  await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name: 'A', ...PLACES.Masthugget } });
  await open(page, `/#d=${id}`);
  await drawn(page);
  await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [11.9, 57.695], zoom: 11 }));
  await drawn(page);
  await page.keyboard.press('l');
  for (const place of [PLACES.Ramberget, PLACES.Masthugget]) {
    const at = await pixel(page, place);
    await page.mouse.click(at.x, at.y);
  }
  await expect(page.locator('#sight')).not.toBeEmpty();
  await expect(page.locator('.card table th')).toHaveText(['B', 'A']);
});

test('the profile between two free places stores nothing until it is asked to', async ({ page, request }) => {
  const { id } = await plan(request, ['Masthugget']);
  await open(page, `/#d=${id}`);
  await drawn(page);
  await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [11.9, 57.695], zoom: 11 }));
  await drawn(page);
  const [from, to] = [await pixel(page, PLACES.Ramberget), await pixel(page, PLACES.Långedrag)];
  await page.mouse.click(from.x, from.y, { button: 'right' });
  await page.getByRole('button', { name: 'Profile from here' }).click();
  await expect(page.locator('.hint')).toContainText('Click the other end');
  await page.mouse.click(to.x, to.y);
  await expect(page.locator('#sight')).toContainText('No line of sight');
  await expect(page.locator('#profile')).toHaveAttribute('data-samples', '512');
  await expect(page.locator('[data-obstruction]')).toBeVisible();
  const profile = await page.evaluate(() => window.groundwave.app.paths.free!.profile.total_distance_m);
  expect(Math.abs(profile - 6925)).toBeLessThan(200);
  expect((await nodesOf(request, id)).length).toBe(1);

  // Its masts are dragged too; nothing is stored.
  await page.getByRole('button', { name: /^Raise B by \d+ m$/ }).click();
  await expect(page.locator('#sight')).toContainText('Line of sight');
  const at = await middle(page, 'Antenna height of A');
  await hold(page, at, { x: at.x, y: at.y - 12 });
  await page.mouse.up();
  const heights = await page.evaluate(() => window.groundwave.app.paths.free!.ends.map((end) => end.height_agl_m));
  expect(Math.min(...heights)).toBeGreaterThan(10);
  expect((await nodesOf(request, id)).length).toBe(1);
  expect(await page.evaluate(() => window.groundwave.app.history.done.length)).toBe(0);

  // A menu with one end chosen has the other; then both become nodes with their heights.
  await page.keyboard.press('Escape');
  await expect(page.locator('#sight')).toHaveCount(0);
  for (const [place, name] of [
    [from, 'Profile from here'],
    [to, 'Profile from A to here'],
  ] as const) {
    await page.mouse.click(place.x, place.y, { button: 'right' });
    await page.getByRole('button', { name }).click();
  }
  await page.getByRole('button', { name: 'Add both nodes' }).click();
  await expect(page.locator('#verdict')).toBeVisible();
  expect((await nodesOf(request, id)).length).toBe(3);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test('fingers drag a mast and a lobe', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
    await request.patch(`/api/v1/nodes/${nodes['Ramberget']}`, {
      data: { radio: { antenna: { preset: 'sector_17_90' } }, pointing: { azimuth_deg: 0, elevation_deg: 0 } },
    });
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
    await page.getByRole('button', { name: 'Make the panel larger' }).tap();
    const node = async (name: string) => (await nodesOf(request, id)).find((one) => one.name === name)!;
    const mast = await middle(page, 'Antenna height of Långedrag');
    await finger(page, mast, { x: mast.x, y: mast.y - 30 });
    await expect.poll(async () => (await node('Långedrag')).height_agl_m).toBeGreaterThan(PLACES.Långedrag.height_agl_m + 10);

    await page.evaluate((id) => (window.groundwave.app.ui.selected = [id]), nodes['Ramberget']!);
    await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [11.9367, 57.7142], zoom: 12 }));
    await drawn(page);
    await expect.poll(() => page.evaluate(() => window.groundwave.map.map.querySourceFeatures('aim').length)).toBeGreaterThan(2);
    const tip = await page.evaluate(
      () =>
        window.groundwave.map.map
          .querySourceFeatures('aim')
          .flatMap(({ geometry, properties }) =>
            geometry.type === 'Point' && properties['kind'] === 'azimuth'
              ? [{ lat: geometry.coordinates[1]!, lon: geometry.coordinates[0]! }]
              : [],
          )[0]!,
    );
    const [at, from] = [await pixel(page, PLACES.Ramberget), await pixel(page, tip)];
    await finger(page, { x: from.x + 12, y: from.y + 8 }, { x: at.x + 120, y: at.y });
    await expect.poll(async () => (await node('Ramberget')).pointing?.azimuth_deg).toBe(90);
  });
});
