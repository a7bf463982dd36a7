// The live coverage of the mesh: its cells follow the nodes of the deployment, on the server.
import { api, Refusal, wanted, type Indoor, type MeshCoverageState, type Surroundings } from '../api/client';
import { turned, wrappedBounds } from '../geo';
import { NO_VALUE, put, emptyGrid, type CellTile, type Grid, type GridBounds } from './grid';

/** Cells of the area that is shown, about; the server takes up to 1,048,576. */
const CELLS = 160_000;
const CELL_ARCSEC_MIN = 1;
const CELL_ARCSEC_MAX = 3600;
/** Share of the extent of the nodes that the area reaches beyond them. */
const AROUND = 0.35;
/** Least half extent of the area, degrees of latitude. */
const AROUND_MIN_DEG = 0.05;
/** Time in which the last cells of a change follow the state that nothing is left to compute, ms. */
const SETTLING_MS = 1000;
/** Period of the picture while cells come in, ms. */
const FRAME_MS = 100;

/** Latitude at which Web Mercator ends, in whole degrees. */
const LATITUDE_MAX_DEG = 85;

/** The area around places: bounds, and a size of cells that gives about `cells`. */
export function areaAround(places: readonly { lat: number; lon: number }[], cells = CELLS): { bounds: GridBounds; cell_arcsec: number } {
  // Places on both sides of 180 degrees are neighbours.
  const about = places[0]?.lon ?? 0;
  const [lats, lons] = [places.map((place) => place.lat), places.map((place) => turned(place.lon, about))];
  const [low, high] = [Math.min(...lats), Math.max(...lats)];
  const squeeze = Math.max(0.05, Math.cos((((low + high) / 2) * Math.PI) / 180));
  const tall = Math.max(AROUND_MIN_DEG, (high - low) * AROUND);
  const wide = Math.max(AROUND_MIN_DEG / squeeze, (Math.max(...lons) - Math.min(...lons)) * AROUND);
  const bounds = {
    south: Math.max(-LATITUDE_MAX_DEG, low - tall),
    north: Math.min(LATITUDE_MAX_DEG, high + tall),
    west: Math.min(...lons) - wide,
    east: Math.max(...lons) + wide,
  };
  if (bounds.south >= bounds.north) throw new Error(`The map and its coverage end at ${LATITUDE_MAX_DEG}° of latitude.`);
  const area = (bounds.north - bounds.south) * (bounds.east - bounds.west) * 3600 * 3600;
  const cell_arcsec = Math.min(CELL_ARCSEC_MAX, Math.max(CELL_ARCSEC_MIN, Math.ceil(Math.sqrt(area / cells))));
  return { bounds: bounds.east - bounds.west < 360 ? wrappedBounds(bounds) : { ...bounds, west: -180, east: 180 }, cell_arcsec };
}

/** Height and surroundings of the receivers. */
export interface Receivers {
  rx_height_agl_m: number;
  rx_surroundings?: Surroundings;
  rx_indoor?: Indoor;
  /** Interference between the nodes, which transmit this share of the time. */
  interference?: { duty_percent: number } | null;
}

export class MeshCoverage {
  /** The last told state; null while there is no live coverage. */
  state = $state.raw<MeshCoverageState | null>(null);
  grid = $state.raw<Grid | null>(null);
  fault = $state('');
  /** Receivers of the coverage that is there, else those of the next one. */
  receivers = $state.raw<Receivers>({ rx_height_agl_m: 1.5, rx_surroundings: 'unknown', rx_indoor: 'outdoors', interference: null });
  /** Nodes taken as failed. */
  failed = $state.raw<ReadonlySet<string>>(new Set());
  /** Milliseconds from the last change of a node to the last cell it changed. */
  latency_ms = $state<number | null>(null);
  /** Received power at margin 0, dBm, of the most sensitive link. */
  sensitivity_dbm = $derived.by(() => {
    const found = (this.state?.nodes ?? []).flatMap((node) => (node?.sensitivity_dbm == null ? [] : [node.sensitivity_dbm]));
    return found.length ? Math.min(...found) : null;
  });
  /** SINR at margin 0, dB, of the least demanding node. */
  required_sinr_db = $derived.by(() => {
    const found = (this.state?.nodes ?? []).flatMap((node) => (node?.required_sinr_db == null ? [] : [node.required_sinr_db]));
    return found.length ? Math.min(...found) : null;
  });

  #source: EventSource | null = null;
  #within = '';
  #setup: ({ bounds: GridBounds; cell_arcsec: number } & Receivers) | null = null;
  /** Time of the last change of a node that cells are awaited of, ms; 0 without one. */
  #changed = 0;

  get on(): boolean {
    return this.state !== null && this.#within !== '';
  }

  constructor() {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#close();
      else if (this.#within) this.#open();
    });
  }

  /** Begins the live coverage of a deployment, around its nodes if no area is given. */
  async start(
    within: string,
    places: readonly { lat: number; lon: number }[],
    receivers: Receivers,
    area = areaAround(places),
    failed: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    this.#close();
    this.grid = null;
    this.fault = '';
    this.failed = failed;
    this.receivers = receivers;
    this.#setup = { ...area, ...receivers };
    this.#within = within;
    await this.#put();
    this.#open();
  }

  /** Takes a node as failed, or as working again; only the cells it reaches are computed. */
  async fail(id: string, failed: boolean): Promise<void> {
    const next = new Set(this.failed);
    if (failed) next.add(id);
    else next.delete(id);
    await this.take(next);
  }

  /** Takes these nodes as failed, and no others. */
  async take(failed: ReadonlySet<string>): Promise<void> {
    this.failed = failed;
    this.touch();
    await this.#put();
  }

  /** Cells of the change are being computed. */
  #awaited = false;

  /** Ends the measurement of a change: cells that come later are of another cause. */
  #settle(): void {
    [this.#changed, this.#awaited] = [0, false];
  }

  /** Begins to measure how long a change of a node takes. */
  touch(): void {
    this.#changed = performance.now();
  }

  async #put(): Promise<void> {
    if (!this.#setup) return;
    const body = { ...this.#setup, failed_node_ids: [...this.failed] };
    this.state = await wanted(api.PUT('/api/v1/deployments/{id}/mesh-coverage', { params: { path: { id: this.#within } }, body }));
  }

  #close(): void {
    this.#source?.close();
    this.#source = null;
    // A stream that is opened again sends every cell.
    this.#settle();
  }

  #open(): void {
    if (this.#source || document.hidden) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let drawn = 0;
    const show = () => {
      timer = undefined;
      drawn = performance.now();
      if (this.grid) this.grid = { ...this.grid };
    };
    const source = new EventSource(`/api/v1/deployments/${this.#within}/mesh-coverage/tiles`);
    this.#source = source;
    source.addEventListener('state', (event) => {
      const state = JSON.parse((event as MessageEvent<string>).data) as MeshCoverageState;
      const shape = this.grid?.shape;
      if (!shape || shape.rows !== state.rows || shape.columns !== state.columns)
        this.grid = {
          ...emptyGrid({ rows: state.rows, columns: state.columns, bounds: state.bounds }),
          servers: new Uint8Array(state.rows * state.columns).fill(255),
          ...(state.interference ? { sinr: new Int16Array(state.rows * state.columns).fill(NO_VALUE) } : {}),
        };
      if (state.pending_nodes) this.#awaited = true;
      else if (this.#awaited) {
        // The last cells follow this state.
        const changed = this.#changed;
        setTimeout(() => void (this.#changed === changed && this.#settle()), SETTLING_MS);
      }
      this.state = state;
      this.fault = state.failure ?? '';
    });
    source.addEventListener('tile', (event) => {
      if (!this.grid) return;
      put(this.grid, JSON.parse((event as MessageEvent<string>).data) as CellTile);
      if (this.#changed) this.latency_ms = performance.now() - this.#changed;
      // A change is drawn at once, the many squares of a start in groups.
      timer ??= setTimeout(show, Math.max(0, FRAME_MS - (performance.now() - drawn)));
    });
    source.addEventListener('failed', (event) => {
      this.fault = (JSON.parse((event as MessageEvent<string>).data) as { detail: string }).detail;
      this.#forget();
    });
    // Refused: the coverage is gone, for example because others began four newer ones.
    source.addEventListener('error', () => {
      if (source.readyState !== EventSource.CLOSED) return;
      this.fault = 'The live coverage has ended on the server.';
      this.#forget();
    });
  }

  #forget(): void {
    this.#close();
    [this.#within, this.#setup, this.state, this.grid] = ['', null, null, null];
    this.failed = new Set();
    this.latency_ms = null;
  }

  async stop(): Promise<void> {
    const id = this.#within;
    this.#forget();
    if (!id) return;
    await wanted(api.DELETE('/api/v1/deployments/{id}/mesh-coverage', { params: { path: { id } } })).catch((fault: unknown) => {
      if (!(fault instanceof Refusal && fault.status === 404)) throw fault;
    });
  }

  /** Another deployment is shown: its coverage is another one. */
  leave(): void {
    if (this.#within) void this.stop().catch(() => undefined);
  }
}
