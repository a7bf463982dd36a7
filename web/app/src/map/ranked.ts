// Links by rank: of many, the best of each node.
import type { Link } from '../api/client';
import { closes } from '../verdict';

/** Links above this number are drawn by rank. */
export const RANKED_FROM = 150;
/** Links of each node that are drawn then, where nothing else is chosen. */
export const PER_NODE = 2;
/** Numbers to choose from; the last one stands for all. */
export const PER_NODE_CHOICES: readonly number[] = [1, 2, 3, 4, 6, 8, Infinity];

/** Weight of a link: the margin of its weaker direction, dB. */
export const weight = (link: Link): number => Math.min(link.forward.link_margin_db, link.reverse.link_margin_db);

/** True for so many links that close that they are drawn by rank. */
export function isRanked(links: readonly Link[]): boolean {
  let count = 0;
  for (const link of links) if ((closes(link.forward) || closes(link.reverse)) && ++count > RANKED_FROM) return true;
  return false;
}

/** Of many links the best of each node by weight, and those of the selected nodes; of few all. */
export function ranked(links: readonly Link[], chosen: ReadonlySet<string>, perNode = PER_NODE): readonly Link[] {
  if (perNode === Infinity || !isRanked(links)) return links;
  const closing = links.filter((link) => closes(link.forward) || closes(link.reverse));
  const weights = Float64Array.from(closing, weight);
  const order = Uint32Array.from(closing.keys()).sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b);
  const ranks = new Map<string, number>();
  const best = new Set<Link>();
  for (const at of order) {
    const link = closing[at] as Link;
    for (const id of [link.a_node_id, link.b_node_id]) {
      const rank = ranks.get(id) ?? 0;
      ranks.set(id, rank + 1);
      if (rank < perNode) best.add(link);
    }
  }
  return links.filter((link) => best.has(link) || chosen.has(link.a_node_id) || chosen.has(link.b_node_id));
}
