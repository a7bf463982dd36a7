// Changes of others that come while lists are on their way, which are older.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Deployment, Link, Node } from '../src/api/client';
import { Plan } from '../src/store/plan.svelte';

const node = (id: string, height_agl_m = 10, updated_at = '2026-01-01T00:00:00Z'): Node =>
  ({ id, deployment_id: 'd', name: id, height_agl_m, updated_at }) as Node;
const link = (a_node_id: string, b_node_id: string, distance_m: number): Link => ({ a_node_id, b_node_id, distance_m }) as Link;

/** Answers that the test gives, by the end of the path that was asked for. */
let answers: Map<string, (body: unknown) => void>;

beforeEach(() => {
  answers = new Map();
  vi.stubGlobal('location', { href: 'http://page.test/', hash: '' });
  vi.stubGlobal('fetch', (input: Request | string) => {
    if (typeof input === 'string') return Promise.resolve(Response.json({ planning: 'http://page.test' }));
    const end = input.url.split('/').at(-1) as string;
    return new Promise((answer) => answers.set(end, (body) => answer(Response.json(body))));
  });
});
afterEach(() => void vi.unstubAllGlobals());

/** The answer to a question, once it is asked. */
async function give(end: string, body: unknown): Promise<void> {
  const answer = await vi.waitUntil(() => answers.get(end));
  answers.delete(end);
  answer(body);
}

function plan(): Plan {
  const plan = new Plan();
  plan.deployment = { id: 'd', name: 'D' } as Deployment;
  plan.nodes = [node('a'), node('b')];
  return plan;
}

test('a node that comes, changes or leaves while the list is on its way is as it came', async () => {
  const shown = plan();
  const refreshed = shown.refresh();
  await vi.waitUntil(() => answers.has('nodes'));
  shown.put(node('new', 5, '2026-01-02T00:00:00Z'));
  shown.put(node('a', 30, '2026-01-02T00:00:00Z'));
  shown.drop(new Set(['b']));
  await give('nodes', [node('a'), node('b')]);
  await refreshed;
  expect(shown.nodes.map(({ id, height_agl_m }) => [id, height_agl_m])).toEqual([
    ['a', 30],
    ['new', 5],
  ]);
});

test('a list that is newer than what came before it counts', async () => {
  const shown = plan();
  const refreshed = shown.refresh();
  await vi.waitUntil(() => answers.has('nodes'));
  shown.put(node('a', 30, '2026-01-02T00:00:00Z'));
  await give('nodes', [node('a', 50, '2026-01-03T00:00:00Z')]);
  await refreshed;
  expect(shown.nodes.map(({ height_agl_m }) => height_agl_m)).toEqual([50]);
  // What belongs to the list before is none of the next one's.
  const again = shown.refresh();
  await give('nodes', [node('a', 60, '2026-01-01T00:00:00Z')]);
  await again;
  expect(shown.nodes.map(({ height_agl_m }) => height_agl_m)).toEqual([60]);
});

test('links of a node that are newer than all links stay, and the list is loading until those came', async () => {
  const shown = plan();
  const refreshed = shown.refreshLinks();
  await vi.waitUntil(() => answers.has('links'));
  shown.putLinks('a', [link('a', 'b', 7000)]);
  shown.putLinks('a', [link('a', 'b', 8000)]);
  expect(shown.linksState).toBe('loading');
  await give('links', { links: [link('a', 'b', 5000), link('b', 'c', 1000)], pairs_left_out: 0 });
  await refreshed;
  expect(shown.links.map(({ a_node_id, distance_m }) => [a_node_id, distance_m])).toEqual([
    ['b', 1000],
    ['a', 8000],
  ]);
  expect(shown.linksState).toBe('ready');
});

test('a node of another deployment, which was left meanwhile, is not shown', () => {
  const shown = plan();
  shown.put({ ...node('z'), deployment_id: 'other' });
  expect(shown.nodes.map(({ id }) => id)).toEqual(['a', 'b']);
});
