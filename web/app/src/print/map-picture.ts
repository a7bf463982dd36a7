// A picture of the mesh for paper: light, of a size of its own, with its scale and who made its data.
import { MapView } from '../map/view';
import { WORLD } from '../map/camera';
import type { App } from '../store/app.svelte';
import type { Units } from '../units';
import { offer } from '../api/offer';
import { scaleOf, type Scale } from './scale';

/** Size of the map on paper, CSS px: as wide as A4 with its margins, at 96 px an inch. */
export const MAP_PX = { width: 1000, height: 560 };
/** Pixels of the picture for one of CSS: 270 an inch on paper. */
const PIXEL_RATIO = 2;
const PADDING_PX = 60;
/** A browser that draws slowly gives what it has after this time. */
const SETTLED_MS = 15_000;
const FAR_PX = -20_000;

export interface MapPicture {
  /** PNG as an address of this page. */
  url: string;
  scale: Scale;
  attributions: string[];
  /** The picture has ground without terrain data. */
  hasMissing: boolean;
}

interface Area {
  areas: readonly { south: number; west: number; north: number; east: number }[];
  zoom_min: number;
  zoom_max: number;
}

const texts = new DOMParser();

/** Draws the mesh of the plan as it is, with the coverage that is shown, on a map beyond the screen. */
export async function mapPicture({ plan, coverages, ui }: App, area: Area, units: Units): Promise<MapPicture> {
  const box = document.createElement('div');
  box.setAttribute('aria-hidden', 'true');
  box.style.cssText = `position: fixed; left: ${FAR_PX}px; top: 0; width: ${MAP_PX.width}px; height: ${MAP_PX.height}px`;
  document.body.append(box);
  const ignore = () => undefined;
  const faults: string[] = [];
  let view: MapView | null = null;
  try {
    view = new MapView(box, WORLD, false, units, {
      moved: ignore,
      pointer: ignore,
      picked: ignore,
      doubled: ignore,
      dragged: ignore,
      pressed: ignore,
      hovered: ignore,
      failed: (text) => void faults.push(text),
    });
    const { map } = view;
    map.setPixelRatio(PIXEL_RATIO);
    view.setRoles(plan.roles);
    view.relief.setDetail(ui.relief);
    view.setArea(area.areas, { min: area.zoom_min, max: area.zoom_max });
    view.setNodes(plan.nodes, plan.byId);
    view.setLinks(plan.links);
    view.setFailed(coverages.mesh.failed);
    view.setCoverage(coverages.drawn, coverages.look);
    view.setBasemap(offer().basemap, true);
    await new Promise((ready) => (map.loaded() ? ready(null) : map.once('load', ready)));
    const centre = plan.deployment?.center;
    view.fit(
      plan.nodes.length ? plan.nodes : centre ? [centre] : [],
      { top: PADDING_PX, bottom: PADDING_PX, left: PADDING_PX, right: PADDING_PX },
      false,
    );
    await settled(view);
    const attributions = Object.values(map.getStyle().sources).flatMap((source) =>
      'attribution' in source && source.attribution ? [texts.parseFromString(source.attribution, 'text/html').body.textContent ?? ''] : [],
    );
    if (faults[0]) throw new Error(faults[0]);
    return {
      url: await pictureOf(view),
      scale: scaleOf(map.getCenter().lat, map.getZoom(), units),
      attributions,
      hasMissing: view.showsMissing(),
    };
  } finally {
    view?.destroy();
    box.remove();
  }
}

/** Resolves once all of a map is drawn, or after some time. */
function settled({ map, relief }: MapView): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      map.off('idle', look);
      resolve();
    };
    // Ground that comes later has the map drawn again, and be idle again.
    const look = () => void (relief.settled && map.loaded() && done());
    const timer = setTimeout(done, SETTLED_MS);
    map.on('idle', look);
    map.triggerRepaint();
  });
}

function pictureOf(view: MapView): Promise<string> {
  return new Promise((resolve, reject) => {
    view.map.once('render', () => {
      const from = view.map.getCanvas();
      const copy = document.createElement('canvas');
      [copy.width, copy.height] = [from.width, from.height];
      const pen = copy.getContext('2d') as CanvasRenderingContext2D;
      // The sea is the ground behind the canvas.
      pen.fillStyle = view.map.getContainer().style.background;
      pen.fillRect(0, 0, copy.width, copy.height);
      pen.drawImage(from, 0, 0);
      copy.toBlob((blob) => (blob ? resolve(URL.createObjectURL(blob)) : reject(new Error('The browser made no picture.'))), 'image/png');
    });
    view.map.triggerRepaint();
  });
}
