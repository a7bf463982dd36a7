// Lists of the gateway as panels show them, and what the role of the caller allows.
import { ROLES } from 'virtual:gateway';
import { app } from '../../store/app.svelte';
import { all, live } from '../live.svelte';
import { poll } from '../poll';

const PAGE = 1000;
/** Period of questions for what others change, ms. */
const PERIOD_MS = 10_000;

/** Query of a page of a list. */
export const page = (cursor: string | undefined) => ({ limit: PAGE, ...(cursor ? { cursor } : {}) });

/** True if the caller's role is enough for an operation, by method and path. */
export function allows(operation: string): boolean {
  const role = ROLES[operation] ?? 'admin';
  return role === 'nobody' || live.session.may(role);
}

export class Rows<T> {
  items = $state.raw<T[]>([]);
  loaded = $state(false);
  /** They were asked for in vain. */
  failed = $state(false);

  constructor(private readonly source: Parameters<typeof all<T>>[0]) {}

  /** A quiet failure has no message: the list stays as it was. */
  async ask(isQuiet = false): Promise<void> {
    const items = await (isQuiet ? all(this.source).catch(() => null) : live.attempt(() => all(this.source)));
    this.failed = items === null;
    if (!items) return;
    this.items = items;
    this.loaded = true;
  }

  /** Does work, tells of it and asks again; a refusal is for the caller. */
  async change<R>(work: Promise<R>, message: string): Promise<R> {
    const result = await work;
    if (message) app.ui.tell(message);
    await this.ask();
    return result;
  }

  /** The same for buttons: a refusal is told at the top, once the list is the present one, as another client may have changed it. */
  async attempt(work: () => Promise<unknown>, message: string): Promise<void> {
    await live.attempt(async () => {
      try {
        await this.change(work(), message);
      } catch (fault) {
        await this.ask(true);
        throw fault;
      }
    });
  }
}

/** Follows lists while their panel is shown, since other clients change them too; returns how to end it. */
export function follow(...lists: readonly { ask(isQuiet?: boolean): Promise<void> }[]): () => void {
  let isLater = false;
  const ask = async () => {
    for (const list of lists) await list.ask(isLater);
    isLater = true;
  };
  return poll(ask, PERIOD_MS);
}
