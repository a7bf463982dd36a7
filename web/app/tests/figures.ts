// Figures of the page on this machine: first map, frames while it moves, coverage, drags, live coverage.
// Printed, not asserted: `npm run figures`, with GROUNDWAVE naming an optimised program.
import { gzipSync } from 'node:zlib';
import type { APIRequestContext, Page } from '@playwright/test';
import { drawn, open, pixel, plan, PLACES, test } from './server';

const MOVES_MS = 3000;

function tell(what: string, figure: string): void {
  console.log(`| ${what} | ${figure} |`);
}

const median = (all: number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? NaN;

/** Frames a second while the map is moved by script, as a hand would. */
async function frames(page: Page): Promise<string> {
  const found = await page.evaluate(async (length) => {
    const { map } = window.groundwave.map;
    const times: number[] = [];
    const seen = () => times.push(performance.now());
    map.on('render', seen);
    const begun = performance.now();
    let at = 0;
    while (performance.now() - begun < length) {
      const angle = (at++ / 12) * Math.PI;
      map.panBy([Math.round(60 * Math.cos(angle)), Math.round(40 * Math.sin(angle))], { duration: 250, easing: (part) => part });
      await new Promise((done) => setTimeout(done, 240));
    }
    map.off('render', seen);
    const steps = times.slice(1).map((time, index) => time - (times[index] as number));
    return {
      fps: (1000 * (times.length - 1)) / ((times.at(-1) as number) - (times[0] as number)),
      slow: steps.toSorted((a, b) => a - b)[Math.floor(steps.length * 0.95)] as number,
    };
  }, MOVES_MS);
  return `${found.fps.toFixed(0)} frames/s, 95 % of frames within ${found.slow.toFixed(0)} ms`;
}

async function node(request: APIRequestContext, within: string, name: string, lat: number, lon: number): Promise<string> {
  const answer = await request.post(`/api/v1/deployments/${within}/nodes`, {
    data: { name, lat, lon, height_agl_m: 12, role: 'relay', radio: { preset: 'lora_868_eu' } },
  });
  return (await answer.json()).id;
}

test('first map', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
  const sizes: number[] = [];
  page.on(
    'response',
    (answer) =>
      void answer
        .body()
        .then((body) => sizes.push(Number(answer.headers()['content-length'] ?? gzipSync(body).length)))
        .catch(() => undefined),
  );
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    sizes.length = 0;
    const begun = Date.now();
    await open(page, `/?round=${round}#d=${id}`);
    await page.waitForFunction(() => window.groundwave.app.plan.links.length > 0);
    times.push(Date.now() - begun);
    await drawn(page);
  }
  tell('navigation to nodes, links and ground on the map, median of 5', `${median(times)} ms (first ${times[0]} ms)`);
  tell('octets of all answers of the last round', `${(sizes.reduce((sum, size) => sum + size, 0) / 1000).toFixed(0)} kB`);
});

/** Time from the request of a coverage to the last event of its stream, ms. */
async function streamed(api: string, body: object): Promise<number> {
  const begun = performance.now();
  const made = await fetch(`${api}/api/v1/coverage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { job_id: id } = (await made.json()) as { job_id: string };
  const stream = await fetch(`${api}/api/v1/coverage/${id}/tiles`);
  await stream.text();
  const time = performance.now() - begun;
  await fetch(`${api}/api/v1/coverage/${id}`, { method: 'DELETE' });
  return time;
}

test('frames while the map moves', async ({ page, request, server }) => {
  let last: string | undefined;
  const { id, nodes } = await plan(request, ['Ramberget', 'Masthugget', 'Långedrag', 'Biskopsgården']);
  await open(page, `/#d=${id}&tab=coverage&sel=${nodes['Ramberget']}`);
  await drawn(page);
  tell('4 nodes, ground', await frames(page));
  await page.getByLabel('Cells along a side').fill('256');
  // In turn on the page and without a browser: the first of each finds its terrain unread.
  const [clicked, onPage, alone]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < 7; round++) {
    alone.push(
      await streamed(server.url, { source_node_id: nodes['Ramberget'] as string, radius_km: 10, resolution: 256, rx_height_agl_m: 1.5 }),
    );
    const begun = Date.now();
    await page.getByRole('button', { name: 'Compute from Ramberget' }).click();
    await page.waitForFunction(
      (before) => window.groundwave.app.coverages.jobs[0]?.state === 'done' && window.groundwave.app.coverages.jobs[0].id !== before,
      last,
    );
    clicked.push(Date.now() - begun);
    const job = await page.evaluate(() => ({
      id: window.groundwave.app.coverages.jobs[0]!.id,
      seconds: window.groundwave.app.coverages.jobs[0]!.seconds ?? NaN,
    }));
    last = job.id;
    onPage.push(job.seconds * 1000);
    await page.waitForTimeout(300);
  }
  tell('coverage of 256 x 256, median of 7, from the click to its end', `${median(clicked)} ms`);
  tell(
    'the same, from the request to the last cell: by the page, by a client without a browser, ratio',
    `${median(onPage).toFixed(0)} ms, ${median(alone).toFixed(0)} ms, ${(median(onPage) / median(alone)).toFixed(2)}`,
  );
  tell('with that coverage', await frames(page));
  await page.evaluate(() => {
    const { map } = window.groundwave;
    const role = ['relay', 'team', 'sensor', 'command', 'asset'];
    let seed = 1;
    const chance = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    // A grid of 100 by 100 nodes, each moved by chance, with links to five neighbours.
    const all = Array.from({ length: 10_000 }, (_, at) => ({
      id: `n${at}`,
      name: `Node ${at}`,
      lat: 57.5 + 0.004 * (Math.floor(at / 100) + chance()),
      lon: 11.6 + 0.008 * ((at % 100) + chance()),
      role: role[at % 5],
    })) as never[] as { id: string; lat: number; lon: number }[];
    const links: unknown[] = [];
    const verdicts = ['excellent', 'good', 'marginal', 'poor'];
    const direction = () => ({ verdict: verdicts[Math.floor(chance() * 4)], link_margin_db: 10, link_prob: 0.95 });
    for (let from = 0; from < all.length; from++)
      for (const step of [1, 99, 100, 101, 200])
        links.push({
          a_node_id: `n${from}`,
          b_node_id: `n${(from + step) % all.length}`,
          missing_samples: 0,
          forward: direction(),
          reverse: direction(),
        });
    const started = performance.now();
    map.setNodes(all as never, new Map(all.map((one) => [one.id, one])) as never);
    map.setLinks(links as never);
    return performance.now() - started;
  });
  await page.waitForFunction(() => window.groundwave.map.net.drawings > 0);
  tell('10,000 nodes, 50,000 links, that coverage, ground', await frames(page));
  await page.evaluate(() => window.groundwave.map.setCoverage(null, window.groundwave.app.coverages.look));
  tell('10,000 nodes, 50,000 links, ground', await frames(page));
});

test('100 nodes: links while dragging', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget']);
  for (let at = 1; at < 100; at++) await node(request, id, `n${at}`, 57.6 + 0.02 * (at % 10), 11.75 + 0.03 * Math.floor(at / 10));
  await open(page, `/#d=${id}`);
  await page.waitForFunction(() => window.groundwave.app.plan.links.length > 100);
  await drawn(page);
  const at = await pixel(page, PLACES.Ramberget);
  const times: number[] = [];
  const begun = new Map<string, number>();
  page.on('request', (asked) => void (asked.url().endsWith('/links/preview') && begun.set(asked.postData() ?? '', Date.now())));
  page.on('response', (answer) => {
    const from = begun.get(answer.request().postData() ?? '');
    if (from && answer.url().endsWith('/links/preview')) times.push(Date.now() - from);
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  for (let step = 1; step <= 30; step++) {
    await page.mouse.move(at.x + step * 2, at.y + step);
    await page.waitForTimeout(60);
  }
  await page.mouse.up();
  tell(
    `100 nodes, ${await page.evaluate(() => window.groundwave.app.plan.links.length)} links: links of a dragged node, median of ${times.length}`,
    `${median(times)} ms, slowest ${Math.max(...times)} ms`,
  );
});

test('live coverage: 50 nodes, 50 km, 3 arc-seconds', async ({ page, request }) => {
  const { id } = await plan(request, ['Ramberget'], 'Göteborg', 'wifi_2g4_mesh');
  for (let at = 1; at < 50; at++) await node(request, id, `n${at}`, 57.45 + 0.055 * (at % 8), 11.6 + 0.11 * Math.floor(at / 8));
  await open(page, `/#d=${id}&tab=coverage`);
  await page.evaluate(async (within) => {
    const { app } = window.groundwave;
    await app.coverages.mesh.start(
      within,
      app.plan.nodes,
      { rx_height_agl_m: 1.5 },
      { bounds: { south: 57.45, north: 57.9, west: 11.6, east: 12.44 }, cell_arcsec: 3 },
    );
  }, id);
  await page.waitForFunction(
    () =>
      (window.groundwave.app.coverages.mesh.state?.evaluated_cells ?? 0) > 0 &&
      window.groundwave.app.coverages.mesh.state?.pending_nodes === 0,
    null,
    { timeout: 120_000 },
  );
  const shape = await page.evaluate(() => window.groundwave.app.coverages.mesh.state);
  const [first] = await page.evaluate(() => window.groundwave.app.plan.nodes.map((one) => one.id));
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const begun = Date.now();
    const before = await page.evaluate(() => window.groundwave.app.coverages.mesh.state!.evaluated_cells);
    await request.put(`/api/v1/nodes/${first}/position`, { data: { lat: 57.66 + 0.004 * round, lon: 11.9 } });
    await page.waitForFunction(
      (known) =>
        window.groundwave.app.coverages.mesh.state!.evaluated_cells > known &&
        window.groundwave.app.coverages.mesh.state!.pending_nodes === 0,
      before,
    );
    times.push(Date.now() - begun);
  }
  tell(
    `live coverage, 50 nodes, ${shape?.rows} x ${shape?.columns} cells of 3": from a move to the last cell on the page, median of 5`,
    `${median(times)} ms, slowest ${Math.max(...times)} ms`,
  );
});
