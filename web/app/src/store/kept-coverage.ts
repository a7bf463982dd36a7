// Finished coverages of single nodes on this device, for the page without its server.
import type { Job } from './coverage.svelte';

/** A coverage and the deployment of its node. */
export interface KeptCoverage {
  deployment: string;
  node: string;
  /** Time at which it was kept, ms since 1970. */
  at_ms: number;
  job: Job;
}

const NAME = 'groundwave';
const STORE = 'coverages';
/** Coverages that are kept; the oldest go first. */
const KEPT_MAX = 12;

function of<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser refuses its store'));
  });
}

/** Does work with the store; null where the browser has none. */
async function within<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => Promise<T>): Promise<T | null> {
  try {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: ['deployment', 'node'] });
    const database = await of(opening);
    try {
      return await work(database.transaction(STORE, mode).objectStore(STORE));
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

export async function keepCoverage(deployment: string, job: Job): Promise<void> {
  await within('readwrite', async (store) => {
    await of(store.put({ deployment, node: job.nodeId, at_ms: Date.now(), job } satisfies KeptCoverage));
    const all = (await of(store.getAll() as IDBRequest<KeptCoverage[]>)).sort((a, b) => b.at_ms - a.at_ms);
    for (const old of all.slice(KEPT_MAX)) await of(store.delete([old.deployment, old.node]));
  });
}

export async function dropCoverage(deployment: string, node: string): Promise<void> {
  await within('readwrite', (store) => of(store.delete([deployment, node])));
}

/** Coverages of a deployment, the oldest first. */
export async function keptCoverages(deployment: string): Promise<readonly KeptCoverage[]> {
  const all = await within('readonly', (store) => of(store.getAll() as IDBRequest<KeptCoverage[]>));
  return (all ?? []).filter((kept) => kept.deployment === deployment).sort((a, b) => a.at_ms - b.at_ms);
}
