// The map: what it draws and what the pointer does on it. It knows nothing of panels.
import 'maplibre-gl/dist/maplibre-gl.css';
import type { FeatureCollection, Feature } from 'geojson';
import { AttributionControl, Map as MapLibre, ScaleControl, setWorkerUrl, type GeoJSONSource, type MapMouseEvent, type MapTouchEvent, type PaddingOptions } from 'maplibre-gl';
import worker from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url';
import type { Link } from '../api/client';
import type { LatLon } from '../geo';
import type { Grid } from '../store/grid';
import type { Units } from '../units';
import { COLOURS } from '../verdict';
import { CoverageLayer, type CoverageStyle } from './coverage-layer';
import { boxFeatures, line, linkFeatures, missingGround, nodeFeatures, point, type Box, type Placed } from './features';
import { cross, hatch, obstruction, PICTURE, SHAPES, symbol } from './icons';
import { netData, nearestLink } from './net-data';
import { NetLayer } from './net-layer';
import { Pace } from './pace';
import { layers, RELIEF, style } from './style';
import { TubeLayer } from './tube-layer';
import { THEMES, type MapTheme } from './theme';

setWorkerUrl(worker);

/** Zoom, latitude, longitude of a view. */
export interface View {
  zoom: number;
  lat: number;
  lon: number;
}

export interface MapEvents {
  moved(view: View): void;
  pointer(place: LatLon | null): void;
  /** A click on a node, a link, or neither. */
  picked(what: { node?: string; link?: [string, string]; place: LatLon; extend: boolean }): void;
  doubled(place: LatLon): void;
  dragged(id: string, to: LatLon, end: boolean): void;
  failed(text: string): void;
}

const CLICK_RADIUS_PX = 7;
/** Distance of selected nodes from the edge of the map. */
const MARGIN_PX = 56;
const DRAG_START_PX = 4;
/** Pitch above which the sky is drawn; MapLibre fills the screen with it at any pitch. */
const SKY_PITCH_DEG = 40;

/** From so many nodes or links they are drawn by a layer of their own, and named when few are in view. */
const MANY_NODES = 800;
const MANY_LINKS = 2500;
const NAMED_MAX = 150;

const DEM = 'heights';
/** Zoom above which posts of 3" have no more to tell. */
const DEM_ZOOM_MAX = 12;
const EXAGGERATION = 2;
const PITCH_DEG = 60;

interface Painter {
  drawFunctions?: Record<string, (...args: unknown[]) => void>;
}

export class MapView {
  readonly map: MapLibre;
  readonly coverage = new CoverageLayer('coverage');
  readonly net = new NetLayer('net');
  readonly tubes = new TubeLayer('tubes');
  readonly pace: Pace;
  ready = false;
  /** Links that are drawn. */
  drawnLinks = 0;

  #theme: MapTheme;
  #nodes: readonly Placed[] = [];
  #byId: ReadonlyMap<string, Placed> = new Map();
  #roles: readonly { id: string; color: string }[] = [];
  #links: readonly Link[] = [];
  #lines: readonly Feature[] | null = null;
  #chosen: ReadonlySet<string> = new Set();
  #failed: ReadonlySet<string> = new Set();
  #boxes: readonly Box[] | null = null;
  #sources = new Map<string, FeatureCollection>();
  #scale: ScaleControl;
  #draggable: (id: string) => boolean = () => true;

  constructor(container: HTMLElement, start: View, dark: boolean, units: Units, private readonly events: MapEvents) {
    this.#theme = THEMES[dark ? 'dark' : 'light'];
    this.map = new MapLibre({
      container,
      style: style(this.#theme, location.origin),
      center: [start.lon, start.lat],
      zoom: start.zoom,
      maxZoom: 18,
      fadeDuration: 0,
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      // Double click adds a node.
      doubleClickZoom: false,
      boxZoom: false,
    });
    this.#scale = new ScaleControl({ unit: units, maxWidth: 110 });
    this.map.addControl(this.#scale, 'bottom-left');
    this.map.addControl(new AttributionControl({ compact: true, customAttribution: 'Coasts: Natural Earth' }), 'bottom-right');
    this.map.touchZoomRotate.disableRotation();
    this.map.once('style.load', () => {
      this.#gateSky();
      this.#pictures();
      this.map.addLayer(this.coverage, 'region');
      this.map.addLayer(this.net, 'links-case');
      this.map.addLayer(this.tubes, 'obstruction');
      this.ready = true;
      for (const [name, data] of this.#sources) this.#put(name, data);
      this.#states(new Set(), this.#chosen);
      this.events.moved(this.view());
    });
    this.map.on('error', (event) => {
      const status = (event.error as { status?: number } | undefined)?.status;
      if (status !== 404) this.events.failed(String(event.error?.message ?? event.error));
    });
    this.map.on('moveend', () => {
      this.events.moved(this.view());
      if (this.#many) this.#drawNamed();
    });
    // Heights come with the tiles of the ground.
    this.map.on('sourcedata', (event) => void (event.sourceId === DEM && event.tile && this.#drawTubes()));
    this.map.on('idle', () => this.#drawTubes());
    this.pace = new Pace(this.map);
    this.#watchPointer();
  }

  /** An empty map costs half as much without the sky. Private of the pinned version; absent, nothing is lost. */
  #gateSky(): void {
    const functions = (this.map as unknown as { painter?: Painter }).painter?.drawFunctions;
    const sky = functions?.['sky'];
    if (functions && sky) functions['sky'] = (...args) => void (this.map.getPitch() > SKY_PITCH_DEG && sky(...args));
  }

  view(): View {
    const centre = this.map.getCenter();
    return { zoom: this.map.getZoom(), lat: centre.lat, lon: centre.lng };
  }

  /** The part of the earth in view, degrees. */
  bounds(): Box {
    const bounds = this.map.getBounds();
    return { south: bounds.getSouth(), west: bounds.getWest(), north: bounds.getNorth(), east: bounds.getEast() };
  }

  #pictures(): void {
    const put = (name: string, picture: ImageData, options?: { pixelRatio: number }) => {
      if (this.map.hasImage(name)) this.map.updateImage(name, picture);
      else this.map.addImage(name, picture, options);
    };
    put('hatch', hatch(this.#theme.hatch, this.#theme.hatchGround), PICTURE);
    put('failed', cross(COLOURS[this.#theme.name].no_link, this.#theme.halo), PICTURE);
    put('obstruction', obstruction(COLOURS[this.#theme.name].no_link, this.#theme.halo), PICTURE);
    for (const role of Object.keys(SHAPES)) {
      const colour = this.#roles.find((preset) => preset.id === role)?.color ?? '#555555';
      put(`role-${role}`, symbol(role, colour, '#ffffff'), PICTURE);
    }
    this.tubes.restyle(this.#theme.name);
    this.net.restyle(this.#theme.name, Object.fromEntries(this.#roles.map((preset) => [preset.id, preset.color])));
  }

  setRoles(roles: readonly { id: string; color: string }[]): void {
    this.#roles = roles;
    if (this.ready) this.#pictures();
  }

  setDark(dark: boolean): void {
    const theme = THEMES[dark ? 'dark' : 'light'];
    if (theme === this.#theme) return;
    this.#theme = theme;
    if (!this.ready) return;
    this.#pictures();
    for (const layer of layers(theme)) {
      if (!this.map.getLayer(layer.id)) continue;
      for (const [name, value] of Object.entries(layer.paint ?? {})) this.map.setPaintProperty(layer.id, name as never, value as never);
    }
  }

  setUnits(units: Units): void {
    this.#scale.setUnit(units);
  }

  setDraggable(draggable: (id: string) => boolean): void {
    this.#draggable = draggable;
  }

  #put(name: string, data: FeatureCollection): void {
    this.#sources.set(name, data);
    if (this.ready || this.map.getSource(name)) (this.map.getSource(name) as GeoJSONSource | undefined)?.setData(data);
  }

  setWorld(data: FeatureCollection): void {
    this.#put('world', data);
  }

  setNodes(nodes: readonly Placed[], byId: ReadonlyMap<string, Placed>): void {
    this.#nodes = nodes;
    this.#byId = byId;
    if (!this.#isMany()) this.#put('nodes', nodeFeatures(nodes));
    this.#drawLinks();
  }

  #many = false;
  #raised = false;
  #wanted = false;

  #isMany(): boolean {
    return !this.#lines && !this.#raised && (this.#nodes.length > MANY_NODES || this.#links.length > MANY_LINKS);
  }

  /** Links above the raised ground; on flat ground they are lines. */
  #drawTubes(): void {
    if (!this.#raised) return;
    const works = (link: Link) => !this.#failed.has(link.a_node_id) && !this.#failed.has(link.b_node_id);
    const ground = (node: Placed) => this.map.queryTerrainElevation([node.lon, node.lat]);
    this.tubes.show(this.#links.filter(works), this.#byId, ground, EXAGGERATION);
  }

  /** Of a large mesh: the selected nodes, and those in view if they are few, with their names. */
  #drawNamed(): void {
    const bounds = this.map.getBounds();
    const inView = this.#nodes.filter((node) => bounds.contains([node.lon, node.lat]));
    const named = new Set(inView.length <= NAMED_MAX ? inView : []);
    const special = [...this.#failed, ...(this.#chosen.size <= NAMED_MAX ? this.#chosen : [])];
    for (const node of special.map((id) => this.#byId.get(id))) if (node) named.add(node);
    this.#put('nodes', nodeFeatures([...named]));
    this.#states(new Set(), this.#chosen);
  }

  setLinks(links: readonly Link[]): void {
    this.#links = links;
    this.#drawLinks();
  }

  /** Draws these lines instead of planned links. */
  setLines(lines: readonly Feature[]): void {
    this.#lines = lines;
    this.#drawLinks();
  }

  #drawLinks(): void {
    this.#dragged = [];
    this.#previewed = null;
    const many = this.#isMany();
    if (many) {
      const net = netData(this.#nodes, this.#links, this.#byId, this.#failed);
      this.net.show(net);
      this.#drawNamed();
    } else if (this.#many) {
      this.net.show(null);
      this.#put('nodes', nodeFeatures(this.#nodes));
    }
    this.#many = many;
    this.#drawTubes();
    const own = (link: Link) => this.#chosen.has(link.a_node_id) || this.#chosen.has(link.b_node_id);
    const links = many ? (this.#chosen.size && this.#chosen.size <= NAMED_MAX ? this.#links.filter(own) : []) : this.#links;
    const data: FeatureCollection = this.#lines ? { type: 'FeatureCollection', features: [...this.#lines] } : linkFeatures(links, this.#byId, this.#chosen, this.#failed);
    this.drawnLinks = data.features.length;
    this.#put('links', data);
    const failed = [...this.#failed].map((id) => this.#byId.get(id)).filter((node) => node !== undefined);
    this.#put('failed', { type: 'FeatureCollection', features: failed.map((node) => point(node)) });
  }

  /** Crosses out nodes and leaves out their links. */
  setFailed(failed: ReadonlySet<string>): void {
    if (!failed.size && !this.#failed.size) return;
    this.#failed = failed;
    this.#drawLinks();
  }

  setChosen(chosen: ReadonlySet<string>): void {
    const before = this.#chosen;
    this.#chosen = chosen;
    this.#states(before, chosen);
    this.#drawLinks();
    const ends = [...chosen].map((id) => this.#byId.get(id)).filter((node) => node !== undefined);
    this.#put('chosen-link', { type: 'FeatureCollection', features: ends.length === 2 ? [line(ends)] : [] });
  }

  #states(before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    if (!this.ready) return;
    for (const id of before) if (!after.has(id)) this.map.setFeatureState({ source: 'nodes', id }, { chosen: false });
    for (const id of after) this.map.setFeatureState({ source: 'nodes', id }, { chosen: true });
  }

  setObstructions(places: readonly LatLon[]): void {
    this.#put('obstruction', { type: 'FeatureCollection', features: places.map((place) => point(place)) });
  }

  setLobe(features: Feature[]): void {
    this.#put('lobe', { type: 'FeatureCollection', features });
  }

  setRegion(features: Feature[]): void {
    this.#put('region', { type: 'FeatureCollection', features });
  }

  /** A route, a chain of relays, places found. */
  setAnswer(features: Feature[]): void {
    this.#put('answer', { type: 'FeatureCollection', features });
  }

  /** Cells of ground that are loaded; all else is hatched. */
  setArea(boxes: readonly Box[], zoom: { min: number; max: number }): void {
    this.#boxes = boxes;
    this.#put('area', boxFeatures(boxes));
    this.#put('missing', missingGround(boxes));
    if (!boxes.length) return;
    const bounds: [number, number, number, number] = [
      Math.min(...boxes.map((box) => box.west)),
      Math.min(...boxes.map((box) => box.south)),
      Math.max(...boxes.map((box) => box.east)),
      Math.max(...boxes.map((box) => box.north)),
    ];
    const add = () => {
      const tiles = [`${location.origin}/api/v1/terrain/relief/{z}/{x}/{y}.png`];
      this.map.addSource(RELIEF, { type: 'raster', tiles, tileSize: 256, minzoom: zoom.min, maxzoom: zoom.max, bounds });
      const heights = [`${location.origin}/api/v1/terrain/tiles/{z}/{x}/{y}.png?opaque=true`];
      this.map.addSource(DEM, { type: 'raster-dem', encoding: 'terrarium', tiles: heights, tileSize: 256, minzoom: zoom.min, maxzoom: Math.min(zoom.max, DEM_ZOOM_MAX), bounds });
      const relief = layers(this.#theme).find((layer) => layer.id === RELIEF);
      if (relief) this.map.addLayer(relief, 'missing');
      if (this.#wanted) this.setRaised(true);
    };
    if (this.ready) add();
    else this.map.once('style.load', add);
  }

  /** The ground in three dimensions, links as tubes above it; coverage is left out of it. */
  setRaised(raised: boolean): void {
    this.#wanted = raised;
    // Heights are there once the server has said where there is ground.
    if (!this.ready || !this.map.getSource(DEM)) return;
    if (raised !== this.#raised) {
      this.#raised = raised;
      this.#drawLinks();
      if (!raised) this.tubes.clear();
      for (const id of ['links', 'links-case']) this.map.setLayoutProperty(id, 'visibility', raised ? 'none' : 'visible');
    }
    this.map.setTerrain(raised ? { source: DEM, exaggeration: EXAGGERATION } : null);
    this.map.setLayoutProperty('coverage', 'visibility', raised ? 'none' : 'visible');
    if (raised) this.map.dragRotate.enable();
    else this.map.dragRotate.disable();
    this.map.easeTo({ pitch: raised ? PITCH_DEG : 0, bearing: 0, duration: 400 });
  }

  /** True where ground is loaded; null before the server has said. */
  known(place: LatLon): boolean | null {
    return this.#boxes && this.#boxes.some((box) => place.lat >= box.south && place.lat <= box.north && place.lon >= box.west && place.lon <= box.east);
  }

  /** True if the view shows ground that is not loaded. */
  showsMissing(): boolean {
    const bounds = this.map.getBounds();
    const corners = [bounds.getNorthEast(), bounds.getNorthWest(), bounds.getSouthEast(), bounds.getSouthWest()];
    return corners.some((corner) => this.known({ lat: corner.lat, lon: corner.lng }) === false);
  }

  setCoverage(grid: Grid | null, look: CoverageStyle): void {
    this.coverage.restyle(look);
    if (grid !== this.coverage.grid) this.coverage.show(grid);
  }

  fit(places: readonly LatLon[], padding: PaddingOptions, moving: boolean): void {
    if (!places.length) return;
    const [lats, lons] = [places.map((place) => place.lat), places.map((place) => place.lon)];
    this.map.fitBounds([[Math.min(...lons), Math.min(...lats)], [Math.max(...lons), Math.max(...lats)]], { padding, maxZoom: 14, animate: moving, duration: 400 });
  }

  /** Moves the view, if a place is under a panel or outside, no more than it takes. */
  bringIntoView(places: readonly LatLon[], padding: Required<PaddingOptions>): void {
    this.map.resize();
    const { clientWidth, clientHeight } = this.map.getCanvas();
    const free = { left: MARGIN_PX, top: MARGIN_PX, right: clientWidth - padding.right, bottom: clientHeight - Math.max(MARGIN_PX, padding.bottom) };
    const points = places.map((place) => this.map.project([place.lon, place.lat]));
    const [xs, ys] = [points.map((at) => at.x), points.map((at) => at.y)];
    const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    if (box.right - box.left > free.right - free.left || box.bottom - box.top > free.bottom - free.top) {
      this.fit(places, padding, true);
      return;
    }
    const x = box.left < free.left ? box.left - free.left : box.right > free.right ? box.right - free.right : 0;
    const y = box.top < free.top ? box.top - free.top : box.bottom > free.bottom ? box.bottom - free.bottom : 0;
    if (x || y) this.map.panBy([x, y], { duration: 250 });
  }

  goTo(place: LatLon, padding: PaddingOptions): void {
    this.map.easeTo({ center: [place.lon, place.lat], zoom: Math.max(this.map.getZoom(), 12), padding, duration: 400 });
  }

  #hit(event: MapMouseEvent | MapTouchEvent): { node?: string; link?: [string, string] } {
    if (!this.ready) return {};
    const { x, y } = event.point;
    const box: [[number, number], [number, number]] = [[x - CLICK_RADIUS_PX, y - CLICK_RADIUS_PX], [x + CLICK_RADIUS_PX, y + CLICK_RADIUS_PX]];
    // The place decides, not the label: a label is drawn over other nodes.
    let nearest: { id: string; off: number } | null = null;
    for (const node of this.#nodes) {
      const at = this.map.project([node.lon, node.lat]);
      const off = Math.hypot(at.x - x, at.y - y);
      if (off <= CLICK_RADIUS_PX + 7 && off < (nearest?.off ?? Infinity)) nearest = { id: node.id, off };
    }
    if (nearest) return { node: nearest.id };
    if (this.#many || this.#raised) {
      const link = nearestLink(this.#links, this.#byId, (lon, lat) => this.map.project([lon, lat]), { x, y }, CLICK_RADIUS_PX);
      return link ? { link } : {};
    }
    const [feature] = this.map.queryRenderedFeatures(box, { layers: ['links'] });
    if (feature) return { link: [String(feature.properties['a']), String(feature.properties['b'])] };
    return {};
  }

  #watchPointer(): void {
    const map = this.map;
    const place = (event: MapMouseEvent | MapTouchEvent): LatLon => ({ lat: event.lngLat.lat, lon: ((event.lngLat.lng + 540) % 360) - 180 });
    map.on('mousemove', (event) => {
      this.events.pointer(place(event));
      if (!this.#holding) map.getCanvas().style.cursor = Object.keys(this.#hit(event)).length ? 'pointer' : '';
    });
    map.on('mouseout', () => this.events.pointer(null));
    map.on('click', (event) => {
      if (this.#dropped) return void (this.#dropped = false);
      const original = event.originalEvent;
      this.events.picked({ ...this.#hit(event), place: place(event), extend: original.shiftKey || original.ctrlKey || original.metaKey });
    });
    map.on('dblclick', (event) => this.events.doubled(place(event)));
    const hold = (event: MapMouseEvent | MapTouchEvent) => {
      if ('button' in event.originalEvent && event.originalEvent.button !== 0) return;
      const { node } = this.#hit(event);
      if (!node || !this.#draggable(node)) return;
      event.preventDefault();
      this.#holding = { id: node, x: event.point.x, y: event.point.y, moved: false };
    };
    const drag = (event: MapMouseEvent | MapTouchEvent) => {
      const holding = this.#holding;
      if (!holding) return;
      if (!holding.moved && Math.hypot(event.point.x - holding.x, event.point.y - holding.y) < DRAG_START_PX) return;
      holding.moved = true;
      map.getCanvas().style.cursor = 'grabbing';
      this.events.dragged(holding.id, place(event), false);
    };
    const drop = (event: MapMouseEvent | MapTouchEvent) => {
      const holding = this.#holding;
      this.#holding = null;
      if (!holding?.moved) return;
      this.#dropped = 'button' in event.originalEvent;
      // The click of a release comes in the same turn, if it comes.
      setTimeout(() => (this.#dropped = false));
      this.events.dragged(holding.id, place(event), true);
    };
    map.on('mousedown', hold);
    map.on('touchstart', hold);
    map.on('mousemove', drag);
    map.on('touchmove', drag);
    map.on('mouseup', drop);
    map.on('touchend', drop);
  }

  #holding: { id: string; x: number; y: number; moved: boolean } | null = null;
  #dropped = false;

  /** Features of the links of the node that is dragged. */
  #dragged: string[] = [];

  /** Moves a node and its links on the map alone, while it is dragged; `links` are those of the new place. */
  showMoved(id: string, to: LatLon, links?: readonly Link[]): void {
    const node = this.#byId.get(id);
    if (!node) return;
    if (this.#many) {
      // The large mesh stays as it is; the node and its links are drawn over it until it is dropped.
      this.#put('nodes', nodeFeatures([{ ...node, ...to }]));
    } else (this.map.getSource('nodes') as GeoJSONSource | undefined)?.updateData({ update: [{ id, newGeometry: { type: 'Point', coordinates: [to.lon, to.lat] } }] });
    const byId = new Map(this.#byId).set(id, { ...node, ...to });
    const isMine = (link: Link) => link.a_node_id === id || link.b_node_id === id;
    if (links) this.#previewed = { id, links };
    const known = this.#previewed?.id === id ? this.#previewed.links : this.#links.filter(isMine);
    const features = linkFeatures(known, byId, this.#chosen).features;
    const name = (feature: Feature) => String(feature.properties?.['id']);
    const before = this.#dragged.length ? this.#dragged : linkFeatures(this.#links.filter(isMine), this.#byId, this.#chosen).features.map(name);
    this.#dragged = features.map(name);
    (this.map.getSource('links') as GeoJSONSource | undefined)?.updateData({ remove: before, add: features });
  }

  #previewed: { id: string; links: readonly Link[] } | null = null;

  destroy(): void {
    this.map.remove();
  }
}
