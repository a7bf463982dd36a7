// A mesh of many nodes or links: a picture of symbols and lines, with clusters where nodes lie on each other.
import type { Feature } from 'geojson';
import type { Link } from '../api/client';
import { clusters, clusterZoom } from './clusters';
import { point, type Placed } from './features';
import { netData } from './net-data';
import type { NetPainter } from './net-painter';

export class LargeMesh {
  /** Nodes that are in a cluster. */
  clustered: ReadonlySet<string> = new Set();
  #zoom = NaN;

  constructor(
    private readonly net: NetPainter,
    private readonly put: (name: string, features: readonly Feature[]) => void,
  ) {}

  /** Draws nodes and links for a zoom; failed nodes are drawn elsewhere. */
  draw(zoom: number, nodes: readonly Placed[], links: readonly Link[], byId: ReadonlyMap<string, Placed>, failed: ReadonlySet<string>): void {
    this.#zoom = clusterZoom(zoom);
    const found = clusters(nodes, this.#zoom);
    this.clustered = new Set(found.flatMap(({ ids }) => ids));
    this.net.show(netData(nodes, links, byId, failed, found));
    this.put('clusters', found.map((cluster) => point(cluster, { count: cluster.count })));
  }

  clear(): void {
    this.net.show(null);
    this.put('clusters', []);
    this.clustered = new Set();
  }

  /** True if a zoom has other clusters than those drawn. */
  isStale(zoom: number): boolean {
    return clusterZoom(zoom) !== this.#zoom;
  }
}
