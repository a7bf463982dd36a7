// The pointer on the map: places, clicks, and nodes that are dragged.
import type { Map as MapLibre, MapMouseEvent, MapTouchEvent } from 'maplibre-gl';
import type { LatLon } from '../geo';

/** A node, a link, or neither. */
export interface Hit {
  node?: string;
  link?: [string, string];
}

export interface PointerEvents {
  pointer(place: LatLon | null): void;
  /** A click on a node, a link, or neither. */
  picked(what: Hit & { place: LatLon; extend: boolean }): void;
  doubled(place: LatLon): void;
  dragged(id: string, to: LatLon, end: boolean): void;
}

type MapEvent = MapMouseEvent | MapTouchEvent;

const DRAG_START_PX = 4;

function place(event: MapEvent): LatLon {
  return { lat: event.lngLat.lat, lon: ((event.lngLat.lng + 540) % 360) - 180 };
}

export class Pointer {
  /** Nodes that can be dragged. */
  draggable: (id: string) => boolean = () => true;
  #holding: { id: string; x: number; y: number; moved: boolean } | null = null;
  #dropped = false;

  /** `hit` says which node or link is at a point of the screen, px. */
  constructor(private readonly map: MapLibre, private readonly hit: (at: { x: number; y: number }) => Hit, private readonly events: PointerEvents) {
    map.on('mousemove', (event) => {
      events.pointer(place(event));
      if (!this.#holding) map.getCanvas().style.cursor = Object.keys(hit(event.point)).length ? 'pointer' : '';
    });
    map.on('mouseout', () => events.pointer(null));
    map.on('click', (event) => {
      if (this.#dropped) return void (this.#dropped = false);
      const original = event.originalEvent;
      events.picked({ ...hit(event.point), place: place(event), extend: original.shiftKey || original.ctrlKey || original.metaKey });
    });
    map.on('dblclick', (event) => events.doubled(place(event)));
    for (const kind of ['mousedown', 'touchstart'] as const) map.on(kind, (event: MapEvent) => this.#hold(event));
    for (const kind of ['mousemove', 'touchmove'] as const) map.on(kind, (event: MapEvent) => this.#drag(event));
    for (const kind of ['mouseup', 'touchend'] as const) map.on(kind, (event: MapEvent) => this.#drop(event));
  }

  #hold(event: MapEvent): void {
    if ('button' in event.originalEvent && event.originalEvent.button !== 0) return;
    const { node } = this.hit(event.point);
    if (!node || !this.draggable(node)) return;
    event.preventDefault();
    this.#holding = { id: node, x: event.point.x, y: event.point.y, moved: false };
  }

  #drag(event: MapEvent): void {
    const holding = this.#holding;
    if (!holding) return;
    if (!holding.moved && Math.hypot(event.point.x - holding.x, event.point.y - holding.y) < DRAG_START_PX) return;
    holding.moved = true;
    this.map.getCanvas().style.cursor = 'grabbing';
    this.events.dragged(holding.id, place(event), false);
  }

  #drop(event: MapEvent): void {
    const holding = this.#holding;
    this.#holding = null;
    if (!holding?.moved) return;
    this.#dropped = 'button' in event.originalEvent;
    // The click of a release comes in the same turn, if it comes.
    setTimeout(() => (this.#dropped = false));
    this.events.dragged(holding.id, place(event), true);
  }
}
