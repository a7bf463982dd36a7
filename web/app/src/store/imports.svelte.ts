// Files that are dropped or chosen on the page: plans, recordings, antenna patterns.
import { isPattern } from '../antenna-files';
import { Refusal, type Imported, type ReplayInfo } from '../api/client';
import { offer } from '../api/offer';
import { textOf } from '../faults';
import type { App } from './app.svelte';
import { importPlan, uploadRecording } from './uploads';

/** Ending of the name of a recording of this program; all other formats are found by the server, by their content. */
const RECORDING = 'gwlog';

const endingOf = (file: File) => file.name.toLowerCase().split('.').at(-1) ?? '';

/** Why a file was refused, with the place of the page where formats are listed if it has none of them. */
function reasonOf(fault: unknown): string {
  const text = textOf(fault);
  return text.startsWith('unknown format') ? `${text}. They are listed under “Import and export” of the menu.` : text;
}

/** The outcome of a file: what was made of it, or the reason of its refusal. */
export type FileReport = { file: string } & ({ imported: Imported } | { recorded: true } | { reason: string });

export class Imports {
  /** Files of the last import. */
  reports = $state.raw<readonly FileReport[]>([]);
  /** Recordings that were dropped on the page, for the replay to open. */
  recordings = $state.raw<readonly File[]>([]);
  /** The last recording that the server made of a file of another format, for the replay to show. */
  recorded = $state.raw<ReplayInfo | null>(null);

  /** Name of the file that the server reads; empty without one. */
  reading = $state('');

  constructor(private readonly app: App) {}

  /** Imports files one after the other, on any view: plans as new deployments, recordings into the replay. */
  async take(files: readonly File[]): Promise<void> {
    const { ui } = this.app;
    if (offer().planning === null) return ui.tell('This address has no planner: it opens neither plans nor recordings.', true);
    const recordings = files.filter((file) => endingOf(file) === RECORDING);
    const patterns = files.filter(isPattern);
    this.reports = [];
    this.recorded = null;
    for (const file of files) if (!recordings.includes(file) && !patterns.includes(file)) await this.#import(file);
    this.reading = '';
    const last = this.reports.findLast((report) => 'imported' in report);
    if (last && 'imported' in last) {
      ui.mode = 'plan';
      ui.dialog = 'import';
      await this.app.chooseDeployment(last.imported.deployment.id);
    }
    if (patterns.length) this.app.showPattern(patterns);
    this.recordings = [...this.recordings, ...recordings];
    if (!recordings.length && !this.recorded) return;
    if (last) ui.tell('The recording waits in the view Replay.');
    else ui.mode = 'replay';
  }

  /** Imports a file as a plan, as a recording, or as both. */
  async #import(file: File): Promise<void> {
    this.reading = file.name;
    const report = (made: { imported: Imported } | { recorded: true } | { reason: string }) =>
      void (this.reports = [...this.reports, { file: file.name, ...made }]);
    await this.app.attempt(async () => {
      try {
        const imported = await importPlan(file);
        report({ imported });
        if (imported.has_recording) this.recorded = await uploadRecording(file);
      } catch (fault) {
        // What holds no plan may hold movements or measurements.
        const isRefused = fault instanceof Refusal && fault.status === 400 && this.reports.at(-1)?.file !== file.name;
        const recorded = isRefused ? await uploadRecording(file).catch(() => null) : null;
        if (recorded) {
          this.recorded = recorded;
          return report({ recorded: true });
        }
        const reason = reasonOf(fault);
        if (this.reports.at(-1)?.file !== file.name) report({ reason });
        // Of several files the message names its own.
        throw new Error(reason.includes(file.name) ? reason : `${file.name}: ${reason}`, { cause: fault });
      }
    });
  }
}
