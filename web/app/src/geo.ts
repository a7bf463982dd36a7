// Places: distance and direction on the sphere, and coordinates as text.

export interface LatLon {
  lat: number;
  lon: number;
}

const EARTH_RADIUS_M = 6_371_008.8;
const RAD = Math.PI / 180;

/** The place `distance_m` from `from` in a direction. */
export function destination(from: LatLon, azimuth_deg: number, distance_m: number): LatLon {
  const [p, t, d] = [from.lat * RAD, azimuth_deg * RAD, distance_m / EARTH_RADIUS_M];
  const lat = Math.asin(Math.sin(p) * Math.cos(d) + Math.cos(p) * Math.sin(d) * Math.cos(t));
  const lon = from.lon * RAD + Math.atan2(Math.sin(t) * Math.sin(d) * Math.cos(p), Math.cos(d) - Math.sin(p) * Math.sin(lat));
  return { lat: lat / RAD, lon: ((lon / RAD + 540) % 360) - 180 };
}

/** Direction from one place to another at its start, degrees clockwise from north, [0, 360). */
export function azimuth_deg(from: LatLon, to: LatLon): number {
  const [p, q, east] = [from.lat * RAD, to.lat * RAD, (to.lon - from.lon) * RAD];
  const angle_deg = Math.atan2(Math.sin(east) * Math.cos(q), Math.cos(p) * Math.sin(q) - Math.sin(p) * Math.cos(q) * Math.cos(east)) / RAD;
  return (angle_deg + 360) % 360;
}

/** A longitude in the turn around the Earth that lies nearest to another, degrees: beyond ±180 across that meridian. */
export function turned(lon: number, about: number): number {
  return lon + 360 * Math.round((about - lon) / 360);
}

/** A longitude from -180 to 180 degrees. */
export const wrapped = (lon: number) => (Math.abs(lon) <= 180 ? lon : ((((lon + 180) % 360) + 360) % 360) - 180);

/** Bounds whose edges are longitudes from -180 to 180 degrees. */
export function wrappedBounds<B extends { west: number; east: number }>(bounds: B): B {
  return { ...bounds, west: wrapped(bounds.west), east: wrapped(bounds.east) };
}

/** `part` of the straight way from `a` to `b`. */
export function between(a: LatLon, b: LatLon, part: number): LatLon {
  return { lat: a.lat + (b.lat - a.lat) * part, lon: a.lon + (turned(b.lon, a.lon) - a.lon) * part };
}

/** Distance on the sphere, m. */
export function distance_m(a: LatLon, b: LatLon): number {
  const [phi1, phi2] = [(a.lat * Math.PI) / 180, (b.lat * Math.PI) / 180];
  const half = Math.sin((phi2 - phi1) / 2) ** 2 + Math.cos(phi1) * Math.cos(phi2) * Math.sin(((b.lon - a.lon) * Math.PI) / 360) ** 2;
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(half)));
}

export function coordinates(place: LatLon): string {
  const half = (value: number, letters: string) => `${Math.abs(value).toFixed(4)}° ${letters[value < 0 ? 1 : 0]}`;
  return `${half(place.lat, 'NS')} ${half(place.lon, 'EW')}`;
}

/** A place that was typed over a shown one: a coordinate that reads as it was shown is as it was. */
export function kept(typed: LatLon, before: LatLon): LatLon {
  const one = (of: 'lat' | 'lon') => (typed[of].toFixed(4) === before[of].toFixed(4) ? before[of] : typed[of]);
  return { lat: one('lat'), lon: one('lon') };
}
