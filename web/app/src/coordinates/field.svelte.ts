// Position in a field of text, read while it is written.
import { parsePosition, type Position } from './position';

/** Position of a text that changes. */
export class PositionField {
  /** Reading of the text; null while it is read, and for texts without digits and plus signs, which are names. */
  reading = $state.raw<Position | null>(null);
  #pending: Promise<void> = Promise.resolve();

  constructor(text: () => string) {
    $effect(() => this.#follow(text(), text));
  }

  /** Resolves when the present text is read. */
  async settled(): Promise<void> {
    await this.#pending;
  }

  #follow(asked: string, text: () => string): void {
    this.reading = null;
    if (!/[\d+]/.test(asked)) return;
    this.#pending = parsePosition(asked).then(
      (reading) => {
        if (asked === text()) this.reading = reading;
      },
      (fault: unknown) => {
        if (asked === text()) this.reading = { reason: String(fault) };
      },
    );
  }
}
