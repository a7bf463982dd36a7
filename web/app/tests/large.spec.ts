// Large meshes, by the pixels of the screen: nodes and links have their colours at their places.
import type { Page } from '@playwright/test';
import { DENSE, fill, lacking, LINKED, picture, spots, type Lattice, type Spot } from './lattice';
import { mesh, watch } from './mesh';
import { drawn, expect, open, plan, test } from './server';
import { rgb } from './pixels';
import { COLOURS } from '../src/verdict';

// A software renderer draws on a machine that compiles and tests beside it.
test.setTimeout(180_000);

const VIEW = 'm=11/57.7/11.9';

/** Waits until the map rests. */
async function rests(page: Page): Promise<void> {
  await drawn(page);
  await page.evaluate(
    () =>
      new Promise<void>(
        (resolve) => void (window.groundwave.map.map.once('idle', () => resolve()) && window.groundwave.map.map.triggerRepaint()),
      ),
  );
}

/** All spots of a mesh have their colours. */
async function isDrawn(page: Page, lattice: Lattice, theme: 'light' | 'dark' = 'light', least = 1): Promise<void> {
  const all = await spots(page, lattice, theme);
  expect(all.length).toBeGreaterThanOrEqual(least);
  await expect.poll(() => lacking(page, all)).toEqual([]);
}

for (const terrain of [true, false])
  test.describe(terrain ? 'on ground' : 'without ground', () => {
    test.use({ terrain });

    for (const [name, lattice, least] of [
      ['80 nodes and 3,160 links', LINKED, 140],
      ['900 nodes', DENSE, 1700],
    ] as const)
      test(`${name} are drawn, and what is around them stays`, async ({ page, request }) => {
        const { id } = await plan(request, ['Ramberget']);
        await open(page, `/#${VIEW}&d=${id}`);
        if (terrain) await expect(page.locator('.map')).toHaveAttribute('data-cells', '1');
        // The offer of ground lies over the map.
        await page.getByRole('button', { name: 'Close the offer of ground' }).click();
        await rests(page);
        const before = await picture(page);
        await fill(page, lattice);
        const all = await spots(page, lattice);
        expect(all.length).toBeGreaterThanOrEqual(least);
        const shownBefore = all.filter((spot) => before.has(spot, spot.colour));
        expect(shownBefore.length, 'spots that had their colour without a mesh').toBeLessThan(all.length / 10);
        await expect.poll(() => lacking(page, all)).toEqual([]);
        // The ground around the mesh has the pixels that it had.
        const after = await picture(page);
        const changed = [];
        for (let y = 130; y < 690; y += 7) if (after.at(940, y).join() !== before.at(940, y).join()) changed.push(y);
        expect(changed).toEqual([]);

        // Moved, and from nearer, where few nodes are in view and are named.
        await page.evaluate(() => window.groundwave.map.map.panBy([90, -40], { duration: 0 }));
        await isDrawn(page, lattice, 'light', least / 2);
        await page.evaluate(() => window.groundwave.map.map.jumpTo({ zoom: 13.5 }));
        const named = await spots(page, lattice);
        expect(named.length).toBeGreaterThan(0);
        await expect
          .poll(() =>
            lacking(
              page,
              named.filter(({ what }) => what.startsWith('link')),
            ),
          )
          .toEqual([]);
      });

    test('a mesh in the dark theme, after it was light', async ({ page, request }) => {
      const { id } = await plan(request, ['Ramberget']);
      await open(page, `/#${VIEW}&d=${id}`);
      await page.getByRole('button', { name: 'Close the offer of ground' }).click();
      await rests(page);
      await fill(page, DENSE);
      await isDrawn(page, DENSE);
      await page.emulateMedia({ colorScheme: 'dark' });
      await isDrawn(page, DENSE, 'dark', 1700);
    });
  });

test('a mesh and its ground come back with the graphics processor', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  await open(page, `/#${VIEW}&d=${id}`);
  await expect(page.locator('.map')).toHaveAttribute('data-cells', '1');
  await rests(page);
  // The line about ground that is not there lies over nodes.
  const offer = page.getByRole('button', { name: 'Close the offer of ground' });
  if (await offer.isVisible()) await offer.click();
  await fill(page, DENSE);
  await isDrawn(page, DENSE);
  const before = await picture(page);
  await page.evaluate(async () => {
    const { map } = window.groundwave.map;
    const lost = map.getCanvas().getContext('webgl2')!.getExtension('WEBGL_lose_context')!;
    // It is given back in a later turn than the event that takes it.
    await new Promise<void>((resolve) => {
      map.once('webglcontextlost', () => setTimeout(resolve, 100));
      lost.loseContext();
    });
    await new Promise<void>((resolve) => {
      map.once('webglcontextrestored', () => resolve());
      lost.restoreContext();
    });
  });
  await expect(page.locator('.messages')).toContainText('graphics processor');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.waitForFunction(() => window.groundwave.map.ready);
  await isDrawn(page, DENSE, 'light', 1700);
  await rests(page);
  const after = await picture(page);
  const ground = [];
  for (let y = 130; y < 690; y += 7) ground.push([after.at(1060, y).join(), before.at(1060, y).join()]);
  expect(ground.filter(([now, then]) => now !== then)).toEqual([]);
});

test.describe('5,000 nodes', () => {
  test.use({ terrain: false });

  test('have links by rank, more by the slider, and clusters with counts from afar', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/#m=13/57.7/11.9&d=${id}`);
    await page.getByRole('button', { name: 'Close the offer of ground' }).click();
    await rests(page);
    // A town of 70 by 72 nodes with 20 neighbours each; nearer ones have more margin.
    const begun = performance.now();
    const links = await page.evaluate(async () => {
      const { app, map } = window.groundwave;
      const model = app.plan.nodes[0]!;
      const [rows, columns] = [70, 72] as const;
      const nodes = Array.from({ length: rows * columns }, (_, at) => ({
        ...model,
        id: `n${at}`,
        name: `Node ${at}`,
        role: 'relay',
        lat: 57.66 + 0.0012 * Math.floor(at / columns),
        lon: 11.82 + 0.0022 * (at % columns),
      }));
      const steps = [
        [0, 1],
        [1, 0],
        [1, 1],
        [1, -1],
        [0, 2],
        [2, 0],
        [1, 2],
        [2, 1],
        [2, -1],
        [1, -2],
        [2, 2],
        [2, -2],
        [0, 3],
        [3, 0],
        [1, 3],
        [3, 1],
        [3, -1],
        [1, -3],
        [3, 3],
        [3, -3],
      ] as const;
      const links = nodes.flatMap((_, at) =>
        steps.flatMap(([down, across], order) => {
          const [row, column] = [Math.floor(at / columns) + down, (at % columns) + across];
          if (row >= rows || column < 0 || column >= columns) return [];
          const direction = {
            verdict: order < 2 ? 'excellent' : 'marginal',
            link_margin_db: 38 - 2 * order,
            link_prob: 0.95,
            rx_power_dbm: -90,
            usable_rate_bps: 1000,
          };
          return [
            {
              a_node_id: `n${at}`,
              b_node_id: `n${row * columns + column}`,
              distance_m: 100,
              line_of_sight: true,
              missing_samples: 0,
              forward: direction,
              reverse: direction,
            },
          ];
        }),
      );
      app.plan.nodes = nodes as never;
      app.plan.links = links as never;
      await new Promise<void>((resolve) => void (map.map.once('idle', () => resolve()) && map.map.triggerRepaint()));
      return links.length;
    });
    const drawn_s = (performance.now() - begun) / 1000;
    const frames = await page.evaluate(async () => {
      const times: number[] = [];
      const { map } = window.groundwave.map;
      map.panBy([260, 120], { duration: 1500, essential: true });
      let last = performance.now();
      while (map.isMoving()) {
        const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
        times.push(now - last);
        last = now;
      }
      return times.sort((a, b) => a - b);
    });
    console.log(
      `5,040 nodes, ${links} links: drawn after ${drawn_s.toFixed(1)} s; frames while panning: median ${frames[frames.length >> 1]?.toFixed(0)} ms, longest ${frames.at(-1)?.toFixed(0)} ms`,
    );

    // The best links of a node are those along its row; the slider brings the others.
    const net = () => page.evaluate(() => (window.groundwave.map.net as unknown as { drawings: number }).drawings);
    await rests(page);
    await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [11.9, 57.7], zoom: 14.5 }));
    await rests(page);
    const middle = (a: number, b: number) =>
      page.evaluate(
        ([a, b]) => {
          const { app, map } = window.groundwave;
          const box = document.querySelector('.map')!.getBoundingClientRect();
          const at = [a, b].map((number) => map.map.project([app.plan.nodes[number!]!.lon, app.plan.nodes[number!]!.lat])) as unknown as [
            { x: number; y: number },
            { x: number; y: number },
          ];
          return { x: (at[0].x + at[1].x) / 2 + box.x, y: (at[0].y + at[1].y) / 2 + box.y };
        },
        [a, b],
      );
    const from = 33 * 72 + 36;
    const [along, down] = [await middle(from, from + 1), await middle(from, from + 73)];
    const has = async (at: { x: number; y: number }, colour: string) => (await picture(page)).has(at, rgb(colour), 3);
    await expect.poll(() => has(along, COLOURS.light.excellent)).toBe(true);
    expect(await has(down, COLOURS.light.marginal)).toBe(false);
    const before = await net();
    const slider = page.getByRole('slider', { name: 'Links per node' });
    await slider.focus();
    for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowRight');
    await expect(slider.locator('xpath=following-sibling::output')).toHaveText('all');
    await expect.poll(() => has(down, COLOURS.light.marginal)).toBe(true);
    expect(await net()).toBeGreaterThan(before);

    // From afar nodes are clusters, whose counts add up to all nodes that lie in one.
    await page.evaluate(() => window.groundwave.map.map.jumpTo({ center: [11.9, 57.7], zoom: 9.5 }));
    await rests(page);
    const counts = () =>
      page.evaluate(() =>
        window.groundwave.map.map
          .queryRenderedFeatures(undefined, { layers: ['clusters'] })
          .map((feature) => ({
            count: Number(feature.properties['count']),
            at: (feature.geometry as unknown as { coordinates: [number, number] }).coordinates,
          })),
      );
    await expect.poll(async () => (await counts()).reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(4000);
    const largest = (await counts()).sort((a, b) => b.count - a.count)[0]!;
    const zoom = () => page.evaluate(() => window.groundwave.map.map.getZoom());
    const at = await page.evaluate(([lon, lat]) => window.groundwave.map.map.project([lon!, lat!]), largest.at);
    const box = (await page.locator('.map').boundingBox())!;
    if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/clusters.png` });
    await page.mouse.click(at.x + box.x, at.y + box.y);
    await expect.poll(zoom).toBeCloseTo(11.5, 1);
    expect(await page.evaluate(() => window.groundwave.app.ui.selected)).toEqual([]);
  });
});

test.describe('1,000 nodes of the server, with more pairs in reach than are computed', () => {
  test.use({ terrain: false });

  test('have the links of each with its nearest, and the others are counted', async ({ page, request }) => {
    const rows = Array.from(
      { length: 1000 },
      (_, at) => `Node ${at},${57.66 + 0.0012 * Math.floor(at / 40)},${11.82 + 0.0022 * (at % 40)}`,
    );
    const imported = await request.post('/api/v1/deployments/import?file_name=town.csv', {
      data: Buffer.from(['name,lat,lon', ...rows].join('\n')),
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(imported.status(), await imported.text()).toBe(201);
    const { id } = (await imported.json()).deployment;
    const begun = performance.now();
    await page.goto(`/#m=12/57.675/11.86&d=${id}&tab=links`);
    await page.waitForFunction(() => window.groundwave?.app.plan.nodes.length === 1000);
    const nodes_s = (performance.now() - begun) / 1000;
    await page.waitForFunction(() => window.groundwave.app.plan.linksState === 'ready', undefined, { timeout: 150_000 });
    console.log(
      `1,000 imported nodes: listed after ${nodes_s.toFixed(1)} s, links after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
    );
    const found = await page.evaluate(() => {
      const { links, pairsLeftOut } = window.groundwave.app.plan;
      const nearest = new Set(links.map((link) => [link.a_node_id, link.b_node_id].sort().join()));
      const nodes = window.groundwave.app.plan.nodes;
      const byName = new Map(nodes.map((node) => [node.name, node.id]));
      const besides = Array.from({ length: 999 }, (_, at) => at).filter((at) => (at + 1) % 40);
      return {
        links: links.length,
        pairsLeftOut,
        lacking: besides.filter((at) => !nearest.has([byName.get(`Node ${at}`), byName.get(`Node ${at + 1}`)].sort().join())).length,
      };
    });
    expect(found.links).toBeGreaterThan(100_000);
    expect(found.links).toBeLessThanOrEqual(250_000);
    // The advice counts the pairs in reach by itself.
    const { sampling } = await (await request.post('/api/v1/mesh/recommend-protocol', { data: { deployment_id: id } })).json();
    expect(found.links + found.pairsLeftOut).toBe(sampling.pairs_in_reach);
    console.log(`${sampling.pairs_in_reach} pairs in reach, ${found.links} of them computed`);
    expect(found.lacking).toBe(0);
    await expect(page.locator('#left-out')).toContainText(`${found.pairsLeftOut} pairs of nodes in reach left out`);
    const [a, b] = await page.evaluate(() => [window.groundwave.app.plan.nodes[0]!.id, window.groundwave.app.plan.nodes.at(-1)!.id]);
    const route = await (await request.post('/api/v1/mesh/route', { data: { src_node_id: a, dst_node_id: b } })).json();
    expect(route.pairs_left_out).toBe(found.pairsLeftOut);
    expect(route.path.length).toBeGreaterThan(1);
  });
});

test.describe('in the live view', () => {
  test.use({ terrain: false, services: 'gateway', heartbeat_s: 60 });

  test('900 nodes and their links are drawn', async ({ page, server, request }) => {
    const admin = await mesh(request, server);
    const north = await admin.station(11, 'North', { lat: 57.7142, lon: 11.9367 });
    const south = await admin.station(12, 'South', { lat: 57.6966, lon: 11.9378 });
    await admin.beat(north, [[12, -70]]);
    await admin.beat(south, [[11, -70]]);
    // Answers of the gateway with its two nodes and their link many times over.
    const { rows, columns } = DENSE;
    const place = (at: number) => ({
      lat: 57.62 + (0.16 * Math.floor(at / columns)) / rows,
      lon: 11.75 + (0.36 * (at % columns)) / columns,
    });
    const count = rows * columns;
    await page.route('**/v1/nodes?*', async (route) => {
      const answer = await (await route.fetch()).json();
      const items = Array.from({ length: count }, (_, at) => ({
        ...answer.items[at % 2],
        node_id: `n${at}`,
        name: `Node ${at}`,
        position: { ...answer.items[at % 2].position, ...place(at) },
      }));
      await route.fulfill({ json: { items, next_cursor: null } });
    });
    await page.route('**/v1/mesh/topology', async (route) => {
      const answer = await (await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } })).json();
      const [node, link] = [answer.nodes[0], answer.links[0]];
      const nodes = Array.from({ length: count }, (_, at) => ({
        ...node,
        id: `m${at}`,
        label: `Node ${at}`,
        properties: { ...node.properties, node_id: `n${at}` },
      }));
      const links = nodes.flatMap((_, at) => ((at + 1) % columns ? [{ ...link, source: `m${at}`, target: `m${at + 1}` }] : []));
      await route.fulfill({ json: { ...answer, nodes, links } });
    });
    await watch(page, `/#v=live&tab=links&${VIEW}`);
    await drawn(page);
    const at = await page.evaluate(
      (places) => {
        const box = document.querySelector('.map')!.getBoundingClientRect();
        return places
          .map(({ lat, lon }) => window.groundwave.map.map.project([lon, lat]))
          .map(({ x, y }) => ({
            x: x + box.x,
            y: y + box.y,
            free: document.elementFromPoint(x + box.x, y + box.y)?.matches('.map canvas') ?? false,
          }));
      },
      Array.from({ length: count }, (_, at) => place(at)),
    );
    const { state, finding } = await page.evaluate(() => {
      const { live } = window.groundwave as unknown as { live: { nodes: { state: string }[] } };
      return { state: live.nodes[0]!.state, finding: document.querySelector('[aria-label="Links"] li')?.textContent };
    });
    expect(state).toBe('online');
    expect(finding).toContain('not predicted');
    const free = at.flatMap((spot, number) => (spot.free ? [{ ...spot, what: `node ${number}`, colour: rgb('#0069ad') }] : []));
    expect(free.length).toBeGreaterThan(500);
    const middles = at.flatMap((a, number) => {
      const b = at[number + 1];
      return b && (number + 1) % columns && a.free && b.free
        ? [{ what: `link ${number}`, x: (a.x + b.x) / 2, y: a.y, colour: rgb(COLOURS.light.marginal) }]
        : [];
    });
    const share = async (all: readonly Spot[]) => {
      const shown = await picture(page);
      return all.filter((spot) => shown.has(spot, spot.colour)).length / all.length;
    };
    // Names lie over some nodes; dashes leave gaps in links.
    await expect.poll(() => share(free)).toBeGreaterThan(0.7);
    await expect.poll(() => share(middles)).toBeGreaterThan(0.4);
    if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/live-900.png` });
  });
});
