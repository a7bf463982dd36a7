// The map: what it draws and what the pointer does on it. It knows nothing of panels.
import 'maplibre-gl/dist/maplibre-gl.css';
import type { Feature } from 'geojson';
import {
  AttributionControl,
  type Map as MapLibre,
  ScaleControl,
  setWorkerUrl,
  type GeoJSONSource,
  type LayerSpecification,
  type PaddingOptions,
} from 'maplibre-gl';
import worker from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url';
import type { Link } from '../api/client';
import { guarded } from '../faults';
import type { LatLon } from '../geo';
import type { Grid } from '../store/grid';
import type { Units } from '../units';
import { COLOURS } from '../verdict';
import { Basemap } from './basemap';
import * as camera from './camera';
import { CONTOUR_NAMES } from './contour-labels';
import { CoveragePainter, type CoverageStyle } from './coverage-painter';
import { line, linkFeatures, nodeFeatures, point, type Box, type Placed } from './features';
import type { MapEvents, MoreLayers } from './events';
import { cross, hatch, obstruction, PICTURE, SHAPES, symbol } from './icons';
import { hitOf } from './hit';
import { KnownGround } from './known-ground';
import { isLarge, LargeMesh, NAMED_MAX } from './large-mesh';
import { MissingPainter } from './missing-painter';
import { NetPainter } from './net-painter';
import { gateSky, mapOf } from './opened';
import { PictureLayer } from './picture';
import { PER_NODE, ranked } from './ranked';
import { Pointer, type Hit } from './pointer';
import { RaisedGround } from './raised-ground';
import { ReliefPainter } from './relief-painter';
import { CLUSTERS, DRAPED_MISSING, layers, MISSING_ZOOM_MIN, RELIEF, SOURCES, style, WORLD_ZOOM_MAX, TOWNS } from './style';
import type { TubeLayer } from './tube-layer';
import { THEMES, type MapTheme } from './theme';
import { WorldMap } from './world-map';

setWorkerUrl(worker);

const RELIEF_URL = `${location.origin}/api/v1/terrain/relief/{z}/{x}/{y}.png`;

/** Layers that flat ground alone has. */
const FLAT: ReadonlySet<string> = new Set(['links', 'links-case', CONTOUR_NAMES]);

export class MapView {
  readonly map: MapLibre;
  readonly relief: ReliefPainter;
  readonly missing = new MissingPainter(MISSING_ZOOM_MIN);
  readonly coverage = new CoveragePainter();
  readonly net = new NetPainter();
  #basemap: Basemap | null = null;
  /** The ground, its coverage, a large mesh. */
  readonly picture: PictureLayer;
  readonly tubes: TubeLayer;
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
  #sources = new Map<string, readonly Feature[]>();
  /** Sources that have features. */
  #filled = new Set<string>();
  /** Sources of features. */
  #own: readonly string[];
  #scale: ScaleControl;
  #pointer: Pointer;
  #ground: RaisedGround;
  #area: KnownGround;
  /** The ground was replaced: what a browser has kept of it may be old. */
  #renewed = false;

  constructor(
    container: HTMLElement,
    start: camera.View,
    dark: boolean,
    units: Units,
    private readonly events: MapEvents,
    private readonly more: MoreLayers = { sources: [], layers: () => [] },
  ) {
    this.#theme = THEMES[dark ? 'dark' : 'light'];
    this.#own = [...SOURCES, ...more.sources];
    this.relief = new ReliefPainter(RELIEF_URL, (text) => this.events.failed(text));
    this.picture = new PictureLayer(
      'picture',
      [this.relief, this.missing, this.coverage, this.net],
      (zoom) => zoom > WORLD_ZOOM_MAX && !this.showsMissing(),
    );
    container.style.background = this.#theme.sea;
    this.map = mapOf(container, start, style(this.#own, this.#layers(), location.origin), () => this.#renewed);
    this.#scale = new ScaleControl({ unit: units, maxWidth: 110 });
    this.map.addControl(this.#scale, 'bottom-left');
    this.map.addControl(
      new AttributionControl({ compact: true, customAttribution: 'Natural Earth, GeoNames (CC BY 4.0)' }),
      'bottom-right',
    );
    this.map.touchZoomRotate.disableRotation();
    // Again after the browser gave the GPU back, with MapLibre's own layers alone; MapLibre drops what is thrown then.
    this.map.on('style.load', () => guarded(() => this.#furnish()));
    this.map.on('webglcontextlost', () => {
      this.ready = false;
      this.events.failed('the browser has taken the graphics processor away; the map comes back with it');
    });
    this.map.on('error', (event) => {
      const status = (event.error as { status?: number } | undefined)?.status;
      if (status !== 404) this.events.failed(String(event.error?.message ?? event.error));
    });
    this.map.on('moveend', () => {
      this.events.moved(this.view());
      if (!this.#many) return;
      if (this.#large.isStale(this.map.getZoom())) this.#drawLarge();
      this.#drawNamed();
    });
    this.#ground = new RaisedGround(this.map, () => this.#drawTubes());
    this.tubes = this.#ground.tubes;
    const put = (name: string, features: readonly Feature[]) => this.put(name, features);
    this.#area = new KnownGround(this.map, this.relief, this.missing, put, units);
    new WorldMap(this.map, put, (place) => this.known(place));
    this.#pointer = new Pointer(this.map, (at, touch) => this.#hit(at, touch), events);
    this.map.on('click', CLUSTERS, (event) => void this.map.easeTo({ center: event.lngLat, zoom: this.map.getZoom() + 2 }));
  }

  /** Gives a new style the layers of the page, and what they show. */
  #furnish(): void {
    gateSky(this.map);
    guarded(() => this.#pictures());
    for (const [layer, before] of [
      [this.picture, 'region'],
      [this.tubes, 'obstruction'],
    ] as const)
      guarded(() => void (this.map.getLayer(layer.id) || this.map.addLayer(layer, before)));
    this.ready = true;
    for (const name of this.#own) {
      const features = this.#sources.get(name) ?? [];
      if (features.length) this.put(name, features);
      else this.#reveal(name, false);
    }
    this.#states(new Set(), this.#chosen);
    if (this.#ground.raised) this.#show(this.picture.id, false);
    this.events.moved(this.view());
  }

  /** Does work once the style of the map is there. */
  #styled(work: () => void): void {
    if (this.ready) work();
    else this.map.once('style.load', () => guarded(work));
  }

  view(): camera.View {
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
    this.relief.restyle(this.#theme);
    this.missing.restyle(this.#theme.hatchGround, this.#theme.hatch);
    this.tubes.restyle(this.#theme.name);
    this.net.restyle(this.#theme.name, Object.fromEntries(this.#roles.map((preset) => [preset.id, preset.color])));
  }

  #layers(): LayerSpecification[] {
    return [...layers(this.#theme), ...this.more.layers(this.#theme)];
  }

  /** Shows the base map at a path, or hides it. */
  setBasemap(path: string | null, shown: boolean): void {
    if (this.#basemap || !path) return this.#styled(() => this.#basemap?.show(shown));
    if (!shown) return;
    const basemap = new Basemap(this.map, 'region');
    this.#basemap = basemap;
    const open = () =>
      void basemap
        .open(path, this.#theme)
        .catch((fault) => this.events.failed(`the base map cannot be read: ${fault instanceof Error ? fault.message : fault}`));
    this.#styled(open);
  }

  setRoles(roles: readonly { id: string; color: string }[]): void {
    this.#roles = roles;
    if (this.ready) this.#pictures();
  }

  setDark(dark: boolean): void {
    const theme = THEMES[dark ? 'dark' : 'light'];
    if (theme === this.#theme) return;
    this.#theme = theme;
    this.map.getContainer().style.background = theme.sea;
    if (!this.ready) return;
    this.#pictures();
    this.#basemap?.restyle(theme);
    for (const layer of this.#layers()) {
      if (!this.map.getLayer(layer.id)) continue;
      for (const [name, value] of Object.entries(layer.paint ?? {})) this.map.setPaintProperty(layer.id, name as never, value as never);
    }
  }

  setUnits(units: Units): void {
    this.#scale.setUnit(units);
    this.#area.setUnits(units);
  }

  setDraggable(draggable: (id: string, touch: boolean) => boolean): void {
    this.#pointer.draggable = draggable;
  }

  /** Gives a source its features. */
  put(name: string, features: readonly Feature[]): void {
    // Giving a source features has a worker read them and the map drawn again.
    if (!features.length && !this.#filled.has(name)) return;
    this.#sources.set(name, features);
    if (features.length) this.#filled.add(name);
    else this.#filled.delete(name);
    if (!this.ready) return;
    (this.map.getSource(name) as GeoJSONSource | undefined)?.setData({ type: 'FeatureCollection', features: [...features] });
    this.#reveal(name, features.length > 0);
  }

  /** Shows the layers of a source, or hides them: an empty one still fills the stencil of the whole screen in each frame. */
  #reveal(source: string, filled: boolean): void {
    for (const id of this.map.getLayersOrder())
      if (this.map.getLayer(id)?.source === source) this.#show(id, filled && (this.#ground.raised ? !FLAT.has(id) : id !== DRAPED_MISSING));
  }

  #show(id: string, shown: boolean): void {
    const visibility = shown ? 'visible' : 'none';
    if ((this.map.getLayoutProperty(id, 'visibility') ?? 'visible') !== visibility)
      this.map.setLayoutProperty(id, 'visibility', visibility);
  }

  setNodes(nodes: readonly Placed[], byId: ReadonlyMap<string, Placed>): void {
    this.#nodes = nodes;
    this.#byId = byId;
    if (!this.#isMany()) this.put('nodes', nodeFeatures(nodes));
    this.#drawLinks();
  }

  #many = false;
  /** Links of each node that are drawn of many; Infinity for all. */
  #perNode = PER_NODE;
  /** Links by rank, without regard to the selection. */
  #ranked: readonly Link[] = [];
  readonly #large = new LargeMesh(this.net, (name, features) => this.put(name, features));

  /** Draws so many links of each node, the best, where there are many. */
  setPerNode(count: number): void {
    if (count === this.#perNode) return;
    this.#perNode = count;
    this.#ranked = ranked(this.#links, new Set(), count);
    this.#drawLinks();
  }

  #drawLarge(): void {
    this.#large.draw(this.map.getZoom(), this.#nodes, this.#ranked, this.#byId, this.#failed);
  }

  #isMany(): boolean {
    return !this.#lines && !this.#ground.raised && isLarge(this.#nodes, this.#links);
  }

  /** Links above the raised ground; on flat ground they are lines. */
  #drawTubes(): void {
    if (!this.#ground.raised) return;
    const works = (link: Link) => !this.#failed.has(link.a_node_id) && !this.#failed.has(link.b_node_id);
    this.#ground.drawTubes(this.#links.filter(works), this.#byId);
  }

  /** Of a large mesh: the selected nodes, and those in view if they are few, with their names. */
  #drawNamed(): void {
    const named = this.#large.named(this.map, this.#nodes, this.#byId, [this.#failed, this.#chosen]);
    this.put('nodes', nodeFeatures(named));
    this.#states(new Set(), this.#chosen);
  }

  setLinks(links: readonly Link[]): void {
    this.#links = links;
    this.#ranked = ranked(links, new Set(), this.#perNode);
    this.#drawLinks();
  }

  /** Draws these lines instead of planned links. */
  setLines(lines: readonly Feature[]): void {
    this.#lines = lines;
    this.#drawLinks();
  }

  /** Draws the links; the picture of a large mesh stays where only the selection has changed. */
  #drawLinks(isSelection = false): void {
    this.#dragged = [];
    this.#previewed = null;
    const many = this.#isMany();
    if (many) {
      if (!isSelection || !this.#many) this.#drawLarge();
      this.#drawNamed();
    } else if (this.#many) {
      this.#large.clear();
      this.put('nodes', nodeFeatures(this.#nodes));
    }
    this.#many = many;
    if (this.map.getLayer(TOWNS)) this.map.setLayoutProperty(TOWNS, 'visibility', many ? 'none' : 'visible'); // Marks of many nodes lie below names.
    this.#drawTubes();
    const own = (link: Link) => this.#chosen.has(link.a_node_id) || this.#chosen.has(link.b_node_id);
    const links = many
      ? this.#chosen.size && this.#chosen.size <= NAMED_MAX
        ? this.#links.filter(own)
        : []
      : ranked(this.#links, this.#chosen, this.#perNode);
    const features = this.#lines ?? linkFeatures(links, this.#byId, this.#chosen, this.#failed);
    this.drawnLinks = features.length;
    this.put('links', features);
    const failed = [...this.#failed].map((id) => this.#byId.get(id)).filter((node) => node !== undefined);
    this.put(
      'failed',
      failed.map((node) => point(node)),
    );
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
    this.#drawLinks(true);
    const ends = [...chosen].map((id) => this.#byId.get(id)).filter((node) => node !== undefined);
    this.put('chosen-link', ends.length === 2 ? [line(ends)] : []);
  }

  #states(before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    if (!this.ready) return;
    for (const id of before) if (!after.has(id)) this.map.setFeatureState({ source: 'nodes', id }, { chosen: false });
    for (const id of after) this.map.setFeatureState({ source: 'nodes', id }, { chosen: true });
  }

  /** The obstruction of a link, and the parts of its path below the ground. */
  setObstructions(places: readonly LatLon[], parts: readonly (readonly [LatLon, LatLon])[] = []): void {
    this.put(
      'obstruction',
      places.map((place) => point(place)),
    );
    this.put(
      'blocked',
      parts.map((part) => line(part)),
    );
  }

  /** A place that the profile shows too. */
  setCursor(place: LatLon | null): void {
    this.put('cursor', place ? [point(place)] : []);
  }

  /** Lobes of antennas, and the handles that aim them. */
  setLobe(features: Feature[], handles: Feature[] = []): void {
    this.put('lobe', features);
    this.put('aim', handles);
  }

  setRegion(features: Feature[]): void {
    this.put('region', features);
  }

  /** A route, a chain of relays, places found. */
  setAnswer(features: Feature[]): void {
    this.put('answer', features);
  }

  /** Cells of ground that are loaded; all else is hatched. */
  setArea(boxes: readonly Box[], zoom: { min: number; max: number }): void {
    this.#renewed = this.known({ lat: 0, lon: 0 }) !== null;
    this.#area.show(boxes, zoom);
    const relief = layers(this.#theme).find((layer) => layer.id === RELIEF);
    this.#styled(() => void (this.#area.load(RELIEF_URL, zoom, this.#ground, relief) && this.setRaised(true)));
  }

  /** The ground in three dimensions, links as tubes above it; coverage is left out of it. */
  setRaised(raised: boolean): void {
    // Heights are there once the server has said where there is ground.
    if (!this.#ground.want(raised)) return;
    if (!this.ready) return this.#styled(() => this.setRaised(raised));
    if (raised !== this.#ground.raised) {
      this.#ground.set(raised);
      this.#drawLinks();
    }
    this.#show(this.picture.id, !raised);
    this.#show(RELIEF, raised);
    for (const name of ['links', 'missing']) this.#reveal(name, (this.#sources.get(name)?.length ?? 0) > 0);
    this.#ground.turn();
  }

  /** Resolves once all ground in view is drawn, or after some time. */
  grounded(): Promise<void> {
    return this.#area.drawn();
  }

  /** True where ground is loaded; null before the server has said. */
  known(place: LatLon): boolean | null {
    return this.#area.known(place);
  }

  /** True if the view shows ground that is not loaded. */
  showsMissing(): boolean {
    return this.#area.showsMissing();
  }

  setCoverage(grid: Grid | null, look: CoverageStyle): void {
    this.coverage.restyle(look);
    if (grid !== this.coverage.grid) this.coverage.show(grid);
  }

  fit(places: readonly LatLon[], padding: PaddingOptions, moving: boolean): void {
    camera.fit(this.map, places, padding, moving);
  }

  bringIntoView(places: readonly LatLon[], padding: Required<PaddingOptions>): void {
    camera.bringIntoView(this.map, places, padding, this.#nodes);
  }

  goTo(place: LatLon, padding: PaddingOptions): void {
    camera.goTo(this.map, place, padding);
  }

  #hit(at: { x: number; y: number }, touch = false): Hit {
    if (!this.ready) return {};
    const { clustered } = this.#large;
    const isDrawn = this.#many || this.#ground.raised;
    return hitOf(this.map, at, touch, {
      handles: this.#sources.get('aim') ?? [],
      nodes: clustered.size ? this.#nodes.filter((node) => !clustered.has(node.id)) : this.#nodes,
      isClustered: clustered.size > 0,
      links: isDrawn ? (this.#many ? this.#ranked : this.#links) : null,
      byId: this.#byId,
    });
  }

  /** Features of the links of the node that is dragged. */
  #dragged: string[] = [];

  /** Moves a node and its links on the map alone, while it is dragged; `links` are those of the new place. */
  showMoved(id: string, to: LatLon, links?: readonly Link[]): void {
    const node = this.#byId.get(id);
    if (!node || !this.ready) return;
    if (this.#many) {
      // The large mesh stays as it is; the node and its links are drawn over it until it is dropped.
      this.put('nodes', nodeFeatures([{ ...node, ...to }]));
    } else
      (this.map.getSource('nodes') as GeoJSONSource | undefined)?.updateData({
        update: [{ id, newGeometry: { type: 'Point', coordinates: [to.lon, to.lat] } }],
      });
    const byId = new Map(this.#byId).set(id, { ...node, ...to });
    const isMine = (link: Link) => link.a_node_id === id || link.b_node_id === id;
    if (links) this.#previewed = { id, links };
    const known = this.#previewed?.id === id ? this.#previewed.links : this.#links.filter(isMine);
    const features = linkFeatures(known, byId, this.#chosen);
    const name = (feature: Feature) => String(feature.properties?.['id']);
    const before = this.#dragged.length ? this.#dragged : linkFeatures(this.#links.filter(isMine), this.#byId, this.#chosen).map(name);
    this.#dragged = features.map(name);
    (this.map.getSource('links') as GeoJSONSource | undefined)?.updateData({ remove: before, add: features });
    this.#filled.add('links');
    if (features.length) this.#reveal('links', true);
  }

  #previewed: { id: string; links: readonly Link[] } | null = null;

  destroy(): void {
    this.ready = false;
    this.map.remove();
  }
}
