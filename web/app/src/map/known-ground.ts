// The ground that the server has: where it is, its relief, and the hatching of all else.
import type { Feature } from 'geojson';
import type { LayerSpecification, Map as MapLibre } from 'maplibre-gl';
import type { LatLon } from '../geo';
import type { Units } from '../units';
import { ContourLabels } from './contour-labels';
import { boxFeatures, missingGround, type Box } from './features';
import type { MissingPainter } from './missing-painter';
import type { RaisedGround } from './raised-ground';
import type { ReliefPainter } from './relief-painter';
import { DRAPED_MISSING, MISSING_ZOOM_MIN, RELIEF } from './style';

/** Longest wait for the ground, ms. */
const GROUND_MS = 3000;

export class KnownGround {
  #boxes: readonly Box[] | null = null;

  constructor(
    private readonly map: MapLibre,
    private readonly relief: ReliefPainter,
    private readonly hatching: MissingPainter,
    private readonly put: (name: string, features: readonly Feature[]) => void,
    units: Units,
  ) {
    this.#contours = new ContourLabels(map, put, units);
    relief.detailed = ({ contours }) => this.#contours.turn(contours);
  }

  readonly #contours: ContourLabels;

  setUnits(units: Units): void {
    this.#contours.setUnits(units);
  }

  /** Shows these cells, the first or others than before, and hatches all else. */
  show(boxes: readonly Box[], zoom: { min: number; max: number }): void {
    if (this.#boxes) this.relief.renew();
    this.#boxes = boxes;
    this.put('area', boxFeatures(boxes));
    this.put('missing', missingGround(boxes));
    this.hatching.show(boxes);
    this.relief.show(boxes, zoom);
    this.#contours.ground(boxes, zoom);
  }

  /** Gives a map its sources of relief and heights, in place of those before; true if raised ground was wanted before. */
  load(tiles: string, zoom: { min: number; max: number }, raised: RaisedGround, layer: LayerSpecification | undefined): boolean {
    const boxes = this.#boxes ?? [];
    if (!boxes.length) return false;
    const bounds: [number, number, number, number] = [
      Math.min(...boxes.map((box) => box.west)),
      Math.min(...boxes.map((box) => box.south)),
      Math.max(...boxes.map((box) => box.east)),
      Math.max(...boxes.map((box) => box.north)),
    ];
    if (this.map.getLayer(RELIEF)) this.map.removeLayer(RELIEF);
    if (this.map.getSource(RELIEF)) this.map.removeSource(RELIEF);
    this.map.addSource(RELIEF, { type: 'raster', tiles: [tiles], tileSize: 256, minzoom: zoom.min, maxzoom: zoom.max, bounds });
    const wanted = raised.load(zoom, bounds);
    if (layer) this.map.addLayer(layer, DRAPED_MISSING);
    return wanted;
  }

  /** Resolves once all ground in view is drawn, or after some time. */
  drawn(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.map.off('render', look);
        resolve();
      };
      const look = () => void (this.#boxes && this.relief.settled && done());
      const timer = setTimeout(done, GROUND_MS);
      this.map.on('render', look);
    });
  }

  /** True where ground is loaded; null before the server has said. */
  known(place: LatLon): boolean | null {
    return (
      this.#boxes &&
      this.#boxes.some((box) => place.lat >= box.south && place.lat <= box.north && place.lon >= box.west && place.lon <= box.east)
    );
  }

  /** True if the view shows ground that is not loaded. */
  showsMissing(): boolean {
    if (this.map.getZoom() < MISSING_ZOOM_MIN) return false;
    const bounds = this.map.getBounds();
    const corners = [bounds.getNorthEast(), bounds.getNorthWest(), bounds.getSouthEast(), bounds.getSouthWest()];
    return corners.some((corner) => this.known({ lat: corner.lat, lon: corner.lng }) === false);
  }
}
