// What the page shows without a change: nodes, links, ground, profile, coverage.
import { off, Picture, rgb } from './pixels';
import { drawn, expect, open, pixel, plan, test, PLACES } from './server';

test('a planner sees nodes, links and coverage on real ground', async ({ page, request }) => {
  const { nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(page);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toBeVisible();
  await expect(page.locator('#nodes [role=option]')).toHaveCount(3);
  await expect(page.locator('.map')).toHaveAttribute('data-cells', '1');
  await drawn(page);
  expect(await page.evaluate(() => window.groundwave.map.relief.squares)).toBeGreaterThan(8);

  const links = await (
    await request.get(`/api/v1/deployments/${(await (await request.get('/api/v1/deployments')).json())[0].id}/links`)
  ).json();
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBe(links.links.length);
  expect(await page.evaluate(() => window.groundwave.map.drawnLinks)).toBeGreaterThan(0);

  // A line is the broader the more margin it has.
  const widths = await page.evaluate(() => {
    const source = window.groundwave.map.map.querySourceFeatures('links');
    return window.groundwave.app.plan.links
      .map((link) => ({
        margin_db: Math.min(link.forward.link_margin_db, link.reverse.link_margin_db),
        strength: Number(
          source.find(({ properties }) => properties['a'] === link.a_node_id && properties['b'] === link.b_node_id)?.properties[
            'strength'
          ] ?? 0,
        ),
      }))
      .sort((a, b) => a.margin_db - b.margin_db);
  });
  expect(widths.at(-1)!.strength).toBeGreaterThan(widths[0]!.strength + 0.2);
  expect(JSON.stringify(await page.evaluate(() => window.groundwave.map.map.getPaintProperty('links', 'line-width')))).toContain(
    'strength',
  );

  const at = await pixel(page, PLACES.Ramberget);
  await page.mouse.click(at.x, at.y);
  await expect(page.getByRole('option', { name: /Ramberget/ })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: /Coverage/ }).click();
  await page.getByLabel('Cells along a side').fill('24');
  await page.getByLabel('Radius, km').fill('5');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toContainText('% covered');
  await expect.poll(() => page.evaluate(() => window.groundwave.map.coverage.cells)).toBe(576);
  await expect(page.locator('#legend')).toContainText('dBm');
  await expect(page.locator('.strip')).toContainText('no clutter assumed');

  // The value under the pointer is that of the server's cell.
  const shown = await page.evaluate(() => {
    const { grid } = window.groundwave.app.coverages;
    return grid && [...grid.power.slice(0, 24)];
  });
  expect(shown).toHaveLength(24);
  await drawn(page);
  const near = await pixel(page, { lat: 57.708, lon: 11.925 });
  await page.mouse.move(near.x, near.y);
  await expect(page.locator('#power')).toContainText('dBm');

  await page.getByRole('tab', { name: /Nodes/ }).click();
  await page.getByRole('option', { name: /Långedrag/ }).click({ modifiers: ['Shift'] });
  const analysis = await (
    await request.post('/api/v1/links/analyze', {
      data: { tx_node_id: nodes['Ramberget'], rx_node_id: nodes['Långedrag'], is_per_post: true },
    })
  ).json();
  const margin = analysis.result.margin.link_margin_db.toFixed(1).replace('-', '−');
  // What the prediction leaves out is said beside it.
  expect(analysis.assumptions.left_out).toEqual(['clutter', 'vegetation', 'rain', 'man_made_noise']);
  await expect(page.locator('#assumed')).toHaveText('Assumed: no clutter, no woodland, no rain, no man-made noise.');
  await expect(page.locator('#budget')).toContainText(`${margin} dB`);
  await expect(page.locator('#verdict')).toHaveAttribute('data-rating', /excellent|good|marginal|poor|no_link/);
  await expect(page.locator('#profile')).toHaveAttribute('data-samples', String(analysis.profile.samples.length));
  if (!analysis.result.clearance.line_of_sight) await expect(page.locator('[data-obstruction]')).toBeVisible();
});

test('ground is coloured by its height and has contour lines, as the menu says', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#m=13/57.71/11.93&d=${id}`);
  await drawn(page);
  const seen = async () => {
    await drawn(page);
    await page.waitForTimeout(400);
    const picture = Picture.of(await page.screenshot());
    let [coloured, brown] = [0, 0];
    // The free part of the map.
    for (let y = 120; y < 560; y += 2)
      for (let x = 100; x < 800; x += 2) {
        const [red, green, blue] = picture.at(x, y);
        // Land alone: the sea is blue.
        if (blue > red) continue;
        if (Math.max(red, green, blue) - Math.min(red, green, blue) > 8) coloured++;
        if (red - blue > 36 && red < 205) brown++;
      }
    return { coloured, brown };
  };
  const tinted = await seen();
  expect(tinted.coloured).toBeGreaterThan(2000);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('checkbox', { name: 'Contour lines' }).check();
  await page.keyboard.press('Escape');
  const lined = await seen();
  expect(lined.brown).toBeGreaterThan(tinted.brown + 100);
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('checkbox', { name: 'Contour lines' }).uncheck();
  await page.getByRole('checkbox', { name: 'Colours by height' }).uncheck();
  const grey = await seen();
  expect(grey.coloured).toBeLessThan(tinted.coloured / 4);
  // The choice lasts.
  await page.reload();
  await page.waitForFunction(() => document.querySelector<HTMLElement>('.map')?.dataset['ready'] === 'true');
  expect((await seen()).coloured).toBeLessThan(tinted.coloured / 4);
});

for (const [scheme, colour] of [
  ['light', '#5a3d1e'],
  ['dark', '#f0d4ac'],
] as const) {
  test.describe(`contour lines, ${scheme}`, () => {
    test.use({ colorScheme: scheme });

    test('have their heights on them, which are those of the ground', async ({ page, request }) => {
      const { id } = await plan(request, ['Ramberget']);
      await open(page, `/#m=13.3/57.76/11.93&d=${id}`);
      await drawn(page);
      const inked = async () => {
        await drawn(page);
        const picture = Picture.of(await page.screenshot());
        let count = 0;
        for (let y = 60; y < 780; y++) for (let x = 60; x < 980; x++) if (off(picture.at(x, y), rgb(colour)) < 24) count++;
        return count;
      };
      const before = await inked();
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('checkbox', { name: 'Contour lines' }).check();
      await page.keyboard.press('Escape');
      const named = () =>
        page.evaluate(() =>
          window.groundwave.map.map
            .queryRenderedFeatures({ layers: ['contour-names'] })
            .map(({ properties, geometry }) => ({
              name: String(properties['name']),
              at: (geometry as GeoJSON.LineString | GeoJSON.MultiLineString).coordinates.flat(Infinity).slice(0, 2) as [number, number],
            })),
        );
      await expect.poll(async () => (await named()).length).toBeGreaterThan(2);
      await expect.poll(inked).toBeGreaterThan(before + 12);
      for (const {
        name,
        at: [lon, lat],
      } of (await named()).slice(0, 8)) {
        expect(name).toMatch(/^\d+0 m$/);
        const { elevation_msl_m } = await (await request.get('/api/v1/terrain/elevation', { params: { lat, lon } })).json();
        expect(Math.abs(elevation_msl_m - Number.parseFloat(name)), `${name} at ${lat} ${lon}`).toBeLessThan(8);
      }
      // Lines that are not there have no heights.
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('checkbox', { name: 'Contour lines' }).uncheck();
      await expect.poll(async () => (await named()).length).toBe(0);
    });
  });
}

test('coverage is a surface between the centres of cells, or cells where one asks for them', async ({ page, request }) => {
  await plan(request, ['Ramberget']);
  await open(page);
  await page.getByRole('option', { name: /Ramberget/ }).click();
  await page.getByRole('tab', { name: /Coverage/ }).click();
  await page.getByLabel('Cells along a side').fill('24');
  await page.getByLabel('Radius, km').fill('5');
  await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
  await expect(page.locator('.statistics')).toContainText('% covered');
  // Neighbours in a row whose levels are far apart, two rows from the transmitter or more.
  const pair = await page.evaluate(() => {
    const { coverages } = window.groundwave.app;
    coverages.opacity = 1;
    const { power, shape } = coverages.grid!;
    const { north, south, east, west } = shape.bounds;
    const place = (row: number, column: number) => ({
      lat: north + ((south - north) * (row + 0.5)) / shape.rows,
      lon: west + ((east - west) * (column + 0.5)) / shape.columns,
    });
    for (let row = 6; row < 18; row++) {
      for (let column = 6; column < 17; column++) {
        const [left, right] = [power[row * 24 + column]!, power[row * 24 + column + 1]!];
        const far = Math.abs(row - 11.5) > 2;
        if (far && Math.min(left, right) / 100 > coverages.threshold + 3 && Math.abs(left - right) > 1500)
          return [place(row, column), place(row, column + 1)];
      }
    }
    return null;
  });
  expect(pair).not.toBeNull();
  const [left, right] = [await pixel(page, pair![0]!), await pixel(page, pair![1]!)];
  expect(right.x - left.x).toBeGreaterThan(12);
  /** Colours at both centres, a quarter of the way beside them, and in the middle. */
  const colours = async () => {
    await drawn(page);
    const picture = Picture.of(await page.screenshot());
    return [0, 0.25, 0.5, 0.75, 1].map((share) => picture.at(left.x + (right.x - left.x) * share, left.y));
  };
  const smooth = await colours();
  for (const at of [1, 2, 3]) {
    expect(off(smooth[at]!, smooth[0]!), 'a colour between').toBeGreaterThan(8);
    expect(off(smooth[at]!, smooth[4]!), 'a colour between').toBeGreaterThan(8);
  }
  await page.getByLabel('Surface').selectOption('cells');
  const cells = await colours();
  expect(off(cells[1]!, cells[0]!)).toBeLessThan(3);
  expect(off(cells[3]!, cells[4]!)).toBeLessThan(3);
  for (const at of [0, 4]) expect(off(cells[at]!, smooth[at]!), 'centres are exact').toBeLessThan(14);
  // The choice outlives the page.
  await page.reload();
  await page.waitForFunction(() => window.groundwave?.app.coverages.smooth === false);
});

test.describe('without terrain', () => {
  test.use({ terrain: false });

  test('the ground is hatched and there is no verdict', async ({ page, request }) => {
    await plan(request, ['Ramberget', 'Masthugget']);
    await open(page);
    await expect(page.locator('#ground')).toContainText('No ground data here');
    expect(await page.evaluate(() => window.groundwave.map.missing.count)).toBe(1);
    await page.getByRole('option', { name: /Ramberget/ }).click();
    await page.getByRole('option', { name: /Masthugget/ }).click({ modifiers: ['Shift'] });
    await expect(page.locator('#verdict')).toHaveAttribute('data-rating', 'unknown');
    await expect(page.locator('#budget')).toContainText('no terrain data');
    // Without tiles a link has the least number of samples, all of them without ground.
    await expect(page.locator('#profile')).toHaveAttribute('data-missing', '32');
  });
});
