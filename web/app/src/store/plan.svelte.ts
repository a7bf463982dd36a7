// The plan as the server has it: deployments, nodes, links, presets.
import {
  api,
  Refusal,
  wanted,
  type AntennaPreset,
  type Deployment,
  type EnvironmentPresets,
  type FormatInfo,
  type Link,
  type ModelInfo,
  type Node,
  type RadioPreset,
  type RolePreset,
  type Surroundings,
  type Template,
} from '../api/client';
import { textOf } from '../faults';
import { closes, ratingOf, type Rating } from '../verdict';

export type LinksState = 'none' | 'loading' | 'ready' | 'failed';

export class Plan {
  deployments = $state.raw<Deployment[]>([]);
  deployment = $state.raw<Deployment | null>(null);
  nodes = $state.raw<Node[]>([]);
  links = $state.raw<Link[]>([]);
  linksState = $state<LinksState>('none');
  linksFault = $state('');
  /** Pairs in reach that the server has not computed: of many it takes those of each node with its nearest, and some others. */
  pairsLeftOut = $state(0);
  roles = $state.raw<RolePreset[]>([]);
  radios = $state.raw<RadioPreset[]>([]);
  antennas = $state.raw<AntennaPreset[]>([]);
  models = $state.raw<ModelInfo[]>([]);
  formats = $state.raw<FormatInfo[]>([]);
  presets = $state.raw<EnvironmentPresets | null>(null);
  templates = $state.raw<Template[]>([]);
  loaded = $state(false);
  /** Reason why the lists did not come, and why the nodes did not; empty where they have. */
  fault = $state('');
  nodesFault = $state('');
  /** The nodes are on their way. */
  nodesLoading = $state(false);

  byId = $derived(new Map(this.nodes.map((node) => [node.id, node])));
  /** The best link of a node over ground with terrain data: the likeliest in its weaker direction, of several the one with the greatest margin. */
  #best = $derived.by(() => {
    const best = new Map<string, { link_prob: number; margin_db: number }>();
    for (const link of this.links) {
      if (link.ground === 'unknown') continue;
      const link_prob = Math.min(link.forward.link_prob, link.reverse.link_prob);
      const margin_db = Math.min(link.forward.link_margin_db, link.reverse.link_margin_db);
      for (const id of [link.a_node_id, link.b_node_id]) {
        const other = best.get(id);
        if (!other || link_prob > other.link_prob || (link_prob === other.link_prob && margin_db > other.margin_db))
          best.set(id, { link_prob, margin_db });
      }
    }
    return best;
  });
  /** Least margin of the two directions of the best link of a node, dB. */
  bestMargin = $derived(new Map([...this.#best].map(([id, { margin_db }]) => [id, margin_db])));
  /** Rating of the best link of a node; `unknown` where all are over ground without terrain data. */
  bestRating = $derived.by(() => {
    const blind = this.links.filter((link) => link.ground === 'unknown').flatMap((link) => [link.a_node_id, link.b_node_id]);
    const ratings = new Map<string, Rating>(blind.map((id) => [id, 'unknown']));
    for (const [id, { link_prob }] of this.#best) ratings.set(id, ratingOf(link_prob));
    return ratings;
  });
  /** Links that close in both directions. */
  closing = $derived(this.links.filter((link) => closes(link.forward) && closes(link.reverse)));

  /** Name of land cover. */
  coverName(kind: Surroundings): string {
    const name = this.presets?.surroundings.find(({ id }) => id === kind)?.name;
    return kind === 'unknown' ? 'land cover not known' : (name ?? kind);
  }

  /** Reads everything; `choose` is the deployment of the address, null at a new try. */
  async start(choose: string | null): Promise<void> {
    this.#named = choose ?? this.#named;
    await this.#lists().catch((fault: unknown) => {
      this.fault = textOf(fault);
      throw fault;
    });
    this.fault = '';
    this.loaded = true;
  }

  async #lists(): Promise<void> {
    const [roles, radios, antennas, devices, models, formats, presets, templates] = await Promise.all([
      wanted(api.GET('/api/v1/presets/roles')),
      wanted(api.GET('/api/v1/presets/radios')),
      wanted(api.GET('/api/v1/presets/antennas')),
      wanted(api.GET('/api/v1/presets/devices')),
      wanted(api.GET('/api/v1/presets/models')),
      wanted(api.GET('/api/v1/presets/formats')),
      wanted(api.GET('/api/v1/presets/environment')),
      wanted(api.GET('/api/v1/templates')),
      // Nodes that did not come are asked for in their list.
      this.listDeployments(this.#named).catch((fault: unknown) => {
        if (!this.nodesFault) throw fault;
      }),
    ]);
    [this.roles, this.models, this.formats, this.presets, this.templates] = [roles, models, formats, presets, templates];
    this.radios = [...radios, ...devices.radios];
    this.antennas = [...antennas, ...devices.antennas];
  }

  /** True if the deployment that was named is not there. */
  absent = $state(false);
  /** The last deployment that was named. */
  #named: string | null = null;

  /** Number of the last choice: a late answer to an earlier one is dropped. */
  #choice = 0;

  async listDeployments(choose: string | null): Promise<void> {
    const choice = ++this.#choice;
    const all = await wanted(api.GET('/api/v1/deployments'));
    if (choice !== this.#choice) return;
    this.deployments = all;
    // Not another in place of one that was named, whatever changes elsewhere while it is absent.
    const named = choose ?? (this.absent ? this.#named : null);
    const present = named ?? this.deployment?.id;
    const found = all.find((deployment) => deployment.id === present);
    const next = found ?? (named ? null : (all[0] ?? null));
    this.absent = named !== null && !found;
    this.#named = found ? null : named;
    const changed = next?.id !== this.deployment?.id;
    this.deployment = next;
    if (changed) {
      this.nodes = [];
      this.links = [];
      this.linksState = 'none';
      this.pairsLeftOut = 0;
    }
    await this.refresh();
  }

  /** Reads the list of deployments again; the one that is shown stays. */
  async relist(): Promise<void> {
    const choice = this.#choice;
    const all = await wanted(api.GET('/api/v1/deployments'));
    if (choice === this.#choice) this.deployments = all;
  }

  async listTemplates(): Promise<void> {
    this.templates = await wanted(api.GET('/api/v1/templates'));
  }

  /** Nodes that came or left while the list of them is on its way, which may be older; null is a node that left. */
  #meanwhile: Map<string, Node | null> | null = null;

  /** Reads the nodes again; the links follow. */
  async refresh(): Promise<void> {
    const within = this.deployment;
    if (!within) {
      this.nodes = [];
      this.links = [];
      [this.nodesLoading, this.nodesFault] = [false, ''];
      return;
    }
    const meanwhile = new Map<string, Node | null>();
    this.#meanwhile = meanwhile;
    this.nodesLoading = true;
    const path = { id: within.id };
    const nodes = await wanted(api.GET('/api/v1/deployments/{id}/nodes', { params: { path } })).catch((fault: unknown) => {
      if (this.#meanwhile === meanwhile) [this.nodesLoading, this.nodesFault] = [false, textOf(fault)];
      throw fault;
    });
    // A later list has been asked for, or another deployment is shown.
    if (this.deployment?.id !== within.id || this.#meanwhile !== meanwhile) return;
    this.#meanwhile = null;
    [this.nodesLoading, this.nodesFault] = [false, ''];
    this.nodes = nodes;
    for (const [id, node] of meanwhile) {
      const listed = this.byId.get(id);
      if (!node) this.nodes = this.nodes.filter((other) => other.id !== id);
      else if (!listed || Date.parse(node.updated_at) >= Date.parse(listed.updated_at)) this.put(node);
    }
    void this.refreshLinks();
  }

  #asking: AbortController | null = null;
  /** Links of nodes that were computed again while all links are on their way, by the id of the node. */
  readonly #linksMeanwhile = new Map<string, readonly Link[]>();

  async refreshLinks(): Promise<void> {
    const within = this.deployment;
    this.#asking?.abort();
    this.#asking = null;
    if (!within || this.nodes.length < 2) {
      this.links = [];
      this.pairsLeftOut = 0;
      this.linksState = 'none';
      return;
    }
    const asking = new AbortController();
    this.#asking = asking;
    this.#linksMeanwhile.clear();
    this.linksState = 'loading';
    try {
      const path = { id: within.id };
      const found = await wanted(api.GET('/api/v1/deployments/{id}/links', { params: { path }, signal: asking.signal }));
      if (asking.signal.aborted) return;
      this.#asking = null;
      this.links = found.links;
      this.pairsLeftOut = found.pairs_left_out;
      this.linksState = 'ready';
      for (const [id, links] of this.#linksMeanwhile) this.putLinks(id, links);
    } catch (fault) {
      if (asking.signal.aborted) return;
      this.#asking = null;
      this.linksState = 'failed';
      this.linksFault = fault instanceof Refusal ? fault.message : String(fault);
    }
  }

  /** Puts a node in place of the one with its id, or adds it; one of another deployment, which was left meanwhile, is not shown. */
  put(node: Node): void {
    if (node.deployment_id !== this.deployment?.id) return;
    this.#meanwhile?.set(node.id, node);
    const at = this.nodes.findIndex((other) => other.id === node.id);
    this.nodes = at < 0 ? [...this.nodes, node] : this.nodes.with(at, node);
  }

  drop(ids: ReadonlySet<string>): void {
    for (const id of ids) this.#meanwhile?.set(id, null);
    this.nodes = this.nodes.filter((node) => !ids.has(node.id));
    this.links = this.links.filter((link) => !ids.has(link.a_node_id) && !ids.has(link.b_node_id));
  }

  /** Puts all links of a node in place of those it had. */
  putLinks(id: string, links: readonly Link[]): void {
    const others = this.links.filter((link) => link.a_node_id !== id && link.b_node_id !== id);
    this.links = [...others, ...links];
    if (this.#asking) this.#linksMeanwhile.set(id, links);
    else this.linksState = 'ready';
  }

  putDeployment(deployment: Deployment): void {
    this.deployments = this.deployments.map((other) => (other.id === deployment.id ? deployment : other));
    if (this.deployment?.id === deployment.id) this.deployment = deployment;
  }
}
