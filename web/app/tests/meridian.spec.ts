// The map at 180 degrees, and the coasts of the world.
import { Picture, rgb } from './pixels';
import { drawn, expect, open, pixel, test } from './server';

const [SEA, LAND, UNKNOWN] = [rgb('#cfdfe9'), rgb('#f2f0e9'), rgb('#5d5d68')];

test.use({ terrain: false });

test('areas that reach 180 degrees are cut there: the Norwegian Sea is sea, both sides of Russia are land', async ({ page, request }) => {
  const { id } = await (await request.post('/api/v1/deployments', { data: { name: 'World' } })).json();
  await open(page, `/#d=${id}`);
  const look = async (lat: number, lon: number) => {
    await page.evaluate((centre) => window.groundwave.map.map.jumpTo({ center: centre, zoom: 3 }), [lon, lat] as [number, number]);
    await drawn(page);
    const { x, y } = await page.evaluate(() => {
      const box = document.querySelector('.map')!.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    });
    return Picture.of(await page.screenshot()).at(x, y);
  };
  await expect
    .poll(() => page.evaluate(() => window.groundwave.map.map.queryRenderedFeatures({ layers: ['world'] }).length))
    .toBeGreaterThan(10);
  for (const [lat, lon] of [
    [68, 2],
    [71.2, -60],
    [-16.6, 100],
  ] as const)
    expect(await look(lat, lon), `${lat} ${lon}`).toEqual(SEA);
  for (const [lat, lon] of [
    [62, 100],
    [66.8, -178],
    [67.5, 177],
  ] as const)
    expect(await look(lat, lon), `${lat} ${lon}`).toEqual(LAND);
});

test('a link across 180 degrees is drawn, and the nodes of both sides are found by a click', async ({ page, request }) => {
  const { id } = await (await request.post('/api/v1/deployments', { data: { name: 'Taveuni' } })).json();
  const places = { West: { lat: -16.8, lon: 179.97 }, East: { lat: -16.8, lon: -179.97 } };
  for (const [name, place] of Object.entries(places))
    await request.post(`/api/v1/deployments/${id}/nodes`, { data: { name, ...place, height_agl_m: 30, radio: { preset: 'lora_868_eu' } } });
  await open(page, `/#d=${id}`);
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length)).toBe(1);
  // Both are in view: a view of the whole world has them at its edges.
  expect(await page.evaluate(() => window.groundwave.map.map.getZoom())).toBeGreaterThan(9);
  for (const centre of [179.99, -179.99]) {
    await page.evaluate((lon) => window.groundwave.map.map.jumpTo({ center: [lon, -16.8], zoom: 11.5 }), centre);
    await drawn(page);
    const turned = (lon: number) => lon + 360 * Math.round((centre - lon) / 360);
    // A quarter of the way on either side of the meridian.
    for (const lon of [179.985, 180.012]) {
      const at = await pixel(page, { lat: -16.8, lon: turned(lon) });
      await expect
        .poll(async () => Picture.of(await page.screenshot()).has(at, UNKNOWN, 14, 20), { message: `${lon} seen from ${centre}` })
        .toBe(true);
    }
    for (const [name, place] of Object.entries(places)) {
      const at = await pixel(page, { lat: place.lat, lon: turned(place.lon) });
      await page.mouse.click(at.x, at.y);
      await expect(page.locator('.card')).toContainText(name);
      await page.keyboard.press('Escape');
    }
  }
});
