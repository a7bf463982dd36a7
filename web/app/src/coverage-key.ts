// The key of the coverage that is drawn, for the screen and for paper.
import { COMMON_COLOURS, gradient, SERVERS, stepColour, VERDICT_COLOURS } from './palettes';
import type { Coverages } from './store/coverage.svelte';
import type { Plan } from './store/plan.svelte';
import { area, figure, percent, rate, type Units } from './units';
import { RULES } from './verdict';

/** A colour and its meaning. */
export interface Entry {
  colour: string;
  name: string;
  /** More about it, for a tooltip. */
  title?: string;
}

/** Colours that stand for one thing each, or a ramp of them with its figures. */
export interface CoverageKey {
  title: string;
  entries: Entry[];
  ramp: { background: string; ticks: [string, string, string]; unit: string } | null;
  /** Condition of a cell that is drawn. */
  cut: string;
}

const VERDICTS = ['poor', 'marginal', 'good', 'excellent'] as const;
const NO_GROUND_COLOUR = '#8c8c94';

/** Figures of the unit in force are those of the cells and this much, dB. */
export function offset_db(coverages: Coverages): number {
  return coverages.unit === 'margin' ? -(coverages.needed ?? 0) : 0;
}

/** Unit of the figures of a key. */
export function unitOf(coverages: Coverages): 'dB' | 'dBm' {
  return coverages.unit === 'margin' || coverages.bySinr ? 'dB' : 'dBm';
}

/** Nodes that serve cells, with the numbers of their colours; failed ones serve none. */
function servers({ mesh, shown }: Coverages, plan: Plan): Entry[] {
  const nodes = mesh.grid
    ? (mesh.state?.nodes ?? []).map((node) => (node && !mesh.failed.has(node.node_id) ? (plan.byId.get(node.node_id)?.name ?? '') : null))
    : shown.map((job) => job.name);
  return nodes.flatMap((name, number) => (name === null ? [] : [{ name, colour: SERVERS[number % SERVERS.length] as string }]));
}

/** The key of what is drawn; null without a coverage. */
export function coverageKey(coverages: Coverages, plan: Plan, units: Units): CoverageKey | null {
  if (!coverages.grid) return null;
  const { colouring, palette, rates, unit } = coverages;
  const offset = offset_db(coverages);
  const edge = `${figure((coverages.needed ?? 0) + coverages.threshold_db + offset, 0)} ${unitOf(coverages)}`;
  const key = {
    entries: [] as Entry[],
    ramp: null,
    cut: coverages.byProbability ? `drawn where it works with ${coverages.threshold_percent} % or more` : `drawn from ${edge}`,
  };
  if (colouring === 'server') return { ...key, title: 'Best server', entries: servers(coverages, plan) };
  const cover = coverages.commonCover;
  if (cover) {
    const [first = '', second = ''] = coverages.shown.map((job) => job.name);
    const names = [`${first} alone`, `${second} alone`, `both, ${percent(cover.share)}`];
    const entries = names.map((name, at): Entry => ({
      name: `${name}: ${area(cover.areas_km2[at] as number, units)}`,
      colour: COMMON_COLOURS[at] as string,
      ...(at === 2 ? { title: 'Share of the area that at least one of them serves' } : {}),
    }));
    return { ...key, title: 'Both nodes', entries: entries.toReversed() };
  }
  if (colouring === 'verdict') {
    const entries = VERDICTS.map((verdict, at): Entry => ({
      name: verdict,
      title: RULES[verdict],
      colour: VERDICT_COLOURS[at + 1] as string,
    }));
    return { ...key, title: 'Verdict', entries: [...entries, { name: 'ground not known', colour: NO_GROUND_COLOUR }] };
  }
  const background = gradient(palette);
  if (colouring === 'probability') return { ...key, title: 'Link works with', ramp: { background, ticks: ['0', '50', '100'], unit: '%' } };
  if (unit === 'rate' && rates.length && !coverages.bySinr) {
    const entries = rates.map((step, at): Entry => ({
      name: rate(step.data_rate_bps),
      title: `from ${figure(step.from_dbm)} dBm`,
      colour: stepColour(palette, at, rates.length),
    }));
    return { ...key, title: 'Data rate', entries };
  }
  const [low, high] = coverages.range;
  const title = unit === 'margin' ? (coverages.bySinr ? 'Margin of the SINR' : 'Margin') : coverages.bySinr ? 'SINR' : 'Received power';
  const ticks = [low, (low + high) / 2, high].map((value) => figure(value + offset, 0)) as [string, string, string];
  return { ...key, title, ramp: { background, ticks, unit: unitOf(coverages) } };
}

/** The threshold in force on the scale of the legend: a margin, dB, or a probability, percent. */
export interface ThresholdScale {
  /** What the legend shows of a value is so much greater. */
  offset: number;
  min: number;
  max: number;
  value: number;
  unit: string;
  /** CSS of the colours along it. */
  background: string;
  ticks: number[];
  /** Takes a value of the scale. */
  set(value: number): void;
}

/** Thresholds below the requirement, and the least reach of the scale above it, dB. */
const [BELOW_DB, ABOVE_DB] = [20, 40];
const PLAIN = 'var(--acc)';

/** The scale of the threshold of a coverage: that of the ramp where there is one. */
export function thresholdScale(coverages: Coverages, key: CoverageKey): ThresholdScale {
  if (coverages.byProbability) {
    return {
      offset: 0,
      min: 0,
      max: 99,
      value: coverages.threshold_percent,
      unit: '%',
      background: key.ramp ? gradient(coverages.palette, [0, 100 / 99]) : PLAIN,
      ticks: [0, 50, 99],
      set: (value) => (coverages.threshold_percent = value),
    };
  }
  const [low, high] = coverages.range;
  const reach_db = Math.max(ABOVE_DB, Math.ceil(high - (coverages.needed ?? 0)));
  const share = (value: number) => (value - (coverages.needed ?? 0) + BELOW_DB) / (BELOW_DB + reach_db);
  return {
    offset: (coverages.needed ?? 0) + offset_db(coverages),
    min: -BELOW_DB,
    max: reach_db,
    value: coverages.threshold_db,
    unit: unitOf(coverages),
    background: key.ramp ? gradient(coverages.palette, [share(low), share(high)]) : PLAIN,
    ticks: [-BELOW_DB, 0, Math.round(reach_db / 2), reach_db],
    set: (value) => (coverages.threshold_db = value),
  };
}
