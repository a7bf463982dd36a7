// Undo and redo. A command changes the server and can take the change back.

/** A change that can be taken back. */
export interface Command {
  label: string;
  /** Id of the deployment that it changes, as the command knows it; one without can be taken back whatever is shown. */
  within?: string | undefined;
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
  /** Commands of all deployments. */
  #allDone = $state.raw<Command[]>([]);
  #allUndone = $state.raw<Command[]>([]);
  busy = $state(false);
  /** Ids that the server gave to things made again, by the id that commands know. */
  #again = $state.raw<ReadonlyMap<string, string>>(new Map());

  /** Commands that can be taken back, or done again, while the present deployment is shown. */
  done = $derived(this.#allDone.filter((command) => this.#isOfShown(command)));
  undone = $derived(this.#allUndone.filter((command) => this.#isOfShown(command)));

  /** `settled` is called after each command; `shown` is the id of the deployment that is shown. */
  constructor(
    private readonly settled: () => void = () => undefined,
    private readonly shown: () => string | null = () => null,
  ) {}

  #isOfShown({ within }: Command): boolean {
    return within === undefined || this.live(within) === this.shown();
  }

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
      const undone = new Set(this.undone);
      const keep = (finished: Command) => {
        this.#allDone = [...this.#allDone, finished].slice(-COMMANDS_MAX);
        // What was undone in another deployment can still be done again there.
        this.#allUndone = this.#allUndone.filter((other) => !undone.has(other));
      };
      await command.do().catch((fault: unknown) => {
        if (fault instanceof Unfinished) keep(fault.finished);
        throw fault;
      });
      keep(command);
    });
  }

  /** Takes back the last command that is done when its turn comes, or one that is named, if it still can be. */
  async undo(named?: Command): Promise<string | null> {
    let label: string | null = null;
    await this.#alone(async () => {
      const command = named ? this.done.find((one) => one === named) : this.done.at(-1);
      if (!command) return;
      /** Puts another command, or none, in place of the one that is taken back. */
      const leave = (...rest: Command[]) => (this.#allDone = this.#allDone.flatMap((one) => (one === command ? rest : [one])));
      await command.undo().catch((fault: unknown) => {
        // What others did stays; the commands before this one can still be taken back.
        if (fault instanceof Overtaken) leave();
        if (fault instanceof Unfinished) {
          leave(fault.rest);
          this.#allUndone = [...this.#allUndone, fault.finished];
        }
        throw fault;
      });
      label = command.label;
      leave();
      this.#allUndone = [...this.#allUndone, command];
    });
    return label;
  }

  async redo(): Promise<string | null> {
    let label: string | null = null;
    await this.#alone(async () => {
      const command = this.undone.at(-1);
      if (!command) return;
      const leave = (...rest: Command[]) => (this.#allUndone = this.#allUndone.flatMap((one) => (one === command ? rest : [one])));
      await command.do().catch((fault: unknown) => {
        if (fault instanceof Overtaken) leave();
        if (fault instanceof Unfinished) {
          leave(fault.rest);
          this.#allDone = [...this.#allDone, fault.finished];
        }
        throw fault;
      });
      label = command.label;
      leave();
      this.#allDone = [...this.#allDone, command];
    });
    return label;
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
