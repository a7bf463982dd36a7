// Handles of an antenna's direction on the map: one at the tip of its lobe turns it, one on its axis tilts it.
import type { Feature } from 'geojson';
import { azimuth_deg, destination, distance_m, type LatLon } from '../geo';
import { figure } from '../units';
import { line, point } from './features';

export type AimKind = 'azimuth' | 'tilt';

/** A handle of a node. */
export interface AimHandle {
  id: string;
  kind: AimKind;
}

/** Direction of an antenna, degrees: clockwise from north, and above the horizontal. */
export interface Aim {
  azimuth_deg: number;
  elevation_deg: number;
}

/** Length of a lobe on the screen, px, within the factor by which the zoom goes on before it is drawn anew. */
const LOBE_PX = 140;
const EQUATOR_M = 40_075_016.7;
const TILE_PX = 512;
/** Place of the handle of an antenna without tilt, and its way for a tilt of a degree, in lengths of the lobe. */
const LEVEL_SHARE = 0.55;
const DEGREE_SHARE = 0.25 / 30;
/** Tilts that have a place of their own on the axis, degrees; the handle of a greater one stays at its end. */
const TILT_PLACED_DEG = 30;
const TILT_MAX_DEG = 90;
/** Reach of a mouse and of a finger around a handle. */
const [MOUSE_PX, FINGER_PX] = [11, 22];

/** Length of a lobe at a zoom, m: some size on the screen, the same for zooms that are near each other. */
export function lobe_m(zoom: number, lat: number): number {
  const steady = Math.round(zoom * 2) / 2;
  return (LOBE_PX * EQUATOR_M * Math.cos((lat * Math.PI) / 180)) / (TILE_PX * 2 ** steady);
}

const tiltShare = (elevation_deg: number) =>
  LEVEL_SHARE + DEGREE_SHARE * Math.max(-TILT_PLACED_DEG, Math.min(TILT_PLACED_DEG, elevation_deg));

/** The direction as text. */
export function aimText(kind: AimKind, { azimuth_deg, elevation_deg }: Aim): string {
  return kind === 'azimuth'
    ? `${figure(azimuth_deg, 0)}°`
    : elevation_deg === 0
      ? 'level'
      : `${figure(Math.abs(elevation_deg), 0)}° ${elevation_deg > 0 ? 'up' : 'down'}`;
}

/** Axis and handles of a node; the one that is dragged has its degrees beside it. */
export function aimFeatures(id: string, at: LatLon, aim: Aim, length_m: number, dragged: AimKind | null): Feature[] {
  const along = (share: number) => destination(at, aim.azimuth_deg, length_m * share);
  const handle = (kind: AimKind, share: number) =>
    point(along(share), { id, kind, ...(dragged === kind ? { label: aimText(kind, aim) } : {}) });
  return [line([along(tiltShare(-TILT_PLACED_DEG)), along(1)]), handle('tilt', tiltShare(aim.elevation_deg)), handle('azimuth', 1)];
}

/** The direction of an antenna whose handle was dragged from one place to another: whole degrees. */
export function aimed(kind: AimKind, at: LatLon, aim: Aim, from: LatLon, to: LatLon, length_m: number): Aim {
  if (kind === 'azimuth') return { ...aim, azimuth_deg: Math.round(azimuth_deg(at, to)) % 360 };
  // Along the axis: a handle that is off its place goes on from there.
  const reach = (place: LatLon) =>
    (distance_m(at, place) * Math.cos(((azimuth_deg(at, place) - aim.azimuth_deg) * Math.PI) / 180)) / length_m;
  const elevation_deg = Math.round(aim.elevation_deg + (reach(to) - reach(from)) / DEGREE_SHARE);
  return { ...aim, elevation_deg: Math.max(-TILT_MAX_DEG, Math.min(TILT_MAX_DEG, elevation_deg)) };
}

/** The handle below a pointer, px; a finger hits it from further off. */
export function nearestHandle(
  features: readonly Feature[],
  project: (place: LatLon) => { x: number; y: number },
  { x, y }: { x: number; y: number },
  touch: boolean,
): AimHandle | null {
  let nearest: { handle: AimHandle; off: number } | null = null;
  for (const { geometry, properties } of features) {
    if (geometry.type !== 'Point') continue;
    const [lon = 0, lat = 0] = geometry.coordinates;
    const at = project({ lat, lon });
    const off = Math.hypot(at.x - x, at.y - y);
    if (off <= (touch ? FINGER_PX : MOUSE_PX) && off < (nearest?.off ?? Infinity))
      nearest = { handle: { id: String(properties?.['id']), kind: properties?.['kind'] as AimKind }, off };
  }
  return nearest?.handle ?? null;
}
