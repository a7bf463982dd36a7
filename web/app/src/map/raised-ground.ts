// The ground in three dimensions, links as tubes above it.
import type { Map as MapLibre } from 'maplibre-gl';
import type { Link } from '../api/client';
import type { Placed } from './features';
import { TubeLayer } from './tube-layer';

const DEM = 'heights';
/** Zoom above which posts of 3" have no more to tell. */
const DEM_ZOOM_MAX = 12;
const EXAGGERATION = 2;
const PITCH_DEG = 60;

export class RaisedGround {
  readonly tubes = new TubeLayer('tubes');
  raised = false;
  #wanted = false;
  /** It is known where there is ground. */
  #known = false;

  /** `grown` is called when more heights may be known. */
  constructor(
    private readonly map: MapLibre,
    grown: () => void,
  ) {
    // Heights come with the tiles of the ground.
    map.on('sourcedata', (event) => void (event.sourceId === DEM && event.tile && grown()));
    map.on('idle', grown);
  }

  /** Says where there is ground; true if it was asked to be raised before that was known. */
  load(zoom: { min: number; max: number }, bounds: [number, number, number, number]): boolean {
    const tiles = [`${location.origin}/api/v1/terrain/tiles/{z}/{x}/{y}.png?opaque=true`];
    if (this.map.getSource(DEM)) {
      this.map.setTerrain(null);
      this.map.removeSource(DEM);
    }
    this.map.addSource(DEM, {
      type: 'raster-dem',
      encoding: 'terrarium',
      tiles,
      tileSize: 256,
      minzoom: zoom.min,
      maxzoom: Math.min(zoom.max, DEM_ZOOM_MAX),
      bounds,
    });
    this.#known = true;
    return this.#wanted;
  }

  /** Notes what is wanted; false until it is known where there is ground. */
  want(raised: boolean): boolean {
    this.#wanted = raised;
    return this.#known;
  }

  set(raised: boolean): void {
    this.raised = raised;
    if (!raised) this.tubes.clear();
  }

  /** Gives the map its heights, or takes them, and turns the view. */
  turn(): void {
    this.map.setTerrain(this.raised ? { source: DEM, exaggeration: EXAGGERATION } : null);
    if (this.raised) this.map.dragRotate.enable();
    else this.map.dragRotate.disable();
    this.map.easeTo({ pitch: this.raised ? PITCH_DEG : 0, bearing: 0, duration: 400 });
  }

  drawTubes(links: readonly Link[], nodes: ReadonlyMap<string, Placed>): void {
    const ground = (node: Placed) => this.map.queryTerrainElevation([node.lon, node.lat]);
    this.tubes.show(links, nodes, ground, EXAGGERATION);
  }
}
