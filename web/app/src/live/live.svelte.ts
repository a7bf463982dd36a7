// The live mesh as the gateway tells it: its stream of events, and measurements asked for now and then.
import { Abandoned, Refusal, wanted, type Link } from '../api/client';
import {
  gateway,
  type Graph,
  type GraphLink,
  type LiveNode,
  type MeshHealth,
  type NodeState,
  type Outage,
  type Registration,
} from '../api/gateway';
import { offer } from '../api/offer';
import type { LatLon } from '../geo';
import { app } from '../store/app.svelte';
import { linkId } from './links';
import { plannedLinks, unmeasured } from './planned';
import { Session } from './session.svelte';
import { Stream, type StreamEvent } from './stream';
import { STATES } from './states';
import type { LiveTab } from './tabs';

/** Period of questions for measurements, ms; a hidden tab asks nothing. */
const PERIOD_MS = 5000;
const PERIOD_GONE_MS = 1500;
/** Wait after an event, so that many of them cause one question, ms. */
const SETTLE_MS = 300;
/** Period of questions for planned links, ms. */
const PLANNED_MS = 60_000;
const PAGE = 1000;
const EVENTS_SHOWN = 1024;

type Page<T> = { items: T[]; next_cursor?: string | null };

/** All pages of a list. */
export async function all<T>(ask: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await ask(cursor);
    found.push(...page.items);
    if (!page.next_cursor) return found;
    cursor = page.next_cursor;
  }
}

export class Live {
  readonly session: Session = new Session(() => this.#clear());
  nodes = $state.raw<LiveNode[]>([]);
  graph = $state.raw<Graph | null>(null);
  /** Links that the plan predicts. */
  planned = $state.raw<Link[]>([]);
  health = $state.raw<MeshHealth | null>(null);
  pending = $state.raw<Registration[]>([]);
  /** Outages that are open, the oldest first. */
  outages = $state.raw<Outage[]>([]);
  events = $state.raw<StreamEvent[]>([]);
  /** When `nodes` was answered, ms. */
  asked_ms = $state(0);
  now_ms = $state(Date.now());
  loaded = $state(false);
  gone = $state(false);
  fault = $state('');
  streaming = $state(false);
  tab = $state<LiveTab>('nodes');
  /** Selected node, by its id. */
  node = $state<string | null>(null);
  /** Selected link, by the ids of its ends. */
  link = $state<string | null>(null);
  /** The next click on the map is the place of the selected node. */
  placing = $state(false);

  byId = $derived(new Map(this.nodes.map((node) => [node.node_id, node])));
  chosen = $derived(this.node ? this.byId.get(this.node) : undefined);
  /** Name and id of the nodes of the topology, which names them by their hardware addresses. */
  ends = $derived(new Map((this.graph?.nodes ?? []).map((node) => [node.id, { label: node.label, node_id: node.properties.node_id }])));
  /** Measured links, and those that are only planned. */
  links = $derived.by((): GraphLink[] => {
    const measured = this.graph?.links ?? [];
    const names = new Map([...this.ends].map(([id, end]) => [end.node_id, id]));
    return [...measured, ...unmeasured(this.planned, measured, names)];
  });
  chosenLink = $derived(this.links.find((link) => linkId(link) === this.link));
  counts = $derived(
    Object.fromEntries(STATES.map((state) => [state, this.nodes.filter((node) => node.state === state).length])) as Record<
      NodeState,
      number
    >,
  );
  /** Places of the nodes of the topology. */
  places = $derived(
    new Map(
      (this.graph?.nodes ?? []).flatMap(({ id, properties }): [string, LatLon][] => {
        const position = this.byId.get(properties.node_id)?.position;
        return position ? [[id, position]] : [];
      }),
    ),
  );

  readonly #stream = new Stream('/v1/events', {
    event: (event) => this.#happened(event),
    state: (open) => {
      this.streaming = open;
      if (!open) this.#soon(0);
    },
  });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #clock: ReturnType<typeof setInterval> | undefined;
  #etag = '';

  readonly #turned = () => void (!document.hidden && this.#soon(0));

  /** Begins to follow the mesh; returns how to end it. */
  follow(): () => void {
    this.#stream.start();
    document.addEventListener('visibilitychange', this.#turned);
    this.#clock = setInterval(() => void (!document.hidden && (this.now_ms = Date.now())), 1000);
    void this.refresh();
    return () => {
      this.#stream.end();
      document.removeEventListener('visibilitychange', this.#turned);
      clearInterval(this.#clock);
      clearTimeout(this.#timer);
    };
  }

  /** Forgets the mesh: what an account was shown is none of the next one's. */
  #clear(): void {
    [this.nodes, this.planned, this.pending, this.events, this.outages] = [[], [], [], [], []];
    [this.graph, this.health, this.node, this.link] = [null, null, null, null];
    [this.#etag, this.#plannedOf, this.fault] = ['', '', ''];
    [this.loaded, this.placing] = [false, false];
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), ms);
  }

  #happened(event: StreamEvent): void {
    // A gateway that was started again tells its events from the first on.
    this.events = [event, ...this.events.filter((known) => known.id !== event.id)].slice(0, EVENTS_SHOWN);
    const { node_id, to } = event.data;
    if (event.type === 'node.state' && node_id && to)
      this.nodes = this.nodes.map((node) => (node.node_id === node_id ? { ...node, state: to as NodeState } : node));
    if (event.type !== 'flow.execution') this.#soon(SETTLE_MS);
  }

  /** Asks for everything that is shown. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    const { me } = this.session;
    if (document.hidden || !me) return;
    try {
      await Promise.all([
        this.#askNodes(),
        this.#askGraph(),
        this.#askOutages(),
        this.session.may('operator') ? this.askPending() : undefined,
      ]);
      this.health = await wanted(gateway.GET('/v1/mesh/health'));
      // An answer to the account before.
      if (this.session.me?.username !== me.username) {
        this.#clear();
        return void this.refresh();
      }
      if (offer().planning !== null) void this.#askPlanned();
      if (this.gone) app.ui.tell('The gateway is back.');
      this.gone = false;
      this.fault = '';
      this.loaded = true;
    } catch (fault) {
      // The login has ended, and its requests with it.
      if (!this.session.me) return;
      this.gone = fault instanceof Refusal && fault.status === 0;
      this.fault = (fault as Error).message;
    }
    this.#timer = setTimeout(() => void this.refresh(), this.gone ? PERIOD_GONE_MS : PERIOD_MS);
  }

  async #askNodes(): Promise<void> {
    const nodes = await all((cursor) =>
      wanted(gateway.GET('/v1/nodes', { params: { query: { limit: PAGE, ...(cursor ? { cursor } : {}) } } })),
    );
    this.asked_ms = this.now_ms = Date.now();
    this.nodes = nodes;
  }

  async #askOutages(): Promise<void> {
    this.outages = await all((cursor) =>
      wanted(gateway.GET('/v1/mesh/outages', { params: { query: { state: 'open', limit: PAGE, ...(cursor ? { cursor } : {}) } } })),
    );
  }

  async #askGraph(): Promise<void> {
    const header = this.#etag ? { 'if-none-match': this.#etag } : {};
    const answer = await gateway.GET('/v1/mesh/topology', { params: { header } }).catch(() => {
      throw new Refusal('The gateway does not answer.', 0);
    });
    if (answer.response.status === 304) return;
    this.graph = (await wanted(Promise.resolve(answer))) as Graph;
    this.#etag = answer.response.headers.get('etag') ?? '';
  }

  #plannedOf = '';
  #plannedAt_ms = 0;

  /** Asks for planned links when other planned nodes are in the mesh, and now and then. */
  async #askPlanned(): Promise<void> {
    const ids = this.nodes.filter((node) => node.planned).map((node) => node.node_id);
    if (ids.join() === this.#plannedOf && Date.now() - this.#plannedAt_ms < PLANNED_MS) return;
    this.#plannedOf = ids.join();
    this.#plannedAt_ms = Date.now();
    // Without an answer the links that were known stay.
    const found = ids.length < 2 ? [] : await plannedLinks(new Set(ids)).catch(() => null);
    if (found) this.planned = found;
  }

  async askPending(): Promise<void> {
    this.pending = await all((cursor) =>
      wanted(
        gateway.GET('/v1/admin/registrations', { params: { query: { state: 'pending', limit: PAGE, ...(cursor ? { cursor } : {}) } } }),
      ),
    );
  }

  /** Time since a node was heard, ms. */
  silence(node: LiveNode): number | null {
    return node.last_seen_msecs === null || node.last_seen_msecs === undefined
      ? null
      : node.last_seen_msecs + Math.max(0, this.now_ms - this.asked_ms);
  }

  pick(node: string | null): void {
    this.node = node;
    this.link = null;
    this.placing = false;
  }

  pickLink(link: GraphLink): void {
    this.link = linkId(link);
    this.node = null;
    this.placing = false;
  }

  nameOf(id: string | null | undefined): string {
    return (id && this.byId.get(id)?.name) || id || 'a node';
  }

  /** Does work and shows why it failed, if it did. */
  async attempt<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (fault) {
      if (!(fault instanceof Abandoned)) app.ui.tell((fault as Error).message, true);
      return null;
    }
  }

  /** Sets the place of the selected node. */
  async place(at: LatLon): Promise<void> {
    const node = this.chosen;
    this.placing = false;
    if (!node) return;
    const body = { position_override: { lat: at.lat, lon: at.lon } };
    await this.attempt(() => wanted(gateway.PATCH('/v1/nodes/{node_id}', { params: { path: { node_id: node.node_id } }, body })));
    await this.refresh();
  }
}

export const live = new Live();
