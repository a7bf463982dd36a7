// A gateway with nodes that are approved and send heartbeats, for the tests of the live view.
import AxeBuilder from '@axe-core/playwright';
import { expect, type APIRequestContext, type Page } from '@playwright/test';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from './server';

export const PASSWORD = 'a better password';
export const OWN_PASSWORD = 'my own password';

export interface Station {
  id: string;
  name: string;
  number: number;
  token: string;
  seq: number;
}

const mac = (number: number) => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`;

/** The generated password of the first admin. */
export function bootstrap(folder: string): string {
  return readFileSync(join(folder, 'state/bootstrap-admin'), 'utf8').trim();
}

/** The interface of the gateway, used by an admin and by nodes. */
export class Mesh {
  token = '';

  constructor(
    private readonly request: APIRequestContext,
    private readonly base: string,
  ) {}

  async ask(token: string, method: string, path: string, data?: unknown): Promise<{ status: number; body: any }> {
    const answer = await this.request.fetch(this.base + path, {
      method,
      headers: token ? { authorization: `Bearer ${token}` } : {},
      ...(data === undefined ? {} : { data }),
    });
    const text = await answer.text();
    return { status: answer.status(), body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
  }

  async login(username: string, password: string): Promise<string> {
    const { status, body } = await this.ask('', 'POST', '/api/auth/login', { username, password });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.access_token;
  }

  /** Gives the first admin a password of its own. */
  async settle(folder: string): Promise<void> {
    const first = bootstrap(folder);
    const change = { current_password: first, new_password: PASSWORD };
    const { status } = await this.ask(await this.login('admin', first), 'POST', '/api/auth/password', change);
    expect(status).toBe(204);
    this.token = await this.login('admin', PASSWORD);
  }

  async account(username: string, role: string): Promise<void> {
    const { status, body } = await this.ask(this.token, 'POST', '/v1/admin/users', { username, role, password: PASSWORD });
    expect(status, JSON.stringify(body)).toBe(201);
  }

  /** An account that has chosen its password, [`OWN_PASSWORD`]. */
  async person(username: string, role: string): Promise<void> {
    await this.account(username, role);
    const change = { current_password: PASSWORD, new_password: OWN_PASSWORD };
    const { status } = await this.ask(await this.login(username, PASSWORD), 'POST', '/api/auth/password', change);
    expect(status).toBe(204);
  }

  /** A request to join, of an unknown peer. */
  async register(number: number, hostname = `node-${number}`, code?: string): Promise<{ status: number; body: any }> {
    return this.ask('', 'POST', '/v1/mesh/wg-register', {
      public_key: Buffer.alloc(32, number).toString('base64'),
      mac: mac(number),
      hostname,
      nonce: randomBytes(16).toString('base64'),
      ts: new Date().toISOString(),
      ...(code ? { enrollment_code: code } : {}),
    });
  }

  /** Lets a node in ahead and logs it in. */
  async station(number: number, name: string, at?: { lat: number; lon: number }, planned?: string): Promise<Station> {
    const made = await this.ask(this.token, 'POST', '/v1/nodes/register', {
      name,
      mac: mac(number),
      ...(planned ? { node_id: planned } : {}),
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const asked = await this.register(number, `node-${number}`, made.body.enrollment_code);
    expect(asked.status, JSON.stringify(asked.body)).toBe(201);
    const id = made.body.node.node_id as string;
    const rotated = await this.ask(this.token, 'POST', `/v1/nodes/${id}/rotate-credentials`);
    const token = await this.login(rotated.body.username, rotated.body.enrollment_code);
    if (at) expect((await this.ask(this.token, 'PATCH', `/v1/nodes/${id}`, { position_override: at })).status).toBe(200);
    return { id, name, number, token, seq: 0 };
  }

  /** A heartbeat that tells of neighbours, by number and received level. */
  async beat(
    station: Station,
    neighbours: [number, number][] = [],
    metrics: Record<string, number> = { 'mesh.tx_mbps': 1.5 },
  ): Promise<void> {
    const links = neighbours.map(([number, signal_dbm]) => ({ neigh_address: mac(number), tq: 240, signal_dbm }));
    const { status, body } = await this.ask(station.token, 'POST', '/v1/nodes/heartbeat', {
      mac: mac(station.number),
      hostname: `node-${station.number}`,
      boot_id: 'boot',
      seq: ++station.seq,
      uptime_s: 4000 + station.seq,
      active_transport: 'wifi',
      signal_dbm: neighbours[0]?.[1] ?? null,
      interfaces: [
        { name: 'wlan0', operstate: 'up', mtu: 1500, rx_bytes: 1_200_000, tx_bytes: 340_000, rx_errors: 0, tx_errors: 0, ips: [] },
      ],
      mesh: { neighbor_count: links.length, links },
      metrics,
    });
    expect(status, JSON.stringify(body)).toBe(200);
  }
}

/** The interface of a gateway whose first admin has the usual password. */
export async function mesh(request: APIRequestContext, server: Server, prefix = ''): Promise<Mesh> {
  const made = new Mesh(request, server.url + prefix);
  await made.settle(server.folder);
  return made;
}

export async function login(page: Page, name = 'admin', password = PASSWORD): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Logs in and waits until the map and the mesh are there. */
export async function watch(page: Page, path = '/', name = 'admin'): Promise<void> {
  await page.goto(path);
  await login(page, name, name === 'admin' ? PASSWORD : OWN_PASSWORD);
  await page.waitForFunction(
    () =>
      document.querySelector<HTMLElement>('[data-live]')?.dataset['live'] === 'loaded' &&
      document.querySelector<HTMLElement>('.map')?.dataset['ready'] === 'true',
  );
}

/** Serious findings of axe-core. */
export async function serious(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(' ')}`);
}
