// The state of the page in its address: `#v=live&m=zoom/lat/lon&d=deployment&sel=node,node&tab=links`.
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
  const valid = zoom !== undefined && lat !== undefined && lon !== undefined && [zoom, lat, lon].every(Number.isFinite) && Math.abs(lat) <= 85 && Math.abs(lon) <= 180 && zoom >= 0 && zoom <= 22;
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
  if (address.selected.length && address.selected.length <= SELECTED_MAX) parts.push(`sel=${address.selected.map(encodeURIComponent).join(',')}`);
  if (address.tab && address.tab !== 'nodes') parts.push(`tab=${encodeURIComponent(address.tab)}`);
  if (address.tool && address.tool !== 'select') parts.push(`tool=${encodeURIComponent(address.tool)}`);
  return `#${parts.join('&')}`;
}

let own = globalThis.location?.hash ?? '';

/** Replaces the address of the page, unless somebody else has set another one, which is about to be read. */
export function replaceAddress(hash: string): void {
  if (location.hash !== own) return;
  history.replaceState(null, '', hash);
  own = location.hash;
}
