// The link that is shown: that of two selected nodes, or the one whose end was opened as a node.
import type { Plan } from './plan.svelte';
import type { Ui } from './ui.svelte';

/** Ids of transmitter and receiver. */
type Ends = readonly [string, string];

export class LinkEnds {
  constructor(
    private readonly plan: Plan,
    private readonly ui: Ui,
  ) {}

  /** A node that was opened from its link: the link stays in view beside its card. */
  #opened = $state.raw<{ node: string; link: Ends } | null>(null);
  /** Ends of the link; null for none. */
  shown = $derived.by((): Ends | null => {
    const [tx, rx, ...others] = this.ui.selected;
    if (tx && rx) return others.length ? null : [tx, rx];
    const opened = this.#opened;
    return opened && opened.node === tx && opened.link.every((id) => this.plan.byId.has(id)) ? opened.link : null;
  });

  /** Selects one end of the link that is shown. */
  open(id: string): void {
    this.#opened = this.shown && { node: id, link: this.shown };
    this.ui.selected = [id];
  }

  /** Selects both ends again. */
  select(): void {
    if (this.shown) this.ui.selected = [...this.shown];
  }

  forget(): void {
    this.#opened = null;
  }
}
