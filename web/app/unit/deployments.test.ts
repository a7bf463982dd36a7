// Changes of a deployment as commands, against a server that keeps documents.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Deployment, Environment, Template } from '../src/api/client';
import { withChange, environmentChange } from '../src/store/environment';
import { DeploymentCommands } from '../src/store/deployment-commands';
import { History } from '../src/store/history.svelte';
import { Plan } from '../src/store/plan.svelte';

const environment = { model: 'itm', climate: 'continental_temperate', rain_rate_mm_h: 0, clutter: null } as unknown as Environment;
const deployment = (id: string, name: string): Deployment =>
  ({ id, name, environment, updated_at: '2026-01-01T00:00:00Z', created_at: '2026-01-01T00:00:00Z' }) as Deployment;

/** The server: deployments by id, and their documents. */
let there: Map<string, Deployment>;
let templates: Map<string, Template>;
let made = 0;

function answer(status: number, body?: unknown): Response {
  return new Response(status === 204 ? null : JSON.stringify(body ?? { detail: 'There is none.' }), {
    status,
    headers: { 'content-type': 'application/json' },
  });
}

async function serve(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const [, , , kind = '', id = '', part = ''] = pathname.split('/');
  const known = there.get(id);
  if (pathname === '/page.json') return answer(200, { planning: 'http://page.test' });
  if (kind === 'templates') {
    if (request.method === 'GET') return answer(200, [...templates.values()]);
    if (request.method === 'DELETE') return answer(templates.delete(id) ? 204 : 404);
    const template = { ...(await request.json()), id: `t${++made}`, created_at: '2026-01-02T00:00:00Z' } as Template;
    templates.set(template.id, template);
    return answer(201, template);
  }
  if (id === 'import') {
    const next = { ...(await request.json()), id: `again-${++made}` } as Deployment;
    there.set(next.id, next);
    return answer(201, { deployment: next, nodes: 0, notes: [], has_recording: false });
  }
  if (!id) return answer(200, [...there.values()]);
  if (!known) return answer(404);
  if (part === 'export') return answer(200, known);
  if (part) return answer(200, part === 'nodes' ? [] : { links: [], pairs_left_out: 0 });
  if (request.method === 'DELETE') return there.delete(id) ? answer(204) : answer(404);
  const next = { ...known, ...(await request.json()) } as Deployment;
  there.set(id, next);
  return answer(200, next);
}

beforeEach(() => {
  there = new Map([deployment('a', 'Alpha'), deployment('b', 'Beta')].map((one) => [one.id, one]));
  templates = new Map();
  vi.stubGlobal('location', { href: 'http://page.test/', hash: '' });
  vi.stubGlobal('fetch', (input: Request | string) => serve(input instanceof Request ? input : new Request(new URL(input, location.href))));
});
afterEach(() => void vi.unstubAllGlobals());

async function page() {
  const plan = new Plan();
  const history = new History(
    () => undefined,
    () => plan.deployment?.id ?? null,
  );
  const followed: (string | null)[] = [];
  const show = async (id: string | null) => plan.listDeployments(id);
  const commands = new DeploymentCommands(plan, history, { follow: (id) => void followed.push(id), show });
  await show('a');
  return { plan, history, commands, followed };
}

test('a change of an environment has the keys that differ, and null is an absent one', () => {
  const after = { ...environment, rain_rate_mm_h: 12, interference_dbm: null } as Environment;
  const change = environmentChange(environment, after);
  expect([...change]).toEqual([['rain_rate_mm_h', 12]]);
  const other = { ...environment, climate: 'desert' } as Environment;
  expect(withChange(other, change)).toEqual({ ...other, rain_rate_mm_h: 12 });
  expect([...environmentChange(after, environment)]).toEqual([['rain_rate_mm_h', 0]]);
  const woods = { ...environment, vegetation: { depth_m: 9 } } as unknown as Environment;
  expect(withChange(woods, environmentChange(woods, environment))).not.toHaveProperty('vegetation');
});

test('an environment is changed, undone and done again; others changes of other keys stay', async () => {
  const { plan, history, commands } = await page();
  const rainy = environmentChange(environment, { ...environment, rain_rate_mm_h: 12 });
  await commands.change(plan.deployment!, { name: 'Alpha two', environment: rainy });
  expect(there.get('a')).toMatchObject({ name: 'Alpha two', environment: { rain_rate_mm_h: 12 } });
  expect(plan.deployment?.environment.rain_rate_mm_h).toBe(12);
  expect(history.done.map(({ label }) => label)).toEqual(['Name and environment of Alpha']);
  const theirs = { ...there.get('a')!, environment: { ...there.get('a')!.environment, climate: 'desert' } as Environment };
  there.set('a', theirs);
  plan.putDeployment(theirs);
  await history.undo();
  expect(there.get('a')).toMatchObject({ name: 'Alpha', environment: { rain_rate_mm_h: 0, climate: 'desert' } });
  await history.redo();
  expect(there.get('a')).toMatchObject({ name: 'Alpha two', environment: { rain_rate_mm_h: 12, climate: 'desert' } });
});

test('an undo does not overwrite what another client has set since', async () => {
  const { plan, history, commands } = await page();
  await commands.change(plan.deployment!, { environment: environmentChange(environment, { ...environment, rain_rate_mm_h: 12 }) });
  plan.putDeployment({ ...plan.deployment!, environment: { ...environment, rain_rate_mm_h: 40 } });
  await expect(history.undo()).rejects.toThrow('Alpha was changed by another client since: its values stay.');
  expect(history.done).toEqual([]);
});

test('without a change nothing is sent and nothing can be undone', async () => {
  const { plan, history, commands } = await page();
  const before = there.get('a');
  await commands.change(plan.deployment!, { environment: new Map() });
  expect([there.get('a'), history.done.length]).toEqual([before, 0]);
});

test('a deleted deployment comes back by an undo, and leaves again by a redo', async () => {
  const { plan, history, commands, followed } = await page();
  await commands.change(plan.deployment!, { environment: environmentChange(environment, { ...environment, rain_rate_mm_h: 12 }) });
  await commands.remove(plan.deployment!);
  expect([...there.keys()]).toEqual(['b']);
  expect(plan.deployment?.name).toBe('Beta');
  expect(followed).toEqual([null]);
  expect(history.done.map(({ label }) => label)).toEqual(['Delete Alpha']);
  await history.undo();
  expect(plan.deployment).toMatchObject({ name: 'Alpha', environment: { rain_rate_mm_h: 12 } });
  expect(plan.deployment?.id).not.toBe('a');
  // What was done before the deletion is undone in the one that was made again.
  await history.undo();
  expect(there.get(plan.deployment!.id)?.environment.rain_rate_mm_h).toBe(0);
  await history.redo();
  await history.redo();
  expect([...there.keys()]).toEqual(['b']);
});

test('a deletion that the server refuses leaves everything as it was', async () => {
  const { plan, history, commands, followed } = await page();
  const alpha = plan.deployment!;
  vi.stubGlobal('fetch', (input: Request) =>
    input.method === 'DELETE' ? Promise.resolve(answer(503, { detail: 'Busy.' })) : serve(input),
  );
  await expect(commands.remove(alpha)).rejects.toThrow('Busy.');
  expect([plan.deployment?.id, history.done.length, followed]).toEqual(['a', 0, [null, 'a']]);
  there.delete('a');
  await expect(commands.remove(alpha)).rejects.toThrow('Alpha is not there any more.');
});

test('a deleted template comes back by an undo', async () => {
  const { plan, history, commands } = await page();
  templates.set('t', { id: 't', name: 'Roof', height_agl_m: 12, created_at: '2026-01-01T00:00:00Z' } as Template);
  await plan.listTemplates();
  await commands.removeTemplate(plan.templates[0]!);
  expect(plan.templates).toEqual([]);
  await history.undo();
  expect(plan.templates.map(({ name, height_agl_m }) => [name, height_agl_m])).toEqual([['Roof', 12]]);
  await history.redo();
  expect(templates.size).toBe(0);
});
