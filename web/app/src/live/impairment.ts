// Impairments as fields of a form and as text.
import type { AppliedState, Impairment, LinkStats } from '../api/gateway';
import { figure, rate } from '../units';

export type Direction = AppliedState['direction'];
export const DIRECTIONS: readonly Direction[] = ['port1', 'port2'];

/** Fields of the form as typed; empty is not impaired. */
export interface Form {
  delay_ms: string;
  jitter_ms: string;
  distribution: string;
  delay_correlation_pct: string;
  loss_pct: string;
  loss_correlation_pct: string;
  bursts: boolean;
  p: string;
  r: string;
  one_minus_h: string;
  one_minus_k: string;
  rate_kbps: string;
  burst_bytes: string;
  queue: string;
  queue_unit: 'packets' | 'bytes';
  duplication_pct: string;
  duplication_correlation_pct: string;
  reordering_pct: string;
  gap: string;
  reordering_correlation_pct: string;
  corruption_pct: string;
  corruption_correlation_pct: string;
}

const NS_PER_MS = 1e6;
const text = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(Number(value.toPrecision(12))));
const share = (value: number | null | undefined) => text(value === null || value === undefined ? value : value * 100);

export function toForm(impairment: Impairment): Form {
  const { latency, loss, rate: limit, queue, duplication, reordering, corruption } = impairment;
  const varies = latency?.kind === 'stochastic' ? latency : null;
  const plain = loss?.model === 'bernoulli' ? loss : null;
  const bursts = loss?.model === 'gilbert-elliott' ? loss : null;
  const shape = varies?.distribution;
  return {
    delay_ms: text(latency ? (latency.kind === 'constant' ? latency.duration : latency.mean) / NS_PER_MS : null),
    jitter_ms: text(varies ? varies.jitter / NS_PER_MS : null),
    distribution: shape?.kind === 'table' ? shape.name : (shape?.kind ?? 'uniform'),
    delay_correlation_pct: share(varies?.correlation),
    loss_pct: text(plain?.pct),
    loss_correlation_pct: share(plain?.correlation),
    bursts: bursts !== null,
    p: text(bursts?.p),
    r: text(bursts?.r),
    one_minus_h: text(bursts?.one_minus_h),
    one_minus_k: text(bursts?.one_minus_k),
    rate_kbps: text(limit ? limit.bps / 1000 : null),
    burst_bytes: text(limit?.burst_bytes),
    queue: text(queue?.limit.value),
    queue_unit: queue?.limit.unit ?? 'packets',
    duplication_pct: text(duplication?.pct),
    duplication_correlation_pct: share(duplication?.correlation),
    reordering_pct: text(reordering?.pct),
    gap: text(reordering?.gap),
    reordering_correlation_pct: share(reordering?.correlation),
    corruption_pct: text(corruption?.pct),
    corruption_correlation_pct: share(corruption?.correlation),
  };
}

/** Bucket of a rate without one: 16 ms of data, at least one Ethernet frame. */
export const derivedBurst = (bps: number) => Math.max(1514, Math.floor(bps / 500));
const KINDS = ['uniform', 'normal', 'pareto', 'paretonormal'] as const;
const given = (field: string | number | null | undefined) => field !== null && field !== undefined && String(field).trim() !== '';
const correlated = (field: string) => (given(field) ? { correlation: Number(field) / 100 } : {});

/** The impairment of a form; what is out of range is refused by the daemon. */
export function fromForm(form: Form): Impairment {
  const made: Impairment = {};
  const whole = (field: string, factor = 1) => Math.round(Number(field) * factor);
  if (given(form.jitter_ms) && Number(form.jitter_ms) !== 0) {
    const kind = KINDS.find((one) => one === form.distribution);
    const distribution = kind ? { kind } : { kind: 'table' as const, name: form.distribution };
    made.latency = { kind: 'stochastic', mean: whole(form.delay_ms || '0', NS_PER_MS), jitter: whole(form.jitter_ms, NS_PER_MS), distribution, ...correlated(form.delay_correlation_pct) };
  } else if (given(form.delay_ms)) made.latency = { kind: 'constant', duration: whole(form.delay_ms, NS_PER_MS) };
  if (form.bursts && given(form.p) && given(form.r)) made.loss = { model: 'gilbert-elliott', p: Number(form.p), r: Number(form.r), one_minus_h: Number(form.one_minus_h || 0), one_minus_k: Number(given(form.one_minus_k) ? form.one_minus_k : 1) };
  else if (!form.bursts && given(form.loss_pct)) made.loss = { model: 'bernoulli', pct: Number(form.loss_pct), ...correlated(form.loss_correlation_pct) };
  if (given(form.rate_kbps)) {
    const bps = whole(form.rate_kbps, 1000);
    made.rate = { bps, burst_bytes: given(form.burst_bytes) ? whole(form.burst_bytes) : derivedBurst(bps) };
  }
  if (given(form.queue)) made.queue = { limit: { unit: form.queue_unit, value: whole(form.queue) } };
  if (given(form.duplication_pct)) made.duplication = { pct: Number(form.duplication_pct), ...correlated(form.duplication_correlation_pct) };
  if (given(form.reordering_pct)) made.reordering = { pct: Number(form.reordering_pct), gap: given(form.gap) ? whole(form.gap) : 1, ...correlated(form.reordering_correlation_pct) };
  if (given(form.corruption_pct)) made.corruption = { pct: Number(form.corruption_pct), ...correlated(form.corruption_correlation_pct) };
  return made;
}

const number = (value: number) => String(Number(value.toPrecision(4)));
const ms = (ns: number) => `${number(ns / NS_PER_MS)} ms`;
const pct = (value: number) => `${number(value)} %`;
const tied = (correlation: number | null | undefined) => (typeof correlation === 'number' ? `, correlation ${pct(correlation * 100)}` : '');

const WORDS: { name: string; of: (impairment: Impairment) => string }[] = [
  {
    name: 'Delay',
    of: ({ latency }) => {
      if (!latency) return '';
      if (latency.kind === 'constant') return ms(latency.duration);
      const kind = latency.distribution?.kind ?? 'uniform';
      return `${ms(latency.mean)} ± ${ms(latency.jitter)} ${latency.distribution?.kind === 'table' ? latency.distribution.name : kind}${tied(latency.correlation)}`;
    },
  },
  { name: 'Loss', of: ({ loss }) => (!loss ? '' : loss.model === 'bernoulli' ? `${pct(loss.pct)}${tied(loss.correlation)}` : `in bursts: p ${number(loss.p)}, r ${number(loss.r)}, 1−h ${number(loss.one_minus_h)}, 1−k ${number(loss.one_minus_k)}`) },
  { name: 'Rate', of: (all) => (all.rate ? `${rate(all.rate.bps)}, burst ${all.rate.burst_bytes}\u00a0B` : '') },
  { name: 'Queue', of: ({ queue }) => (queue ? `${queue.limit.value} ${queue.limit.unit}` : '') },
  { name: 'Duplication', of: ({ duplication }) => (duplication ? pct(duplication.pct) + tied(duplication.correlation) : '') },
  { name: 'Reordering', of: ({ reordering }) => (reordering ? `${pct(reordering.pct)}, gap ${reordering.gap}${tied(reordering.correlation)}` : '') },
  { name: 'Corruption', of: ({ corruption }) => (corruption ? pct(corruption.pct) + tied(corruption.correlation) : '') },
];

export interface Row {
  name: string;
  requested: string;
  kernel: string;
}

/** Kinds that were requested or are in force, side by side. */
export function rows(state: AppliedState): Row[] {
  const requested = state.requested ?? {};
  return WORDS.map(({ name, of }) => ({ name, requested: of(requested), kernel: of(state.impairment) })).filter((row) => row.requested || row.kernel);
}

/** An impairment on one line. */
export function brief(impairment: Impairment): string {
  const said = WORDS.map(({ name, of }) => [name.toLowerCase(), of(impairment)] as const).filter(([, value]) => value);
  return said.map(([name, value]) => `${name} ${value}`).join('; ') || 'no impairment';
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
  return { bits_per_s: ((now.bytes_total - before.bytes_total) * 8) / passed_s, packets_per_s: packets / passed_s, drops_pct: packets + drops ? (100 * drops) / (packets + drops) : 0, queued: now.backlog_packets };
}

/** Seconds as minutes and seconds. */
export function timeOf(s: number): string {
  const whole = Math.floor(s);
  return s < 60 ? `${figure(s, 1)} s` : `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
