// The state of the page in its address: `#v=live&m=zoom/lat/lon&d=deployment&sel=node,node&tab=links`; a place that
// another page hands over: `?lat=57.7&lon=11.97`.
import { parsePosition, type Position } from '../coordinates/position';
import { offer } from '../api/offer';
import type { Mode } from './ui.svelte';

export interface Address {
  mode: Mode;
  view: { zoom: number; lat: number; lon: number } | null;
  deployment: string | null;
  selected: string[];
  tab: string | null;
  tool: string | null;
}

/** Latitude at which the map ends, deg. */
const LAT_MAX_DEG = 85;

/** Selected nodes that an address holds. */
export const SELECTED_MAX = 20;
const MODES: readonly string[] = ['plan', 'live', 'replay'] satisfies Mode[];

const fieldsOf = (hash: string) => new URLSearchParams(hash.replace(/^#/, ''));

/** The view that an address names, also one that the server does not offer. */
export function modeOf(hash: string): Mode {
  const mode = fieldsOf(hash).get('v') ?? '';
  return MODES.includes(mode) ? (mode as Mode) : 'plan';
}

export function read(hash: string): Address {
  const fields = fieldsOf(hash);
  const [zoom, lat, lon] = (fields.get('m') ?? '').split('/').map(Number);
  const valid =
    zoom !== undefined &&
    lat !== undefined &&
    lon !== undefined &&
    [zoom, lat, lon].every(Number.isFinite) &&
    Math.abs(lat) <= LAT_MAX_DEG &&
    Math.abs(lon) <= 180 &&
    zoom >= 0 &&
    zoom <= 22;
  return {
    mode: offer().planning === null ? 'live' : modeOf(hash),
    view: valid ? { zoom, lat, lon } : null,
    deployment: fields.get('d'),
    selected: (fields.get('sel') ?? '').split(',').filter(Boolean),
    tab: fields.get('tab'),
    tool: fields.get('tool'),
  };
}

/** The address as a view reads it: of that of another view it keeps the place on the map only. */
export function readFor(mode: Mode, hash: string): Address {
  const address = read(hash);
  return address.mode === mode ? address : { ...address, mode, deployment: null, selected: [], tab: null, tool: null };
}

export function write(address: Address): string {
  const parts: string[] = [];
  const { view } = address;
  if (address.mode !== 'plan') parts.push(`v=${address.mode}`);
  if (view) parts.push(`m=${view.zoom.toFixed(2)}/${view.lat.toFixed(5)}/${view.lon.toFixed(5)}`);
  if (address.deployment) parts.push(`d=${encodeURIComponent(address.deployment)}`);
  if (address.selected.length && address.selected.length <= SELECTED_MAX)
    parts.push(`sel=${address.selected.map(encodeURIComponent).join(',')}`);
  if (address.tab && address.tab !== 'nodes') parts.push(`tab=${encodeURIComponent(address.tab)}`);
  if (address.tool && address.tool !== 'select') parts.push(`tool=${encodeURIComponent(address.tool)}`);
  return `#${parts.join('&')}`;
}

let handed: Position | null = null;
let handedZoom: number | null = null;

const LATITUDES = ['lat', 'latitude'];
const LONGITUDES = ['lon', 'lng', 'long', 'longitude'];

/** Reads the place that another page hands over, before a view is shown. */
export async function readHandedOver(search: string): Promise<void> {
  const fields = new URLSearchParams(search);
  const field = (names: readonly string[]) => [...fields].find(([key]) => names.includes(key.toLowerCase()))?.[1]?.trim() ?? null;
  const [lat, lon, zoom] = [field(LATITUDES), field(LONGITUDES), Number(field(['zoom', 'z']) ?? NaN)];
  handedZoom = zoom >= 0 && zoom <= 22 ? zoom : null;
  if (lat === null && lon === null) handed = null;
  else if (lat && lon) handed = await parsePosition(`${lat};${lon}`);
  else
    handed = {
      reason: `invalid place: found ${lat ? `lat=${lat} without lon` : lon ? `lon=${lon} without lat` : 'neither lat nor lon'}, allowed ?lat=57.70&lon=11.97`,
    };
  const isOffMap = handed && 'place' in handed && Math.abs(handed.place.lat) > LAT_MAX_DEG;
  if (isOffMap) handed = { reason: `invalid place: found lat=${lat}, allowed -${LAT_MAX_DEG} to ${LAT_MAX_DEG}, the ends of the map` };
}

/** The zoom that a place is handed over with. */
export const handedOverZoom = (): number | null => handedZoom;

/** The place that another page hands over, or the reason why it is none; null without one. */
export const handedOver = (): Position | null => handed;

/** Takes a place that was handed over out of the address: loaded again, the page shows what it showed last. */
export function forgetHandedOver(): void {
  handed = null;
  history.replaceState(history.state, '', `${location.pathname}${location.hash}`);
}

/** What a step back leaves: the view, and its deployment or recording. */
function subjectOf(hash: string): { mode: Mode; id: string | null } {
  const mode = modeOf(hash);
  const fields = fieldsOf(hash);
  return { mode, id: mode === 'replay' ? fields.get('r') : mode === 'plan' ? fields.get('d') : null };
}

/** True if one goes back from an address to another one, which is more than another place or selection. */
export function isStep(from: string, to: string): boolean {
  if (from.length <= 1) return false;
  const [before, after] = [subjectOf(from), subjectOf(to)];
  return before.mode !== after.mode || (before.id !== null && before.id !== after.id);
}

let own = globalThis.location?.hash ?? '';

/** Writes the address of the page, unless somebody else has set another one, which is about to be read. Another view,
 * deployment or recording is a step in the history of the browser. */
export function writeAddress(hash: string): void {
  if (location.hash !== own) return;
  if (isStep(own, hash)) history.pushState(null, '', hash);
  else history.replaceState(null, '', hash);
  own = location.hash;
}
