// The page in engines beside Chromium's, by the pixels of its window: ground, hatching, coverage, nodes and links.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATE_COLOURS } from '../src/live/states';
import { COLOURS } from '../src/verdict';
import { GROUND_ALPHA, THEMES } from '../src/map/theme';
import { DENSE, fill, lacking, LINKED, picture, spots } from './lattice';
import { off, rgb, type Colour, type Picture } from './pixels';
import { mesh, PASSWORD } from './mesh';
import { plan, PLACES } from './server';
import { NAME, test } from './engine';
import { expect, type Engine } from './screen';

// A software renderer draws on a machine that compiles and tests beside it.
test.setTimeout(180_000);

const SHOTS = process.env['SHOTS'];

/** Opens the page and waits until the map rests with all that it draws. */
async function open(engine: Engine, url: string): Promise<void> {
  await engine.goto(url);
  await expect
    .poll(() =>
      engine.evaluate(() => [document.documentElement.dataset['loaded'], document.querySelector<HTMLElement>('.map')?.dataset['ready']]),
    )
    .toEqual(['true', 'true']);
  await rests(engine);
}

async function rests(engine: Engine): Promise<void> {
  await expect
    .poll(() =>
      engine.evaluate(
        () => window.groundwave.map.map.areTilesLoaded() && window.groundwave.map.relief.settled && !window.groundwave.map.map.isMoving(),
      ),
    )
    .toBe(true);
}

/** Places of the window, of places on the map. */
function pixels(engine: Engine, places: readonly { lat: number; lon: number }[]): Promise<{ x: number; y: number }[]> {
  return engine.evaluate((all) => {
    const box = document.querySelector('.map')!.getBoundingClientRect();
    return all.map(({ lat, lon }) => window.groundwave.map.map.project([lon, lat])).map(({ x, y }) => ({ x: x + box.x, y: y + box.y }));
  }, places);
}

/** Places on the free part of the map, by a lattice of the window. */
async function free(engine: Engine, step: number): Promise<{ x: number; y: number }[]> {
  return engine.evaluate((step) => {
    const box = document.querySelector('.map')!.getBoundingClientRect();
    const found = [];
    for (let y = Math.ceil(box.top) + 2; y < box.bottom - 2; y += step)
      for (let x = Math.ceil(box.left) + 2; x < box.right - 2; x += step)
        if (document.elementFromPoint(x, y)?.matches('.map canvas')) found.push({ x, y });
    return found;
  }, step);
}

const messages = (engine: Engine) => engine.evaluate(() => document.querySelector('.messages')?.textContent?.trim());

/** Share of places whose pixel has a property. */
function share(shown: Picture, places: readonly { x: number; y: number }[], has: (colour: Colour) => boolean): number {
  return places.filter(({ x, y }) => has(shown.at(x, y))).length / places.length;
}

/** Colours a coverage by power, probability or verdict, and returns the cells that are shown with their colours. */
function colours(engine: Engine, colouring: 'power' | 'probability' | 'verdict') {
  return engine.evaluate((by) => {
    const { coverages } = window.groundwave.app;
    coverages.colouring = by;
    const { grid, look } = coverages;
    window.groundwave.map.setCoverage(grid, look);
    const { rows, columns, bounds } = grid!.shape;
    const value = (power: number, percent: number) => {
      if (by === 'power') return { at: (power / 100 - look.low) / (look.high - look.low), shown: power / 100 >= look.threshold };
      if (by === 'probability') return { at: percent / 100, shown: percent >= look.threshold_percent };
      const step = [10, 50, 90, 99].filter((least) => percent >= least).length;
      return { at: step / 255, shown: step > 0 };
    };
    return {
      opacity: look.opacity,
      all: Array.from(grid!.power, (power, cell) => {
        const [row, column] = [Math.floor(cell / columns), cell % columns];
        const { at, shown } = value(power, grid!.percent[cell]!);
        const entry = Math.floor(Math.min(1, Math.max(0, at)) * 255 + 0.5) * 4;
        const has = power > -32767 && shown && (grid!.meta[cell]! & 64) === 0;
        return {
          lat: bounds.north - ((bounds.north - bounds.south) * (row + 0.5)) / rows,
          lon: bounds.west + ((bounds.east - bounds.west) * (column + 0.5)) / columns,
          shown: has,
          colour: [...look.palette.slice(entry, entry + 3)],
        };
      }).filter(({ shown }) => shown),
    };
  }, colouring);
}

test('ground, nodes, links and a coverage are drawn in their colours', async ({ engine, server, request }) => {
  const names = ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården'] as const;
  const { id } = await plan(request, names);
  await open(engine, `${server.url}/#m=11/57.7/11.83&d=${id}&tab=coverage`);
  await expect.poll(() => engine.evaluate(() => window.groundwave.app.plan.links.length)).toBe(6);
  await rests(engine);

  // Ground of many shades; only the sea, a third of the view, has the colour behind the map.
  const places = await free(engine, 9);
  expect(places.length).toBeGreaterThan(2000);
  const sea = rgb(THEMES.light.sea);
  const shown = await picture(engine);
  // Coloured by its height, from green to brown; the sea is blue.
  const isLand = ([red, green, blue]: Colour) => blue < green && blue < red;
  expect(share(shown, places, isLand)).toBeGreaterThan(0.6);
  expect(share(shown, places, (colour) => off(colour, sea) <= 3)).toBeLessThan(0.35);
  expect(new Set(places.map(({ x, y }) => shown.at(x, y)[0])).size).toBeGreaterThan(60);

  // Nodes in the colours of their roles, links in those of their ratings.
  const roles = await engine.evaluate(() => Object.fromEntries(window.groundwave.app.plan.roles.map(({ id, color }) => [id, color])));
  const at = await pixels(
    engine,
    names.map((name) => ({ lat: PLACES[name].lat, lon: PLACES[name].lon })),
  );
  for (const [number, name] of names.entries())
    expect(off(shown.at(at[number]!.x, at[number]!.y), rgb(roles[PLACES[name].role]!)), name).toBeLessThan(12);
  const links = await engine.evaluate(() => {
    const { plan } = window.groundwave.app;
    const place = (id: string) => ({ lat: plan.byId.get(id)!.lat, lon: plan.byId.get(id)!.lon });
    return plan.links
      .map((link) => ({ ends: [place(link.a_node_id), place(link.b_node_id)], verdicts: [link.forward.verdict, link.reverse.verdict] }))
      .filter(({ verdicts }) => verdicts[0] === verdicts[1] && ['excellent', 'good'].includes(verdicts[0]!));
  });
  expect(links.length).toBeGreaterThan(0);
  for (const { ends, verdicts } of links) {
    const [a, b] = (await pixels(engine, ends)) as [{ x: number; y: number }, { x: number; y: number }];
    const along = Array.from({ length: 21 }, (_, step) => 0.25 + step / 40).map((part) => ({
      x: a.x + (b.x - a.x) * part,
      y: a.y + (b.y - a.y) * part,
    }));
    const colour = rgb(COLOURS.light[verdicts[0]!]);
    // Names of nodes may lie over parts of a link.
    expect(along.filter((place) => shown.has(place, colour, 1, 24)).length / along.length, `a link that is ${verdicts[0]}`).toBeGreaterThan(
      0.6,
    );
  }

  // A coverage: cells have the colour of their power over the ground that was there.
  await engine.click("//*[@role='tab'][contains(., 'Nodes')]");
  await engine.click("//*[@role='option'][contains(., 'Ramberget')]");
  await engine.click("//*[@role='tab'][contains(., 'Coverage')]");
  await engine.fill("//label[contains(., 'Cells along a side')]//input", '24');
  await engine.fill("//label[contains(., 'Radius, km')]//input", '5');
  await engine.evaluate(() => void window.groundwave.map.map.stop());
  // The form is taller than its part of the panel; the driver does not scroll within it.
  await engine.evaluate(() => document.querySelector('#coverage-form button')!.scrollIntoView({ block: 'center' }));
  await engine.click("//button[contains(., 'Compute from Ramberget')]");
  await expect.poll(() => engine.evaluate(() => document.querySelector('.statistics')?.textContent ?? '')).toContain('% covered');
  await expect.poll(() => engine.evaluate(() => window.groundwave.map.coverage.cells)).toBe(576);
  await engine.evaluate(() => (window.groundwave.app.ui.selected = []));
  await rests(engine);
  await engine.evaluate(() => window.groundwave.map.setCoverage(null, window.groundwave.app.coverages.look));
  await rests(engine);
  const bare = await picture(engine);
  for (const colouring of ['power', 'probability', 'verdict'] as const) {
    const cells = await colours(engine, colouring);
    expect(cells.all.length, colouring).toBeGreaterThan(100);
    await rests(engine);
    const covered = await picture(engine);
    if (SHOTS) writeFileSync(`${SHOTS}/${NAME}-coverage-${colouring}.png`, await engine.screenshot());
    const spots = await pixels(engine, cells.all);
    const right = cells.all.filter(({ colour }, number) => {
      const { x, y } = spots[number]!;
      const ground = bare.at(x, y);
      const mixed = colour.map((value, channel) => value * cells.opacity + ground[channel]! * (1 - cells.opacity)) as unknown as Colour;
      return off(covered.at(x, y), mixed) <= 6;
    });
    // Nodes, names and links lie over some cells; the panels over others.
    expect(right.length / cells.all.length, colouring).toBeGreaterThan(0.8);
  }
  expect(await messages(engine)).toBe('');
});

test('large meshes are drawn', async ({ engine, server, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(engine, `${server.url}/#m=11/57.7/11.9&d=${id}`);
  for (const lattice of [LINKED, DENSE]) {
    await fill(engine, lattice);
    const all = await spots(engine, lattice);
    expect(all.length).toBeGreaterThan(lattice.rows * lattice.columns);
    await expect.poll(() => lacking(engine, all)).toEqual([]);
  }
  if (SHOTS) writeFileSync(`${SHOTS}/${NAME}-900.png`, await engine.screenshot());
});

test.describe('without terrain', () => {
  test.use({ terrain: false });

  test('unknown ground is hatched', async ({ engine, server, request }) => {
    const { id } = await plan(request, ['Ramberget', 'Masthugget']);
    await open(engine, `${server.url}/#m=11/57.7/11.9&d=${id}`);
    const places = await free(engine, 7);
    const shown = await picture(engine);
    const { hatch, hatchGround, land, sea } = THEMES.light;
    const [between, mark] = [rgb(hatchGround), rgb(hatch)];
    // Between the lines the land and the sea of the world shine through.
    const grounds = [land, sea].map(
      (below) => rgb(below).map((value, channel) => value + ((between[channel] as number) - value) * GROUND_ALPHA) as unknown as Colour,
    );
    const isGround = (colour: Colour) => grounds.some((ground) => off(colour, ground) <= 3);
    const isLine = (colour: Colour) => grounds.every((ground) => off(colour, ground) > 12 && off(colour, mark) < off(ground, mark));
    expect(share(shown, places, isGround)).toBeGreaterThan(0.5);
    expect(share(shown, places, isLine)).toBeGreaterThan(0.05);
    expect(await messages(engine)).toBe('');
  });
});

test.describe('planning and gateway in one process', () => {
  test.use({ services: 'both', terrain: false });

  test('the live view logs in, shows the mesh, and stays logged in', async ({ engine, server, request }) => {
    const admin = await mesh(request, server, '/gateway');
    const place = { lat: 57.7142, lon: 11.85 };
    const north = await admin.station(11, 'North', place);
    await admin.beat(north);
    const loaded = () =>
      engine.evaluate(() => [
        document.querySelector<HTMLElement>('[data-live]')?.dataset['live'],
        document.querySelector<HTMLElement>('.map')?.dataset['ready'],
        document.querySelector<HTMLElement>('[data-streaming]')?.dataset['streaming'],
      ]);
    const address = `${server.url}/#v=live&m=12/57.71/11.87`;
    await engine.goto(address);
    await engine.fill("//label[contains(., 'Name')]//input", 'admin');
    await engine.fill("//label[contains(., 'Password')]//input", PASSWORD);
    await engine.click("//button[contains(., 'Log in')]");
    await expect.poll(loaded).toEqual(['loaded', 'true', 'true']);
    await engine.goto(address);
    await expect.poll(loaded).toEqual(['loaded', 'true', 'true']);
    const [at] = await pixels(engine, [place]);
    await expect.poll(async () => off((await picture(engine)).at(at!.x, at!.y), rgb(STATE_COLOURS.online))).toBeLessThan(12);
    expect(await messages(engine)).toBe('');
  });
});

test('the plan is put on paper with its map', async ({ engine, server, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag']);
  await open(engine, `${server.url}/#d=${id}`);
  await expect.poll(() => engine.evaluate(() => window.groundwave.app.plan.linksState)).toBe('ready');
  await engine.click("//button[@aria-label='Menu']");
  await engine.click("//*[@id='menu']//button[contains(., 'Print')]");
  await expect.poll(() => engine.evaluate(() => document.querySelector<HTMLElement>('.paper')?.dataset['ready'])).toBe('true');
  // The picture has the colours of the roles and the links, and for the most part those of the ground.
  const colours = await engine.evaluate(() => {
    const image = document.querySelector<HTMLImageElement>('.paper img')!;
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const pen = canvas.getContext('2d')!;
    pen.drawImage(image, 0, 0);
    const octets = pen.getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set<string>();
    let land = 0;
    for (let at = 0; at < octets.length; at += 4) {
      const channels = [octets[at]!, octets[at + 1]!, octets[at + 2]!];
      if (channels[2]! < channels[1]! && channels[2]! < channels[0]!) land++;
      seen.add(`#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`);
    }
    const roles = window.groundwave.app.plan.roles.filter((role) => window.groundwave.app.plan.nodes.some((node) => node.role === role.id));
    return {
      missing: roles.filter((role) => !seen.has(role.color)).map((role) => role.id),
      seen: [...seen],
      land: land / (octets.length / 4),
    };
  });
  expect(colours.missing).toEqual([]);
  const verdicts = await engine.evaluate(() => window.groundwave.app.plan.links.map((link) => link.forward.verdict));
  for (const verdict of verdicts) expect(colours.seen, `a link that is ${verdict}`).toContain(COLOURS.light[verdict]);
  expect(colours.land).toBeGreaterThan(0.4);
  if (SHOTS) writeFileSync(`${SHOTS}/${NAME}-print.png`, await engine.screenshot());
  expect(await engine.evaluate(() => document.querySelectorAll('.paper .links tbody tr').length)).toBeGreaterThan(1);
  expect(await messages(engine)).toBe('');
});

test('a pattern is read and drawn, and a device brings its antenna', async ({ engine, server, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(engine, `${server.url}/#d=${id}&sel=${nodes['Ramberget']}`);
  await engine.click("//button[contains(., 'Antenna pattern file')]");
  await expect.poll(() => engine.evaluate(() => document.querySelector('#pattern') !== null)).toBe(true);
  // The driver has no access to files: one is given to the field as a choice of a person is.
  const content = readFileSync(join(import.meta.dirname, '../../../examples/sector.msi'), 'utf8');
  await engine.evaluate((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], 'sector.msi'));
    const input = document.querySelector<HTMLInputElement>('#pattern-file')!;
    input.files = transfer.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
  }, content);
  await expect.poll(() => engine.evaluate(() => document.querySelectorAll('#pattern [data-cut] path.cut').length)).toBe(2);
  const box = await engine.evaluate(() => {
    const { x, y, width, height } = document.querySelector('#pattern [data-cut=horizontal] path.cut')!.getBoundingClientRect();
    return { x, y, width, height };
  });
  const shown = await picture(engine);
  if (SHOTS) writeFileSync(`${SHOTS}/${NAME}-pattern.png`, await engine.screenshot());
  expect(shown.has({ x: box.x + box.width / 2, y: box.y + box.height / 2 }, rgb('#005a94'), Math.ceil(box.width / 2), 24)).toBe(true);
  await engine.click("//button[contains(., 'Use for Ramberget')]");
  const radio = () =>
    engine.evaluate(
      () => window.groundwave.app.plan.nodes[0]!.radio as { frequency_mhz?: number; antenna?: { gain_dbi?: number; pattern?: unknown } },
    );
  await expect.poll(async () => (await radio()).antenna?.gain_dbi).toBe(18);

  // Devices stand in a group of their own.
  await engine.evaluate(() => {
    const radio = document.querySelector<HTMLSelectElement>('[name=radio]')!;
    radio.value = [...radio.querySelectorAll<HTMLOptionElement>('optgroup[label=Devices] option')].find((option) =>
      option.text.includes('LiteBeam'),
    )!.value;
    radio.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await expect.poll(async () => (await radio()).antenna?.gain_dbi).toBe(23);
  expect((await radio()).frequency_mhz).toBe(5580);
  expect(await messages(engine)).toBe('');
});

test.describe('with land cover', () => {
  test.use({ cover: join(import.meta.dirname, '../../../examples/land-cover') });

  test('the profile has ground, ray, and what stands on the ground', async ({ engine, server, request }) => {
    const { id, nodes } = await plan(request, ['Ramberget', 'Långedrag']);
    await open(engine, `${server.url}/#d=${id}&sel=${nodes['Ramberget']},${nodes['Långedrag']}`);
    await expect.poll(() => engine.evaluate(() => document.querySelectorAll('#profile [data-stand]').length)).toBeGreaterThan(0);
    await engine.click("//button[@aria-label='Make the profile taller']");
    const stands = await engine.evaluate(() =>
      [...document.querySelectorAll<SVGElement>('#profile [data-stand]')].map((stand) => {
        const { x, y, width, height } = stand.getBoundingClientRect();
        return {
          kind: stand.dataset['stand'] as 'trees' | 'buildings',
          x: x + width / 2,
          y: y + height / 2,
          reach: Math.ceil(Math.max(width, height, 4)),
        };
      }),
    );
    const shown = await picture(engine);
    if (SHOTS) writeFileSync(`${SHOTS}/${NAME}-profile.png`, await engine.screenshot());
    const colours = { trees: '#4f8a3c', buildings: '#8d7f8f' } as const;
    for (const { kind, reach, ...at } of stands) expect(shown.has(at, rgb(colours[kind]), reach, 16), kind).toBe(true);
    expect(await engine.evaluate(() => document.querySelectorAll('#profile .ground').length)).toBe(1);
    expect(await messages(engine)).toBe('');
  });
});
