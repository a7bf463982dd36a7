// Impairments as text, and their traffic.
import type { AppliedState, Impairment, ImpairmentLease, LinkStats } from '../api/gateway';
import { figure } from '../units';
import { describe } from './impairment-kinds';

export type Direction = AppliedState['direction'];

export interface Row {
  name: string;
  requested: string;
  kernel: string;
}

/** Kinds that were requested or are in force, side by side. */
export function rows(state: AppliedState): Row[] {
  const kernel = describe(state.impairment);
  const pairs = describe(state.requested ?? {}).map(({ name, words }, place) => ({ name, requested: words, kernel: kernel[place].words }));
  return pairs.filter((row) => row.requested || row.kernel);
}

/** An impairment on one line. */
export function brief(impairment: Impairment): string {
  const kinds = describe(impairment).filter(({ words }) => words);
  return kinds.map(({ name, words }) => `${name.toLowerCase()} ${words}`).join('; ') || 'no impairment';
}

/** Holder of a lease. */
export function holder({ owner }: ImpairmentLease): string {
  if (owner.name) return owner.name;
  if (typeof owner.uid !== 'number') return 'unknown';
  return typeof owner.pid === 'number' ? `user ${owner.uid}, process ${owner.pid}` : `user ${owner.uid}`;
}

/** Changes of a lease, a line for each direction. */
export function leased({ changes }: ImpairmentLease): { direction: string; words: string }[] {
  return Object.entries(changes).flatMap(([direction, change]) => (change ? [{ direction, words: brief(change.impairment) }] : []));
}

export interface Traffic {
  bits_per_s: number;
  packets_per_s: number;
  drops_pct: number;
  queued: number;
}

/** Traffic between two samples; null when the counters began anew. */
export function traffic(before: LinkStats, now: LinkStats): Traffic | null {
  const passed_s = (now.captured_at - before.captured_at) / 1e9;
  const [packets, drops] = [now.packets_total - before.packets_total, now.drops_total - before.drops_total];
  if (passed_s <= 0 || packets < 0 || drops < 0 || now.resets_total !== before.resets_total) return null;
  return {
    bits_per_s: ((now.bytes_total - before.bytes_total) * 8) / passed_s,
    packets_per_s: packets / passed_s,
    drops_pct: packets + drops ? (100 * drops) / (packets + drops) : 0,
    queued: now.backlog_packets,
  };
}

/** Seconds as minutes and seconds. */
export function timeOf(s: number): string {
  const whole = Math.floor(s);
  return s < 60 ? `${figure(s, 1)} s` : `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
