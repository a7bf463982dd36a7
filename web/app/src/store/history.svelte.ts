// Undo and redo. A command changes the server and can take the change back.

/** A change that can be taken back. */
export interface Command {
  label: string;
  do(): Promise<void>;
  undo(): Promise<void>;
}

/** A change that is not taken back: others have changed the same fields since. */
export class Overtaken extends Error {}

/** A change that stopped midway: what was done of it, and what was not. */
export class Unfinished extends Error {
  constructor(
    text: string,
    readonly finished: Command,
    readonly rest: Command,
    cause: unknown,
  ) {
    super(text, { cause });
  }
}

const COMMANDS_MAX = 200;

export class History {
  done = $state.raw<Command[]>([]);
  undone = $state.raw<Command[]>([]);
  busy = $state(false);
  /** Ids that the server gave to things made again, by the id that commands know. */
  #again = $state.raw<ReadonlyMap<string, string>>(new Map());

  /** `settled` is called after each command. */
  constructor(private readonly settled: () => void = () => undefined) {}

  /** The present id of a thing that may have been deleted and made again. */
  live(id: string): string {
    let found = id;
    for (let next = this.#again.get(found); next && next !== found; next = this.#again.get(found)) found = next;
    return found;
  }

  renamed(from: string, to: string): void {
    const old = this.live(from);
    if (old !== to) this.#again = new Map([...this.#again, [old, to]]);
  }

  async run(command: Command): Promise<void> {
    await this.#alone(async () => {
      const keep = (finished: Command) => {
        this.done = [...this.done, finished].slice(-COMMANDS_MAX);
        this.undone = [];
      };
      await command.do().catch((fault: unknown) => {
        if (fault instanceof Unfinished) keep(fault.finished);
        throw fault;
      });
      keep(command);
    });
  }

  /** Takes back the last command that is done when its turn comes. */
  async undo(): Promise<string | null> {
    let label: string | null = null;
    await this.#alone(async () => {
      const command = this.done.at(-1);
      if (!command) return;
      await command.undo().catch((fault: unknown) => {
        // What others did stays; the commands before this one can still be taken back.
        if (fault instanceof Overtaken) this.done = this.done.slice(0, -1);
        if (fault instanceof Unfinished) {
          this.done = [...this.done.slice(0, -1), fault.rest];
          this.undone = [...this.undone, fault.finished];
        }
        throw fault;
      });
      label = command.label;
      this.done = this.done.slice(0, -1);
      this.undone = [...this.undone, command];
    });
    return label;
  }

  async redo(): Promise<string | null> {
    let label: string | null = null;
    await this.#alone(async () => {
      const command = this.undone.at(-1);
      if (!command) return;
      await command.do().catch((fault: unknown) => {
        if (fault instanceof Overtaken) this.undone = this.undone.slice(0, -1);
        if (fault instanceof Unfinished) {
          this.undone = [...this.undone.slice(0, -1), fault.rest];
          this.done = [...this.done, fault.finished];
        }
        throw fault;
      });
      label = command.label;
      this.undone = this.undone.slice(0, -1);
      this.done = [...this.done, command];
    });
    return label;
  }

  clear(): void {
    this.done = [];
    this.undone = [];
    this.#again = new Map();
  }

  /** One command at a time: a second one waits for the first. */
  #turn: Promise<unknown> = Promise.resolve();

  async #alone(work: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(async () => {
      this.busy = true;
      try {
        await work();
      } finally {
        this.busy = false;
        this.settled();
      }
    });
    this.#turn = mine.catch(() => undefined);
    await mine;
  }
}
