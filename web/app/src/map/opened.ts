// A map in its element, or the reason in its place.
import { GPUInitializationError, Map as MapLibre, type MapOptions } from 'maplibre-gl';
import { textOf } from '../faults';

/** Makes a map; where the browser draws none, the element has the reason as text, and the result is null. */
export function opened<T>(element: HTMLElement, make: () => T): T | null {
  try {
    return make();
  } catch (fault) {
    const reason = document.createElement('p');
    reason.className = 'empty no-map';
    reason.setAttribute('role', 'alert');
    reason.textContent = `There is no map: ${textOf(fault)}. Lists, fields and tools work without it.`;
    element.replaceChildren(reason);
    return null;
  }
}

/** A map, or the reason in words why this browser draws none. */
export function mapOf(options: MapOptions): MapLibre {
  try {
    return new MapLibre(options);
  } catch (fault) {
    throw fault instanceof GPUInitializationError ? new Error('the map needs WebGL 2, which this browser does not have or has switched off') : fault;
  }
}

interface Painter {
  drawFunctions?: Record<string, (...args: unknown[]) => void>;
}

/** An empty map costs half as much without the sky. Private of the pinned version; absent, nothing is lost. */
export function gateSky(map: MapLibre, pitch_deg: number): void {
  const functions = (map as unknown as { painter?: Painter }).painter?.drawFunctions;
  const sky = functions?.['sky'];
  if (functions && sky) functions['sky'] = (...args) => void (map.getPitch() > pitch_deg && sky(...args));
}
