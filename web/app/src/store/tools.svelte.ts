// Answers of the planner's tools: relays, routes, protocol advice.
import type { Feature } from 'geojson';
import {
  api,
  wanted,
  type Deployment,
  type LinkResult,
  type MeshRoute,
  type Metric,
  type Node,
  type PlacementAdvice,
  type PlacementQuestion,
  type PointScan,
  type ProtocolAdvice,
  type RelayChain,
} from '../api/client';
import { coordinates, distance_m, type LatLon } from '../geo';
import { line, point } from '../map/features';
import type { Plan } from './plan.svelte';

/** Knowledge of the ground below a predicted link. */
export const groundOf = (segment: { result: LinkResult }) => segment.result.terrain.ground ?? 'known';

/** Link margin that planned relays leave, where no other is asked for, dB. */
export const MARGIN_DB = 10;

/** A line over each hop of a way, dashed where the ground is not known. */
function hops(places: readonly LatLon[], segments: readonly { result: LinkResult }[]): Feature[] {
  return segments.flatMap((segment, at) => {
    const ends = places.slice(at, at + 2);
    return ends.length === 2 ? [line(ends, { ground: groundOf(segment) })] : [];
  });
}

/** What of a node an answer depends on. */
const essence = ({ id, lat, lon, height_agl_m, radio, pointing, surroundings, indoor, woodland_depth_m }: Node) =>
  JSON.stringify([id, lat, lon, height_agl_m, radio, pointing ?? null, surroundings, indoor, woodland_depth_m]);

/** An answer with the nodes it is about, as they were. */
interface Asked {
  ends: readonly Node[];
}

/** An answer that depends on all nodes and their environment, as they were. */
interface OfPlan {
  nodes: readonly Node[];
  environment: Deployment['environment'] | undefined;
}

export class Tools {
  relay = $state.raw<(RelayChain & Asked) | null>(null);
  route = $state.raw<(MeshRoute & Asked) | null>(null);
  advice = $state.raw<(ProtocolAdvice & OfPlan) | null>(null);
  scan = $state.raw<(PointScan & OfPlan & { from: LatLon; like: Node | undefined; height_agl_m: number }) | null>(null);
  placement = $state.raw<
    (OfPlan & { advice: PlacementAdvice; radio: Node['radio'] | undefined; height_agl_m: number; width_m: number }) | null
  >(null);
  scan_height_m = $state(10);
  busy = $state<'none' | 'relay' | 'route' | 'advice' | 'scan' | 'placement'>('none');
  /** Template of new nodes; null for the usual fields. */
  templateId = $state<string | null>(null);
  /** A place that was searched for. */
  pin = $state.raw<LatLon | null>(null);

  /** What the map shows of the answers. */
  drawn = $derived.by((): Feature[] => {
    if (this.relay) {
      const places = this.relay.hops;
      const relays = places.filter((hop) => hop.role === 'relay' && !hop.node_id);
      return [...hops(places, this.relay.segments), ...relays.map((hop, at) => point(hop, { label: `Relay ${at + 1}` }))];
    }
    if (this.placement) return this.placement.advice.sites.map((site, at) => point(site, { label: `Site ${at + 1}` }));
    if (this.scan) {
      const { from, candidates } = this.scan;
      const lines = candidates.flatMap((one) => {
        const end = one.link_margin_db >= 0 ? this.plan.byId.get(one.node_id) : undefined;
        return end ? [line([from, end], { ground: one.link.ground })] : [];
      });
      return [...lines, point(from, { label: 'Scan' })];
    }
    const nodes = this.route?.path.map((id) => this.plan.byId.get(id)).filter((node) => node !== undefined) ?? [];
    const pins = this.pin ? [point(this.pin, { label: coordinates(this.pin) })] : [];
    return nodes.length > 1 ? [...hops(nodes, this.route?.segments ?? []), ...pins] : pins;
  });

  constructor(private readonly plan: Plan) {}

  /** True if a node that an answer is about is not there any more, or not as it was. */
  isOld(nodes: readonly Node[]): boolean {
    return nodes.some((node) => {
      const now = this.plan.byId.get(node.id);
      return now !== node && (!now || essence(now) !== essence(node));
    });
  }

  /** True if nodes or environment of the plan are others than those of an answer. */
  isOldPlan({ nodes, environment }: OfPlan): boolean {
    const now = this.#plan();
    return now.nodes.length !== nodes.length || this.isOld(nodes) || JSON.stringify(now.environment) !== JSON.stringify(environment);
  }

  #plan(): OfPlan {
    return { nodes: this.plan.nodes, environment: this.plan.deployment?.environment };
  }

  /** True if an answer is about other nodes than the selected pair. */
  isOther(nodes: readonly Node[], pair: readonly Node[] | null): boolean {
    return nodes.map((node) => node.id).join() !== (pair ?? []).map((node) => node.id).join();
  }

  #nodes(ids: readonly string[]): Node[] {
    return [...new Set(ids)].map((id) => this.plan.byId.get(id)).filter((node) => node !== undefined);
  }

  /** Takes what is drawn off the map. */
  clearDrawn(): void {
    [this.relay, this.route, this.scan, this.placement, this.pin] = [null, null, null, null, null];
  }

  clear(): void {
    this.clearDrawn();
    this.advice = null;
  }

  async #work(kind: Exclude<typeof this.busy, 'none'>, work: () => Promise<void>): Promise<void> {
    this.busy = kind;
    try {
      await work();
    } finally {
      this.busy = 'none';
    }
  }

  /** The weaker direction of a hop between two nodes. */
  async hop(
    from: string,
    to: string,
  ): Promise<{ from: string; to: string; terrain_known: boolean; data_rate_bps: number; link_margin_db: number }> {
    const { result, reverse, terrain_known } = await wanted(
      api.POST('/api/v1/links/analyze', { body: { tx_node_id: from, rx_node_id: to, is_per_post: true } }),
    );
    return {
      from,
      to,
      terrain_known,
      data_rate_bps: Math.min(result.rate.data_rate_bps, reverse.rate.data_rate_bps),
      link_margin_db: Math.min(result.margin.link_margin_db, reverse.margin.link_margin_db),
    };
  }

  async planRelay(
    tx: string,
    rx: string,
    target_data_rate_bps: number,
    relay_height_agl_m = 10,
    max_hops = 8,
    margin_db = MARGIN_DB,
  ): Promise<void> {
    await this.#work('relay', async () => {
      const body = {
        tx_node_id: tx,
        rx_node_id: rx,
        target_data_rate_bps,
        relay_height_agl_m,
        max_hops,
        margin_db,
        strategy: 'optimal' as const,
      };
      const ends = this.#nodes([tx, rx]);
      this.relay = { ...(await wanted(api.POST('/api/v1/relay/plan', { body }))), ends };
      [this.route, this.scan, this.placement] = [null, null, null];
    });
  }

  async findRoute(src: string, dst: string, metric: Metric): Promise<void> {
    await this.#work('route', async () => {
      const answer = await wanted(api.POST('/api/v1/mesh/route', { body: { src_node_id: src, dst_node_id: dst, metric } }));
      const gap = answer.no_path?.closest;
      this.route = {
        ...answer,
        ends: this.#nodes([src, dst, ...answer.path, ...(gap ? [gap.src_side_node_id, gap.dst_side_node_id] : [])]),
      };
      [this.relay, this.scan, this.placement] = [null, null, null];
    });
  }

  async recommend(): Promise<void> {
    const within = this.plan.deployment?.id;
    if (!within) return;
    await this.#work('advice', async () => {
      const of = this.#plan();
      this.advice = { ...(await wanted(api.POST('/api/v1/mesh/recommend-protocol', { body: { deployment_id: within } }))), ...of };
    });
  }

  /** All nodes that a place can reach, best first. */
  async scanFrom(from: LatLon, like: Node | undefined): Promise<void> {
    const within = this.plan.deployment?.id;
    if (!within) return;
    await this.#work('scan', async () => {
      const [of, height_agl_m] = [this.#plan(), this.scan_height_m];
      const body = { lat: from.lat, lon: from.lon, height_agl_m, ...(like ? { radio: like.radio } : {}) };
      const found = await wanted(api.POST('/api/v1/deployments/{id}/scan', { params: { path: { id: within } }, body }));
      this.scan = { ...found, ...of, from, like, height_agl_m };
      [this.relay, this.route, this.placement] = [null, null, null];
    });
  }

  /** Sites that add most area to what the nodes cover. */
  async findSites(body: PlacementQuestion): Promise<void> {
    const within = this.plan.deployment?.id;
    if (!within) return;
    await this.#work('placement', async () => {
      const of = this.#plan();
      const advice = await wanted(api.POST('/api/v1/deployments/{id}/placement', { params: { path: { id: within } }, body }));
      const { west, east, south, north } = body.bounds;
      const lat = (south + north) / 2;
      this.placement = {
        ...of,
        advice,
        radio: body.radio as Node['radio'] | undefined,
        height_agl_m: body.height_agl_m ?? 10,
        width_m: distance_m({ lat, lon: west }, { lat, lon: east }),
      };
      [this.relay, this.route, this.scan] = [null, null, null];
    });
  }
}
