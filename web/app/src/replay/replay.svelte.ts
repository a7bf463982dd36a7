// What is replayed: the log, its variant, the time, the speed.
import { api, Refusal, wanted } from '../api/client';
import { app } from '../store/app.svelte';
import { uploadRecording } from '../store/uploads';
import { writeAddress } from '../store/url';
import { count } from '../units';
import type { View } from '../map/camera';
import { between, Frames, stepAt, type Change, type Frame, type Info } from './frames';
import { differences, linkId, type Measure } from './kinds';

export const SPEEDS = [1, 2, 5, 10, 20, 60, 120, 300, 600] as const;
/** Period of writing the time into the address. */
const ADDRESS_MS = 500;
/** Least time between pictures. */
const PICTURE_MS = 60;
/** Most places of all tracks. */
const TRACK_PLACES_MAX = 40_000;
/** Longest time that one picture may skip, as after a hidden tab, s. */
const SKIP_S_MAX = 0.5;

/** Frames shown now: of the log, and of its variant if one is compared. */
export interface Shown {
  recorded: Frame;
  changed: Frame | null;
}

export class Replay {
  list = $state.raw<Info[]>([]);
  listed = $state(false);
  /** The server was asked in vain for its recordings. */
  isListMissing = $state(false);
  /** The recording that was named is not there. */
  absent = $state(false);
  info = $state.raw<Info | null>(null);
  /** The variant that is compared. */
  variant = $state.raw<Info | null>(null);
  at_s = $state(0);
  playing = $state(false);
  speed = $state<number>(10);
  measure = $state<Measure>('probability');
  /** `node id`, or `node id|node id` of a link. */
  chosen = $state<string | null>(null);
  shown = $state.raw<Shown | null>(null);
  /** The playhead waits until the map is drawn: the frame of its time is all that is asked for. */
  held = false;
  /** The frame of the time is on its way. */
  waits = $state(false);
  busy = $state<'' | 'open' | 'compare'>('');
  fault = $state('');
  differences = $derived(this.shown?.changed ? differences(this.shown.recorded, this.shown.changed, app.ui.units) : []);

  #frames: Frames | null = null;
  #changed: Frames | null = null;
  #last = 0;
  #asked = 0;

  /** Time between frames: at high speeds several steps of the log, at rest one. */
  get step_s(): number {
    return this.info ? stepAt(this.info, this.playing ? this.speed : 1) : 1;
  }

  /** Names of nodes now. */
  names = $derived(
    new Map(
      (this.shown ? [...this.shown.recorded.nodes, ...(this.shown.changed?.nodes ?? [])] : []).map((node) => [node.node_id, node.name]),
    ),
  );

  #begun: Promise<void> | null = null;

  /** Starts what the address asks for. Begun before the view is there, it goes on in the view. */
  begin(): Promise<void> {
    this.#begun ??= (async () => {
      const fields = new URLSearchParams(location.hash.replace(/^#/, ''));
      const [at_s, speed] = [Number(fields.get('t')), Number(fields.get('speed'))];
      if (SPEEDS.some((one) => one === speed)) this.speed = speed;
      this.held = true;
      await this.start(fields.get('r') ?? this.info?.id ?? null, Number.isFinite(at_s) ? at_s : 0, fields.get('play') === '1');
      if (this.info) this.chosen = fields.get('sel') ?? this.chosen;
    })();
    return this.#begun;
  }

  /** The view is left: the next one begins anew. */
  leave(): void {
    this.#begun = null;
    this.play(false);
  }

  /** Shows a replay at a time, and plays it if `play` says so. */
  async start(id: string | null, at_s = 0, play = false): Promise<void> {
    const isListed = await this.refresh();
    // Not another in place of one that was named.
    const next = this.list.find((info) => (id === null ? info.base_id === null : info.id === id));
    const base = next?.base_id ? this.list.find((info) => info.id === next.base_id) : next;
    this.absent = isListed && id !== null && !base;
    if (!base) {
      if (this.absent) this.#forget();
      return;
    }
    // Set first, so that only frames of this time and speed are asked for.
    this.playing = play;
    this.choose(base, base === next ? null : (next ?? null), at_s);
    if (play) this.play(true);
  }

  /** Reads the list; false if the server gave none. */
  async refresh(): Promise<boolean> {
    const list = await app.attempt(() => wanted(api.GET('/api/v1/replays')));
    this.list = list ?? this.list;
    this.isListMissing = list === null;
    this.listed = true;
    return list !== null;
  }

  #forget(): void {
    [this.info, this.variant, this.shown, this.chosen] = [null, null, null, null];
    [this.#frames, this.#changed] = [null, null];
  }

  #frame(info: Info): Frames {
    const failed = (fault: unknown) => {
      this.fault = fault instanceof Error ? fault.message : String(fault);
      this.playing = false;
      this.waits = false;
      if (fault instanceof Refusal && fault.status === 0) app.ui.serverGone = true;
    };
    const arrived = () => {
      this.fault = '';
      this.look();
    };
    return new Frames(info, failed, arrived);
  }

  choose(info: Info, variant: Info | null = null, at_s = 0): void {
    if (this.info?.id !== info.id) {
      this.info = info;
      this.#frames = this.#frame(info);
      this.at_s = Math.min(Math.max(at_s, 0), info.duration_s);
      this.chosen = null;
      this.shown = null;
    }
    this.absent = false;
    this.variant = variant;
    this.#changed = variant ? this.#frame(variant) : null;
    this.fault = '';
    this.look();
  }

  /** Opens a file of this machine. */
  async open(file: File): Promise<void> {
    this.busy = 'open';
    const made = await app.attempt(() => uploadRecording(file));
    this.busy = '';
    if (made) await this.adopt(made);
  }

  /** Shows a recording that has come to the server. */
  async adopt(made: Info): Promise<void> {
    await this.refresh();
    this.playing = false;
    this.choose(made);
    const dropped = made.notes.reduce((sum, note) => sum + note.count, 0);
    if (made.notes.length)
      app.ui.tell(
        `${made.name ?? 'The recording'}: ${count(dropped, 'value')} dropped, completed or converted, first ${made.notes[0]?.what}.`,
      );
  }

  /** Replays the log with changes beside it. */
  async compare(changes: Change[]): Promise<void> {
    const { info } = this;
    if (!info) return;
    this.busy = 'compare';
    const path = { id: info.id };
    const made = await app.attempt(() => wanted(api.POST('/api/v1/replays/{id}/variants', { params: { path }, body: { changes } })));
    this.busy = '';
    if (!made) return;
    await this.refresh();
    this.choose(info, made);
  }

  async remove(id: string): Promise<void> {
    await app.attempt(() => wanted(api.DELETE('/api/v1/replays/{id}', { params: { path: { id } } })));
    await this.refresh();
    if (this.variant?.id === id && this.info) this.choose(this.info);
    else if (this.info?.id === id) {
      this.#forget();
      await this.start(null);
    }
  }

  /** Asks again for frames that did not come. */
  again(): void {
    this.fault = '';
    this.look();
  }

  seek(at_s: number): void {
    this.at_s = Math.min(Math.max(at_s, 0), this.info?.duration_s ?? 0);
    this.look();
  }

  play(next: boolean): void {
    if (!this.info) return;
    if (next && this.at_s >= this.info.duration_s) this.at_s = 0;
    this.playing = next;
    this.#last = 0;
    this.look();
    if (next) this.#run(++this.#asked);
  }

  #run(turn: number): void {
    requestAnimationFrame((now) => {
      if (!this.playing || turn !== this.#asked || !this.info) return;
      if (this.held || (this.#last && now - this.#last < PICTURE_MS)) return this.#run(turn);
      const passed_s = this.#last ? Math.min((now - this.#last) / 1000, SKIP_S_MAX) : 0;
      this.#last = now;
      // The playhead waits for frames that are on their way.
      if (!this.waits) this.at_s = Math.min(this.at_s + passed_s * this.speed, this.info.duration_s);
      const ended = this.at_s >= this.info.duration_s;
      if (ended) this.playing = false;
      this.look();
      if (!ended) this.#run(turn);
    });
  }

  /** Shows the frames of the time, if they are here. */
  look(): void {
    if (!this.#frames) return;
    const { at_s, step_s } = this;
    const recorded = this.held ? this.#frames.first(at_s, step_s) : this.#frames.at(at_s, step_s);
    const changed = (this.held ? this.#changed?.first(at_s, step_s) : this.#changed?.at(at_s, step_s)) ?? null;
    this.waits = !this.fault && (recorded === null || (this.#changed !== null && changed === null));
    if (!recorded || this.waits) return;
    this.shown = { recorded: between(recorded.frame, recorded.next, at_s), changed: changed && between(changed.frame, changed.next, at_s) };
  }

  /** Ways of the nodes up to now, by node. */
  tracks(of: 'recorded' | 'changed'): Map<string, [number, number][]> {
    const frames = of === 'recorded' ? this.#frames : this.#changed;
    const found = new Map<string, [number, number][]>();
    const now = of === 'recorded' ? this.shown?.recorded : this.shown?.changed;
    const past = frames?.past(this.at_s, this.info ? stepAt(this.info, this.speed) : 1) ?? [];
    const every = Math.ceil((past.length * (now?.nodes.length ?? 0)) / TRACK_PLACES_MAX) || 1;
    for (const frame of [...past.filter((_, at) => at % every === 0), ...(now ? [now] : [])]) {
      for (const node of frame.nodes) {
        const way = found.get(node.node_id);
        const last = way?.at(-1);
        if (!way) found.set(node.node_id, [[node.lon, node.lat]]);
        else if (last?.[0] !== node.lon || last[1] !== node.lat) way.push([node.lon, node.lat]);
      }
    }
    return found;
  }

  /** The chosen node or link in a frame. */
  linkIn(frame: Frame) {
    return frame.links.find((link) => linkId(link) === this.chosen) ?? null;
  }

  nodeIn(frame: Frame) {
    return frame.nodes.find((node) => node.node_id === this.chosen) ?? null;
  }

  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The present view: it goes on while the address waits. */
  #view: View | null = null;

  /** Writes time and view into the address. */
  remember(view: View | null): void {
    this.#view = view;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const view = this.#view;
      // The address of a recording that is not there stays as it was given.
      if (app.ui.mode !== 'replay' || this.absent) return;
      const fields = new URLSearchParams(location.hash.replace(/^#/, ''));
      const keep = fields.get('d');
      const parts = ['v=replay'];
      if (view) parts.push(`m=${view.zoom.toFixed(2)}/${view.lat.toFixed(5)}/${view.lon.toFixed(5)}`);
      if (this.info) parts.push(`r=${(this.variant ?? this.info).id}`, `t=${Number(this.at_s.toFixed(1))}`, `speed=${this.speed}`);
      if (this.chosen) parts.push(`sel=${encodeURIComponent(this.chosen)}`);
      if (keep) parts.push(`d=${encodeURIComponent(keep)}`);
      writeAddress(`#${parts.join('&')}`);
    }, ADDRESS_MS);
  }
}

export const replay = new Replay();

/** Time of a replay for people: `mm:ss`, with hours where there are some. */
export function clock(at_s: number): string {
  const whole = Math.floor(at_s + 1e-6);
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${two(minutes)}:${two(seconds)}`;
}

/** An event for people. */
export function eventText(event: Info['events'][number], names: ReadonlyMap<string, string>): string {
  const body = (event.body ?? {}) as Record<string, unknown>;
  const name = (key: string) => {
    const id = body[key];
    return typeof id === 'string' ? (names.get(id) ?? id.slice(0, 8)) : '';
  };
  const pair = `${name('a')} – ${name('b')}`;
  const weather = (body['environment'] as { rain_rate_mm_h?: number } | undefined)?.rain_rate_mm_h;
  switch (event.command) {
    case 'node.add':
      return `${String(body['name'] ?? name('node'))} joins`;
    case 'node.fail':
      return `${name('node')} fails`;
    case 'node.restore':
      return `${name('node')} is repaired`;
    case 'node.remove':
      return `${name('node')} leaves`;
    case 'link.fail':
      return `${pair} is cut`;
    case 'link.restore':
      return `${pair} is mended`;
    case 'flow.start':
      return `Flow ${String(body['name'] ?? '')} starts`;
    case 'flow.stop':
      return 'A flow stops';
    case 'environment.set':
      return typeof weather === 'number' ? `Rain ${weather} mm/h` : 'The environment changes';
    case 'node.update':
    case 'node.set_station':
      return `${name('node')} changes`;
    case 'node.move':
    case 'motion.goto':
    case 'motion.follow':
      return `${name('node')} moves`;
    case 'motion.stop':
      return `${name('node')} stops`;
    default:
      return event.command;
  }
}

/** Sign of an event on the seek bar: a letter, so that colour is not needed. */
export function eventSign(command: string): string {
  if (command.endsWith('.fail')) return '✕';
  if (command.endsWith('.restore')) return '✓';
  if (command === 'environment.set') return '☂';
  if (command.startsWith('motion.') || command === 'node.move') return '→';
  if (command === 'node.add' || command === 'flow.start') return '+';
  return command === 'node.remove' || command === 'flow.stop' ? '−' : '•';
}
