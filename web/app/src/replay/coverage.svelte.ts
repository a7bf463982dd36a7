// Coverage of the planned mesh, from those of its nodes that work at the shown time of the replay.
import { api, wanted, type Environment, type Node } from '../api/client';
import { app } from '../store/app.svelte';
import { Coverages } from '../store/coverage.svelte';
import { distance_m } from '../geo';
import { areaAround } from '../store/mesh-coverage.svelte';
import type { Frame } from './frames';

const RX_HEIGHT_AGL_M = 1.5;
/** Cells of the area, about: few enough to follow a replay that plays. */
const CELLS = 25_000;
/** Distance from the planned place from which on a recorded node stands elsewhere, m. */
const APART_M = 10;

const equal = (a: ReadonlySet<string>, b: ReadonlySet<string>) => a.size === b.size && [...a].every((id) => b.has(id));

export class FollowingCoverage {
  /** Its own: a coverage of the plan lies under no recording. */
  readonly coverages = new Coverages();
  busy = $state(false);
  /** Planned nodes, and the environment that they are in. */
  nodes = $state.raw<readonly Node[]>([]);
  environment = $state.raw<Environment | undefined>();
  /** Planned nodes by name. */
  #planned: ReadonlyMap<string, Node> = new Map();
  /** Names of working nodes of the recording that the plan lacks or has elsewhere: they have no coverage. */
  elsewhere = $state.raw<string[]>([]);
  #sending = false;
  #next: ReadonlySet<string> | null = null;

  get on(): boolean {
    return this.coverages.mesh.on;
  }

  /** Begins the coverage of a deployment, whose nodes have the names of those of the recording. */
  async start(within: string, frame: Frame | null): Promise<void> {
    this.busy = true;
    try {
      const params = { path: { id: within } };
      const [nodes, { environment }] = await Promise.all([
        wanted(api.GET('/api/v1/deployments/{id}/nodes', { params })),
        wanted(api.GET('/api/v1/deployments/{id}', { params })),
      ]);
      [this.nodes, this.environment] = [nodes, environment];
      this.#planned = new Map(nodes.map((node) => [node.name, node]));
      // A deployment has one coverage on the server, with one set of failed nodes.
      await app.coverages.mesh.stop();
      await this.coverages.mesh.start(
        within,
        nodes,
        { rx_height_agl_m: RX_HEIGHT_AGL_M },
        areaAround(nodes, CELLS),
        frame ? this.#missing(frame) : new Set(),
      );
    } finally {
      this.busy = false;
    }
  }

  /** Planned nodes that are not there at a time, stand elsewhere, or do not work. */
  #missing(frame: Frame): ReadonlySet<string> {
    const working = frame.nodes.filter((node) => node.operating);
    const isPlanned = (node: (typeof working)[number]) => {
      const planned = this.#planned.get(node.name);
      return planned !== undefined && distance_m(planned, node) <= APART_M;
    };
    const covered = new Set(working.filter(isPlanned).map((node) => node.name));
    this.elsewhere = working.filter((node) => !covered.has(node.name)).map((node) => node.name);
    return new Set([...this.#planned].filter(([name]) => !covered.has(name)).map(([, node]) => node.id));
  }

  /** Takes the nodes of a frame, the latest of several; only the cells of those that changed are computed. */
  async follow(frame: Frame): Promise<void> {
    if (!this.on || !this.#planned.size) return;
    this.#next = this.#missing(frame);
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#next && !equal(this.#next, this.coverages.mesh.failed)) {
        const failed: ReadonlySet<string> = this.#next;
        await this.coverages.mesh.take(failed);
      }
    } finally {
      this.#sending = false;
    }
  }
}
