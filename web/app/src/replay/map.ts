// The map of a replay: tracks, links, routes and nodes of a frame over the ground of the page.
import type { ExpressionSpecification, LayerSpecification } from 'maplibre-gl';
import type { LatLon } from '../geo';
import { shown } from '../map/camera';
import { line, point } from '../map/features';
import { NODE_LAYOUT } from '../map/style';
import type { MapTheme } from '../map/theme';
import type { View } from '../map/camera';
import { MapView } from '../map/view';
import type { Units } from '../units';
import { ANSWER_COLOURS } from '../verdict';
import type { Frame } from './frames';
import { colour, dash, KINDS, kindOf, linkId, width, type Measure } from './kinds';

const CLICK_RADIUS_PX = 14;
const LINK_RADIUS_PX = 6;

export interface ReplayMapEvents {
  moved(view: View): void;
  chosen(id: string | null): void;
  failed(text: string): void;
}

function byKind<T>(values: (kind: (typeof KINDS)[number]) => T): ExpressionSpecification {
  const arms = KINDS.flatMap((kind) => [kind, values(kind)]);
  return ['match', ['get', 'kind'], ...arms, values('down')] as unknown as ExpressionSpecification;
}

function layers(theme: MapTheme): LayerSpecification[] {
  const route = ANSWER_COLOURS[theme.name];
  const failed: ExpressionSpecification = ['case', ['get', 'operating'], 1, 0.35];
  return [
    {
      id: 'r-tracks',
      type: 'line',
      source: 'r-tracks',
      paint: { 'line-color': theme.text, 'line-width': 1.6, 'line-dasharray': [1.5, 2], 'line-opacity': 0.75 },
    },
    {
      id: 'r-marked',
      type: 'line',
      source: 'r-links',
      filter: ['get', 'marked'],
      layout: { 'line-cap': 'round' },
      paint: { 'line-color': theme.ring, 'line-width': 11, 'line-opacity': 0.3 },
    },
    { id: 'r-case', type: 'line', source: 'r-links', paint: { 'line-color': theme.halo, 'line-width': 5, 'line-opacity': 0.65 } },
    {
      id: 'r-routes',
      type: 'line',
      source: 'r-routes',
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': route, 'line-width': 9, 'line-opacity': 0.4 },
    },
    {
      id: 'r-links',
      type: 'line',
      source: 'r-links',
      paint: {
        'line-color': byKind((kind) => colour(kind, theme.name)),
        'line-width': byKind(width),
        'line-dasharray': byKind((kind) => ['literal', dash(kind)]),
      },
    },
    {
      id: 'r-cuts',
      type: 'symbol',
      source: 'r-cuts',
      layout: { 'icon-image': 'obstruction', 'icon-size': 0.85, 'icon-allow-overlap': true, 'icon-ignore-placement': true },
    },
    {
      id: 'r-ring',
      type: 'circle',
      source: 'r-nodes',
      filter: ['get', 'marked'],
      paint: {
        'circle-radius': 15,
        'circle-color': theme.ring,
        'circle-opacity': 0.24,
        'circle-stroke-color': theme.ring,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'r-nodes',
      type: 'symbol',
      source: 'r-nodes',
      layout: NODE_LAYOUT,
      paint: { 'text-color': theme.text, 'text-halo-color': theme.halo, 'text-halo-width': 1.8, 'icon-opacity': failed },
    },
    {
      id: 'r-failed',
      type: 'symbol',
      source: 'r-nodes',
      filter: ['!', ['get', 'operating']],
      layout: { 'icon-image': 'obstruction', 'icon-allow-overlap': true, 'icon-ignore-placement': true },
    },
  ];
}

const SOURCES = ['r-tracks', 'r-routes', 'r-links', 'r-cuts', 'r-nodes'];

/** What a map shows. */
export interface Picture {
  frame: Frame;
  tracks: Map<string, [number, number][]>;
  measure: Measure;
  chosen: string | null;
  /** Nodes and links that differ from the other map. */
  differ: ReadonlySet<string>;
}

export class ReplayMap {
  readonly view: MapView;
  #frame: Frame | null = null;

  constructor(element: HTMLElement, start: View, dark: boolean, units: Units, events: ReplayMapEvents) {
    const nothing = () => undefined;
    const picked = (what: { place: LatLon }) => events.chosen(this.#hit(what.place));
    this.view = new MapView(
      element,
      start,
      dark,
      units,
      { moved: events.moved, pointer: nothing, picked, doubled: nothing, dragged: nothing, failed: events.failed },
      { sources: SOURCES, layers },
    );
    this.view.map.on('load', () => (element.dataset['ready'] = 'true'));
  }

  /** Draws a frame. */
  show({ frame, tracks, measure, chosen, differ }: Picture): void {
    this.#frame = frame;
    const nodes = new Map(frame.nodes.map((node) => [node.node_id, node]));
    const marked = (id: string) => id === chosen || differ.has(id);
    const ways = [...tracks].filter(([id, way]) => way.length > 1 && nodes.has(id));
    this.view.put(
      'r-tracks',
      ways.map(([id, way]) => ({ type: 'Feature', properties: { id }, geometry: { type: 'LineString', coordinates: way } })),
    );
    const drawn = frame.links.flatMap((link) => {
      const [a, b] = [nodes.get(link.a_node_id), nodes.get(link.b_node_id)];
      return a && b ? [{ link, a, b, kind: kindOf(link, measure), id: linkId(link) }] : [];
    });
    this.view.put(
      'r-links',
      drawn.map(({ a, b, kind, id }) => line([a, b], { id, kind, marked: marked(id) })),
    );
    this.view.put(
      'r-cuts',
      drawn.filter(({ kind }) => kind === 'cut').map(({ a, b }) => point({ lat: (a.lat + b.lat) / 2, lon: (a.lon + b.lon) / 2 })),
    );
    this.view.put(
      'r-routes',
      frame.flows.flatMap((flow) => {
        const places = flow.path.map((id) => nodes.get(id)).filter((node) => node !== undefined);
        return places.length > 1 ? [line(places, { name: flow.name })] : [];
      }),
    );
    this.view.put(
      'r-nodes',
      frame.nodes.map((node) =>
        point(node, { id: node.node_id, name: node.name, role: node.role, operating: node.operating, marked: marked(node.node_id) }),
      ),
    );
  }

  /** The node at a place of the screen, else the link, else null. */
  #hit(place: LatLon): string | null {
    const { map } = this.view;
    if (!this.view.ready) return null;
    const at = map.project(shown(map, place));
    let nearest: { id: string; off: number } | null = null;
    for (const node of this.#frame?.nodes ?? []) {
      const there = map.project(shown(map, node));
      const off = Math.hypot(there.x - at.x, there.y - at.y);
      if (off <= CLICK_RADIUS_PX && off < (nearest?.off ?? Infinity)) nearest = { id: node.node_id, off };
    }
    if (nearest) return nearest.id;
    const [r, { x, y }] = [LINK_RADIUS_PX, at];
    const [feature] = map.queryRenderedFeatures(
      [
        [x - r, y - r],
        [x + r, y + r],
      ],
      { layers: ['r-links'] },
    );
    return feature ? String(feature.properties['id']) : null;
  }

  /** The map as drawn now. */
  picture(): Promise<HTMLCanvasElement> {
    return new Promise((resolve) => {
      this.view.map.once('render', () => {
        const from = this.view.map.getCanvas();
        const copy = document.createElement('canvas');
        [copy.width, copy.height] = [from.width, from.height];
        const pen = copy.getContext('2d') as CanvasRenderingContext2D;
        // The sea is the ground behind the canvas.
        pen.fillStyle = this.view.map.getContainer().style.background;
        pen.fillRect(0, 0, copy.width, copy.height);
        // The picture of WebGL is gone after this turn.
        pen.drawImage(from, 0, 0);
        resolve(copy);
      });
      this.view.map.triggerRepaint();
    });
  }

  destroy(): void {
    this.view.destroy();
  }
}
