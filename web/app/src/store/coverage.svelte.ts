// Coverage jobs of this page and the one picture that is made of them.
import { api, wanted, type Indoor, type RadioConfig, type Surroundings } from '../api/client';
import type { components } from '../api/planning';
import type { Colouring, CoverageStyle } from '../map/coverage-painter';
import { PERCENT_MIN } from '../verdict';
import { stepped, table, type PaletteName } from '../palettes';
import {
  COMMON,
  common,
  coverOf,
  emptyGrid,
  NO_GROUND,
  PATH_MISSING,
  put,
  SERVER_MASK,
  strongest,
  type CellTile,
  type Cover,
  type Grid,
  type GridBounds,
} from './grid';
import { MeshCoverage } from './mesh-coverage.svelte';
import { store, stored } from './ui.svelte';

/** Data rate from a received power on. */
export interface RateStep {
  from_dbm: number;
  data_rate_bps: number;
}

/** Meaning of the colours: those of the painter's, the SINR of a mesh whose nodes disturb each other, or which of two nodes serve a cell. */
export type Shade = Colouring | 'sinr' | 'common';

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
  /** Data rates by received power, rising. */
  rates: readonly RateStep[];
  radius_km: number;
  seconds: number | null;
  question: Question;
  /** The transmitter and its environment when the job began. */
  subject: string | null;
}

export interface Question {
  radius_km: number;
  resolution: number;
  rx_height_agl_m: number;
  rx_surroundings: Surroundings;
  rx_indoor: Indoor;
  receiver: RadioConfig | null;
}

/** Share of the cells that the legend's colours tell apart. */
const LEGEND_SHARE = 0.97;
/** Streams at a time: a browser opens six connections to a server. */
const STREAMS_MAX = 3;
/** Period of the picture while cells come in, ms: drawing takes processors from computing. */
const FRAME_MS = 200;

interface Started {
  rows: number;
  columns: number;
  bounds: GridBounds;
  sensitivity_dbm: (number | null)[];
  rates: RateStep[][];
}

export class Coverages {
  /** `subjectOf` describes a node and its environment as they are now; null for one that is not there. */
  constructor(
    private readonly subjectOf: (nodeId: string) => string | null = () => null,
    private readonly keeper: { finished(job: Job): void; removed(job: Job): void } = {
      finished: () => undefined,
      removed: () => undefined,
    },
  ) {}

  jobs = $state.raw<Job[]>([]);
  colouring = $state<Shade>('power');
  palette = $state<PaletteName>('viridis');
  opacity = $state(0.74);
  /** Values between cells are interpolated; else each cell is drawn. */
  smooth = $state(stored('coverage.surface', ['smooth', 'cells'], 'smooth') === 'smooth');
  /** Cells below this margin are left out, dB. */
  threshold_db = $state(0);
  /** Cells whose link works with less are left out where probabilities or verdicts are shown, percent. */
  threshold_percent = $state<number>(PERCENT_MIN.poor);
  unit = $state<'dbm' | 'margin' | 'rate'>('dbm');

  /** The coverage of the whole mesh; while it is there it is drawn instead of single ones. */
  readonly mesh = new MeshCoverage();

  shown = $derived(this.mesh.grid ? [] : this.jobs.filter((job) => job.shown && job.grid));
  grid = $derived.by(() => this.mesh.grid ?? strongest(this.shown.map((job) => job.grid as Grid)));
  sensitivity_dbm = $derived.by(() => {
    if (this.mesh.grid) return this.mesh.sensitivity_dbm;
    const found = this.shown.map((job) => job.sensitivity_dbm).filter((value) => value !== null);
    return found.length ? Math.min(...found) : null;
  });
  /** True if cells are coloured by their SINR. */
  bySinr = $derived(this.colouring === 'sinr' && this.mesh.grid?.sinr !== undefined);
  /** The grid as it is drawn, whose values are powers or SINRs. */
  drawn = $derived.by(() =>
    this.grid && this.bySinr ? { ...this.grid, power: this.grid.sinr as Int16Array } : (this.#common ?? this.grid),
  );
  /** True if cells are coloured by which of two nodes serve them. */
  byCommon = $derived(this.colouring === 'common' && this.shown.length === 2);
  #common = $derived.by(() => {
    const { byCommon, shown, threshold_db } = this;
    if (!byCommon) return null;
    const [first, second] = shown as [Job, Job];
    const least = [first, second].map((job) => ((job.sensitivity_dbm ?? Infinity) + threshold_db) * 100);
    return common([first.grid as Grid, second.grid as Grid], (power, at) => power >= (least[at] as number));
  });
  /** Areas that the first, the second, and both of two nodes serve, km², and the common share of all that. */
  commonCover = $derived.by(() => {
    const grid = this.#common;
    if (!grid) return null;
    const areas_km2 = Object.values(COMMON).map(
      (part) => coverOf(grid, (cell) => ((grid.meta[cell] as number) & SERVER_MASK) === part).area_km2,
    ) as [number, number, number];
    const all_km2 = areas_km2[0] + areas_km2[1] + areas_km2[2];
    return { areas_km2, share: all_km2 ? areas_km2[COMMON.both] / all_km2 : 0 };
  });
  /** Received power, dBm, or SINR, dB, at margin 0. */
  needed = $derived(this.bySinr ? this.mesh.required_sinr_db : this.sensitivity_dbm);
  /** Upper end of the legend: most cells are below it, so that the palette is used up. */
  high = $derived.by(() => {
    const values = (this.drawn?.power ?? new Int16Array()).filter((value) => value / 100 >= this.low).sort();
    const most = values[Math.floor(values.length * LEGEND_SHARE)];
    return most === undefined ? this.low + 40 : Math.max(this.low + 10, Math.ceil(most / 500) * 5);
  });
  low = $derived(this.needed ?? (this.bySinr ? 0 : -90));
  /** Rates of the coverage that is shown; none of several with different radios, or of a mesh. */
  rates = $derived.by((): readonly RateStep[] => {
    const [first, ...others] = this.shown.map((job) => job.rates);
    return first && others.every((rates) => JSON.stringify(rates) === JSON.stringify(first)) ? first : [];
  });
  /** Range of received power or SINR that the palette spans. */
  range = $derived.by((): [number, number] => {
    const last = this.rates.at(-1);
    return this.unit === 'rate' && last ? [this.low, Math.max(last.from_dbm, this.low) + 1] : [this.low, this.high];
  });
  /** Received power or SINR from which a cell is drawn. */
  threshold = $derived(this.needed === null ? -999 : this.needed + this.threshold_db);
  look = $derived.by((): CoverageStyle => ({
    colouring: this.byCommon ? 'server' : this.colouring === 'sinr' || this.colouring === 'common' ? 'power' : this.colouring,
    palette: this.byCommon
      ? table('common')
      : this.colouring === 'power' && this.unit === 'rate' && this.rates.length
        ? stepped(
            this.palette,
            this.rates.map((step) => step.from_dbm),
            this.range,
          )
        : table(this.colouring === 'server' ? 'servers' : this.colouring === 'verdict' ? 'verdicts' : this.palette),
    low: this.range[0],
    high: this.range[1],
    threshold: this.threshold,
    threshold_percent: this.threshold_percent,
    opacity: this.opacity,
    smooth: this.smooth,
  }));

  /** Draws a surface or cells, and remembers the choice. */
  setSmooth(smooth: boolean): void {
    this.smooth = smooth;
    store('coverage.surface', smooth ? 'smooth' : 'cells');
  }

  /** Jobs whose transmitter or environment is another since, by id. */
  old = $derived.by(() => {
    const old = new Map<string, 'changed' | 'deleted'>();
    for (const job of this.jobs) {
      const now = this.subjectOf(job.nodeId);
      if (now !== job.subject) old.set(job.id, now === null ? 'deleted' : 'changed');
    }
    return old;
  });
  /** Names of those that are shown. */
  oldNames = $derived(this.shown.filter((job) => this.old.has(job.id)).map((job) => job.name));

  /** True if colours are those of the probability that a link works. */
  byProbability = $derived(this.colouring === 'probability' || this.colouring === 'verdict');

  /** The cells of a grid that the threshold in force draws, for a requirement at margin 0 of each. */
  #coverOf(grid: Grid, margin_db: (cell: number) => number): Cover {
    const { byProbability, threshold_db } = this;
    // Verdicts have no colour below the first of them.
    const least_percent = Math.max(this.threshold_percent, this.colouring === 'verdict' ? PERCENT_MIN.poor : 0);
    return coverOf(grid, (cell) => (byProbability ? (grid.percent[cell] as number) >= least_percent : margin_db(cell) >= threshold_db));
  }

  /** Cells of finished coverages that the threshold in force draws, by job. */
  covers = $derived.by(() => {
    const covers = new Map<string, Cover>();
    for (const { id, grid, state, sensitivity_dbm } of this.jobs) {
      if (grid && state === 'done')
        covers.set(
          id,
          this.#coverOf(grid, (cell) => (grid.power[cell] as number) / 100 - (sensitivity_dbm ?? -999)),
        );
    }
    return covers;
  });

  /** Cells of the coverage of the mesh that the threshold in force draws. */
  meshCover = $derived.by(() => {
    const { grid, sensitivity_dbm, state } = this.mesh;
    if (!grid) return null;
    const { power, sinr, servers } = grid;
    const nodes = state?.nodes ?? [];
    // Among interference each node has its own requirement.
    const margin_db = (cell: number) =>
      sinr
        ? (sinr[cell] as number) / 100 - (nodes[servers?.[cell] ?? -1]?.required_sinr_db ?? Infinity)
        : (power[cell] as number) / 100 - (sensitivity_dbm ?? -999);
    return this.#coverOf(grid, margin_db);
  });

  #change(id: string, with_: Partial<Job>): void {
    this.jobs = this.jobs.map((job) => (job.id === id ? { ...job, ...with_ } : job));
  }

  async start(nodeId: string, name: string, question: Question): Promise<void> {
    const { receiver, ...rest } = question;
    const body = { source_node_id: nodeId, ...rest, ...(receiver ? { receiver } : {}) };
    const begun = performance.now();
    const subject = this.subjectOf(nodeId);
    const epoch = this.#epoch;
    const { job_id: id } = await wanted(api.POST('/api/v1/coverage', { body }));
    // Another deployment is shown by now.
    if (epoch !== this.#epoch) return this.#forget(id).catch(() => undefined);
    // A new coverage of a node takes the place of the one before, which is shown until cells come.
    const old = this.jobs.filter((other) => other.nodeId === nodeId);
    const { grid = null, sensitivity_dbm = null, rates = [] } = old.at(-1) ?? {};
    const job: Job = {
      id,
      nodeId,
      name,
      state: 'running',
      progress: 0,
      fault: '',
      shown: true,
      grid,
      statistics: null,
      sensitivity_dbm,
      rates,
      radius_km: question.radius_km,
      seconds: null,
      question,
      subject,
    };
    this.jobs = [...this.jobs.filter((other) => other.nodeId !== nodeId), job];
    for (const other of old) void this.#forget(other.id).catch(() => undefined);
    await this.#follow(id, begun);
  }

  /** Computes all coverages again: the ground is another. One that is refused does not hold back the others. */
  async again(): Promise<void> {
    const outcomes = await Promise.allSettled(this.jobs.map((job) => this.start(job.nodeId, job.name, job.question)));
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refused) throw refused.reason;
  }

  /** Number of deployments that were left. */
  #epoch = 0;
  #streams = 0;
  #waiting: (() => void)[] = [];

  async #turn(): Promise<void> {
    if (this.#streams >= STREAMS_MAX) await new Promise<void>((go) => this.#waiting.push(go));
    this.#streams++;
  }

  /** Draws the squares of a job as they come; the stream goes on after the last one if it breaks. */
  async #follow(id: string, begun: number): Promise<void> {
    await this.#turn();
    let grid: Grid | null = null;
    let cells = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      // The arrays stay; another object says that they have changed.
      if (grid) this.#change(id, { grid: { ...grid }, progress: cells / (grid.shape.rows * grid.shape.columns) });
    };
    const source = new EventSource(`/api/v1/coverage/${id}/tiles`);
    this.#sources.set(id, source);
    await new Promise<void>((ended) => {
      const end = (change: Partial<Job>) => {
        clearTimeout(timer);
        source.close();
        show();
        // Without a cell of its own it shows nothing, least of all the coverage before.
        this.#change(id, grid ? change : { ...change, grid: null });
        ended();
      };
      source.addEventListener('started', (event) => {
        const { rows, columns, bounds, sensitivity_dbm, rates } = JSON.parse(event.data) as Started;
        grid ??= emptyGrid({ rows, columns, bounds });
        this.#change(id, { sensitivity_dbm: sensitivity_dbm[0] ?? null, rates: rates[0] ?? [] });
      });
      source.addEventListener('tile', (event) => {
        if (!grid) return;
        const tile = JSON.parse(event.data) as CellTile;
        put(grid, tile);
        cells += tile.rows * tile.columns;
        timer ??= setTimeout(show, FRAME_MS);
      });
      source.addEventListener('done', (event) => {
        const { statistics } = JSON.parse(event.data) as { statistics: Statistics };
        end({ state: 'done', statistics, progress: 1, seconds: (performance.now() - begun) / 1000 });
        void this.#flag(id, statistics).then(() => {
          const job = this.jobs.find((job) => job.id === id);
          if (job) this.keeper.finished(job);
        });
      });
      source.addEventListener('failed', (event) => end({ state: 'failed', fault: (JSON.parse(event.data) as { detail: string }).detail }));
      source.addEventListener(
        'error',
        () => void (source.readyState === EventSource.CLOSED && end({ state: 'failed', fault: 'The stream of the coverage ended.' })),
      );
      source.addEventListener('closed', () => end({}));
    });
    this.#sources.delete(id);
    this.#streams--;
    this.#waiting.shift()?.();
  }

  #sources = new Map<string, EventSource>();

  /** Marks cells over ground that is not known; most coverages have none. */
  async #flag(id: string, statistics: Statistics): Promise<void> {
    const unknown = statistics.cells_by_verdict[5] ?? 0;
    if (!statistics.path_missing_cells && !unknown) return;
    const snapshot = await wanted(api.GET('/api/v1/coverage/{id}', { params: { path: { id } } })).catch(() => null);
    const grid = this.jobs.find((job) => job.id === id)?.grid;
    if (!snapshot || !grid) return;
    for (const cell of snapshot.cells) {
      grid.meta[cell.row * grid.shape.columns + cell.col] =
        (cell.path_missing ? PATH_MISSING : 0) | (cell.verdict === 'no_data' ? NO_GROUND : 0);
    }
    this.#change(id, { grid: { ...grid } });
  }

  /** Cancels a job that runs, and takes it from the list. */
  async remove(id: string): Promise<void> {
    const job = this.jobs.find((job) => job.id === id);
    if (job) this.keeper.removed(job);
    this.jobs = this.jobs.filter((job) => job.id !== id);
    await this.#forget(id);
  }

  /** Takes all jobs from the list, and from what this device keeps. */
  async removeAll(): Promise<void> {
    await Promise.all(this.jobs.map(({ id }) => this.remove(id)));
  }

  async #forget(id: string): Promise<void> {
    this.#sources.get(id)?.dispatchEvent(new Event('closed'));
    const { response } = await api.DELETE('/api/v1/coverage/{id}', { params: { path: { id } } }).catch(() => ({ response: null }));
    // The server may have dropped it before.
    if (response && !response.ok && response.status !== 404) throw new Error(`The server answered ${response.status}.`);
  }

  /** Shows finished coverages that were kept, in place of those in the list. */
  restore(jobs: readonly Job[]): void {
    this.jobs = [...jobs];
  }

  show(id: string, shown: boolean): void {
    this.#change(id, { shown });
  }

  clear(): void {
    // The server drops what it keeps by itself.
    for (const job of this.jobs) void this.#forget(job.id).catch(() => undefined);
    this.jobs = [];
  }

  /** Takes everything of a deployment that is left. */
  leave(): void {
    this.#epoch++;
    this.clear();
    this.mesh.leave();
  }
}
