// Trees and buildings along the profile, and devices of people in the card of a node.
import { join } from 'node:path';
import { expect, nodesOf, open, pixel, plan, test, PLACES } from './server';
import { Picture, rgb } from './pixels';

const COVER = join(import.meta.dirname, '../../../examples/land-cover');

test.describe('with land cover', () => {
  test.use({ cover: COVER });

  test('trees and buildings stand on the ground of the profile, with their heights and a key', async ({ page, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
    await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
    await expect(page.locator('#profile')).toBeVisible();
    await page.getByRole('button', { name: 'Make the profile taller' }).click();
    const answer = await (
      await request.post('/api/v1/links/analyze', {
        data: { tx_node_id: nodes['Ramberget'], rx_node_id: nodes['Långedrag'], is_per_post: true },
      })
    ).json();
    const samples: { distance_m: number; clutter_agl_m?: number; land_cover?: string }[] = answer.profile.samples;
    const kinds = new Set(
      samples.filter((sample) => (sample.clutter_agl_m ?? 0) > 0).map((sample) => (sample.land_cover === 'forest' ? 'trees' : 'buildings')),
    );
    expect(kinds.size).toBeGreaterThan(0);
    const colours = { trees: '#4f8a3c', buildings: '#8d7f8f' } as const;
    const picture = Picture.of(await page.screenshot());
    for (const kind of ['trees', 'buildings'] as const) {
      await expect(page.locator(`.profile .kind .${kind}`)).toHaveCount(kinds.has(kind) ? 1 : 0);
      if (!kinds.has(kind)) continue;
      // On the screen, in the colour of the key.
      const box = (await page.locator(`#profile [data-stand=${kind}]`).first().boundingBox())!;
      expect(
        picture.has(
          { x: box.x + box.width / 2, y: box.y + box.height / 2 },
          rgb(colours[kind]),
          Math.ceil(Math.max(box.width, box.height, 4)),
          16,
        ),
        kind,
      ).toBe(true);
    }

    // The pointer on the profile names what stands there.
    const [sample] = samples.filter((one) => (one.clutter_agl_m ?? 0) > 0);
    const total: number = answer.profile.total_distance_m;
    const plot = (await page.locator('#profile').boundingBox())!;
    await page.mouse.move(plot.x + 46 + ((plot.width - 60) * sample!.distance_m) / total, plot.y + 60);
    await expect(page.locator('.profile .values')).toContainText(
      `${sample!.land_cover === 'forest' ? 'forest' : 'suburban'} ${sample!.clutter_agl_m} m`,
    );
    // And so does the pointer on the map.
    const place = await pixel(page, PLACES.Ramberget);
    await page.mouse.move(place.x + 30, place.y + 30);
    await expect(page.locator('#cover')).toHaveText(/forest|suburban|open land/);
  });
});

test('without land cover nothing stands on the profile', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
  await expect(page.locator('#profile .ground')).toHaveCount(1);
  await expect(page.locator('#profile [data-stand]')).toHaveCount(0);
  await expect(page.locator('.profile .kind')).toHaveCount(0);
  // The mark of an obstruction beside an end leaves the words free.
  await page.getByRole('button', { name: 'Make the profile taller' }).click();
  await expect(page.locator('#profile .mark')).toHaveCount(1);
  const mark = (await page.locator('#profile .mark').boundingBox())!;
  for (const label of await page.locator('#profile .label').all()) {
    const box = (await label.boundingBox())!;
    const isFree = box.x > mark.x + mark.width || mark.x > box.x + box.width || box.y > mark.y + mark.height || mark.y > box.y + box.height;
    expect(isFree, (await label.textContent()) ?? '').toBe(true);
  }
});

test('a device is chosen by its name and brings its antenna, undone with it', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  const before = (await nodesOf(request, id))[0]!.radio;
  const radio = page.locator('[name=radio]');
  await expect(radio.locator('optgroup')).toHaveCount(2);
  await expect(radio.locator('optgroup[label=Devices] option').filter({ hasText: 'RAK4631' })).toHaveCount(2);
  await radio.selectOption({ label: 'Ubiquiti LiteBeam 5AC Gen2' });
  await expect(page.locator('[name=antenna]')).toHaveValue('litebeam_23');
  await expect(radio).toHaveValue('litebeam_5ac');
  await expect.poll(async () => (await nodesOf(request, id))[0]!.radio).toMatchObject({ frequency_mhz: 5580, antenna: { gain_dbi: 23 } });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(async () => (await nodesOf(request, id))[0]!.radio).toEqual(before);

  // A device with a socket leaves the antenna as it is.
  await page.locator('[name=antenna]').selectOption('yagi_12');
  await radio.selectOption({ label: 'Heltec WiFi LoRa 32 V3 (EU 868)' });
  await expect
    .poll(async () => (await nodesOf(request, id))[0]!.radio)
    .toMatchObject({ frequency_mhz: 869.525, tx_power_dbm: 21, antenna: { gain_dbi: 12 } });
});

test('every layer of a coverage says that nothing describes buildings and trees, on screen, phone and paper', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']},${nodes['Masthugget']}&tab=coverage`);
  await page.getByLabel('Cells along a side').fill('16');
  await page.getByRole('button', { name: 'Compute 2 coverages' }).click();
  await expect(page.locator('.statistics')).toHaveCount(2);
  const remark = page.locator('.strip .assumed');
  for (const [layer, text] of [
    ['power', 'no clutter assumed'],
    ['probability', 'surroundings unknown'],
    ['verdict', 'surroundings unknown'],
    ['server', 'no clutter assumed'],
    ['common', 'no clutter assumed'],
  ] as const) {
    await page.getByRole('combobox', { name: 'Colour by' }).selectOption(layer);
    await expect(remark).toHaveText(text);
    await expect(remark).toBeVisible();
  }
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('probability');
  await page.keyboard.press('Control+p');
  await expect(page.locator('#coverage-key')).toContainText('surroundings unknown');
  await page.locator('.print-view .bar').getByRole('button', { name: 'Close' }).click();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => (window.groundwave.app.ui.selected = []));
  await page.evaluate(() => (window.groundwave.app.ui.sheet = 'map'));
  await expect(remark).toBeVisible();

  // What is described needs no remark.
  const { environment } = await (await request.get(`/api/v1/deployments/${id}`)).json();
  const clutter = { kind: 'height_gain', category: 'urban' };
  await request.patch(`/api/v1/deployments/${id}`, { data: { environment: { ...environment, clutter } } });
  await expect(remark).toHaveCount(0);
});
