// The page without its server: the service worker is started, and what is shown is kept for the next time.
import { whenIdle } from '../idle';
import type { Deployment, Link, Node } from '../api/client';

/** Store of the service worker for plans (worker.ts). */
const DATA = 'groundwave-data';
/** Addresses of answers that the browser notes, so that the worker can keep what was read before it was there. */
const NOTED_MAX = 1500;
/** Wait after a change before the plan is kept, ms. */
const KEPT_AFTER_MS = 1000;
/** Links that are kept after each change; more of them are kept as the server sends them. */
const LINKS_MAX = 10_000;

/** The service workers of this browser; null where the page is not secure, as over HTTP from another machine. */
const workers = (): ServiceWorkerContainer | null => (navigator as { serviceWorker?: ServiceWorkerContainer }).serviceWorker ?? null;

/** True if what the page reads stays on this device. */
export const keeps = (): boolean => Boolean(workers()?.controller);

/** Starts the service worker once the page has nothing else to do. */
export function workOffline(): void {
  const container = workers();
  if (!container) return;
  performance.setResourceTimingBufferSize(NOTED_MAX);
  const isFirst = container.controller === null;
  const start = async () => {
    await container.register('/sw.js');
    const { active } = await container.ready;
    const urls = performance.getEntriesByType('resource').map(({ name }) => name);
    if (isFirst) active?.postMessage({ urls });
  };
  // A browser that refuses it has the page as before.
  whenIdle(() => void start().catch(() => undefined));
}

/** A plan as the page shows it. */
export interface Shown {
  deployments: readonly Deployment[];
  deployment: Deployment | null;
  nodes: readonly Node[];
  links: readonly Link[] | null;
  pairsLeftOut: number;
}

async function keep({ deployments, deployment, nodes, links, pairsLeftOut }: Shown): Promise<void> {
  const cache = await caches.open(DATA);
  const put = (path: string, body: unknown) =>
    cache.put(
      new URL(path, location.href).href,
      new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json', date: new Date().toUTCString() } }),
    );
  await put('/api/v1/deployments', deployments);
  if (!deployment) return;
  const within = `/api/v1/deployments/${deployment.id}`;
  await put(`${within}/nodes`, nodes);
  if (links && links.length <= LINKS_MAX)
    await put(`${within}/links`, { deployment_id: deployment.id, links, pairs_left_out: pairsLeftOut });
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Keeps a plan a little after its last change: answers that the server gave before it are older. */
export function keepPlan(shown: Shown): void {
  clearTimeout(timer);
  timer = setTimeout(() => void keep(shown).catch(() => undefined), KEPT_AFTER_MS);
}
