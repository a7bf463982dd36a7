// Fewer pixels while the map moves, where drawing is too slow for them: a software renderer fills the
// screen several times a frame. At rest the picture is sharp again.
import type { Map as MapLibre } from 'maplibre-gl';

/** Frames that decide. */
const FRAMES = 5;
/** Median time of a frame from which pixels are saved, ms: below 50 frames a second. */
const SLOW_MS = 20;
/** Share of the pixels along a side while the map moves. */
const COARSE = 0.5;
/** Rest after which the picture is made sharp, ms. */
const REST_MS = 160;

export class Pace {
  /** True while fewer pixels are drawn. */
  coarse = false;
  #times: number[] = [];
  #last = 0;
  #changing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly map: MapLibre) {
    map.on('render', () => this.#frame());
    map.on('moveend', () => {
      if (this.#changing) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#set(false), REST_MS);
    });
  }

  #frame(): void {
    const now = performance.now();
    if (this.#changing || !this.map.isMoving()) {
      this.#last = 0;
      this.#times = [];
      return;
    }
    clearTimeout(this.#timer);
    if (this.#last) this.#times = [...this.#times.slice(1 - FRAMES), now - this.#last];
    this.#last = now;
    if (this.coarse || this.#times.length < FRAMES) return;
    const median = this.#times.toSorted((a, b) => a - b)[FRAMES >> 1] as number;
    if (median > SLOW_MS) this.#set(true);
  }

  #set(coarse: boolean): void {
    if (coarse === this.coarse) return;
    this.coarse = coarse;
    this.#times = [];
    // Another size fires the events of a movement.
    this.#changing = true;
    this.map.setPixelRatio(devicePixelRatio * (coarse ? COARSE : 1));
    this.#changing = false;
  }
}
