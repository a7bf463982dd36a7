// The antenna pattern of a file, before a node has it.
import { base64 } from '../antenna-files';
import { api, wanted, type AntennaSummary, type RadioConfig } from '../api/client';

/** Files of one antenna: both cuts of SPLAT! at most. */
const FILES_MAX = 2;

export class Patterns {
  reading = $state.raw<AntennaSummary | null>(null);
  /** Reason why a file was refused, with its line. */
  fault = $state('');
  busy = $state(false);
  #turn = 0;

  /** Reads one file, or both cuts of SPLAT!. */
  async read(files: readonly File[]): Promise<void> {
    const turn = ++this.#turn;
    [this.reading, this.fault, this.busy] = [null, '', true];
    try {
      if (files.length > FILES_MAX) throw new Error(`invalid files: found ${files.length}, allowed one, or both cuts of SPLAT!`);
      const contents = await Promise.all(files.map(async (file) => ({ name: file.name, content: await base64(file) })));
      const reading = await wanted(api.POST('/api/v1/antennas/pattern', { body: { files: contents } }));
      if (turn === this.#turn) this.reading = reading;
    } catch (fault) {
      if (turn === this.#turn) this.fault = fault instanceof Error ? fault.message : String(fault);
    }
    if (turn === this.#turn) this.busy = false;
  }

  clear(): void {
    this.#turn++;
    [this.reading, this.fault, this.busy] = [null, '', false];
  }
}

/** Fields of a node's radio with the antenna of a file; a file without a gain leaves it as it is. */
export function antennaOf(reading: AntennaSummary): RadioConfig {
  return { antenna: { pattern: reading.pattern, ...(reading.gain_dbi == null ? {} : { gain_dbi: reading.gain_dbi }) } };
}
