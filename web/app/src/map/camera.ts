// Movements of the view.
import type { Map as MapLibre, PaddingOptions } from 'maplibre-gl';
import { turned, type LatLon } from '../geo';

/** Zoom, latitude, longitude of a view. */
export interface View {
  zoom: number;
  lat: number;
  lon: number;
}

/** Distance of selected nodes from the edge of the map. */
const MARGIN_PX = 56;

/** Room of a node and its name at the edge of the map. */
const LABEL_PX = 30;

/** Zoom at which one place is shown with its surroundings, and the greatest for several. */
const ZOOM_PLACE = 12;
const ZOOM_MAX = 14;

/** The view before anything is known. */
export const WORLD = { zoom: 1.5, lat: 25, lon: 0 };

/** Corners of rectangles, which may lie on both sides of 180 degrees. */
export function corners(boxes: readonly { south: number; west: number; north: number; east: number }[]): LatLon[] {
  return boxes.flatMap((box) => [
    { lat: box.south, lon: box.west },
    { lat: box.north, lon: box.east < box.west ? box.east + 360 : box.east },
  ]);
}

/** A place in the turn around the Earth that is in view. */
export function shown(map: MapLibre, place: LatLon): [number, number] {
  return [turned(place.lon, map.getCenter().lng), place.lat];
}

/** Longitudes in the turn in which they lie together: the widest gap between them is left out. */
function together(lons: readonly number[]): number[] {
  const sorted = lons.toSorted((a, b) => a - b);
  const gaps = sorted.map((lon, at) => (sorted[at + 1] ?? (sorted[0] as number) + 360) - lon);
  const last = sorted[gaps.indexOf(Math.max(...gaps))] as number;
  return lons.map((lon) => (lon <= last && last !== sorted.at(-1) ? lon + 360 : lon));
}

/** Shows all places. */
export function fit(map: MapLibre, places: readonly LatLon[], padding: PaddingOptions, moving: boolean): void {
  if (!places.length) return;
  const lats = places.map((place) => place.lat);
  const lons = together(places.map((place) => place.lon));
  map.fitBounds(
    [
      [Math.min(...lons), Math.min(...lats)],
      [Math.max(...lons), Math.max(...lats)],
    ],
    { padding, maxZoom: places.length > 1 ? ZOOM_MAX : ZOOM_PLACE, animate: moving, duration: 400 },
  );
}

/** Moves the view, if a place is under a panel or outside, no more than it takes; where all of `others` are in view, none of them leaves it. */
export function bringIntoView(
  map: MapLibre,
  places: readonly LatLon[],
  padding: Required<PaddingOptions>,
  others: readonly LatLon[] = [],
): void {
  map.resize();
  const { clientWidth, clientHeight } = map.getCanvas();
  const free = {
    left: MARGIN_PX,
    top: Math.max(MARGIN_PX, padding.top),
    right: clientWidth - padding.right,
    bottom: clientHeight - Math.max(MARGIN_PX, padding.bottom),
  };
  const points = places.map((place) => map.project(shown(map, place)));
  const [xs, ys] = [points.map((at) => at.x), points.map((at) => at.y)];
  const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  if (box.right - box.left > free.right - free.left || box.bottom - box.top > free.bottom - free.top) {
    fit(map, places, padding, true);
    return;
  }
  const x = box.left < free.left ? box.left - free.left : box.right > free.right ? box.right - free.right : 0;
  const y = box.top < free.top ? box.top - free.top : box.bottom > free.bottom ? box.bottom - free.bottom : 0;
  if (!x && !y) return;
  const around = others.map((place) => map.project(shown(map, place)));
  const isIn = (dx: number, dy: number, margin_px: number) =>
    around.every(
      (at) =>
        at.x - dx >= margin_px && at.x - dx <= clientWidth - margin_px && at.y - dy >= margin_px && at.y - dy <= clientHeight - margin_px,
    );
  if (isIn(0, 0, 0) && !isIn(x, y, LABEL_PX)) fit(map, [...places, ...others], padding, true);
  else map.panBy([x, y], { duration: 250 });
}

/** Centres a place, near enough to see its surroundings. */
export function goTo(map: MapLibre, place: LatLon, padding: PaddingOptions): void {
  map.easeTo({ center: shown(map, place), zoom: Math.max(map.getZoom(), ZOOM_PLACE), padding, duration: 400 });
}
