// A map in its element, or the reason in its place.
import { GPUInitializationError, Map as MapLibre, type StyleSpecification } from 'maplibre-gl';
import { textOf } from '../faults';
import type { View } from './camera';

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

/** A map, or the reason in words why this browser draws none. With `isRenewed`, what a browser has kept may be old. */
export function mapOf(container: HTMLElement, start: View, style: StyleSpecification, isRenewed: () => boolean): MapLibre {
  try {
    return new MapLibre({
      container,
      style,
      center: [start.lon, start.lat],
      zoom: start.zoom,
      maxZoom: 18,
      fadeDuration: 0,
      transformRequest: (url) => ({ url, ...(isRenewed() ? { cache: 'no-cache' as const } : {}) }),
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      // Double click adds a node.
      doubleClickZoom: false,
      boxZoom: false,
      // Skirts hang as curtains where the ground ends.
      terrainSkirtLength: 'none',
    });
  } catch (fault) {
    throw fault instanceof GPUInitializationError
      ? new Error('the map needs WebGL 2, which this browser does not have or has switched off')
      : fault;
  }
}

interface Painter {
  drawFunctions?: Record<string, (...args: unknown[]) => void>;
}

/** Pitch above which the sky is drawn; MapLibre fills the screen with it at any pitch. */
const SKY_PITCH_DEG = 40;

/** An empty map costs half as much without the sky. Private of the pinned version; absent, nothing is lost. */
export function gateSky(map: MapLibre): void {
  const functions = (map as unknown as { painter?: Painter }).painter?.drawFunctions;
  const sky = functions?.['sky'];
  if (functions && sky) functions['sky'] = (...args) => void (map.getPitch() > SKY_PITCH_DEG && sky(...args));
}
