// Preview of the link that is shown, while a mast is dragged, a value is typed, or a stored change is not analysed yet.
import type { Node } from '../api/client';
import type { Heights } from '../clearance';
import { isChanged, MODEL, preview, type Basis, type Preview } from '../preview/difference';
import type { PathLoss } from '../preview/itm';
import type { Plan } from './plan.svelte';

/** Power of a field that is not stored yet. */
export interface Draft {
  /** Its node. */
  id: string;
  tx_power_dbm: number;
}

export class Previews {
  constructor(
    private readonly plan: Plan,
    private readonly basis: () => Basis | null,
    private readonly heights_agl_m: () => Heights | null,
    /** Neither the model nor its loader belongs to the first view. */
    private readonly load: () => Promise<PathLoss | null> = async () => (await import('../preview/itm')).loadPathLoss(),
  ) {}

  draft = $state.raw<Draft | null>(null);
  /** Nodes that are dragged on the map, until their places are stored. */
  moving = $state.raw<ReadonlySet<string>>(new Set());
  #loss = $state.raw<PathLoss | null>(null);
  #loading = false;

  /** Ends as they are planned, with the heights of masts and the power of a field. */
  #ends = $derived.by(() => this.#now(this.heights_agl_m()));
  /** The link differs from the one that the server analysed. */
  isWanted = $derived.by(() => {
    const [basis, ends] = [this.basis(), this.#ends];
    return basis !== null && ends !== null && (this.#isMoving(basis) || isChanged(basis, ends));
  });
  /** The server computed the link by the model that the page has. */
  isModelled = $derived.by(() => this.basis()?.analysis.result.model === MODEL);
  /** The link as it is planned; null where it is the one that the server analysed, and where the page cannot compute it. */
  current = $derived.by((): Preview | null => this.#of(this.#ends));

  /** The link with masts of other heights. */
  raised(heights_agl_m: Heights): Preview | null {
    return this.#of(this.#now(heights_agl_m));
  }

  #of(ends: [Node, Node] | null): Preview | null {
    const basis = this.basis();
    return basis && ends && !this.#isMoving(basis) ? preview(basis, ends, this.#loss) : null;
  }

  #isMoving(basis: Basis): boolean {
    return basis.ends.some(({ id }) => this.moving.has(id));
  }

  #now(heights_agl_m: Heights | null): [Node, Node] | null {
    const basis = this.basis();
    const ends = basis?.ends.map(({ id }, at) => {
      const node = this.plan.byId.get(id);
      const draft = this.draft?.id === id ? this.draft : null;
      return (
        node && {
          ...node,
          height_agl_m: heights_agl_m?.[at] ?? node.height_agl_m,
          radio: draft ? { ...node.radio, tx_power_dbm: draft.tx_power_dbm } : node.radio,
        }
      );
    });
    return ends?.every((node) => node !== undefined) ? (ends as [Node, Node]) : null;
  }

  /** Loads the model once. Without it the page has no previews of heights, and asks again for the next one. */
  async prepare(): Promise<void> {
    if (this.#loss || this.#loading || !this.isModelled) return;
    this.#loading = true;
    try {
      this.#loss = await this.load();
    } catch (fault) {
      console.warn('no previews of heights: the model did not load:', fault);
    } finally {
      this.#loading = false;
    }
  }
}
