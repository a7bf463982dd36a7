// Movements of the view.
import type { Map as MapLibre, PaddingOptions } from 'maplibre-gl';
import type { LatLon } from '../geo';

/** Distance of selected nodes from the edge of the map. */
const MARGIN_PX = 56;

/** The view before anything is known. */
export const WORLD = { zoom: 1.5, lat: 25, lon: 0 };

/** Corners of rectangles, which may lie on both sides of 180 degrees. */
export function corners(boxes: readonly { south: number; west: number; north: number; east: number }[]): LatLon[] {
  return boxes.flatMap((box) => [{ lat: box.south, lon: box.west }, { lat: box.north, lon: box.east < box.west ? box.east + 360 : box.east }]);
}

/** Shows all places. */
export function fit(map: MapLibre, places: readonly LatLon[], padding: PaddingOptions, moving: boolean): void {
  if (!places.length) return;
  const [lats, lons] = [places.map((place) => place.lat), places.map((place) => place.lon)];
  map.fitBounds([[Math.min(...lons), Math.min(...lats)], [Math.max(...lons), Math.max(...lats)]], { padding, maxZoom: 14, animate: moving, duration: 400 });
}

/** Moves the view, if a place is under a panel or outside, no more than it takes. */
export function bringIntoView(map: MapLibre, places: readonly LatLon[], padding: Required<PaddingOptions>): void {
  map.resize();
  const { clientWidth, clientHeight } = map.getCanvas();
  const free = { left: MARGIN_PX, top: MARGIN_PX, right: clientWidth - padding.right, bottom: clientHeight - Math.max(MARGIN_PX, padding.bottom) };
  const points = places.map((place) => map.project([place.lon, place.lat]));
  const [xs, ys] = [points.map((at) => at.x), points.map((at) => at.y)];
  const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  if (box.right - box.left > free.right - free.left || box.bottom - box.top > free.bottom - free.top) {
    fit(map, places, padding, true);
    return;
  }
  const x = box.left < free.left ? box.left - free.left : box.right > free.right ? box.right - free.right : 0;
  const y = box.top < free.top ? box.top - free.top : box.bottom > free.bottom ? box.bottom - free.bottom : 0;
  if (x || y) map.panBy([x, y], { duration: 250 });
}

/** Centres a place, near enough to see its surroundings. */
export function goTo(map: MapLibre, place: LatLon, padding: PaddingOptions): void {
  map.easeTo({ center: [place.lon, place.lat], zoom: Math.max(map.getZoom(), 12), padding, duration: 400 });
}
