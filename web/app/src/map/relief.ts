// Shaded relief of the view from terrain profiles, one for each row. Ground that is not known is hatched.
import type { CanvasSource, Map as MapLibre } from 'maplibre-gl';
import { api } from '../api/client';
import type { LatLon } from '../geo';
import { ABOVE_RELIEF } from './style';
import type { MapTheme } from './theme';

const SOURCE = 'relief';
/** Size of a block on the screen, px. */
const BLOCK_PX = 6;
/** Profiles at a time. */
const AT_A_TIME = 4;
/** Heights above this are land, m. */
const SEA_M = 0.5;
const METRES_PER_DEGREE = 111_320;
const VERTICAL = 4;
/** Zoom below which a block is larger than a tile of terrain. */
const ZOOM_MIN = 6.5;

const toY = (lat: number) => Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360));
const fromY = (y: number) => (Math.atan(Math.sinh(y)) * 180) / Math.PI;

interface Heights {
  rows: number;
  columns: number;
  north: number;
  south: number;
  west: number;
  east: number;
  rows_m: number[][];
}

export class Relief {
  readonly #canvas = document.createElement('canvas');
  #heights: Heights | null = null;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly map: MapLibre, private theme: MapTheme, private readonly shaded: (unknown: boolean) => void) {
    const later = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#read(), 200);
    };
    map.on('moveend', later);
    map.on('resize', later);
    map.once('style.load', later);
  }

  restyle(theme: MapTheme): void {
    this.theme = theme;
    this.#draw();
  }

  /** Height at a place, m; NaN where it is not known, null outside the view that was read. */
  at(place: LatLon): number | null {
    const known = this.#heights;
    if (!known) return null;
    const row = Math.round(((toY(known.north) - toY(place.lat)) / (toY(known.north) - toY(known.south))) * (known.rows - 1));
    const column = Math.round(((place.lon - known.west) / (known.east - known.west)) * (known.columns - 1));
    return known.rows_m[row]?.[column] ?? null;
  }

  async #read(): Promise<void> {
    const turn = ++this.#turn;
    if (this.map.getZoom() < ZOOM_MIN) return;
    const bounds = this.map.getBounds();
    const { clientWidth, clientHeight } = this.map.getCanvas();
    const [columns, rows] = [Math.ceil(clientWidth / BLOCK_PX) + 1, Math.ceil(clientHeight / BLOCK_PX) + 1];
    const edges = { north: bounds.getNorth(), south: bounds.getSouth(), west: bounds.getWest(), east: bounds.getEast() };
    if (columns < 8 || edges.west < -180 || edges.east > 180) return;
    const rows_m: number[][] = new Array<number[]>(rows);
    const next = Array.from({ length: rows }, (_, row) => row);
    const work = async () => {
      for (let row = next.pop(); row !== undefined && turn === this.#turn; row = next.pop()) {
        const lat = fromY(toY(edges.north) + ((toY(edges.south) - toY(edges.north)) * row) / (rows - 1));
        const body = { from: { lat, lon: edges.west }, to: { lat, lon: edges.east }, samples: columns };
        const found = await api.POST('/api/v1/terrain/profile', { body }).catch(() => null);
        if (!found?.data) return;
        rows_m[row] = found.data.samples.map((sample) => (sample.missing ? Number.NaN : sample.elevation_msl_m));
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    if (turn !== this.#turn || rows_m.includes(undefined as never)) return;
    this.#heights = { rows, columns, ...edges, rows_m };
    this.#draw();
  }

  #draw(): void {
    const known = this.#heights;
    const pen = this.#canvas.getContext('2d');
    if (!known || !pen || !this.map.getLayer(ABOVE_RELIEF)) return;
    const { rows, columns, rows_m } = known;
    [this.#canvas.width, this.#canvas.height] = [columns, rows];
    const image = new ImageData(columns, rows);
    const cell_m = ((known.north - known.south) * METRES_PER_DEGREE) / rows;
    const { ground, hatch, hatchGround } = this.theme;
    let unknown = false;
    const at = (row: number, column: number) => rows_m[Math.min(rows - 1, Math.max(0, row))]?.[Math.min(columns - 1, Math.max(0, column))] as number;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const height = at(row, column);
        let colour: number[];
        if (Number.isNaN(height)) {
          unknown = true;
          colour = (row + column) % 4 < 1 ? hatch : hatchGround;
        } else if (height <= SEA_M) colour = ground.sea;
        else {
          const side = (to: number) => (Number.isNaN(to) ? height : to);
          const east = ((side(at(row, column + 1)) - side(at(row, column - 1))) / (2 * cell_m)) * VERTICAL;
          const north = ((side(at(row - 1, column)) - side(at(row + 1, column))) / (2 * cell_m)) * VERTICAL;
          const light = Math.max(0, (east * 0.5 - north * 0.5 + Math.SQRT1_2) / Math.hypot(east, north, 1));
          const bright = 1 - ground.shade + ground.shade * Math.min(1.2, light / Math.SQRT1_2);
          colour = ground.land.map((value) => Math.min(255, value * bright));
        }
        image.data.set([...colour, 255], 4 * (row * columns + column));
      }
    }
    pen.putImageData(image, 0, 0);
    this.#place(known);
    this.shaded(unknown);
  }

  #place({ north, south, west, east }: Heights): void {
    const coordinates: [[number, number], [number, number], [number, number], [number, number]] = [[west, north], [east, north], [east, south], [west, south]];
    const old = this.map.getSource(SOURCE) as CanvasSource | undefined;
    if (old) {
      this.map.removeLayer(SOURCE);
      this.map.removeSource(SOURCE);
    }
    this.map.addSource(SOURCE, { type: 'canvas', canvas: this.#canvas, coordinates, animate: false });
    this.map.addLayer({ id: SOURCE, type: 'raster', source: SOURCE, paint: { 'raster-fade-duration': 0 } }, ABOVE_RELIEF);
  }
}
