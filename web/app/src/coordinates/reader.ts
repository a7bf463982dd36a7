// Reader of positions: `io/coordinate`, compiled to WebAssembly and loaded with the first position. In a page that was
// built without the module (Rust's target wasm32-unknown-unknown is missing) the server runs the same code.
import { call, instance } from '../../../../io/c/npm/memory.js';
import { sent } from '../api/kept';

/** Latitude and longitude, deg, or the error of a text. */
export type Reading = { degrees: [number, number] } | { error: string };
/** Reads one spelling. */
export type Reader = (spelling: string) => Promise<Reading>;

/** URL of the module in builds that have it. */
const [MODULE] = Object.values(import.meta.glob<string>('../../wasm/positions.wasm', { query: '?url', import: 'default', eager: true }));

/** Reader that runs a compiled module. */
export async function readerOf(source: URL | string | BufferSource): Promise<Reader> {
  const { exports } = await instance(source);
  return async (spelling) => {
    try {
      const [lat, lon] = call(exports, 'groundwave_position', [spelling]).array;
      return { degrees: [lat as number, lon as number] };
    } catch (fault) {
      if (fault instanceof RangeError) return { error: fault.message };
      throw fault;
    }
  };
}

/** The same by the server of the page. */
async function remote(spelling: string): Promise<Reading> {
  const response = await sent(new Request(`/position.json?text=${encodeURIComponent(spelling)}`));
  const body = (await response.json().catch(() => ({}))) as { lat_deg?: number; lon_deg?: number; detail?: string };
  if (response.ok && body.lat_deg !== undefined && body.lon_deg !== undefined) return { degrees: [body.lat_deg, body.lon_deg] };
  return { error: body.detail ?? `the server answered ${response.status}` };
}

let reader: Promise<Reader> | null = null;

/** Reads one spelling. The module is loaded once, and again after it did not come. */
export async function read(spelling: string): Promise<Reading> {
  if (!MODULE) return remote(spelling);
  reader ??= readerOf(MODULE).catch((fault) => {
    reader = null;
    throw fault;
  });
  return (await reader)(spelling);
}
