// Lists of the gateway as panels show them, and what the role of the caller allows.
import { ROLES } from 'virtual:gateway';
import { app } from '../../store/app.svelte';
import { all, live } from '../live.svelte';

const PAGE = 1000;

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

  async ask(): Promise<void> {
    const items = await live.attempt(() => all(this.source));
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

  /** The same for buttons: a refusal is told at the top. */
  async attempt(work: () => Promise<unknown>, message: string): Promise<void> {
    await live.attempt(() => this.change(work(), message));
  }
}
