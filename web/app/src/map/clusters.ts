// Nodes that lie on each other at a zoom, as clusters with their number.
import { turned, wrapped, type LatLon } from '../geo';
import type { Placed } from './features';
import { mercatorX, mercatorY } from './mercator';

/** Side of a square of the screen whose nodes are one cluster, px, and the number from which they are. */
const SIDE_PX = 36;
const CLUSTER_MIN = 6;
/** Side of the world at zoom 0, px. */
const WORLD_PX = 512;

export interface Cluster extends LatLon {
  count: number;
  ids: readonly string[];
}

/** Clusters of nodes at a zoom. Squares lie on the ground: a moved view has the same clusters. */
export function clusters(nodes: readonly Placed[], zoom: number): Cluster[] {
  const side = SIDE_PX / (WORLD_PX * 2 ** zoom);
  const squares = new Map<string, Placed[]>();
  for (const node of nodes) {
    const key = `${Math.floor(mercatorX(wrapped(node.lon)) / side)} ${Math.floor(mercatorY(node.lat) / side)}`;
    const square = squares.get(key);
    if (square) square.push(node);
    else squares.set(key, [node]);
  }
  const found: Cluster[] = [];
  for (const square of squares.values()) {
    if (square.length < CLUSTER_MIN) continue;
    const first = square[0] as Placed;
    const mean = (of: (node: Placed) => number) => square.reduce((sum, node) => sum + of(node), 0) / square.length;
    found.push({
      lat: mean((node) => node.lat),
      lon: wrapped(mean((node) => turned(node.lon, first.lon))),
      count: square.length,
      ids: square.map((node) => node.id),
    });
  }
  return found;
}

/** Zoom at which clusters are made for a view: whole steps, so that a small zoom changes none. */
export const clusterZoom = (zoom: number): number => Math.floor(zoom * 2) / 2;
