// The demonstration: its page plays a storm, and its deployment is there to plan with.
import { expect, test as base } from '@playwright/test';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Replay } from '../src/replay/replay.svelte';
import type { Coverages } from '../src/store/coverage.svelte';

interface Demo {
  address: string;
  api: string;
}

const test = base.extend<{ demo: Demo }>({
  // eslint-disable-next-line no-empty-pattern
  demo: async ({}, use) => {
    const program = process.env['GROUNDWAVE'];
    if (!program) throw new Error('GROUNDWAVE names no program');
    const child = spawn(program, ['demo', '--no-browser', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const told = await new Promise<Demo>((resolve, reject) => {
      let text = '';
      createInterface({ input: child.stdout }).on('line', (line) => {
        text += line;
        if (line === '}' || (line.startsWith('{') && line.endsWith('}'))) resolve(JSON.parse(text) as Demo);
      });
      child.once('exit', () => reject(new Error(`the demonstration ended: ${text}`)));
    });
    await use(told);
    child.kill('SIGTERM');
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  },
});

// A log is replayed on a machine that compiles and tests beside it.
test.setTimeout(180_000);
const SLOW = { timeout: 60_000 };

test('a storm passes over the mesh, and the mesh can be planned', async ({ page, demo }) => {
  const found: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && found.push(message.text())));
  page.on('pageerror', (error) => void found.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(demo.api) && !/^(data|blob):/.test(request.url())) found.push(`request to ${request.url()}`);
  });
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    const size = request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize);
    // The size of a request that ends with the page is not known any more.
    sizes.push(size.catch(() => 0));
  });
  const replayed = () =>
    page.evaluate(() => {
      const { replay } = window.groundwave as unknown as { replay: Replay };
      return { at_s: replay.at_s, playing: replay.playing, frame: replay.shown?.recorded };
    });
  await page.goto(demo.address);
  await expect(page.locator('#recording option:checked')).toHaveText('Storm over Gothenburg (demo.gwlog)');
  await expect.poll(async () => (await replayed()).at_s, SLOW).toBeGreaterThan(5);
  expect((await replayed()).playing).toBe(true);
  // From here at rest: a slow machine would let the storm and the failure pass before they are looked at.
  await page.evaluate(() => (window.groundwave as unknown as { replay: Replay }).replay.play(false));
  // The first map is small enough for a slow link: page, ground and the first minutes of the recording.
  await expect
    .poll(() => page.evaluate(() => window.groundwave.map.map.areTilesLoaded() && window.groundwave.map.relief.settled), SLOW)
    .toBe(true);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(200_000);
  expect(bytes).toBeLessThan(1_000_000);
  await page.evaluate(() => (window.groundwave as unknown as { replay: Replay }).replay.seek(30));
  await expect.poll(async () => (await replayed()).frame?.nodes.length ?? 0, SLOW).toBeGreaterThan(0);
  const start = (await replayed()).frame!;
  await page.evaluate(() => (window.groundwave as unknown as { replay: Replay }).replay.seek(400));
  await expect(page.locator('.rain')).toContainText('110 mm/h', SLOW);
  await expect.poll(async () => (await replayed()).frame?.nodes.length ?? 0, SLOW).toBeGreaterThan(start.nodes.length);
  await page.evaluate(() => (window.groundwave as unknown as { replay: Replay }).replay.seek(640));
  await expect
    .poll(async () => (await replayed()).frame?.nodes.filter((node) => !node.operating).map((node) => node.name), SLOW)
    .toEqual(['Säve']);

  // The coverage has the nodes that work at the time: it grows when one is repaired.
  await page.locator('#replay-coverage').check();
  const cells = () =>
    page.evaluate(() => {
      const { state, grid } = (window.groundwave as unknown as { coverages: Coverages }).coverages.mesh;
      return {
        failed: state?.failed_node_ids.length,
        pending: state?.pending_nodes,
        evaluated: state?.evaluated_cells ?? 0,
        served: grid?.power.filter((power) => power > -32767).length ?? 0,
      };
    });
  // The server keeps the cells of a failed node: if the coverage began before the failure, the repair
  // evaluates none.
  const settled = async (isFailed: (count: number) => boolean, beyond: number) => {
    let served = -1;
    const still = async () => {
      const [now, before] = [await cells(), served];
      served = now.served;
      return isFailed(now.failed ?? 0) && now.pending === 0 && now.evaluated > 0 && served > beyond && served === before;
    };
    // The state may come before the squares.
    await expect.poll(still, { ...SLOW, intervals: [1000] }).toBe(true);
    return cells();
  };
  // Nodes that have moved from their planned places have no coverage either.
  const before = await settled((count) => count > 0, 0);
  await page.evaluate(() => (window.groundwave as unknown as { replay: Replay }).replay.seek(850));
  const after = await settled((count) => count === (before.failed ?? 0) - 1, before.served);
  expect(after.evaluated - before.evaluated).toBeLessThan(before.evaluated);

  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  await expect(page.locator('#nodes')).toContainText('Ytterby');
  await expect.poll(() => page.evaluate(() => window.groundwave.app.plan.links.length), SLOW).toBeGreaterThan(0);
  expect(found).toEqual([]);
});
