// Changes of others that come while lists are on their way, which are older.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Deployment, Link, Node } from '../src/api/client';
import { Coverages, type Job } from '../src/store/coverage.svelte';
import { Plan } from '../src/store/plan.svelte';
import { Tools } from '../src/store/tools.svelte';

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

/** A link of `a` with chances and margins of both directions. */
const rated = (b: string, [there, back]: [number, number], [up_db, down_db]: [number, number], ground = 'known') =>
  ({
    ...link('a', b, 1000),
    ground,
    forward: { link_prob: there, link_margin_db: up_db },
    reverse: { link_prob: back, link_margin_db: down_db },
  }) as Link;

test('the best link of a node is one: its rating and its margin are of the same', () => {
  const shown = plan();
  // The greatest margin has the lesser chance, as over unknown surroundings.
  shown.links = [rated('b', [0.7, 0.6], [30, 28]), rated('c', [0.99, 0.98], [12, 10]), rated('d', [0.98, 0.99], [14, 15])];
  expect(shown.bestMargin.get('a')).toBe(14);
  expect(shown.bestRating.get('a')).toBe(shown.bestRating.get('d'));
  expect(shown.bestRating.get('a')).not.toBe(shown.bestRating.get('b'));
  shown.links = [rated('b', [0.9, 0.9], [20, 20], 'unknown')];
  expect([shown.bestMargin.get('a'), shown.bestRating.get('a')]).toEqual([undefined, 'unknown']);
});

test('links are counted that close in both directions', () => {
  const shown = plan();
  shown.links = [rated('b', [0.9, 0.9], [5, 5]), rated('c', [0.9, 0.4], [5, -1]), rated('d', [0, 0], [5, 5])];
  expect(shown.closing.map(({ b_node_id }) => b_node_id)).toEqual(['b']);
});

test('a scan is old when the plan changes, and keeps its height', async () => {
  const shown = plan();
  const tools = new Tools(shown);
  tools.scan_height_m = 25;
  const scanned = tools.scanFrom({ lat: 57, lon: 12 }, undefined);
  await vi.waitUntil(() => answers.has('scan'));
  tools.scan_height_m = 40;
  await give('scan', { candidates: [] });
  await scanned;
  const scan = tools.scan!;
  expect(scan.height_agl_m).toBe(25);
  expect(tools.isOldPlan(scan)).toBe(false);
  // As it comes again, unchanged.
  shown.put(node('a', 10, '2026-01-02T00:00:00Z'));
  expect(tools.isOldPlan(scan)).toBe(false);
  shown.put(node('c'));
  expect(tools.isOldPlan(scan)).toBe(true);
  shown.drop(new Set(['c']));
  expect(tools.isOldPlan(scan)).toBe(false);
  shown.put({ ...node('b', 10, '2026-01-02T00:00:00Z'), indoor: 'traditional' } as Node);
  expect(tools.isOldPlan(scan)).toBe(true);
});

test('removed coverages leave the list and what this device keeps', async () => {
  vi.stubGlobal('document', { addEventListener: () => undefined });
  const kept = new Set(['a', 'b']);
  const coverages = new Coverages(() => null, { finished: () => undefined, removed: (job) => void kept.delete(job.nodeId) });
  coverages.restore([...kept].map((id) => ({ id: `job-${id}`, nodeId: id }) as Job));
  const removed = coverages.removeAll();
  expect([coverages.jobs, [...kept]]).toEqual([[], []]);
  await give('job-a', null);
  await give('job-b', null);
  await removed;
});
