// The ports of the impairment daemon and the playback of the gateway, asked while their panel is shown.
import { Refusal, wanted } from '../api/client';
import {
  gateway,
  type AppliedState,
  type Impairment,
  type ImpairmentLease,
  type ImpairmentSystem,
  type LinkStats,
  type NewPlayback,
  type Playback,
} from '../api/gateway';
import { traffic, type Direction, type Traffic } from './impairment';
import { poll } from './poll';

const PERIOD_MS = 1000;
const NS_PER_S = 1e9;
/** Fields that the form has: a lease leaves the rules of a direction alone. */
const FIELDS = ['latency', 'loss', 'rate', 'queue', 'duplication', 'reordering', 'corruption'] as const;
type Of<T> = Partial<Record<Direction, T>>;

class ImpairmentPanel {
  /** False when the gateway was started without a daemon. */
  configured = $state<boolean | null>(null);
  system = $state.raw<ImpairmentSystem | null>(null);
  states = $state.raw<Of<AppliedState>>({});
  stats = $state.raw<Of<LinkStats>>({});
  traffic = $state.raw<Of<Traffic | null>>({});
  playback = $state.raw<Playback | null>(null);
  leases = $state.raw<ImpairmentLease[]>([]);
  fault = $state('');

  /** Asks while the panel is shown; returns how to end it. */
  follow(): () => void {
    return poll(() => this.ask(), PERIOD_MS);
  }

  async ask(): Promise<void> {
    try {
      if (!this.configured) this.configured = (await wanted(gateway.GET('/capabilities'))).features['impairment'] ?? false;
      if (!this.configured) return;
      this.system ??= await wanted(gateway.GET('/v1/impairment/system'));
      const states: Of<AppliedState> = {};
      const stats: Of<LinkStats> = {};
      const flowing: Of<Traffic | null> = {};
      for (const { direction } of this.system.ports) {
        const params = { path: { direction } };
        states[direction] = await wanted(gateway.GET('/v1/impairment/ports/{direction}', { params }));
        const now = await wanted(gateway.GET('/v1/impairment/ports/{direction}/stats', { params }));
        const before = this.stats[direction];
        stats[direction] = now;
        flowing[direction] = before ? traffic(before, now) : null;
      }
      [this.states, this.stats, this.traffic] = [states, stats, flowing];
      this.playback = await wanted(gateway.GET('/v1/impairment/playback'));
      this.leases = await wanted(gateway.GET('/v1/impairment/leases'));
      this.fault = '';
    } catch (fault) {
      this.fault = (fault as Error).message;
      // A daemon that comes back may have other ports.
      if (fault instanceof Refusal && fault.status === 503) this.system = null;
    }
  }

  async replace(direction: Direction, body: Impairment): Promise<void> {
    const state = await wanted(gateway.PUT('/v1/impairment/ports/{direction}', { params: { path: { direction } }, body }));
    this.states = { ...this.states, [direction]: state };
  }

  /** Impairs a direction for some seconds; the daemon ends it, also without this page. */
  async lease(direction: Direction, impairment: Impairment, lasts_s: number): Promise<void> {
    const changes = { [direction]: { impairment, fields: [...FIELDS] } };
    await wanted(gateway.POST('/v1/impairment/leases', { body: { duration: Math.round(lasts_s * NS_PER_S), changes } }));
    await this.ask();
  }

  async cancel(id: number): Promise<void> {
    await wanted(gateway.DELETE('/v1/impairment/leases/{id}', { params: { path: { id } } }));
    await this.ask();
  }

  async clear(direction: Direction): Promise<void> {
    const state = await wanted(gateway.DELETE('/v1/impairment/ports/{direction}', { params: { path: { direction } } }));
    this.states = { ...this.states, [direction]: state };
  }

  async play(body: NewPlayback): Promise<void> {
    this.playback = await wanted(gateway.POST('/v1/impairment/playback', { body }));
  }

  async stop(): Promise<void> {
    this.playback = await wanted(gateway.DELETE('/v1/impairment/playback'));
    await this.ask();
  }
}

export const impairment = new ImpairmentPanel();
