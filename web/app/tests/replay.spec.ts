// Replay of a recording: opened, sought, played, compared, exported.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Replay } from '../src/replay/replay.svelte';
import type { ReplayMap } from '../src/replay/map';
import { expect, test } from './server';

const LOGS = join(import.meta.dirname, '../../../tests/fixtures/compat');

interface Shown {
  replay: Replay;
  replayMap: ReplayMap;
  changedMap: ReplayMap | null;
}

// A log is replayed on a machine that compiles and tests beside it.
test.setTimeout(180_000);

async function open(page: Page, path = '/#v=replay'): Promise<void> {
  await page.goto(path);
  await page.waitForFunction(
    () =>
      document.documentElement.dataset['loaded'] === 'true' &&
      document.querySelector<HTMLElement>('.replay-map')?.dataset['ready'] === 'true',
  );
}

/** Drops a file on the page, as a person does. */
async function drop(page: Page, name: string): Promise<void> {
  const content = readFileSync(join(LOGS, name)).toString('base64');
  const transfer = await page.evaluateHandle(
    ({ content, name }) => {
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name));
      return transfer;
    },
    { content, name },
  );
  await page.dispatchEvent('main.replay', 'drop', { dataTransfer: transfer });
  await expect
    .poll(() => page.evaluate(() => (window.groundwave as unknown as Shown).replay.shown !== null), { timeout: 60_000 })
    .toBe(true);
}

async function serious(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`);
}

test('a recording is opened by drop, sought, played, and kept in the address', async ({ page, request }) => {
  await open(page);
  await expect(page.getByText('No recording yet')).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await drop(page, 'failover.gwlog');
  // The address has the view into which the recording was brought.
  const zoom = () => page.evaluate(() => window.groundwave.map.map.getZoom());
  await expect.poll(async () => Math.abs(Number(/m=([\d.]+)/.exec(page.url())?.[1]) - (await zoom()))).toBeLessThan(0.01);
  const [info] = await (await request.get('/api/v1/replays')).json();
  expect(info.name).toBe('failover.gwlog');
  await expect(page.locator('#events li')).toHaveCount(info.events.length);

  // An event of the list and its mark on the seek bar go to the same time.
  const fail = info.events.find((event: { command: string }) => event.command === 'node.fail');
  await page.locator('#events button').nth(info.events.indexOf(fail)).click();
  await expect.poll(() => page.locator('.replay-map').getAttribute('data-at')).toBe(String(fail.at_s));
  const frame = async (at_s: number) =>
    (await (await request.get(`/api/v1/replays/${info.id}/frames?from_s=${at_s}&to_s=${at_s}`)).json()).frames[0];
  const there = await frame(fail.at_s);
  const drawn = () => page.evaluate(() => (window.groundwave as unknown as Shown).replay.shown?.recorded);
  expect(await drawn()).toEqual(there);
  const features = await page.evaluate(() => {
    const { map } = (window.groundwave as unknown as Shown).replayMap.view;
    return new Promise<number>(
      (resolve) => map.once('idle', () => resolve(map.querySourceFeatures('r-nodes').length)) && map.triggerRepaint(),
    );
  });
  expect(features).toBeGreaterThan(0);
  await page.keyboard.press('Home');
  await expect.poll(() => page.locator('.replay-map').getAttribute('data-at')).toBe('0');
  await page.getByRole('button', { name: /fails/ }).first().click();
  await expect.poll(async () => (await drawn())?.nodes.some((node) => !node.operating)).toBe(true);

  // Keys: a step on, and play until the end at the highest speed.
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => page.evaluate(() => (window.groundwave as unknown as Shown).replay.at_s)).toBeGreaterThan(0);
  await page.getByLabel('Speed').selectOption('60');
  await page.locator('body').click({ position: { x: 5, y: 5 } });
  await page.keyboard.press(' ');
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  await expect.poll(() => page.evaluate(() => (window.groundwave as unknown as Shown).replay.at_s)).toBe(info.duration_s);
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible();
  const last = await frame(info.duration_s);
  await expect.poll(async () => (await drawn())?.at_s).toBe(last.at_s);
  expect(await drawn()).toEqual(last);
  expect(await serious(page)).toEqual([]);

  await page.keyboard.press('Home');
  await page.keyboard.press(']');
  await expect(page).toHaveURL(new RegExp(`r=${info.id}.*t=${info.events[0].at_s}`));
  await page.reload();
  await expect.poll(() => page.evaluate(() => (window.groundwave as unknown as Shown | undefined)?.replay?.at_s)).toBe(info.events[0].at_s);
});

test('frames come in windows ahead of the playhead', async ({ page }) => {
  await open(page);
  const spans: [number, number][] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/frames')) spans.push([Number(url.searchParams.get('from_s')), Number(url.searchParams.get('to_s'))]);
  });
  await drop(page, 'convoy.gwlog');
  const duration_s = await page.evaluate(() => (window.groundwave as unknown as Shown).replay.info?.duration_s ?? 0);
  await expect.poll(() => spans.length).toBeGreaterThan(1);
  for (const [from_s, to_s] of spans) expect(to_s - from_s).toBeLessThan(duration_s / 3);
  // Vehicles leave tracks.
  await page.evaluate((at_s) => (window.groundwave as unknown as Shown).replay.seek(at_s), 500);
  await expect
    .poll(() =>
      page.evaluate(() =>
        Math.max(0, ...[...(window.groundwave as unknown as Shown).replay.tracks('recorded').values()].map((way) => way.length)),
      ),
    )
    .toBeGreaterThan(5);
});

test('the card of a link has what was measured beside what is predicted', async ({ page, request }) => {
  await open(page);
  await drop(page, 'measured.gwlog');
  await page.keyboard.press('End');
  const [info] = await (await request.get('/api/v1/replays')).json();
  const { frames } = await (await request.get(`/api/v1/replays/${info.id}/frames?from_s=${info.duration_s}`)).json();
  type Way = { path_loss_db: number } | null;
  const link = frames[0].links.find((one: { measured: Way[] }) => one.measured.some((way) => way));
  await expect.poll(() => page.evaluate(() => (window.groundwave as unknown as Shown).replay.at_s)).toBe(info.duration_s);
  await page.evaluate((id) => ((window.groundwave as unknown as Shown).replay.chosen = id), `${link.a_node_id}|${link.b_node_id}`);
  const card = page.getByRole('complementary', { name: 'Link' });
  await expect(card).toContainText('measured');
  await expect(card).toContainText('Measured at');
  const way: 0 | 1 = link.measured[0] ? 0 : 1;
  const [told, predicted] = [link.measured[way].path_loss_db, link.path_loss_db[way]] as [number, number];
  const row = card.getByRole('row', { name: /Path loss/ }).first();
  await expect(row).toContainText(`${predicted.toFixed(1)} dB`);
  await expect(row).toContainText(`${told.toFixed(1)} dB`);
  expect(await serious(page)).toEqual([]);
});

test('a change is replayed beside the log and what differs is listed', async ({ page, request }) => {
  await open(page);
  await drop(page, 'failover.gwlog');
  await page.evaluate(() => (window.groundwave as unknown as Shown).replay.seek(8));
  await expect(page.getByRole('button', { name: 'Add at 00:08' })).toBeEnabled();
  await page.locator('select[name=action]').selectOption('fail');
  await page.locator('select[name=node]').selectOption('north');
  await page.getByRole('button', { name: 'Add at 00:08' }).click();
  await expect(page.locator('#changes li')).toContainText('north fails');
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await expect(page.locator('.replay-map')).toHaveCount(2);
  await page.evaluate(() => (window.groundwave as unknown as Shown).replay.seek(12));
  await expect(page.locator('#differences')).toContainText('north');
  const all = await (await request.get('/api/v1/replays')).json();
  const variant = all.find((info: { base_id: string | null }) => info.base_id);
  expect(variant.changes).toEqual(['8 s: node.fail north']);
  const { frames } = await (await request.get(`/api/v1/replays/${variant.id}/frames?from_s=12&to_s=12`)).json();
  expect(await page.evaluate(() => (window.groundwave as unknown as Shown).replay.shown?.changed)).toEqual(frames[0]);
  await expect(page.locator('#totals')).toContainText('−1');
  expect(await serious(page)).toEqual([]);
  await page.getByRole('button', { name: 'End the comparison' }).click();
  await expect(page.locator('.replay-map')).toHaveCount(1);
});

test('a picture and a player are exported; the player opens from disk and asks nobody', async ({ page, context, server }) => {
  await open(page);
  await drop(page, 'failover.gwlog');
  await page.evaluate(() => (window.groundwave as unknown as Shown).replay.seek(10));
  const picture = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Picture (PNG)' }).click();
  const png = readFileSync(await (await picture).path());
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.length).toBeGreaterThan(10_000);

  const exported = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Player (HTML)' }).click();
  const { info } = await page.evaluate(() => ({ info: (window.groundwave as unknown as Shown).replay.info! }));
  expect((await exported).suggestedFilename()).toBe(`${info.inputs['title'] || 'failover'}.html`.replaceAll(' ', '-'));
  const file = join(server.folder, 'player.html');
  writeFileSync(file, readFileSync(await (await exported).path()));
  const player = await context.newPage();
  const asked: string[] = [];
  player.on('request', (request) => asked.push(request.url()));
  const faults: string[] = [];
  player.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
  player.on('pageerror', (error) => faults.push(String(error)));
  await player.goto(pathToFileURL(file).href);
  await expect(player.locator('html')).toHaveAttribute('data-at', '0');
  const up = Number(await player.locator('html').getAttribute('data-up'));
  await player.keyboard.press('End');
  await expect(player.locator('html')).not.toHaveAttribute('data-at', '0');
  await player.keyboard.press('Home');
  await player.keyboard.press(' ');
  await expect(player.getByRole('button', { name: 'Pause' })).toBeVisible();
  await expect.poll(async () => Number(await player.locator('html').getAttribute('data-at'))).toBeGreaterThan(20);
  expect(up).toBeGreaterThan(0);
  const { violations } = await new AxeBuilder({ page: player }).analyze();
  expect(violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')).toEqual([]);
  expect(asked).toEqual([pathToFileURL(file).href]);
  expect(faults).toEqual([]);
});

test('the view fits a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  await page.getByRole('button', { name: 'Recording', exact: true }).click();
  await drop(page, 'failover.gwlog');
  await expect(page.locator('#events')).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await page.getByRole('button', { name: 'Map', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(await serious(page)).toEqual([]);
});

test('the address of a recording that is not there shows no other one, and stays', async ({ page, request }) => {
  await open(page);
  await drop(page, 'failover.gwlog');
  const [info] = await (await request.get('/api/v1/replays')).json();
  const unknown = '00000000-0000-4000-8000-000000000000';
  await page.goto('about:blank');
  await open(page, `/#v=replay&r=${unknown}&t=12&sel=xyz`);
  const side = page.getByRole('complementary', { name: 'Recording' });
  await expect(side).toContainText('The recording of this address is not here');
  expect(await page.evaluate(() => (window.groundwave as unknown as Shown).replay.info)).toBeNull();
  await page.evaluate(() => (window.groundwave as unknown as Shown).replay.remember(null));
  await expect.poll(() => page.evaluate(() => new Promise((later) => setTimeout(() => later(location.hash), 700)))).toContain(unknown);
  await side.getByRole('button', { name: info.inputs.title ?? info.name }).click();
  await expect(page.locator('#events li')).toHaveCount(info.events.length);
  await expect(page).toHaveURL(new RegExp(`r=${info.id}`));
});

test('changes are those of their recording and of their kind, and a recording is closed after a question', async ({ page, request }) => {
  await open(page);
  await drop(page, 'failover.gwlog');
  await page.evaluate(() => (window.groundwave as unknown as Shown).replay.seek(8));
  await expect(page.getByRole('button', { name: 'Add at 00:08' })).toBeEnabled();
  const action = page.locator('select[name=action]');
  await action.selectOption('rain');
  await page.locator('[name=value]').fill('250');
  await page.locator('[name=value]').press('Tab');
  await action.selectOption('power');
  await expect(page.locator('[name=value]')).toHaveValue('20');
  await action.selectOption('height');
  await page.locator('[name=value]').fill('10.4');
  await page.locator('[name=value]').press('Tab');
  await page.getByRole('button', { name: /^Add at/ }).click();
  await expect(page.locator('#changes li')).toHaveCount(1);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.evaluate(() => (window.groundwave as unknown as Shown).replay.seek(12));
  await expect(page.locator('#differences')).toContainText('operating, 10.4 m');

  await drop(page, 'convoy.gwlog');
  await expect.poll(() => page.evaluate(() => (window.groundwave as unknown as Shown).replay.info?.name)).toBe('convoy.gwlog');
  await expect(page.locator('#changes')).toHaveCount(0);
  await expect
    .poll(async () => {
      const names = await page.evaluate(
        () => (window.groundwave as unknown as Shown).replay.shown?.recorded.nodes.map((node) => node.name) ?? [],
      );
      return names.includes(await page.locator('select[name=node]').inputValue());
    })
    .toBe(true);

  const count = async () =>
    (await (await request.get('/api/v1/replays')).json()).filter((info: { base_id: string | null }) => !info.base_id).length;
  expect(await count()).toBe(2);
  await page.getByRole('button', { name: 'Close this recording…' }).click();
  expect(await count()).toBe(2);
  await page.getByRole('button', { name: /on the server$/ }).click();
  await expect.poll(count).toBe(1);
});
