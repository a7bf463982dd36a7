// A mesh of many nodes or links: a picture of symbols and lines, with clusters where nodes lie on each other.
import type { Feature } from 'geojson';
import type { Map as MapLibre } from 'maplibre-gl';
import type { Link } from '../api/client';
import { shown } from './camera';
import { clusters, clusterZoom } from './clusters';
import { point, type Placed } from './features';
import { netData } from './net-data';
import type { NetPainter } from './net-painter';

/** From so many nodes or links they are drawn by a layer of their own. */
const MANY_NODES = 800;
const MANY_LINKS = 2500;
/** So many nodes in view, or selected ones, are named. */
export const NAMED_MAX = 150;

export function isLarge(nodes: readonly Placed[], links: readonly Link[]): boolean {
  return nodes.length > MANY_NODES || links.length > MANY_LINKS;
}

export class LargeMesh {
  /** Nodes that are in a cluster. */
  clustered: ReadonlySet<string> = new Set();
  #zoom = NaN;

  constructor(
    private readonly net: NetPainter,
    private readonly put: (name: string, features: readonly Feature[]) => void,
  ) {}

  /** Draws nodes and links for a zoom; failed nodes are drawn elsewhere. */
  draw(
    zoom: number,
    nodes: readonly Placed[],
    links: readonly Link[],
    byId: ReadonlyMap<string, Placed>,
    failed: ReadonlySet<string>,
  ): void {
    this.#zoom = clusterZoom(zoom);
    const found = clusters(nodes, this.#zoom);
    this.clustered = new Set(found.flatMap(({ ids }) => ids));
    this.net.show(netData(nodes, links, byId, failed, found));
    this.put(
      'clusters',
      found.map((cluster) => point(cluster, { count: cluster.count })),
    );
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

  /** The nodes in view if they are few, failed ones, and selected ones if they are few. */
  named(
    map: MapLibre,
    nodes: readonly Placed[],
    byId: ReadonlyMap<string, Placed>,
    [failed, chosen]: readonly [ReadonlySet<string>, ReadonlySet<string>],
  ): Placed[] {
    const bounds = map.getBounds();
    const inView = nodes.filter((node) => !this.clustered.has(node.id) && bounds.contains(shown(map, node)));
    const named = new Set(inView.length <= NAMED_MAX ? inView : []);
    const special = [...failed, ...(chosen.size <= NAMED_MAX ? chosen : [])];
    for (const node of special.map((id) => byId.get(id))) if (node) named.add(node);
    return [...named];
  }
}
