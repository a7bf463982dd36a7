// The pointer on the map: places, clicks, and nodes that are dragged.
import type { Map as MapLibre, MapMouseEvent, MapTouchEvent } from 'maplibre-gl';
import { wrapped, type LatLon } from '../geo';
import type { AimHandle } from './aim';

/** A handle, a node, a link, or none of them. */
export interface Hit {
  handle?: AimHandle;
  node?: string;
  link?: [string, string];
}

export interface PointerEvents {
  pointer(place: LatLon | null): void;
  /** A click on a node, a link, or neither. */
  picked(what: Hit & { place: LatLon; extend: boolean }): void;
  doubled(place: LatLon): void;
  dragged(id: string, to: LatLon, end: boolean): void;
  /** A handle that is dragged from a place to another. */
  aimed?(handle: AimHandle, from: LatLon, to: LatLon, end: boolean): void;
  /** The node or link below the pointer, at a point of the map, px; null for neither. */
  hovered?(what: (Hit & { x: number; y: number }) | null): void;
  /** A long press, or the second button of a mouse, at a point of the map, px. */
  pressed?(what: Hit & { place: LatLon; x: number; y: number }): void;
}

type MapEvent = MapMouseEvent | MapTouchEvent;

const DRAG_START_PX = 4;
/** A finger rests less exactly than a mouse. */
const TOUCH_START_PX = 10;
const LONG_PRESS_MS = 550;
/** Movements of a mouse that a browser makes up after a touch come within this time. */
const AFTER_TOUCH_MS = 1000;

function place(event: MapEvent): LatLon {
  return { lat: event.lngLat.lat, lon: wrapped(event.lngLat.lng) };
}

export class Pointer {
  /** Nodes that can be dragged. */
  draggable: (id: string, touch: boolean) => boolean = () => true;
  #press: { timer: ReturnType<typeof setTimeout>; x: number; y: number } | null = null;
  #pressed = false;
  #holding: { what: string | AimHandle; from: LatLon; x: number; y: number; moved: boolean } | null = null;
  #dropped = false;
  /** Time of the last touch, ms. */
  #touched_ms = -Infinity;

  /** `hit` says which handle, node or link is at a point of the screen, px; a finger hits handles from further off. */
  constructor(
    private readonly map: MapLibre,
    private readonly hit: (at: { x: number; y: number }, touch?: boolean) => Hit,
    private readonly events: PointerEvents,
  ) {
    map.on('mousemove', (event) => {
      events.pointer(place(event));
      if (this.#holding || performance.now() - this.#touched_ms < AFTER_TOUCH_MS) return events.hovered?.(null);
      const below = hit(event.point);
      const isAny = Object.keys(below).length > 0;
      map.getCanvas().style.cursor = below.handle ? 'grab' : isAny ? 'pointer' : '';
      events.hovered?.(isAny ? { ...below, x: event.point.x, y: event.point.y } : null);
    });
    map.on('mouseout', () => {
      events.pointer(null);
      events.hovered?.(null);
    });
    map.on('contextmenu', (event) => {
      // A browser may call a long press by this name too.
      if (!events.pressed || (event.originalEvent as PointerEvent).pointerType === 'touch') return;
      event.preventDefault();
      events.pressed({ ...hit(event.point), place: place(event), x: event.point.x, y: event.point.y });
    });
    map.on('click', (event) => {
      if (this.#pressed) return void (this.#pressed = false);
      if (this.#dropped) return void (this.#dropped = false);
      const original = event.originalEvent;
      // The second click of a double one does nothing of its own where nothing is.
      if (original.detail > 1 && !Object.keys(hit(event.point)).length) return;
      events.picked({ ...hit(event.point), place: place(event), extend: original.shiftKey || original.ctrlKey || original.metaKey });
    });
    map.on('dblclick', (event) => {
      if (!Object.keys(hit(event.point)).length) events.doubled(place(event));
    });
    for (const kind of ['touchstart', 'touchend'] as const) map.on(kind, () => (this.#touched_ms = performance.now()));
    for (const kind of ['touchend', 'touchcancel', 'movestart'] as const) map.on(kind, () => this.#endPress());
    for (const kind of ['mousedown', 'touchstart'] as const) map.on(kind, (event: MapEvent) => this.#hold(event));
    for (const kind of ['mousemove', 'touchmove'] as const) map.on(kind, (event: MapEvent) => this.#drag(event));
    for (const kind of ['mouseup', 'touchend'] as const) map.on(kind, (event: MapEvent) => this.#drop(event));
  }

  #endPress(): void {
    clearTimeout(this.#press?.timer);
    this.#press = null;
  }

  #startPress(event: MapTouchEvent): void {
    this.#endPress();
    this.#pressed = false;
    if (!this.events.pressed || event.originalEvent.touches.length !== 1) return;
    const { x, y } = event.point;
    const what = { ...this.hit(event.point), place: place(event), x, y };
    const timer = setTimeout(() => {
      this.#press = null;
      this.#holding = null;
      this.#pressed = true;
      this.events.pressed?.(what);
    }, LONG_PRESS_MS);
    this.#press = { timer, x, y };
  }

  #hold(event: MapEvent): void {
    const touch = event.type === 'touchstart';
    if (touch) this.#startPress(event as MapTouchEvent);
    if ('button' in event.originalEvent && event.originalEvent.button !== 0) return;
    const { handle, node } = this.hit(event.point, touch);
    if (!handle && (!node || !this.draggable(node, touch))) return;
    event.preventDefault();
    this.#holding = { what: handle ?? (node as string), from: place(event), x: event.point.x, y: event.point.y, moved: false };
  }

  #drag(event: MapEvent): void {
    const holding = this.#holding;
    const least_px = event.type === 'touchmove' ? TOUCH_START_PX : DRAG_START_PX;
    if (this.#press && Math.hypot(event.point.x - this.#press.x, event.point.y - this.#press.y) >= TOUCH_START_PX) this.#endPress();
    if (!holding) return;
    if (!holding.moved && Math.hypot(event.point.x - holding.x, event.point.y - holding.y) < least_px) return;
    holding.moved = true;
    this.map.getCanvas().style.cursor = 'grabbing';
    this.#tell(holding, place(event), false);
  }

  #drop(event: MapEvent): void {
    const holding = this.#holding;
    this.#holding = null;
    if (!holding?.moved) return;
    this.#dropped = 'button' in event.originalEvent;
    // The click of a release comes in the same turn, if it comes.
    setTimeout(() => (this.#dropped = false));
    this.#tell(holding, place(event), true);
  }

  #tell({ what, from }: { what: string | AimHandle; from: LatLon }, to: LatLon, end: boolean): void {
    if (typeof what === 'string') this.events.dragged(what, to, end);
    else this.events.aimed?.(what, from, to, end);
  }
}
