// Heights on the index lines of the contours in view, as a source of lines that carry names.
import type { Feature } from 'geojson';
import type { Map as MapLibre } from 'maplibre-gl';
import type { Box } from './features';
import { contourInterval_m, contourLines, INDEX_EVERY, levelsWithin } from './contours';
import { mercatorX, mercatorY } from './mercator';
import { height, type Units } from '../units';

/** Source of the lines. */
export const CONTOUR_NAMES = 'contour-names';
/** Zoom above which posts of heights have no more to tell. */
const HEIGHTS_ZOOM_MAX = 12;
const SIDE_PX = 256;
/** Squares of heights that are kept. */
const KEPT = 40;
/** Posts of index lines in a square, below which other lines are named too. */
const INDEX_POSTS_MIN = 100;
/** Squares at most of one view. */
const SQUARES_MAX = 24;

/** Heights of a square of the web map. */
interface Square {
  z: number;
  x: number;
  y: number;
  heights_m: Float32Array;
}

/** Heights of a picture by its colours (Terrarium). */
async function heightsOf(answer: Response): Promise<Float32Array> {
  const picture = await createImageBitmap(await answer.blob(), { premultiplyAlpha: 'none', colorSpaceConversion: 'none' });
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  context.drawImage(picture, 0, 0);
  const { data } = context.getImageData(0, 0, picture.width, picture.height);
  return Float32Array.from(
    { length: data.length / 4 },
    (_, at) => (data[4 * at] as number) * 256 + (data[4 * at + 1] as number) + (data[4 * at + 2] as number) / 256 - 32768,
  );
}

const lonOf = (x: number) => x * 360 - 180;
const latOf = (y: number) => (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;

/** Index lines of a square with their heights. */
function linesOf({ z, x, y, heights_m }: Square, distance_m: number, units: Units): Feature[] {
  const side = 2 ** z;
  // Posts are the middles of pixels.
  const placed = ([column, row]: readonly [number, number]) => [
    lonOf((x + (column + 0.5) / SIDE_PX) / side),
    latOf((y + (row + 0.5) / SIDE_PX) / side),
  ];
  return levelsWithin(heights_m, distance_m).flatMap((level_m) =>
    contourLines(heights_m, SIDE_PX, level_m).map((line): Feature => ({
      type: 'Feature',
      properties: { name: height(level_m, units) },
      geometry: { type: 'LineString', coordinates: line.map(placed) },
    })),
  );
}

export class ContourLabels {
  #on = false;
  #boxes: readonly Box[] = [];
  #zoom = { min: 0, max: 0 };
  #squares = new Map<string, Promise<Square | null>>();
  #turn = 0;
  /** Squares and distance of the lines that are shown. */
  #shown = '';

  constructor(
    private readonly map: MapLibre,
    private readonly put: (name: string, features: readonly Feature[]) => void,
    private units: Units,
  ) {
    map.on('moveend', () => void this.#look());
  }

  /** Has lines named, or not. */
  turn(on: boolean): void {
    this.#on = on;
    void this.#look();
  }

  /** Spells heights in other units. */
  setUnits(units: Units): void {
    this.units = units;
    void this.#look();
  }

  /** The ground that the server has; other heights than before. */
  ground(boxes: readonly Box[], zoom: { min: number; max: number }): void {
    [this.#boxes, this.#zoom, this.#shown] = [boxes, zoom, ''];
    this.#squares.clear();
    void this.#look();
  }

  /** Squares of the view with ground. */
  #inView(z: number): { x: number; y: number }[] {
    const side = 2 ** z;
    const view = this.map.getBounds();
    const range = (from: number, to: number) =>
      Array.from({ length: Math.max(0, Math.floor(to * side) - Math.floor(from * side) + 1) }, (_, at) => Math.floor(from * side) + at);
    const meets = ({ x, y }: { x: number; y: number }) =>
      this.#boxes.some(
        (box) =>
          mercatorX(box.west) * side < x + 1 &&
          mercatorX(box.east) * side > x &&
          mercatorY(box.north) * side < y + 1 &&
          mercatorY(box.south) * side > y,
      );
    const [xs, ys] = [
      range(mercatorX(view.getWest()), mercatorX(view.getEast())),
      range(mercatorY(view.getNorth()), mercatorY(view.getSouth())),
    ];
    return xs.length * ys.length > SQUARES_MAX ? [] : xs.flatMap((x) => ys.map((y) => ({ x, y }))).filter(meets);
  }

  #load(z: number, { x, y }: { x: number; y: number }): Promise<Square | null> {
    const key = `${z}/${x}/${y}`;
    const known = this.#squares.get(key);
    if (known) return known;
    const load = async () => {
      const answer = await fetch(`/api/v1/terrain/tiles/${key}.png?opaque=true`);
      return answer.ok ? { z, x, y, heights_m: await heightsOf(answer) } : null;
    };
    // Without heights a line has no name; the relief reports a server that is gone.
    const square = load().catch(() => {
      this.#squares.delete(key);
      return null;
    });
    this.#squares.set(key, square);
    for (const old of this.#squares.keys()) {
      if (this.#squares.size <= KEPT) break;
      this.#squares.delete(old);
    }
    return square;
  }

  async #look(): Promise<void> {
    const turn = ++this.#turn;
    // The zoom of the squares of the relief, whose lines these are.
    const relief = Math.min(Math.round(this.map.getZoom() + 1), this.#zoom.max);
    const z = Math.min(relief, HEIGHTS_ZOOM_MAX);
    const squares = this.#on && relief >= this.#zoom.min ? this.#inView(z) : [];
    const interval_m = contourInterval_m(relief);
    const { units } = this;
    const shown = `${units} ${interval_m} ${z} ${squares.map(({ x, y }) => `${x}/${y}`).join()}`;
    if (shown === this.#shown) return;
    const loaded = await Promise.all(squares.map((square) => this.#load(z, square)));
    if (turn !== this.#turn) return;
    this.#shown = shown;
    const named = (distance_m: number) => loaded.flatMap((square) => (square ? linesOf(square, distance_m, units) : []));
    const index = named(INDEX_EVERY * interval_m);
    const posts = index.reduce((sum, { geometry }) => sum + (geometry.type === 'LineString' ? geometry.coordinates.length : 0), 0);
    // Low ground has index lines around summits alone; there every line has its height.
    this.put(CONTOUR_NAMES, posts < INDEX_POSTS_MIN * loaded.length ? named(interval_m) : index);
  }
}
