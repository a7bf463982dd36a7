// Which interfaces the page may ask at its own address.
import { noted } from './kept';

export interface Offer {
  /** Path in front of those of the planning interface; null if it is not served here. */
  planning: string | null;
  /** The same of the gateway. */
  gateway: string | null;
  /** Port of the gateway's own address, which agents ask; null where the page comes from there. */
  gateway_port: number | null;
  /** Path of a base map, a PMTiles archive; null for none. */
  basemap: string | null;
}

/** What a server offers that does not say: it is a planning server. */
const USUAL: Offer = { planning: '', gateway: null, gateway_port: null, basemap: null };

let known: Offer | null = null;
let asked: Promise<Offer> | null = null;

async function ask(): Promise<Offer> {
  const answer = await fetch('/page.json').then(noted, () => {
    throw new Error('The server does not answer.');
  });
  known = { ...USUAL, ...(answer.ok ? ((await answer.json().catch(() => ({}))) as Partial<Offer>) : {}) };
  return known;
}

/** What the server offers: asked for once, and again after no answer. */
export function offered(): Promise<Offer> {
  asked ??= ask().catch((fault) => {
    asked = null;
    throw fault;
  });
  return asked;
}

/** What the server offers, for what is shown after it has said so. */
export function offer(): Offer {
  if (!known) throw new Error('The offer of the server is read before it is known.');
  return known;
}

type Method = (path: never, init?: never) => Promise<unknown>;
const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const;

/** A client whose requests wait until the server has said where its interface is. */
export function placed<T extends Record<(typeof METHODS)[number], Method>>(client: T, base: () => Promise<string>): T {
  for (const method of METHODS) {
    const ask = client[method] as unknown as (path: string, init: object) => Promise<unknown>;
    client[method] = (async (path: string, init?: object) => ask(path, { ...init, baseUrl: await base() })) as unknown as T[typeof method];
  }
  return client;
}
