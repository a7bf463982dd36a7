// Changes of the shown deployment by any client, as the server tells them.
import type { Deployment, Link, Node } from '../api/client';

export interface ChangeEvents {
  node(node: Node): void;
  removed(id: string): void;
  links(id: string, links: Link[]): void;
  deployment(deployment: Deployment): void;
  /** More ground is known: ground, nodes and links are to be read again. */
  ground(): void;
  /** Everything is to be read again. */
  reset(): void;
  /** The deployment is gone. */
  gone(): void;
  /** The stream broke; the browser opens it again by itself. */
  broken(): void;
}

/** One stream for the page; none while the page is hidden. */
export class Changes {
  #source: EventSource | null = null;
  #deployment: string | null = null;
  #missed = false;
  /** The deployment that was followed before none was. */
  #left: string | null = null;

  constructor(private readonly events: ChangeEvents) {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) {
        this.#missed = this.#source !== null;
        this.#close();
      } else this.#open();
    });
  }

  follow(deployment: string | null): void {
    if (deployment === this.#deployment) return;
    if (deployment === null) this.#left = this.#deployment;
    this.#deployment = deployment;
    // Whoever returns to a deployment missed what happened to it meanwhile.
    this.#missed = deployment !== null && deployment === this.#left;
    this.#close();
    this.#open();
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
  }

  #open(): void {
    if (!this.#deployment || document.hidden || this.#source) return;
    const source = new EventSource(`/api/v1/deployments/${this.#deployment}/changes`);
    this.#source = source;
    const on = <T>(name: string, act: (data: T) => void) =>
      source.addEventListener(name, (event) => act(JSON.parse((event as MessageEvent<string>).data) as T));
    on('started', () => {
      if (this.#missed) this.events.reset();
      this.#missed = false;
    });
    on<Node>('node', (node) => this.events.node(node));
    on<{ node_id: string }>('node_removed', ({ node_id }) => this.events.removed(node_id));
    on<{ node_id: string; links: Link[] }>('links', ({ node_id, links }) => this.events.links(node_id, links));
    on<Deployment>('deployment', (deployment) => this.events.deployment(deployment));
    on('ground', () => this.events.ground());
    on('reset', () => this.events.reset());
    on('removed', () => {
      this.#close();
      this.events.gone();
    });
    source.addEventListener('error', () => this.events.broken());
  }
}
