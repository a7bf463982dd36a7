// Places: distance and direction on the sphere, and coordinates as people write them.

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

/** A longitude in the turn around the Earth that lies nearest to another, degrees: beyond ±180 across that meridian. */
export function turned(lon: number, about: number): number {
  return lon + 360 * Math.round((about - lon) / 360);
}

/** A longitude from -180 to 180 degrees. */
export const wrapped = (lon: number) => (Math.abs(lon) <= 180 ? lon : ((((lon + 180) % 360) + 360) % 360) - 180);

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

const PART = /([NSEWO])?\s*([-+]?\d+(?:[.,]\d+)?)\s*(?:[°º:d]\s*|\s+(?=\d))?(?:(\d+(?:\.\d+)?)\s*(?:['′’:m]\s*|\s+(?=\d))?)?(?:(\d+(?:\.\d+)?)\s*(?:["″”]|''|s)?)?\s*([NSEWO])?/iy;

/**
 * Reads coordinates: decimal degrees (`57.7, 11.9`), degrees with minutes and seconds
 * (`57°42'04"N 11°53'15"E`, `57 42.07 N, 11 53.25 E`), hemisphere before or after, or a `geo:` URI.
 */
export function parseCoordinates(text: string): LatLon | null {
  const cleaned = text.trim().replace(/^geo:/i, '').replace(/\u2212/g, '-').replace(/[;]/g, ',');
  const decimal = /^([-+]?\d+(?:\.\d+)?)\s*°?\s*([NS])?\s*[,\s]\s*([-+]?\d+(?:\.\d+)?)\s*°?\s*([EWO])?(?:[,;].*)?$/i.exec(cleaned);
  if (decimal) {
    const [, lat, north, lon, east] = decimal;
    return checked(side(Number(lat), north), side(Number(lon), east));
  }
  const commas = cleaned.split(/\s*,\s*/).filter(Boolean);
  const halves = commas.length === 2 ? commas : hemispheres(cleaned);
  if (halves.length !== 2) return null;
  const read = halves.map(degrees);
  if (!read[0] || !read[1]) return null;
  const [first, second] = read as [Read, Read];
  return /[EWO]/i.test(first.letter) || /[NS]/i.test(second.letter) ? checked(second.value, first.value) : checked(first.value, second.value);
}

interface Read {
  value: number;
  letter: string;
}

function hemispheres(text: string): string[] {
  const after = /^(.*?[NS])\s*(.*[EWO])$/i.exec(text) ?? /^([NS].*?)\s*([EWO].*)$/i.exec(text);
  return after ? [after[1] as string, after[2] as string] : [];
}

function degrees(text: string): Read | null {
  PART.lastIndex = 0;
  const found = PART.exec(text.trim());
  if (!found || PART.lastIndex !== text.trim().length) return null;
  const [, before = '', whole = '0', minutes = '0', seconds = '0', after = ''] = found;
  const letter = before || after;
  const base = Number(whole.replace(',', '.'));
  if (Number(minutes) >= 60 || Number(seconds) >= 60) return null;
  const value = (Math.abs(base) + Number(minutes) / 60 + Number(seconds) / 3600) * (base < 0 ? -1 : 1);
  return { value: side(value, letter), letter };
}

function side(value: number, letter: string | undefined): number {
  return letter && /[SW]/i.test(letter) ? -Math.abs(value) : value;
}

function checked(lat: number, lon: number): LatLon | null {
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : null;
}
