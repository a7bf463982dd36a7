// Changes of a plan as commands. The page shows a change at once and takes it back if it is refused.
import { api, wanted, type Node, type NodePatch, type NewNode, type Pointing, type RadioConfig } from '../api/client';
import type { LatLon } from '../geo';
import { alike } from '../presets';
import { Overtaken, type Command, type History } from './history.svelte';
import type { Plan } from './plan.svelte';

/** Fields with which a node is made again. */
function recipe(node: Node): NewNode {
  return {
    name: node.name,
    lat: node.lat,
    lon: node.lon,
    role: node.role,
    height_agl_m: node.height_agl_m,
    radio: node.radio,
    ...(node.pointing ? { pointing: node.pointing } : {}),
    surroundings: node.surroundings,
    indoor: node.indoor,
  };
}

/** All fields of a radio; one without a pattern takes away that in place. */
function whole(radio: Node['radio']): RadioConfig {
  return radio.antenna?.pattern ? radio : { ...radio, antenna: { ...radio.antenna, clear_pattern: true } };
}

/** Fields that a patch changes, as a node has them. */
function fields(node: Node, patch: NodePatch): Partial<Node> {
  const found: Partial<Node> = {};
  if (patch.name != null) found.name = node.name;
  if (patch.role != null) found.role = node.role;
  if (patch.height_agl_m != null) found.height_agl_m = node.height_agl_m;
  if (patch.radio != null) found.radio = node.radio;
  if (patch.pointing != null || patch.clear_pointing) found.pointing = node.pointing ?? null;
  if (patch.surroundings != null) found.surroundings = node.surroundings;
  if (patch.indoor != null) found.indoor = node.indoor;
  return found;
}

/** The patch that gives a node these fields. */
function patchOf({ radio, pointing, ...rest }: Partial<Node>): NodePatch {
  const turned: NodePatch = pointing === undefined ? {} : pointing ? { pointing: pointing as Pointing } : { clear_pointing: true };
  return { ...rest, ...(radio ? { radio: whole(radio) } : {}), ...turned };
}

export class Commands {
  constructor(
    private readonly plan: Plan,
    private readonly history: History,
    private readonly selected: (ids: string[]) => void,
  ) {}

  #known(id: string): Node {
    const node = this.plan.byId.get(this.history.live(id));
    if (!node) throw new Error('The node is not there any more.');
    return node;
  }

  async #make(body: NewNode, deployment: string): Promise<Node> {
    const made = await wanted(api.POST('/api/v1/deployments/{id}/nodes', { params: { path: { id: deployment } }, body }));
    if (this.plan.deployment?.id === deployment) this.plan.put(made);
    return made;
  }

  async #delete(ids: string[]): Promise<void> {
    const gone = new Set(ids.map((id) => this.history.live(id)));
    const before = [this.plan.nodes, this.plan.links] as const;
    this.plan.drop(gone);
    try {
      for (const id of gone) await wanted(api.DELETE('/api/v1/nodes/{id}', { params: { path: { id } } }));
    } catch (fault) {
      [this.plan.nodes, this.plan.links] = before;
      await this.plan.refresh();
      throw fault;
    }
    void this.plan.refreshLinks();
  }

  /** Adds nodes; the last one is selected. */
  async add(bodies: NewNode[], label?: string): Promise<void> {
    const deployment = this.plan.deployment?.id;
    if (!deployment) throw new Error('Make a deployment first.');
    const ids: string[] = [];
    /** Nodes as this page made them, by id. */
    const made = new Map<string, Node>();
    const command: Command = {
      label: label ?? `Add ${bodies.map((body) => body.name).join(', ')}`,
      do: async () => {
        for (const [at, body] of bodies.entries()) {
          const node = await this.#make(body, deployment);
          const known = ids[at];
          if (known) this.history.renamed(known, node.id);
          else ids[at] = node.id;
          made.set(ids[at] as string, node);
        }
        this.selected(ids.map((id) => this.history.live(id)));
        void this.plan.refreshLinks();
      },
      undo: async () => {
        for (const [id, node] of made) if (this.plan.byId.has(this.history.live(id))) this.#unchanged(id, recipe(node) as Partial<Node>);
        await this.#delete(ids);
      },
    };
    await this.history.run(command);
  }

  async remove(ids: string[]): Promise<void> {
    const deployment = this.plan.deployment?.id;
    const nodes = ids.map((id) => this.#known(id));
    if (!deployment || !nodes.length) return;
    await this.history.run({
      label: nodes.length === 1 ? `Delete ${nodes[0]?.name}` : `Delete ${nodes.length} nodes`,
      do: async () => {
        await this.#delete(ids);
        this.selected([]);
      },
      undo: async () => {
        for (const node of nodes) {
          const made = await this.#make(recipe(node), deployment);
          this.history.renamed(node.id, made.id);
        }
        this.selected(nodes.map((node) => this.history.live(node.id)));
        void this.plan.refreshLinks();
      },
    });
  }

  /** Refuses to change fields that others have changed since this page did. */
  #unchanged(id: string, left: Partial<Node>): void {
    const node = this.#known(id);
    if (!alike(node, left)) throw new Overtaken(`${node.name} was changed by another client since: its values stay.`);
  }

  async #place(id: string, to: LatLon): Promise<void> {
    const before = this.#known(id);
    this.plan.put({ ...before, ...to });
    try {
      const path = { id: before.id };
      this.plan.put(await wanted(api.PUT('/api/v1/nodes/{id}/position', { params: { path }, body: to })));
    } catch (fault) {
      this.plan.put(before);
      throw fault;
    }
  }

  async move(moves: { id: string; from: LatLon; to: LatLon }[]): Promise<void> {
    const names = moves.map((move) => this.#known(move.id).name);
    let moved = false;
    const all = async (start: 'from' | 'to', end: 'from' | 'to') => {
      // The first move is that of the person, from a place that the page has shown.
      if (moved) for (const move of moves) this.#unchanged(move.id, move[start]);
      for (const move of moves) await this.#place(move.id, move[end]);
      moved = true;
      void this.plan.refreshLinks();
    };
    await this.history.run({
      label: names.length === 1 ? `Move ${names[0]}` : `Move ${names.length} nodes`,
      do: () => all('from', 'to'),
      undo: () => all('to', 'from'),
    });
  }

  async #patch(id: string, patch: NodePatch): Promise<void> {
    const before = this.#known(id);
    const path = { id: before.id };
    this.plan.put(await wanted(api.PATCH('/api/v1/nodes/{id}', { params: { path }, body: patch })));
  }

  /** Edits nodes; fields left out stay. */
  async edit(ids: string[], patch: NodePatch, field: string): Promise<void> {
    const before = ids.map((id) => this.#known(id));
    /** Fields as the last change of this page left them, by id. */
    const left = new Map<string, Partial<Node>>();
    const each = async (patches: readonly (readonly [string, NodePatch])[]) => {
      for (const [id, state] of left) this.#unchanged(id, state);
      for (const [id, change] of patches) {
        await this.#patch(id, change);
        left.set(id, fields(this.#known(id), patch));
      }
      void this.plan.refreshLinks();
    };
    await this.history.run({
      label: `${field} of ${before.length === 1 ? before[0]?.name : `${before.length} nodes`}`,
      do: () => each(ids.map((id) => [id, patch])),
      undo: () => each(before.map((node) => [node.id, patchOf(fields(node, patch))])),
    });
  }
}
