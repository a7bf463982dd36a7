// Frames of a replay, taken from the server in windows ahead of the playhead.
import { api, wanted } from '../api/client';
import type { components } from '../api/planning';

type Schemas = components['schemas'];
export type Info = Schemas['ReplayInfo'];
export type Frame = Schemas['ReplayFrame'];
export type ReplayNode = Schemas['ReplayNode'];
export type ReplayLink = Schemas['ReplayLink'];
export type Change = Schemas['ReplayChange'];

/** Frames of a window. */
export const WINDOW_FRAMES = 120;
/** Windows kept; of more the one used longest ago leaves. */
const WINDOWS_MAX = 16;
/** Least time between frames on the screen, s. */
const SHOWN_S = 0.1;

/** Time between frames at a speed: a whole number of steps of the log. */
export function stepAt(info: Info, speed: number): number {
  const steps = Math.max(1, Math.floor((speed * SHOWN_S) / info.step_s + 1e-9));
  const power = 10 ** Math.floor(Math.log10(steps));
  const round = [5, 2, 1].find((factor) => factor * power <= steps) ?? 1;
  return info.step_s * round * power;
}

export class Frames {
  #windows = new Map<string, Frame[] | Promise<Frame[]>>();

  constructor(
    readonly info: Info,
    private readonly failed: (fault: unknown) => void,
    private readonly arrived: () => void,
  ) {}

  /** Number of windows that are here or on their way. */
  get windows(): number {
    return this.#windows.size;
  }

  #index(at_s: number, step_s: number): number {
    return Math.floor(at_s / (WINDOW_FRAMES * step_s) + 1e-9);
  }

  /** A window that is here; one that is not is asked for, if `ask` says so. */
  #window(index: number, step_s: number, ask: boolean): Frame[] | null {
    const from_s = index * WINDOW_FRAMES * step_s;
    if (index < 0 || from_s > this.info.duration_s) return [];
    const key = `${step_s} ${index}`;
    const known = this.#windows.get(key);
    if (known) {
      this.#windows.delete(key);
      this.#windows.set(key, known);
      return Array.isArray(known) ? known : null;
    }
    if (!ask) return null;
    const query = { from_s, to_s: Math.min(from_s + (WINDOW_FRAMES - 1) * step_s, this.info.duration_s), step_s };
    const asked = wanted(api.GET('/api/v1/replays/{id}/frames', { params: { path: { id: this.info.id }, query } }));
    const frames = asked.then(
      (answer) => {
        this.#windows.set(key, answer.frames);
        this.arrived();
        return answer.frames;
      },
      (fault: unknown) => {
        this.#windows.delete(key);
        this.failed(fault);
        return [];
      },
    );
    this.#windows.set(key, frames);
    const oldest = this.#windows.keys().next();
    if (this.#windows.size > WINDOWS_MAX && !oldest.done) this.#windows.delete(oldest.value);
    return null;
  }

  #first: Frame | Promise<void> | null = null;

  /** The frame of a time alone, before any window: a tenth of the server's work. Null while it is on its way. */
  first(at_s: number, step_s: number): { frame: Frame; next: null } | null {
    const from_s = Math.floor(at_s / step_s + 1e-9) * step_s;
    const query = { from_s, to_s: from_s, step_s };
    this.#first ??= wanted(api.GET('/api/v1/replays/{id}/frames', { params: { path: { id: this.info.id }, query } })).then(
      ({ frames }) => {
        this.#first = frames[0] ?? null;
        if (this.#first) this.arrived();
      },
      (fault: unknown) => {
        this.#first = null;
        this.failed(fault);
      },
    );
    return this.#first instanceof Promise ? null : { frame: this.#first, next: null };
  }

  /** The frame of a time and the one after it; null while its window is on the way. */
  at(at_s: number, step_s: number): { frame: Frame; next: Frame | null } | null {
    const index = this.#index(at_s, step_s);
    const frames = this.#window(index, step_s, true);
    if (!frames?.length) return null;
    // One window at a time: the server answers them in turn.
    const later = this.#window(index + 1, step_s, true);
    let place = frames.findLastIndex((frame) => frame.at_s <= at_s + 1e-6);
    if (place < 0) place = 0;
    const frame = frames[place] as Frame;
    return { frame, next: frames[place + 1] ?? later?.[0] ?? null };
  }

  /** Frames up to a time, those of the window before it among them as far as they are here. */
  past(at_s: number, step_s: number): Frame[] {
    const index = this.#index(at_s, step_s);
    const frames = [index - 1, index].flatMap((one) => this.#window(one, step_s, false) ?? []);
    return frames.filter((frame) => frame.at_s <= at_s + 1e-6);
  }
}

/** The frame with its nodes moved on towards the next one. */
export function between(frame: Frame, next: Frame | null, at_s: number): Frame {
  if (!next || next.at_s <= frame.at_s) return frame;
  const part = Math.min(Math.max((at_s - frame.at_s) / (next.at_s - frame.at_s), 0), 1);
  if (part === 0) return frame;
  const after = new Map(next.nodes.map((node) => [node.node_id, node]));
  const nodes = frame.nodes.map((node) => {
    const to = after.get(node.node_id);
    return to && (to.lat !== node.lat || to.lon !== node.lon)
      ? { ...node, lat: node.lat + (to.lat - node.lat) * part, lon: node.lon + (to.lon - node.lon) * part }
      : node;
  });
  return { ...frame, nodes };
}
