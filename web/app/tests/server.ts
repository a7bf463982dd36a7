// A server of its own for each test, and a page that may neither log errors nor ask elsewhere.
import { test as base, expect, type APIRequestContext, type Page } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { App } from '../src/store/app.svelte';
import type { MapView } from '../src/map/view';
import type { Tiles } from './tiles';

declare global {
  interface Window {
    groundwave: { app: App; map: MapView };
  }
}

export interface Server {
  url: string;
  folder: string;
  process: ChildProcess;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** What a server serves: planning, a gateway, or both at the address of planning. */
export type Services = 'planning' | 'gateway' | 'both';

async function started(process_: ChildProcess, services: Services): Promise<string> {
  const told = services === 'gateway' ? /gateway listening on (http:\/\/[\d.:]+)/ : /(?<!gateway )listening on (http:\/\/[\d.:]+)/;
  const lines: string[] = [];
  for (const stream of [process_.stdout, process_.stderr]) {
    if (!stream) continue;
    const found = await new Promise<string | null>((resolve) => {
      const reader = createInterface({ input: stream });
      reader.on('line', (line) => {
        lines.push(line);
        const at = told.exec(line);
        if (at) resolve(at[1] as string);
      });
      reader.on('close', () => resolve(null));
    });
    if (found) return found;
  }
  throw new Error(`the server did not start: ${lines.join('\n')}`);
}

async function serve(
  terrain: boolean,
  services: Services,
  heartbeat_s: number,
  basemap: string | null,
  extra: readonly string[],
  source: string | null,
  cover: string | null,
  frontend: string | null,
  bind = '127.0.0.1:0',
  folder = mkdtempSync(join(tmpdir(), 'groundwave-page-')),
): Promise<Server> {
  const program = process.env['GROUNDWAVE'];
  if (!program) throw new Error('GROUNDWAVE names no program');
  const data = process.env['GROUNDWAVE_DATA'] ?? join(import.meta.dirname, '../../../.data');
  const ground = terrain ? ['--srtm-dir', join(data, 'srtm'), '--geoid', join(data, 'geoid/WW15MGH.DAC')] : [];
  const { PLAN_SRTM_DIR: _, PLAN_GEOID: __, PLAN_FLAT_EARTH: ___, ...env } = process.env;
  const live = ['--tunnel', 'off', '--state', join(folder, 'state'), '--heartbeat-s', String(heartbeat_s), ...extra];
  const options = (address: string) => {
    if (services === 'gateway') return ['gateway', '--gateway-bind', address, ...live];
    return services === 'both' ? ['--bind', address, '--gateway-bind', '127.0.0.1:0', ...live] : ['planning', '--bind', address];
  };
  // Fetched terrain of whoever runs the tests is not read, and none is fetched from elsewhere.
  const fetching = [
    '--terrain-cache',
    join(folder, 'ground'),
    ...(source ? ['--terrain-source', 'srtm', '--terrain-url', source, '--land-cover-url', source] : ['--offline']),
  ];
  const launch = (address: string) =>
    spawn(
      program,
      [
        'serve',
        ...options(address),
        '--db',
        join(folder, 'plan.db'),
        ...ground,
        ...fetching,
        ...(basemap ? ['--basemap', basemap] : []),
        ...(cover ? ['--land-cover', cover] : []),
        ...(frontend ? ['--frontend', frontend] : []),
      ],
      { env: { ...env, RUST_LOG: 'info', NO_COLOR: '1' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
  const server: Server = {
    url: '',
    folder,
    process: launch(bind),
    async stop() {
      if (server.process.exitCode !== null) return;
      server.process.kill('SIGTERM');
      await new Promise((ended) => server.process.once('exit', ended));
    },
    async start() {
      server.process = launch(new URL(server.url).host);
      await started(server.process, services);
    },
  };
  server.url = await started(server.process, services);
  return server;
}

interface Options {
  terrain: boolean;
  services: Services;
  heartbeat_s: number;
  basemap: string | null;
  extra: string[];
  source: Tiles | null;
  cover: string | null;
  frontend: string | null;
}

/** Tests that have a server and open no page of Playwright's. */
export const served = base.extend<Options & { server: Server }>({
  /** Real terrain, or none. */
  terrain: [true, { option: true }],
  services: ['planning', { option: true }],
  /** Period of heartbeats of the gateway. */
  heartbeat_s: [5, { option: true }],
  /** A PMTiles archive. */
  basemap: [null, { option: true }],
  /** More options of the gateway. */
  extra: [[], { option: true }],
  /** Source of the ground that the page fetches; without one it fetches none. */
  source: [null, { option: true }],
  /** Folder of land cover. */
  cover: [null, { option: true }],
  /** Folder of a page in place of the built-in one. */
  frontend: [null, { option: true }],
  server: async ({ terrain, services, heartbeat_s, basemap, extra, source, cover, frontend }, use) => {
    const server = await serve(terrain, services, heartbeat_s, basemap, extra, source?.url ?? null, cover, frontend);
    await use(server);
    await server.stop();
    rmSync(server.folder, { recursive: true, force: true });
  },
  baseURL: async ({ server }, use) => use(server.url),
});

export const test = served.extend<{ errors: RegExp | null; watched: void }>({
  /** Errors of the page and its console that a test causes itself. */
  errors: [null, { option: true }],
  watched: [
    async ({ page, server, errors }, use) => {
      const found: string[] = [];
      page.on(
        'console',
        (message) =>
          void (message.type() === 'error' && !errors?.test(message.text()) && found.push(`${message.text()} ${message.location().url}`)),
      );
      page.on('pageerror', (error) => void (!errors?.test(String(error)) && found.push(String(error))));
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(server.url) && !/^(data|blob):/.test(url)) found.push(`request to ${url}`);
      });
      await page.addInitScript(() =>
        document.addEventListener('securitypolicyviolation', (event) =>
          console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
        ),
      );
      await use();
      expect(found).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

export const PLACES = {
  Ramberget: { lat: 57.7142, lon: 11.9367, height_agl_m: 20, role: 'command' },
  Masthugget: { lat: 57.6966, lon: 11.9378, height_agl_m: 20, role: 'relay' },
  Långedrag: { lat: 57.67, lon: 11.855, height_agl_m: 8, role: 'sensor' },
  Biskopsgården: { lat: 57.7265, lon: 11.892, height_agl_m: 24, role: 'team' },
} as const;

export type PlaceName = keyof typeof PLACES;

/** Makes a deployment with nodes; returns its id and theirs by name. */
export async function plan(
  request: APIRequestContext,
  names: readonly PlaceName[],
  deployment = 'Göteborg',
  radio = 'lora_868_eu',
): Promise<{ id: string; nodes: Record<string, string> }> {
  const made = await (await request.post('/api/v1/deployments', { data: { name: deployment } })).json();
  const nodes: Record<string, string> = {};
  for (const name of names) {
    const answer = await request.post(`/api/v1/deployments/${made.id}/nodes`, {
      data: { name, ...PLACES[name], radio: { preset: radio } },
    });
    expect(answer.status(), await answer.text()).toBe(201);
    nodes[name] = (await answer.json()).id;
  }
  return { id: made.id, nodes };
}

/** Opens the page and waits until the map and the plan are there. */
export async function open(page: Page, path = '/'): Promise<void> {
  await page.goto(path);
  await page.waitForFunction(
    () => document.documentElement.dataset['loaded'] === 'true' && document.querySelector<HTMLElement>('.map')?.dataset['ready'] === 'true',
  );
}

/** Waits until the map has drawn everything. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(
    () => window.groundwave.map.map.areTilesLoaded() && window.groundwave.map.relief.settled && !window.groundwave.map.map.isMoving(),
  );
}

/** A place on the screen. */
export async function pixel(page: Page, place: { lat: number; lon: number }, element = '.map'): Promise<{ x: number; y: number }> {
  const at = await page.evaluate(({ lat, lon }) => window.groundwave.map.map.project([lon, lat]), place);
  const box = await page.locator(element).boundingBox();
  return { x: at.x + (box?.x ?? 0), y: at.y + (box?.y ?? 0) };
}

export async function nodesOf(
  request: APIRequestContext,
  deployment: string,
): Promise<
  {
    id: string;
    name: string;
    lat: number;
    lon: number;
    role: string;
    height_agl_m: number;
    radio: { antenna?: { azimuth_beamwidth_deg: number } };
    pointing: { azimuth_deg: number; elevation_deg: number } | null;
  }[]
> {
  return (await request.get(`/api/v1/deployments/${deployment}/nodes`)).json();
}
