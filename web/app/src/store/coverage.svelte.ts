// Coverage jobs of this page and the one picture that is made of them.
import { api, wanted, type RadioConfig } from '../api/client';
import type { components } from '../api/planning';
import type { Colouring, CoverageStyle } from '../map/coverage-layer';
import { table, type PaletteName } from '../palettes';
import { emptyGrid, NO_GROUND, NO_VALUE, PATH_MISSING, strongest, type Grid } from './grid';

type Snapshot = components['schemas']['CoverageSnapshot'];
export type Statistics = components['schemas']['CoverageStatistics'];

export interface Job {
  id: string;
  nodeId: string;
  name: string;
  state: 'running' | 'done' | 'failed';
  /** Share of the rows that are final. */
  progress: number;
  fault: string;
  shown: boolean;
  grid: Grid | null;
  statistics: Statistics | null;
  /** Received power at margin 0, dBm; null before a cell says. */
  sensitivity_dbm: number | null;
  radius_km: number;
  seconds: number | null;
}

export interface Question {
  radius_km: number;
  resolution: number;
  rx_height_agl_m: number;
  receiver: RadioConfig | null;
}

const POLL_MS = 250;
/** Share of the cells that the legend's colours tell apart. */
const LEGEND_SHARE = 0.97;
/** Margins at which the verdict of a cell changes, dB. */
const LIMITS: Record<string, number> = { poor: 0, marginal: 3, good: 10, excellent: 20 };

/** Fills a grid from a snapshot. Returns the received power at margin 0, dBm. */
function fill(grid: Grid, snapshot: Snapshot): number | null {
  let above = Infinity;
  let below = -Infinity;
  for (const cell of snapshot.cells) {
    const at = cell.row * grid.shape.columns + cell.col;
    const power = cell.rx_power_dbm;
    grid.power[at] = power == null ? NO_VALUE : Math.max(-32767, Math.min(32767, Math.round(power * 100)));
    grid.meta[at] = (cell.path_missing ? PATH_MISSING : 0) | (cell.verdict === 'no_data' ? NO_GROUND : 0);
    if (power == null) continue;
    const limit = LIMITS[cell.verdict];
    if (limit === undefined) below = Math.max(below, power);
    else above = Math.min(above, power - limit);
  }
  if (above === Infinity) return null;
  // The cells on both sides of a limit are near it.
  return below > -Infinity && below < above ? (above + below) / 2 : above;
}

export class Coverages {
  jobs = $state.raw<Job[]>([]);
  colouring = $state<Colouring>('power');
  palette = $state<PaletteName>('viridis');
  opacity = $state(0.74);
  /** Cells below this margin are left out, dB. */
  threshold_db = $state(0);
  unit = $state<'dbm' | 'margin'>('dbm');

  shown = $derived(this.jobs.filter((job) => job.shown && job.grid));
  grid = $derived.by(() => strongest(this.shown.map((job) => job.grid as Grid)));
  sensitivity_dbm = $derived.by(() => {
    const found = this.shown.map((job) => job.sensitivity_dbm).filter((value) => value !== null);
    return found.length ? Math.min(...found) : null;
  });
  /** Strongest power of the legend, dBm: most cells are below it, so that the palette is used up. */
  high_dbm = $derived.by(() => {
    const low = this.sensitivity_dbm ?? -90;
    const powers = (this.grid?.power ?? new Int16Array()).filter((power) => power / 100 >= low).sort();
    const most = powers[Math.floor(powers.length * LEGEND_SHARE)];
    return most === undefined ? low + 40 : Math.max(low + 10, Math.ceil(most / 500) * 5);
  });
  low_dbm = $derived(this.sensitivity_dbm ?? -90);
  look = $derived.by(
    (): CoverageStyle => ({
      colouring: this.colouring,
      palette: table(this.colouring === 'server' ? 'servers' : this.colouring === 'verdict' ? 'verdicts' : this.palette),
      low_dbm: this.low_dbm,
      high_dbm: this.high_dbm,
      threshold_dbm: this.sensitivity_dbm === null ? -999 : this.sensitivity_dbm + this.threshold_db,
      sensitivity_dbm: this.sensitivity_dbm ?? -90,
      opacity: this.opacity,
    }),
  );

  #change(id: string, with_: Partial<Job>): void {
    this.jobs = this.jobs.map((job) => (job.id === id ? { ...job, ...with_ } : job));
  }

  async start(nodeId: string, name: string, question: Question): Promise<void> {
    const { receiver, ...rest } = question;
    const body = { source_node_id: nodeId, ...rest, ...(receiver ? { receiver } : {}) };
    const begun = performance.now();
    const { job_id: id } = await wanted(api.POST('/api/v1/coverage', { body }));
    const job: Job = { id, nodeId, name, state: 'running', progress: 0, fault: '', shown: true, grid: null, statistics: null, sensitivity_dbm: null, radius_km: question.radius_km, seconds: null };
    // A new coverage of a node takes the place of the one before.
    const old = this.jobs.filter((other) => other.nodeId === nodeId);
    this.jobs = [...this.jobs.filter((other) => other.nodeId !== nodeId), job];
    for (const other of old) void this.#forget(other.id);
    await this.#follow(id, begun);
  }

  async #follow(id: string, begun: number): Promise<void> {
    let wait = POLL_MS;
    while (this.jobs.some((job) => job.id === id)) {
      const asked = performance.now();
      let snapshot: Snapshot;
      try {
        snapshot = await wanted(api.GET('/api/v1/coverage/{id}', { params: { path: { id } } }));
      } catch (fault) {
        this.#change(id, { state: 'failed', fault: (fault as Error).message });
        return;
      }
      const grid = emptyGrid({ rows: snapshot.rows, columns: snapshot.cols, bounds: snapshot.bounds });
      const sensitivity_dbm = fill(grid, snapshot);
      const done = snapshot.status === 'done';
      const state = done ? 'done' : snapshot.status === 'failed' ? 'failed' : 'running';
      const seconds = done ? (performance.now() - begun) / 1000 : null;
      this.#change(id, { grid, sensitivity_dbm, state, seconds, progress: snapshot.rows_done / snapshot.rows, statistics: snapshot.statistics, fault: snapshot.failure ?? '' });
      if (state !== 'running') return;
      // A snapshot has all cells so far: reading takes its share of the time at most.
      wait = Math.max(POLL_MS, 3 * (performance.now() - asked));
      await new Promise((after) => setTimeout(after, wait));
    }
  }

  /** Cancels a job that runs, and takes it from the list. */
  async remove(id: string): Promise<void> {
    this.jobs = this.jobs.filter((job) => job.id !== id);
    await this.#forget(id);
  }

  async #forget(id: string): Promise<void> {
    const { response } = await api.DELETE('/api/v1/coverage/{id}', { params: { path: { id } } }).catch(() => ({ response: null }));
    // The server may have dropped it before.
    if (response && !response.ok && response.status !== 404) throw new Error(`The server answered ${response.status}.`);
  }

  show(id: string, shown: boolean): void {
    this.#change(id, { shown });
  }

  clear(): void {
    for (const job of this.jobs) void this.#forget(job.id);
    this.jobs = [];
  }
}
