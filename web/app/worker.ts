// Service worker of the page: its files and what it has read stay there without the server. The build puts the names
// of the files in place of `__SHELL__` (offline.ts). Nothing of a gateway, no stream and nothing with a login is kept.

/** Files of one build of the page. */
interface Shell {
  version: string;
  files: string[];
}
declare const __SHELL__: Shell;

const worker = self as unknown as ServiceWorkerGlobalScope;
const { version, files } = __SHELL__;

const SHELLS = 'groundwave-shell-';
const SHELL = `${SHELLS}${version}`;
const DATA = 'groundwave-data';
const PICTURES = 'groundwave-pictures';
const INDEX = '/index.html';
/** Builds that are kept: a tab of the one before still loads its parts. */
const SHELLS_MAX = 2;
/** Answers that are kept, by cache; the oldest go first. */
const ANSWERS_MAX: Record<string, number> = { [DATA]: 400, [PICTURES]: 1500 };
/** Greatest answer that is kept, octets. */
const ANSWER_OCTETS_MAX = 32 << 20;
/** Answers after which a cache is counted. */
const COUNTED_AFTER = 50;
/** Field of a kept answer with the time at which the server gave it. */
const KEPT = 'x-kept-at';

/** Answers that are kept, and the cache for them: plans, presets and ground, not searches below the pointer. */
const KINDS: readonly (readonly [path: RegExp, cache: string])[] = [
  [/^\/page\.json$/, DATA],
  [/^\/api\/v1\/(deployments|presets|templates)(\/(?!.*(changes|tiles|export)).*)?$/, DATA],
  [/^\/api\/v1\/terrain\/area$/, DATA],
  [/^\/api\/v1\/terrain\/(relief|tiles)\//, PICTURES],
];

/** The cache of an answer; null for what is not kept. */
function cacheOf(request: Request, url: URL): string | null {
  const { headers, method } = request;
  const isPlain =
    method === 'GET' &&
    url.origin === worker.location.origin &&
    !headers.has('authorization') &&
    !headers.has('range') &&
    !headers.get('accept')?.includes('event-stream');
  return isPlain ? (KINDS.find(([path]) => path.test(url.pathname))?.[1] ?? null) : null;
}

function isKept(answer: Response): boolean {
  const field = (name: string) => answer.headers.get(name) ?? '';
  return (
    answer.status === 200 &&
    answer.type === 'basic' &&
    !field('content-type').includes('event-stream') &&
    !/no-store|private/.test(field('cache-control')) &&
    Number(field('content-length')) <= ANSWER_OCTETS_MAX
  );
}

let count = 0;

async function keep(name: string, url: string, answer: Response): Promise<void> {
  const cache = await caches.open(name);
  await cache.put(url, answer);
  if (++count % COUNTED_AFTER) return;
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, Math.max(0, keys.length - (ANSWERS_MAX[name] ?? 0))).map((key) => cache.delete(key)));
}

/** True if a proxy answers in place of the server. */
const isAbsent = ({ status }: Response) => status === 502 || status === 504;

/** A kept answer with the time at which the server gave it. */
async function kept(name: string, url: string): Promise<Response | null> {
  const answer = await (await caches.open(name)).match(url);
  if (!answer) return null;
  const headers = new Headers(answer.headers);
  headers.set(KEPT, answer.headers.get('date') ?? '');
  return new Response(answer.body, { status: answer.status, headers });
}

/** The answer of the server, or without one the last that it gave. */
async function data(event: FetchEvent, name: string): Promise<Response> {
  const { request } = event;
  let answer: Response | null = null;
  try {
    answer = await fetch(request);
    if (isKept(answer)) event.waitUntil(keep(name, request.url, answer.clone()));
    if (!isAbsent(answer)) return answer;
    return (await kept(name, request.url)) ?? answer;
  } catch (fault) {
    const before = request.signal.aborted ? null : await kept(name, request.url);
    if (before) return before;
    throw fault;
  }
}

/** A file whose name has a digest of its content: from any build that has it, else from the server. */
async function asset(event: FetchEvent): Promise<Response> {
  const before = await caches.match(event.request.url);
  if (before) return before;
  const answer = await fetch(event.request);
  if (isKept(answer)) event.waitUntil(keep(SHELL, event.request.url, answer.clone()));
  return answer;
}

/** A file of the same name in each build: that of the server first, so that a newer page replaces an older one. */
async function file(request: Request, name: string): Promise<Response> {
  const shell = async () => (await caches.open(SHELL)).match(name);
  try {
    const answer = await fetch(request);
    return isAbsent(answer) ? ((await shell()) ?? answer) : answer;
  } catch (fault) {
    const before = await shell();
    if (before) return before;
    throw fault;
  }
}

worker.addEventListener('install', (event) => {
  const load = async () => {
    const shell = await caches.open(SHELL);
    // Names with a digest come from the store of the browser, others are asked for anew.
    await shell.addAll(files.map((name) => new Request(name, { cache: name.startsWith('/assets/') ? 'default' : 'no-cache' })));
    await worker.skipWaiting();
  };
  event.waitUntil(load());
});

worker.addEventListener('activate', (event) => {
  const tidy = async () => {
    const shells = (await caches.keys()).filter((name) => name.startsWith(SHELLS) && name !== SHELL);
    await Promise.all(shells.slice(0, Math.max(0, shells.length + 1 - SHELLS_MAX)).map((name) => caches.delete(name)));
    await worker.clients.claim();
  };
  event.waitUntil(tidy());
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== worker.location.origin) return;
  if (request.mode === 'navigate') {
    if (url.pathname === '/' || url.pathname === INDEX) event.respondWith(file(request, INDEX));
    return;
  }
  const name = cacheOf(request, url);
  if (name) event.respondWith(data(event, name));
  else if (url.pathname.startsWith('/assets/')) event.respondWith(asset(event));
  else if (files.includes(url.pathname)) event.respondWith(file(request, url.pathname));
});

/** Keeps what the page had read before this worker was there. */
worker.addEventListener('message', (event) => {
  const { urls = [] } = event.data as { urls?: string[] };
  const load = async (address: string) => {
    const request = new Request(address);
    const url = new URL(address);
    const name = cacheOf(request, url) ?? (url.origin === worker.location.origin && url.pathname.startsWith('/assets/') ? SHELL : null);
    if (!name || (await (await caches.open(name)).match(address))) return;
    const answer = await fetch(request);
    if (isKept(answer)) await keep(name, address, answer);
  };
  event.waitUntil(Promise.allSettled(urls.map(load)));
});
