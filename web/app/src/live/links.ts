// Links as planned, predicted and measured, and what the difference means.
import type { Feature, LineString } from 'geojson';
import type { GraphLink } from '../api/gateway';
import type { LatLon } from '../geo';
import { path } from '../map/features';
import type { Rating } from '../verdict';

/** Difference from the prediction that is told, dB; below it lies the spread of a good model. */
export const TOLD_DB = 6;

/** State of a link in words. */
export type Finding = 'as-predicted' | 'below' | 'above' | 'unplanned' | 'missing' | 'unviable' | 'stale' | 'down' | 'unmeasured';

export const FINDINGS: Record<Finding, { name: string; rating: Rating; meaning: string }> = {
  'as-predicted': { name: 'as predicted', rating: 'good', meaning: `the measured level is within ${TOLD_DB} dB of the prediction` },
  above: {
    name: 'better than predicted',
    rating: 'excellent',
    meaning: `the measured level is more than ${TOLD_DB} dB above the prediction`,
  },
  below: { name: 'worse than predicted', rating: 'poor', meaning: `the measured level is more than ${TOLD_DB} dB below the prediction` },
  unplanned: {
    name: 'up, not predicted',
    rating: 'marginal',
    meaning: 'the link is up; at least one end is not in the plan, so there is no prediction',
  },
  missing: { name: 'predicted, not heard', rating: 'no_link', meaning: 'the plan predicts a link that neither end hears' },
  unviable: { name: 'planned, not viable', rating: 'unknown', meaning: 'neither end hears the other, as the plan predicts' },
  stale: { name: 'stale', rating: 'unknown', meaning: 'neither end has reported it for a while' },
  down: { name: 'down', rating: 'no_link', meaning: 'the link was up and is not any more' },
  unmeasured: { name: 'up, level unknown', rating: 'marginal', meaning: 'the link is up; its ends report no signal level' },
};

export function finding({ properties }: GraphLink): Finding {
  const { kind, status, predicted, signal_above_prediction_db: off } = properties;
  if (kind === 'planned') return predicted?.viable ? 'missing' : 'unviable';
  if (status === 'stale') return 'stale';
  if (status === 'down') return 'down';
  if (!predicted) return 'unplanned';
  if (off === null || off === undefined) return 'unmeasured';
  return off < -TOLD_DB ? 'below' : off > TOLD_DB ? 'above' : 'as-predicted';
}

export const linkId = (link: GraphLink): string => `${link.source}|${link.target}`;

/** An order in which what needs attention comes first. */
const ORDER: readonly Finding[] = ['missing', 'down', 'below', 'stale', 'unmeasured', 'unplanned', 'as-predicted', 'above', 'unviable'];

export function byAttention(a: GraphLink, b: GraphLink): number {
  return ORDER.indexOf(finding(a)) - ORDER.indexOf(finding(b));
}

/** Lines of the links whose ends have a place. */
export function features(links: readonly GraphLink[], ends: ReadonlyMap<string, LatLon>): Feature<LineString>[] {
  return links.flatMap((link) => {
    const [a, b] = [ends.get(link.source), ends.get(link.target)];
    if (!a || !b) return [];
    const properties = { id: linkId(link), a: link.source, b: link.target, rating: FINDINGS[finding(link)].rating };
    return [{ type: 'Feature' as const, properties, geometry: { type: 'LineString' as const, coordinates: path([a, b]) } }];
  });
}
