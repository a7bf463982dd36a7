// Nodes and links of a large mesh as arrays for the GPU.
import type { Link } from '../api/client';
import { turned, type LatLon } from '../geo';
import type { Cluster } from './clusters';
import type { Placed } from './features';
import { closes, rating, RATINGS, strength } from '../verdict';
import { SHAPES } from './icons';
import { mercatorX, mercatorY } from './mercator';
import { weight } from './ranked';

export const ROLES = Object.keys(SHAPES);

export interface NetData {
  /** Place that the others are relative to. */
  anchor: [number, number];
  /** Of each half of a link: both ends, and the number of its rating with its weight, [0, 1), behind the point. */
  segments: Float32Array;
  /** Of each node: place and number of its role. */
  places: Float32Array;
}

/** Numbers of a segment and of a place. */
export const SEGMENT = 5;
export const PLACE = 3;

/** All nodes, and the halves of the links that close; `left` nodes and their links are drawn elsewhere. Nodes of a cluster have no symbol: their links end at it, the first of each pair of ends alone. */
export function netData(
  nodes: readonly Placed[],
  links: readonly Link[],
  byId: ReadonlyMap<string, Placed>,
  left: ReadonlySet<string>,
  clusters: readonly Cluster[] = [],
): NetData {
  const [first] = nodes;
  const anchor: [number, number] = first ? [mercatorX(first.lon), mercatorY(first.lat)] : [0.5, 0.5];
  const at = new Map<string, [number, number]>();
  const placed = ({ lat, lon }: LatLon): [number, number] => [
    mercatorX(turned(lon, first?.lon ?? 0)) - anchor[0],
    mercatorY(lat) - anchor[1],
  ];
  const clusterOf = new Map<string, number>(clusters.flatMap(({ ids }, number) => ids.map((id) => [id, number] as const)));
  const centres = clusters.map(placed);
  const pairs = new Set<string>();
  const places = new Float32Array(nodes.length * PLACE);
  let count = 0;
  for (const node of nodes) {
    const cluster = clusterOf.get(node.id);
    const place = cluster === undefined ? placed(node) : (centres[cluster] as [number, number]);
    at.set(node.id, place);
    if (left.has(node.id) || cluster !== undefined) continue;
    places.set([...place, Math.max(0, ROLES.indexOf(node.role))], count++ * PLACE);
  }
  const segments = new Float32Array(links.length * 2 * SEGMENT);
  let filled = 0;
  const add = (ends: readonly number[], rated: number, margin_db: number) => {
    segments.set(ends, filled);
    segments[filled + 4] = rated + strength(margin_db);
    filled += SEGMENT;
  };
  for (const link of links) {
    if (!closes(link.forward) && !closes(link.reverse)) continue;
    if (left.has(link.a_node_id) || left.has(link.b_node_id)) continue;
    const [a, b] = [at.get(link.a_node_id), at.get(link.b_node_id)];
    if (!a || !b || !byId.has(link.a_node_id)) continue;
    if (clusters.length) {
      const ends = [link.a_node_id, link.b_node_id]
        .map((id) => clusterOf.get(id) ?? id)
        .sort()
        .join(' ');
      if (a === b || pairs.has(ends)) continue;
      pairs.add(ends);
    }
    const [there, back] = [link.forward, link.reverse].map((direction) => RATINGS.indexOf(rating(link, direction))) as [number, number];
    const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] as const;
    if (there === back) add([...a, ...b], there, weight(link));
    else {
      add([...a, ...middle], there, link.forward.link_margin_db);
      add([...b, ...middle], back, link.reverse.link_margin_db);
    }
  }
  return { anchor, segments: segments.slice(0, filled), places: places.slice(0, count * PLACE) };
}

/** The node next to a place on the screen, px, no further than `reach_px`. Its place decides: a label is drawn over other nodes. */
export function nearestNode(
  nodes: readonly Placed[],
  project: (place: LatLon) => { x: number; y: number },
  { x, y }: { x: number; y: number },
  reach_px: number,
): string | null {
  let nearest: { id: string; off: number } | null = null;
  for (const node of nodes) {
    const at = project(node);
    const off = Math.hypot(at.x - x, at.y - y);
    if (off <= reach_px && off < (nearest?.off ?? Infinity)) nearest = { id: node.id, off };
  }
  return nearest?.id ?? null;
}

/** The link next to a place on the screen, px, no further than `reach_px`. */
export function nearestLink(
  links: readonly Link[],
  byId: ReadonlyMap<string, Placed>,
  project: (place: LatLon) => { x: number; y: number },
  at: { x: number; y: number },
  reach_px: number,
): [string, string] | null {
  const screen = new Map<string, { x: number; y: number }>();
  const onScreen = (id: string) => {
    const known = screen.get(id);
    if (known) return known;
    const node = byId.get(id);
    if (!node) return null;
    const place = project(node);
    screen.set(id, place);
    return place;
  };
  let nearest: { link: [string, string]; off: number } | null = null;
  for (const link of links) {
    if (!closes(link.forward) && !closes(link.reverse)) continue;
    const [a, b] = [onScreen(link.a_node_id), onScreen(link.b_node_id)];
    if (!a || !b) continue;
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const part = Math.min(1, Math.max(0, ((at.x - a.x) * dx + (at.y - a.y) * dy) / Math.max(dx * dx + dy * dy, 1e-9)));
    const off = Math.hypot(a.x + part * dx - at.x, a.y + part * dy - at.y);
    if (off <= reach_px && off < (nearest?.off ?? Infinity)) nearest = { link: [link.a_node_id, link.b_node_id], off };
  }
  return nearest?.link ?? null;
}
