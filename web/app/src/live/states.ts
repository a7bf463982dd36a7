// Liveness as shapes, colours and words, so that none is needed alone.
import type { NodeState } from '../api/gateway';
import { SHAPES } from '../map/icons';
import { COLOURS } from '../verdict';
import { dayOf, timeOfDay } from '../units';

export const STATES: readonly NodeState[] = ['online', 'stale', 'offline', 'joining'];

export const STATE_COLOURS: Record<NodeState, string> = {
  online: COLOURS.light.good,
  stale: COLOURS.light.poor,
  offline: COLOURS.light.no_link,
  joining: COLOURS.light.unknown,
};

export const MEANINGS: Record<NodeState, string> = {
  online: 'heard within three heartbeat periods',
  stale: 'silent for three periods, or back for one heartbeat only',
  offline: 'silent for twelve periods',
  joining: 'approved, no heartbeat yet',
};

export const shape = (state: NodeState): string => SHAPES[state] ?? '';

/** Time since, in words. */
export function ago(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return 'never';
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s} s ago`;
  if (s < 7200) return `${Math.round(s / 60)} min ago`;
  if (s < 172_800) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86_400)} d ago`;
}

export function duration(s: number | null | undefined): string {
  if (s === null || s === undefined) return 'unknown';
  const [days, hours, minutes] = [Math.floor(s / 86_400), Math.floor((s % 86_400) / 3600), Math.floor((s % 3600) / 60)];
  return days ? `${days} d ${hours} h` : hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min` : `${s} s`;
}

/** A time where the page is read, with the day if it is another. */
export function clock(rfc3339: string): string {
  const time = new Date(rfc3339);
  const today = new Date().toDateString() === time.toDateString();
  return today ? timeOfDay(time) : `${dayOf(time)} ${timeOfDay(time)}`;
}
