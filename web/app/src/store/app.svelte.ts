// The stores of the page, and the jobs that need more than one of them.
import {
  Abandoned,
  api,
  Refusal,
  wanted,
  type Deployment,
  type GroundFetch,
  type LinkAnalysis,
  type NewNode,
  type Node,
} from '../api/client';
import { distance_m, wrapped, type LatLon } from '../geo';
import { isRanked, RANKED_FROM } from '../map/ranked';
import type { MapView } from '../map/view';
import { Changes } from './changes';
import { Commands, recipe } from './commands';
import { DeploymentCommands, type DeploymentChange } from './deployment-commands';
import { Coverages } from './coverage.svelte';
import type { Heights } from '../clearance';
import type { Basis } from '../preview/difference';
import { Ground } from './ground.svelte';
import { History, Unfinished, type Command } from './history.svelte';
import { Imports } from './imports.svelte';
import { LinkEnds } from './link-ends.svelte';
import { Paths, type Spot } from './paths.svelte';
import { Patterns } from './patterns.svelte';
import { Plan } from './plan.svelte';
import { Previews } from './preview.svelte';
import { Tools } from './tools.svelte';
import { around, squares } from '../terrain';
import { Ui } from './ui.svelte';
import { ServerWatch } from './server.svelte';
import { writeAddress, write, type Address } from './url';

/** Share of a narrow screen that the lowest sheet takes. */
const SHEET_SHARE = 0.3;
const ADDRESS_MS = 150;
/** Room above nodes on a phone, and that of the key of links, which may come after them, px. */
const PHONE_TOP_PX = 50;
const KEY_PX = 56;
/** The same of the choice of links per node, px. */
const PER_NODE_PX = 62;
/** Nodes nearer than this stand on one spot. */
const SPOT_M = 1;
/** Ground around the middle of the view that is offered with it: a first coverage reaches so far, m. */
const GROUND_AROUND_M = 10_000;
/** Tiles whose command is shown. */
const TILES_MAX = 16;

export class App {
  readonly plan = new Plan();
  readonly ui = new Ui();
  readonly history = new History(
    () => this.#settle(),
    () => this.plan.deployment?.id ?? null,
  );
  readonly server: ServerWatch = new ServerWatch(this);
  readonly coverages: Coverages = new Coverages((id) => this.#subject(id), this.server);
  readonly tools = new Tools(this.plan);
  readonly patterns = new Patterns();
  readonly linkEnds = new LinkEnds(this.plan, this.ui);
  /** The path of the profile. */
  readonly paths = new Paths(this.plan, () => this.analysis);
  /** The analysis with what it was made of. */
  #basis = $state.raw<Basis | null>(null);
  /** What the link comes to with changes that are not analysed. */
  readonly preview = new Previews(
    this.plan,
    () => (this.#basis?.analysis === this.analysis ? this.#basis : null),
    () => this.paths.heights_agl_m,
  );
  readonly commands = new Commands(this.plan, this.history, (ids) => (this.ui.selected = ids));
  readonly deploymentCommands: DeploymentCommands = new DeploymentCommands(this.plan, this.history, {
    follow: (id) => this.changes.follow(id),
    show: (id) => this.chooseDeployment(id),
  });
  map = $state.raw<MapView | null>(null);
  analysis = $state.raw<LinkAnalysis | null>(null);
  analysisState = $state<'none' | 'loading' | 'failed'>('none');
  analysisFault = $state('');
  /** Place of the pointer on the profile, m from the transmitter. */
  profileAt_m = $state<number | null>(null);

  /** The address of the page; written a little after a change, never before the first one is read. */
  readonly address = {
    timer: undefined as ReturnType<typeof setTimeout> | undefined,
    set(address: Address, loaded: boolean) {
      if (!loaded) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => writeAddress(write(address)), ADDRESS_MS);
    },
  };
  readonly imports: Imports = new Imports(this);

  /** Selected nodes that are there. */
  chosenNodes = $derived(this.ui.selected.map((id) => this.plan.byId.get(id)).filter((node) => node !== undefined));

  /** The node whose radio new sites have: the selected one, or the first. */
  model = $derived(this.chosenNodes[0] ?? this.plan.nodes[0]);

  /** What a coverage of a node rests on, as text; null for a node that is not there. */
  #subject(id: string): string | null {
    const node = this.plan.byId.get(this.history.live(id));
    if (!node) return null;
    const { lat, lon, height_agl_m, radio, pointing, surroundings, indoor, woodland_depth_m } = node;
    return JSON.stringify([
      lat,
      lon,
      height_agl_m,
      radio,
      pointing ?? null,
      surroundings,
      indoor,
      woodland_depth_m,
      this.plan.deployment?.environment,
    ]);
  }

  /** Does work and shows why it failed, if it did. */
  async attempt<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (fault) {
      const cause = fault instanceof Unfinished ? fault.cause : fault;
      if (cause instanceof Abandoned) return null;
      if (cause instanceof Refusal && cause.status === 0) this.ui.serverGone = true;
      this.ui.tell(fault instanceof Error ? fault.message : String(fault), true);
      return null;
    }
  }

  /** Reads everything; `named` is the deployment of the address. */
  async begin(named: string | null): Promise<void> {
    await this.attempt(() => this.plan.start(named));
    await this.server.restore();
    if (this.unframed) this.frame(false);
  }

  async chooseDeployment(id: string | null): Promise<void> {
    this.ui.selected = [];
    this.paths.clear();
    this.coverages.leave();
    this.tools.clear();
    await this.attempt(() => this.plan.listDeployments(id));
    await this.server.restore();
    this.frame();
  }

  async makeDeployment(name: string): Promise<boolean> {
    const centre = this.map?.view();
    const body = { name, ...(centre ? { center: { lat: centre.lat, lon: centre.lon } } : {}) };
    const made = await this.attempt(() => wanted(api.POST('/api/v1/deployments', { body })));
    if (made) await this.chooseDeployment(made.id);
    return made !== null;
  }

  /** Makes a deployment at a place, and offers to add nodes there. */
  async startAt(place: LatLon, name: string): Promise<void> {
    const made = await this.attempt(() => wanted(api.POST('/api/v1/deployments', { body: { name, center: place } })));
    if (!made) return;
    await this.chooseDeployment(made.id);
    this.map?.goTo(place, this.padding());
    this.ui.tool = 'add';
  }

  /** Number of times that the ground may have become another. */
  groundChanges = $state(0);
  /** The server was asked in vain where it has ground. */
  isAreaUnknown = $state(false);
  /** The middle of the view has ground. */
  groundAtCentre = $state(false);
  /** Tiles that the view lacks, by name. */
  missingTiles = $state.raw<string[]>([]);
  readonly ground = new Ground('heights', (fetch) => this.#arrived(fetch));
  readonly landCover = new Ground('land_cover', (fetch) => {
    this.landCoverOpen = false;
    this.ui.tell('Land cover is in use around the antennas, and along paths where the model is P.1812.');
    this.#arrived(fetch);
  });
  /** The offer of land cover is shown. */
  landCoverOpen = $state(false);

  #arrived(fetch: GroundFetch): void {
    if (fetch.absent.length) this.ui.tell(`Not published, mostly open sea: ${fetch.absent.join(', ')}.`);
    // A page with a deployment gets an event.
    if (!this.plan.deployment) this.renewGround();
  }

  /** Offers the land cover of the view. */
  offerLandCover(): void {
    this.landCoverOpen = true;
    this.ui.sheet = 'map';
    if (this.map) this.landCover.look(this.map.bounds());
  }

  /** Asks for the offer of the ground that a view lacks, if it lacks any. */
  lookForGround(map: MapView): void {
    this.groundAtCentre = map.known(map.view()) === true;
    const bounds = map.showsMissing() ? around(map.bounds(), map.view(), GROUND_AROUND_M) : null;
    this.missingTiles = bounds ? (squares(bounds, (place) => map.known(place) === true, TILES_MAX) ?? []) : [];
    this.ground.look(bounds);
    if (this.landCoverOpen) this.landCover.look(map.bounds());
  }

  /** Shows ground that was fetched, and computes again what rests on it. */
  renewGround(): void {
    this.groundChanges++;
    void this.attempt(() => this.plan.refresh());
    void this.attempt(() => this.coverages.again());
    if (this.linkEnds.shown) void this.analyse(...this.linkEnds.shown);
  }

  /** A deployment was chosen while there was no map. */
  unframed = false;

  /** Moves the view to the deployment. */
  frame(moving = true): void {
    this.unframed = this.map === null;
    const places: LatLon[] = this.plan.nodes.length ? this.plan.nodes : this.plan.deployment?.center ? [this.plan.deployment.center] : [];
    this.map?.fit(places, this.padding(), moving);
  }

  /** Height of the legends above the map of a phone, px. */
  #legends_px(): number {
    const map = this.map?.map.getContainer();
    const legends = map?.parentElement?.querySelector('.legends')?.getBoundingClientRect();
    const bottom_px = map && legends?.height ? legends.bottom - map.getBoundingClientRect().top : 0;
    const { nodes, links, linksState } = this.plan;
    const many = linksState === 'ready' ? isRanked(links) : (nodes.length * (nodes.length - 1)) / 2 > RANKED_FROM;
    return Math.max(bottom_px, (nodes.length > 1 ? KEY_PX : 0) + (many ? PER_NODE_PX : 0));
  }

  /** The part of the map that panels cover, px. */
  padding(): { top: number; bottom: number; left: number; right: number } {
    if (this.ui.phone)
      return {
        top: this.#legends_px() + PHONE_TOP_PX,
        bottom: this.ui.selected.length ? innerHeight * SHEET_SHARE : 70,
        left: 64,
        right: 110,
      };
    // Legends stand at the lower left.
    const height = this.map?.map.getContainer().clientHeight ?? innerHeight;
    return { top: Math.min(70, height / 6), bottom: Math.min(150, height / 3), left: 70, right: 60 };
  }

  /** Names of `count` new nodes: the word and the next numbers from `first` that no node has. */
  freeNames(word: string, count: number, first = 1): string[] {
    const taken = new Set(this.plan.nodes.map((node) => node.name));
    const found: string[] = [];
    for (let number = first; found.length < count; number++) if (!taken.has(`${word} ${number}`)) found.push(`${word} ${number}`);
    return found;
  }

  async addNode(place: LatLon, extra: Partial<NewNode> = {}): Promise<boolean> {
    const template = this.tools.templateId;
    const [name = ''] = this.freeNames('Node', 1, this.plan.nodes.length + 1);
    const body: NewNode = { name, lat: place.lat, lon: place.lon, ...extra };
    const add = async () => {
      if (!template) return this.commands.add([body]);
      await this.commands.add([{ template_id: template, ...body }]).catch(async (fault: unknown) => {
        if (!(fault instanceof Refusal) || fault.status === 0) throw fault;
        await this.plan.listTemplates();
        if (this.plan.templates.some((one) => one.id === template)) throw fault;
        this.tools.templateId = null;
        this.ui.tell('The template was deleted by another client: new nodes are plain relays.');
        await this.commands.add([body]);
      });
    };
    return (await this.attempt(async () => (await add(), true))) ?? false;
  }

  /** Nodes on the spot of a node, with it; null where it stands alone. */
  twins(id: string): string[] | null {
    const node = this.plan.byId.get(id);
    const twins = node ? this.plan.nodes.filter((other) => distance_m(node, other) < SPOT_M) : [];
    return twins.length > 1 ? twins.map((other) => other.id) : null;
  }

  /** Selects a node, or makes it an end of the link that is chosen. */
  pickNode(id: string, extend: boolean): void {
    const node = this.plan.byId.get(id);
    if (this.ui.tool === 'link' && node) this.pickEnd(node, id);
    else this.ui.pick(id, extend);
  }

  /** Chooses an end of a link or of a path: two nodes are a link, other places a profile that stores nothing. */
  pickEnd(place: LatLon, id?: string): void {
    const { ui, paths } = this;
    const chosen = ui.selected.length === 1 ? ui.selected[0] : undefined;
    const first = paths.from ?? (chosen ? paths.spot(place, chosen) : null);
    const next = paths.spot(place, id);
    if (!first || (id && first.id === id)) {
      ui.selected = id ? [id] : [];
      paths.from = id ? null : next;
      return;
    }
    ui.tool = 'select';
    if (first.id && id) {
      paths.clear();
      ui.selected = [first.id, id];
    } else void this.profileBetween([first, next]);
  }

  /** Shows the profile between two places. */
  async profileBetween(ends: readonly [Spot, Spot]): Promise<void> {
    this.ui.selected = [];
    this.ui.sheet = 'map';
    await this.attempt(() => this.paths.between(ends));
  }

  /** Gives masts of the profile other heights; those of nodes are stored as one change. */
  async raise(heights_agl_m: Heights): Promise<void> {
    const { course } = this.paths;
    if (!course) return;
    this.paths.heights_agl_m = heights_agl_m;
    const taller = new Map(
      course.ends.flatMap(({ id, height_agl_m }, at) =>
        id && heights_agl_m[at] !== null && heights_agl_m[at] !== height_agl_m ? [[id, heights_agl_m[at] as number] as const] : [],
      ),
    );
    this.paths.raise(heights_agl_m);
    if (taller.size)
      await this.attempt(() => this.commands.edit([...taller.keys()], ({ id }) => ({ height_agl_m: taller.get(id) ?? null }), 'Height'));
    // Another drag may have begun meanwhile.
    if (this.paths.heights_agl_m === heights_agl_m) this.paths.heights_agl_m = null;
  }

  /** Makes nodes of the ends of the profile that have none, and selects the link. */
  async keepPath(): Promise<void> {
    const { free } = this.paths;
    if (!free) return;
    const places = free.ends.filter((end) => end.id === null);
    const names = this.freeNames('Node', places.length, this.plan.nodes.length + 1);
    const bodies = places.map(({ place, height_agl_m }, at) => ({ name: names[at] as string, ...place, height_agl_m }));
    if (!(await this.attempt(async () => (await this.commands.add(bodies), true)))) return;
    const made = [...this.ui.selected];
    const ends = free.ends.map((end) => end.id ?? made.shift());
    this.paths.clear();
    this.ui.selected = ends.filter((id) => id !== undefined);
  }

  /** Adds a node, or scans, at the middle of the map, where its cross is. */
  actAtCentre(): void {
    const map = this.map?.map;
    if (!map) return;
    const { clientWidth, clientHeight } = map.getContainer();
    const { lat, lng } = map.unproject([clientWidth / 2, clientHeight / 2]);
    const place = { lat, lon: wrapped(lng) };
    if (this.ui.tool === 'add') void this.addNode(place);
    else if (this.ui.tool === 'scan') void this.scanFrom(place);
    else if (this.ui.tool === 'link') this.pickEnd(place);
  }

  /** Lists the nodes in reach of a place, in the panel of the tools. */
  async scanFrom(place: LatLon): Promise<void> {
    await this.attempt(() => this.tools.scanFrom(place, this.model));
    [this.ui.tab, this.ui.sheet] = ['tools', 'tools'];
  }

  /** Reads files of an antenna pattern for the selected nodes; without files it offers to choose them. */
  showPattern(files: readonly File[]): void {
    this.ui.mode = 'plan';
    if (!this.chosenNodes.length) return this.ui.tell('Select the node whose antenna this is, then drop the file again.', true);
    this.ui.dialog = 'pattern';
    this.patterns.clear();
    if (files.length) void this.patterns.read(files);
  }

  /** Keeps the fields of a node as a template. */
  async keepTemplate(node: Node): Promise<void> {
    const names = new Set(this.plan.templates.map((template) => template.name));
    let name = node.name;
    for (let number = 2; names.has(name); number++) name = `${node.name} ${number}`;
    const { lat: _lat, lon: _lon, ...fields } = recipe(node);
    const body = { ...fields, name };
    const made = await this.attempt(() => wanted(api.POST('/api/v1/templates', { body })));
    if (!made) return;
    await this.attempt(() => this.plan.listTemplates());
    this.tools.templateId = made.id;
    this.ui.tell(`New nodes are now made as ${made.name}.`);
  }

  async removeTemplate(id: string): Promise<void> {
    const template = this.plan.templates.find((one) => one.id === id);
    if (!template) return;
    const command = await this.attempt(() => this.deploymentCommands.removeTemplate(template));
    this.tools.templateId = null;
    if (command) this.#proposeUndo(`Deleted the template ${template.name}.`, command);
    else await this.attempt(() => this.plan.listTemplates());
  }

  /** Changes name and propagation settings of a deployment; false if that was refused. */
  async changeDeployment(deployment: Deployment, change: DeploymentChange): Promise<boolean> {
    return (await this.attempt(async () => (await this.deploymentCommands.change(deployment, change), true))) ?? false;
  }

  /** Deletes a deployment with its nodes, and shows another one. */
  async removeDeployment(deployment: Deployment): Promise<void> {
    const command = await this.attempt(() => this.deploymentCommands.remove(deployment));
    if (command) this.#proposeUndo(`Deleted ${deployment.name}.`, command);
  }

  #proposeUndo(text: string, command: Command): void {
    this.ui.propose(text, 'Undo', () => void this.undo(command));
  }

  /** Takes back the last command, or one that is named. */
  async undo(named?: Command): Promise<void> {
    const label = await this.attempt(() => this.history.undo(named));
    if (label) this.ui.tell(`Undone: ${label}`);
  }

  async redo(): Promise<void> {
    const label = await this.attempt(() => this.history.redo());
    if (label) this.ui.tell(`Done again: ${label}`);
  }

  #analysing = 0;

  /** Analyses the link between two nodes. */
  async analyse(tx: string, rx: string): Promise<void> {
    const turn = ++this.#analysing;
    const [environment, ends] = [this.plan.deployment?.environment, [tx, rx].map((id) => this.plan.byId.get(id))];
    this.analysisState = 'loading';
    // The numbers of another pair are not those of this one.
    if (this.analysis && (this.analysis.tx_node_id !== tx || this.analysis.rx_node_id !== rx)) this.analysis = null;
    try {
      const found = await wanted(api.POST('/api/v1/links/analyze', { body: { tx_node_id: tx, rx_node_id: rx, is_per_post: true } }));
      if (turn !== this.#analysing) return;
      const [from, to] = ends;
      this.#basis = environment && from && to ? { analysis: found, ends: [from, to], environment } : null;
      this.analysis = found;
      this.analysisState = 'none';
    } catch (fault) {
      if (turn !== this.#analysing) return;
      this.analysis = null;
      this.analysisState = 'failed';
      this.analysisFault = (fault as Error).message;
    }
  }

  clearAnalysis(): void {
    this.#analysing++;
    this.analysis = null;
    this.linkEnds.forget();
    this.paths.heights_agl_m = null;
    this.analysisState = 'none';
    this.profileAt_m = null;
  }

  /** Nodes as they came while a command of this page was on its way, by id. */
  readonly #waiting = new Map<string, Node>();

  #settle(): void {
    for (const [id, node] of this.#waiting) {
      const known = this.plan.byId.get(id);
      if (!known || Date.parse(node.updated_at) > Date.parse(known.updated_at)) this.plan.put(node);
    }
    this.#waiting.clear();
  }

  /** Changes of other clients, and links that were computed again. */
  readonly changes = new Changes({
    node: (node) => {
      this.coverages.mesh.touch();
      // An echo of what this page did is older than a change that is on its way; what others did waits for it.
      if (this.history.busy) this.#waiting.set(node.id, node);
      else if (JSON.stringify(this.plan.byId.get(node.id)) !== JSON.stringify(node)) this.plan.put(node);
    },
    removed: (id) => {
      this.#waiting.delete(id);
      if (!this.plan.byId.has(id)) return;
      this.plan.drop(new Set([id]));
      this.ui.selected = this.ui.selected.filter((other) => other !== id);
    },
    links: (id, links) => this.plan.putLinks(id, links),
    deployment: (deployment) => {
      // An echo of what this page did may be older than what it has.
      const known = this.plan.deployments.find(({ id }) => id === deployment.id);
      if (!known || Date.parse(deployment.updated_at) >= Date.parse(known.updated_at)) this.plan.putDeployment(deployment);
    },
    ground: () => this.renewGround(),
    reset: () => {
      this.groundChanges++;
      void this.attempt(() => this.plan.refresh());
    },
    gone: () => {
      this.ui.tell('The deployment was deleted by another client.', true);
      void this.chooseDeployment('');
    },
    broken: () => this.server.probe(),
  });
}

export const app = new App();
