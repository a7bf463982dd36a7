// Changes of a plan as commands. The page shows a change at once and takes it back if it is refused.
import { api, wanted, type Node, type NodePatch, type NewNode, type Pointing, type RadioConfig } from '../api/client';
import type { LatLon } from '../geo';
import { alike } from '../presets';
import { textOf } from '../faults';
import { count } from '../units';
import { Overtaken, Unfinished, type Command, type History } from './history.svelte';
import type { Plan } from './plan.svelte';

/** Fields with which a node is made again. */
export function recipe(node: Node): NewNode {
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
    woodland_depth_m: node.woodland_depth_m,
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
  if (patch.woodland_depth_m != null) found.woodland_depth_m = node.woodland_depth_m;
  return found;
}

/** The patch that gives a node these fields. */
function patchOf({ radio, pointing, ...rest }: Partial<Node>): NodePatch {
  const turned: NodePatch = pointing === undefined ? {} : pointing ? { pointing: pointing as Pointing } : { clear_pointing: true };
  return { ...rest, ...(radio ? { radio: whole(radio) } : {}), ...turned };
}

/** A change of one node. */
interface Step {
  /** The id by which commands name the node; none before it is made. */
  id(): string | null;
  name: string;
  /** Refuses what others have changed since. */
  check(): void;
  do(): Promise<void>;
  undo(): Promise<void>;
}

type Way = 'do' | 'undo';

/** Texts and follow-up of a command for its steps. */
interface Batch {
  label(names: readonly string[]): string;
  /** Participles for messages: `1 of 3 nodes deleted`. */
  words: Record<Way, string>;
  /** The way in which nodes are deleted: they leave the page at once. */
  deletes?: Way;
  /** Id of the deployment of the nodes. */
  within: string | undefined;
  /** Called after steps were taken. */
  ended(way: Way, steps: readonly Step[]): void;
}

/** Names in a message. */
const NAMES_MAX = 5;

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return more > 0 ? `${names.slice(0, NAMES_MAX).join(', ')} and ${more} more` : names.join(', ');
}

export class Commands {
  constructor(
    private readonly plan: Plan,
    private readonly history: History,
    private readonly selected: (ids: string[]) => void,
  ) {}

  #known(id: string): Node {
    const node = this.plan.byId.get(this.history.live(id));
    if (!node) throw new Overtaken('The node is not there any more.');
    return node;
  }

  /** Refuses to change fields that others have changed since this page did. */
  #unchanged(id: string, left: Partial<Node>): void {
    const node = this.#known(id);
    if (!alike(node, left)) throw new Overtaken(`${node.name} was changed by another client since: its values stay.`);
  }

  /** The change of several nodes, one after the other. If one fails, those before it are a command of their own. */
  #batch(steps: readonly Step[], batch: Batch): Command {
    const take = async (way: Way) => {
      for (const step of steps) step.check();
      const before = [this.plan.nodes, this.plan.links] as const;
      const leaving = way === batch.deletes ? this.#ids(steps) : [];
      if (leaving.length) this.plan.drop(new Set(leaving));
      for (const [at, step] of steps.entries()) {
        try {
          await step[way]();
        } catch (fault) {
          const [finished, rest] = [steps.slice(0, at), steps.slice(at)];
          if (leaving.length) {
            [this.plan.nodes, this.plan.links] = before;
            this.plan.drop(new Set(this.#ids(finished)));
            await this.plan.refresh().catch(() => undefined);
          }
          if (at === 0) throw fault;
          batch.ended(way, finished);
          void this.plan.refreshLinks();
          const text = `${at} of ${count(steps.length, 'node')} ${batch.words[way]}: ${listed(finished.map((one) => one.name))}. ${step.name}: ${textOf(fault)}`;
          throw new Unfinished(text, this.#batch(finished, batch), this.#batch(rest, batch), fault);
        }
      }
      batch.ended(way, steps);
      void this.plan.refreshLinks();
    };
    return { label: batch.label(steps.map((step) => step.name)), within: batch.within, do: () => take('do'), undo: () => take('undo') };
  }

  /** Ids by which the server has the nodes of steps now. */
  #ids(steps: readonly Step[]): string[] {
    return steps.flatMap((step) => step.id() ?? []).map((id) => this.history.live(id));
  }

  async #make(body: NewNode, deployment: string): Promise<Node> {
    const path = { id: this.history.live(deployment) };
    const node = await wanted(api.POST('/api/v1/deployments/{id}/nodes', { params: { path }, body }));
    this.plan.put(node);
    return node;
  }

  async #delete(known: string): Promise<void> {
    const id = this.history.live(known);
    await wanted(api.DELETE('/api/v1/nodes/{id}', { params: { path: { id } } }));
  }

  /** Adds nodes; the last one is selected. */
  async add(bodies: NewNode[], label?: string): Promise<void> {
    const deployment = this.plan.deployment?.id;
    if (!deployment) throw new Error('Make a deployment first.');
    const steps = bodies.map((body): Step => {
      let id: string | null = null;
      /** The node as this page made it. */
      let node: Node | null = null;
      let isThere = false;
      return {
        id: () => id,
        name: body.name,
        check: () => {
          isThere = id !== null && this.plan.byId.has(this.history.live(id));
          if (id && node && isThere) this.#unchanged(id, recipe(node) as Partial<Node>);
        },
        do: async () => {
          node = await this.#make(body, deployment);
          if (id) this.history.renamed(id, node.id);
          else id = node.id;
        },
        undo: async () => void (id && isThere && (await this.#delete(id))),
      };
    });
    await this.history.run(
      this.#batch(steps, {
        label: (names) => (label && names.length === bodies.length ? label : `Add ${listed(names)}`),
        words: { do: 'added', undo: 'deleted' },
        deletes: 'undo',
        within: deployment,
        ended: (way, finished) => void (way === 'do' && this.selected(this.#ids(finished))),
      }),
    );
  }

  async remove(ids: string[]): Promise<void> {
    const deployment = this.plan.deployment?.id;
    if (!deployment || !ids.length) return;
    const steps = ids.map((id): Step => {
      const node = this.#known(id);
      /** The node was made again by this page. */
      let isBack = false;
      return {
        id: () => id,
        name: node.name,
        check: () => void (isBack && this.plan.byId.has(this.history.live(id)) && this.#unchanged(id, recipe(node) as Partial<Node>)),
        do: () => this.#delete(id),
        undo: async () => {
          this.history.renamed(node.id, (await this.#make(recipe(node), deployment)).id);
          isBack = true;
        },
      };
    });
    await this.history.run(
      this.#batch(steps, {
        label: (names) => (names.length === 1 ? `Delete ${names[0]}` : `Delete ${names.length} nodes`),
        words: { do: 'deleted', undo: 'made again' },
        deletes: 'do',
        within: deployment,
        ended: (way, finished) => this.selected(way === 'do' ? [] : this.#ids(finished)),
      }),
    );
  }

  async #place(id: string, from: LatLon, to: LatLon): Promise<void> {
    const before = this.#known(id);
    this.plan.put({ ...before, ...to });
    try {
      const path = { id: before.id };
      this.plan.put(await wanted(api.PUT('/api/v1/nodes/{id}/position', { params: { path }, body: to })));
    } catch (fault) {
      // The page may have shown the node on its way.
      this.plan.put({ ...before, ...from });
      throw fault;
    }
  }

  async move(moves: { id: string; from: LatLon; to: LatLon }[]): Promise<void> {
    const steps = moves.map(({ id, from, to }): Step => {
      /** The place to which this page moved the node; the first move is from a place that the page has shown. */
      let left: LatLon | null = null;
      const move = async (start: LatLon, end: LatLon) => {
        await this.#place(id, start, end);
        left = end;
      };
      return {
        id: () => id,
        name: this.#known(id).name,
        check: () => void (left && this.#unchanged(id, left)),
        do: () => move(from, to),
        undo: () => move(to, from),
      };
    });
    await this.history.run(
      this.#batch(steps, {
        label: (names) => (names.length === 1 ? `Move ${names[0]}` : `Move ${names.length} nodes`),
        within: this.plan.deployment?.id,
        words: { do: 'moved', undo: 'moved back' },
        ended: () => undefined,
      }),
    );
  }

  async #patch(id: string, patch: NodePatch): Promise<void> {
    const before = this.#known(id);
    const path = { id: before.id };
    this.plan.put(await wanted(api.PATCH('/api/v1/nodes/{id}', { params: { path }, body: patch })));
  }

  /** Edits nodes, all alike or each by a patch of its own; fields left out stay. */
  async edit(ids: string[], of: NodePatch | ((node: Node) => NodePatch), field: string): Promise<void> {
    // A field that loses its focus because its nodes are gone changes nothing.
    if (!ids.length) return;
    const steps = ids.map((id): Step => {
      const before = this.#known(id);
      const patch = typeof of === 'function' ? of(before) : of;
      /** Fields as the last change of this page left them. */
      let left: Partial<Node> | null = null;
      const change = async (next: NodePatch) => {
        await this.#patch(id, next);
        left = fields(this.#known(id), patch);
      };
      return {
        id: () => id,
        name: before.name,
        check: () => void (left && this.#unchanged(id, left)),
        do: () => change(patch),
        undo: () => change(patchOf(fields(before, patch))),
      };
    });
    await this.history.run(
      this.#batch(steps, {
        label: (names) => `${field} of ${names.length === 1 ? names[0] : `${names.length} nodes`}`,
        within: this.plan.deployment?.id,
        words: { do: 'changed', undo: 'changed back' },
        ended: () => undefined,
      }),
    );
  }
}
