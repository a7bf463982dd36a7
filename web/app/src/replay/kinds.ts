// States of links as words, colours and dashes; and what differs between two frames.
import { fieldUnit, signed, type Units } from '../units';
import { COLOURS, DASHES, ratingOf, WIDTHS } from '../verdict';
import type { Frame, ReplayLink } from './frames';

export type Kind = 'excellent' | 'good' | 'marginal' | 'poor' | 'down' | 'cut';
export type Measure = 'probability' | 'margin' | 'etx';

export const KINDS: readonly Kind[] = ['excellent', 'good', 'marginal', 'poor', 'down', 'cut'];

/** Highest expected transmissions of a kind. */
const ETX_MAX: [Kind, number][] = [
  ['excellent', 1.1],
  ['good', 1.5],
  ['marginal', 2.5],
];

/** Least margin of a kind, dB. */
const MARGIN_MIN: [Kind, number][] = [
  ['excellent', 20],
  ['good', 10],
  ['marginal', 3],
];

export const RULES: Record<Measure, Record<Kind, string>> = {
  probability: { excellent: 'works with ≥ 99 %', good: '≥ 90 %', marginal: '≥ 50 %', poor: '< 50 %', down: 'down', cut: 'cut' },
  margin: { excellent: '≥ 20 dB', good: '≥ 10 dB', marginal: '≥ 3 dB', poor: '< 3 dB', down: 'down', cut: 'cut' },
  etx: { excellent: 'ETX ≤ 1.1', good: '≤ 1.5', marginal: '≤ 2.5', poor: '> 2.5', down: 'down', cut: 'cut' },
};

const NAMES = { down: 'unknown', cut: 'no_link' } as const;
const own = (kind: Kind) => (kind === 'down' || kind === 'cut' ? NAMES[kind] : kind);

export const colour = (kind: Kind, theme: 'light' | 'dark'): string => COLOURS[theme][own(kind)];
export const dash = (kind: Kind): number[] => (kind === 'down' ? [0.6, 2.4] : kind === 'cut' ? [4, 1.4, 0.8, 1.4] : DASHES[kind]);
export const width = (kind: Kind): number => WIDTHS[own(kind)];

export function kindOf(link: ReplayLink, measure: Measure): Kind {
  if (link.cut) return 'cut';
  if (!link.up) return 'down';
  const { etx } = link;
  if (measure === 'etx' && typeof etx === 'number') return ETX_MAX.find(([, most]) => etx <= most)?.[0] ?? 'poor';
  if (measure === 'margin') return MARGIN_MIN.find(([, least]) => worseMargin(link) >= least)?.[0] ?? 'poor';
  const rating = ratingOf(Math.min(...link.link_prob));
  return rating === 'no_link' ? 'poor' : rating;
}

export function worseMargin(link: ReplayLink): number {
  return Math.min(...link.link_margin_db);
}

export const linkId = (link: ReplayLink): string => `${link.a_node_id}|${link.b_node_id}`;

/** A line that differs between the log and its variant. */
export interface Difference {
  id: string;
  what: string;
  recorded: string;
  changed: string;
}

function nameOf(frames: Frame[], id: string): string {
  return frames.flatMap((frame) => frame.nodes).find((node) => node.node_id === id)?.name ?? id;
}

/** A height to the centimetre, or tenth of a foot. */
function exact(height_m: number, units: Units): string {
  const { name, size } = fieldUnit('height', units);
  return `${Number((height_m / size).toFixed(units === 'metric' ? 2 : 1))} ${name}`;
}

/** What differs between two frames of one time. */
export function differences(recorded: Frame, changed: Frame, units: Units): Difference[] {
  const both = [recorded, changed];
  const found: Difference[] = [];
  const nodes = both.map((frame) => new Map(frame.nodes.map((node) => [node.node_id, node])));
  const state = (at: number, id: string) => {
    const node = nodes[at]?.get(id);
    return node ? (node.operating ? `operating, ${exact(node.height_agl_m, units)}` : 'failed') : 'absent';
  };
  for (const id of new Set(both.flatMap((frame) => frame.nodes.map((node) => node.node_id)))) {
    if (state(0, id) !== state(1, id)) found.push({ id, what: nameOf(both, id), recorded: state(0, id), changed: state(1, id) });
  }
  const links = both.map((frame) => new Map(frame.links.map((link) => [linkId(link), link])));
  const word = (at: number, id: string) => {
    const link = links[at]?.get(id);
    return link?.cut ? 'cut' : link?.up ? `up, ${signed(worseMargin(link))} dB` : 'down';
  };
  for (const id of new Set(links.flatMap((all) => [...all.keys()]))) {
    const [a, b] = [word(0, id), word(1, id)];
    if (a === b) continue;
    const [from, to] = id.split('|').map((end) => nameOf(both, end));
    found.push({ id, what: `${from} – ${to}`, recorded: a, changed: b });
  }
  const routes = both.map((frame) => new Map(frame.flows.map((flow) => [flow.flow_id, flow])));
  const route = (at: number, id: string) =>
    routes[at]
      ?.get(id)
      ?.path.map((node) => nameOf(both, node))
      .join(' → ') || 'no route';
  for (const [id, flow] of new Map(both.flatMap((frame) => frame.flows.map((one) => [one.flow_id, one] as const)))) {
    if (route(0, id) !== route(1, id)) found.push({ id, what: `Flow ${flow.name}`, recorded: route(0, id), changed: route(1, id) });
  }
  return found;
}

/** Counts of a frame. */
export function counts(frame: Frame): { nodes: number; links: number; routed: number; flows: number } {
  return {
    nodes: frame.nodes.filter((node) => node.operating).length,
    links: frame.links.filter((link) => link.up).length,
    routed: frame.flows.filter((flow) => flow.path.length > 1).length,
    flows: frame.flows.length,
  };
}
