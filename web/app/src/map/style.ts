// Layers of the map, from the ground up.
import type { ExpressionSpecification, LayerSpecification, StyleSpecification, SymbolLayerSpecification } from 'maplibre-gl';
import inter from '@fontsource/inter/files/inter-latin-600-normal.woff2?url';
import { ANSWER_COLOURS, BLOCKED_COLOURS, BREADTHS, COLOURS, DASHES, RATINGS, WIDTHS } from '../verdict';
import { CONTOUR_NAMES } from './contour-labels';
import { EMPTY } from './features';
import type { MapTheme } from './theme';

export const FONT = 'Inter Semi Bold';
/** Shading of the raised ground; on flat ground it is part of the picture. */
export const RELIEF = 'relief';
/** Names of towns, where no base map has them. */
export const TOWNS = 'towns';
/** Layer of the clusters of a large mesh. */
export const CLUSTERS = 'clusters';
/** Hatching that lies on the raised ground. */
export const DRAPED_MISSING = 'missing-draped';

/** Strength at which a line is as broad as its rating says. */
const STRENGTH_USUAL = (1 - BREADTHS[0]) / (BREADTHS[1] - BREADTHS[0]);

function byRating<T>(values: Record<string, T>, wrap: (value: T) => unknown): ExpressionSpecification {
  const arms = RATINGS.flatMap((rating) => [rating, wrap(values[rating] as T)]);
  return ['match', ['get', 'rating'], ...arms, wrap(values['unknown'] as T)] as unknown as ExpressionSpecification;
}

/** Zoom above which ground, coverage and large meshes are drawn. */
export const WORLD_ZOOM_MAX = 7.5;
/** Zoom up to which countries are named. */
const COUNTRIES_ZOOM_MAX = 5.5;
/** Zoom up to which rivers and lakes are drawn: their lines, of 1:50M, are off by up to two kilometres. */
const WATERS_ZOOM_MAX = 9;
/** Zoom from which ground that is not loaded is hatched. */
export const MISSING_ZOOM_MIN = WORLD_ZOOM_MAX - 1.5;

/** Symbols of nodes and their names. */
export const NODE_LAYOUT: SymbolLayerSpecification['layout'] = {
  'icon-image': ['concat', 'role-', ['get', 'role']],
  'icon-allow-overlap': true,
  'icon-ignore-placement': true,
  'text-field': ['get', 'name'],
  'text-font': [FONT],
  'text-size': 12.5,
  'text-variable-anchor': ['top', 'bottom', 'right', 'left'],
  'text-radial-offset': 1,
  'text-max-width': 12,
  'text-optional': true,
};

export function layers(theme: MapTheme): LayerSpecification[] {
  // Strong links are broad, weak ones thin; lines of other views have no strength.
  const width = [
    '*',
    byRating(WIDTHS, (value) => value),
    ['interpolate', ['linear'], ['coalesce', ['get', 'strength'], STRENGTH_USUAL], 0, BREADTHS[0], 1, BREADTHS[1]],
  ] as unknown as ExpressionSpecification;
  return [
    { id: 'world', type: 'fill', source: 'world', paint: { 'fill-color': theme.land, 'fill-outline-color': theme.border } },
    // Rivers are mapped through lakes, too.
    {
      id: 'rivers',
      type: 'line',
      source: 'rivers',
      maxzoom: WATERS_ZOOM_MAX,
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': theme.river, 'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.8, 4, 1.1, WATERS_ZOOM_MAX, 2.4] },
    },
    {
      id: 'lakes',
      type: 'fill',
      source: 'lakes',
      maxzoom: WATERS_ZOOM_MAX,
      paint: { 'fill-color': theme.sea, 'fill-outline-color': theme.river },
    },
    // Ground that is there has its own coasts.
    { id: 'area', type: 'fill', source: 'area', minzoom: MISSING_ZOOM_MIN, paint: { 'fill-color': theme.sea } },
    {
      id: RELIEF,
      type: 'raster',
      source: RELIEF,
      layout: { visibility: 'none' },
      paint: {
        'raster-fade-duration': 0,
        'raster-brightness-min': theme.relief.min,
        'raster-brightness-max': theme.relief.max,
        'raster-opacity': theme.relief.opacity,
      },
    },
    {
      id: DRAPED_MISSING,
      type: 'fill',
      source: 'missing',
      minzoom: MISSING_ZOOM_MIN,
      layout: { visibility: 'none' },
      paint: { 'fill-pattern': 'hatch', 'fill-antialias': false },
    },
    {
      id: 'region',
      type: 'line',
      source: 'region',
      paint: { 'line-color': theme.ring, 'line-width': 1.5, 'line-dasharray': [3, 2], 'line-opacity': 0.8 },
    },
    {
      id: 'lobe',
      type: 'fill',
      source: 'lobe',
      paint: { 'fill-color': theme.ring, 'fill-opacity': 0.18, 'fill-outline-color': theme.ring },
    },
    {
      id: CONTOUR_NAMES,
      type: 'symbol',
      source: CONTOUR_NAMES,
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 240,
        'text-field': ['get', 'name'],
        'text-font': [FONT],
        'text-size': 11,
        'text-max-angle': 40,
        'text-padding': 4,
      },
      paint: { 'text-color': theme.contourName, 'text-halo-color': theme.contourHalo, 'text-halo-width': 1.6 },
    },
    {
      id: 'countries',
      type: 'symbol',
      source: 'countries',
      maxzoom: COUNTRIES_ZOOM_MAX,
      layout: {
        'text-field': ['upcase', ['get', 'name']],
        'text-font': [FONT],
        'text-size': ['interpolate', ['linear'], ['zoom'], 1, 9, 5, 13],
        'text-letter-spacing': 0.08,
        'text-max-width': 7,
        'symbol-sort-key': ['get', 'rank'],
      },
      paint: { 'text-color': theme.text, 'text-opacity': 0.6, 'text-halo-color': theme.halo, 'text-halo-width': 1.2 },
    },
    {
      id: TOWNS,
      type: 'symbol',
      source: 'towns',
      filter: ['<=', ['get', 'from'], ['zoom']],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': [FONT],
        'text-size': ['interpolate', ['linear'], ['zoom'], 3, 10, 10, 12.5],
        'text-max-width': 9,
        'text-padding': 6,
        'symbol-sort-key': ['get', 'rank'],
      },
      paint: { 'text-color': theme.text, 'text-opacity': 0.75, 'text-halo-color': theme.halo, 'text-halo-width': 1.4 },
    },
    {
      id: 'chosen-link',
      type: 'line',
      source: 'chosen-link',
      layout: { 'line-cap': 'round' },
      paint: { 'line-color': theme.ring, 'line-width': 10, 'line-opacity': 0.28 },
    },
    {
      id: 'links-case',
      type: 'line',
      source: 'links',
      paint: { 'line-color': theme.halo, 'line-width': ['+', width, 2.4] as ExpressionSpecification, 'line-opacity': 0.65 },
    },
    {
      id: 'links',
      type: 'line',
      source: 'links',
      paint: {
        'line-color': byRating(COLOURS[theme.name], (value) => value),
        'line-width': width,
        'line-dasharray': byRating(DASHES, (value) => ['literal', value]),
      },
    },
    {
      id: 'answer-case',
      type: 'line',
      source: 'answer',
      filter: ['==', ['geometry-type'], 'LineString'],
      layout: { 'line-cap': 'round' },
      paint: { 'line-color': theme.halo, 'line-width': 8 },
    },
    {
      id: 'answer',
      type: 'line',
      source: 'answer',
      filter: ['all', ['==', ['geometry-type'], 'LineString'], ['!=', ['get', 'ground'], 'unknown']],
      layout: { 'line-cap': 'round' },
      paint: { 'line-color': ANSWER_COLOURS[theme.name], 'line-width': 4 },
    },
    {
      id: 'answer-unknown',
      type: 'line',
      source: 'answer',
      filter: ['all', ['==', ['geometry-type'], 'LineString'], ['==', ['get', 'ground'], 'unknown']],
      paint: { 'line-color': ANSWER_COLOURS[theme.name], 'line-width': 4, 'line-dasharray': [2, 1.2] },
    },
    {
      id: 'answer-places',
      type: 'circle',
      source: 'answer',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: {
        'circle-radius': 8,
        'circle-color': theme.halo,
        'circle-stroke-color': ANSWER_COLOURS[theme.name],
        'circle-stroke-width': 3,
      },
    },
    {
      id: 'answer-names',
      type: 'symbol',
      source: 'answer',
      filter: ['==', ['geometry-type'], 'Point'],
      layout: {
        'text-field': ['coalesce', ['get', 'label'], ''],
        'text-font': [FONT],
        'text-size': 12,
        'text-offset': [0, 1.5],
        'text-allow-overlap': true,
      },
      paint: { 'text-color': theme.text, 'text-halo-color': theme.halo, 'text-halo-width': 1.8 },
    },
    {
      id: 'blocked',
      type: 'line',
      source: 'blocked',
      layout: { 'line-cap': 'round' },
      paint: { 'line-color': BLOCKED_COLOURS[theme.name], 'line-width': 6 },
    },
    { id: 'obstruction', type: 'symbol', source: 'obstruction', layout: { 'icon-image': 'obstruction', 'icon-allow-overlap': true } },
    {
      id: 'ring',
      type: 'circle',
      source: 'nodes',
      paint: {
        'circle-radius': 15,
        'circle-color': theme.ring,
        'circle-opacity': ['case', ['boolean', ['feature-state', 'chosen'], false], 0.24, 0],
        'circle-stroke-color': theme.ring,
        'circle-stroke-width': 2,
        'circle-stroke-opacity': ['case', ['boolean', ['feature-state', 'chosen'], false], 1, 0],
      },
    },
    {
      id: 'nodes',
      type: 'symbol',
      source: 'nodes',
      layout: NODE_LAYOUT,
      paint: { 'text-color': theme.text, 'text-halo-color': theme.halo, 'text-halo-width': 1.8 },
    },
    {
      id: CLUSTERS,
      type: 'circle',
      source: 'clusters',
      paint: {
        'circle-radius': ['step', ['get', 'count'], 10, 20, 12, 100, 14],
        'circle-color': theme.halo,
        'circle-opacity': 0.92,
        'circle-stroke-color': theme.text,
        'circle-stroke-width': 1.4,
      },
    },
    {
      id: 'cluster-counts',
      type: 'symbol',
      source: 'clusters',
      layout: {
        'text-field': ['to-string', ['get', 'count']],
        'text-font': [FONT],
        'text-size': 11,
        'text-allow-overlap': true,
        'text-ignore-placement': true,
      },
      paint: { 'text-color': theme.text },
    },
    {
      id: 'aim-axis',
      type: 'line',
      source: 'aim',
      filter: ['==', ['geometry-type'], 'LineString'],
      paint: { 'line-color': theme.ring, 'line-width': 1.5, 'line-dasharray': [2, 2] },
    },
    {
      id: 'aim',
      type: 'circle',
      source: 'aim',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: {
        'circle-radius': ['match', ['get', 'kind'], 'azimuth', 7.5, 6],
        'circle-color': ['match', ['get', 'kind'], 'azimuth', theme.ring, theme.halo],
        'circle-stroke-color': ['match', ['get', 'kind'], 'azimuth', theme.halo, theme.ring],
        'circle-stroke-width': 2.5,
      },
    },
    {
      id: 'aim-degrees',
      type: 'symbol',
      source: 'aim',
      filter: ['has', 'label'],
      layout: {
        'text-field': ['get', 'label'],
        'text-font': [FONT],
        'text-size': 14,
        'text-offset': [0, -1.4],
        'text-allow-overlap': true,
        'text-ignore-placement': true,
      },
      paint: { 'text-color': theme.text, 'text-halo-color': theme.halo, 'text-halo-width': 2 },
    },
    {
      id: 'cursor',
      type: 'circle',
      source: 'cursor',
      paint: { 'circle-radius': 6, 'circle-color': theme.text, 'circle-stroke-color': theme.halo, 'circle-stroke-width': 2.5 },
    },
    {
      id: 'failed',
      type: 'symbol',
      source: 'failed',
      layout: { 'icon-image': 'failed', 'icon-allow-overlap': true, 'icon-ignore-placement': true },
    },
  ];
}

/** Sources of features. */
export const SOURCES = [
  'world',
  'lakes',
  'rivers',
  'countries',
  'towns',
  'area',
  'missing',
  CONTOUR_NAMES,
  'region',
  'lobe',
  'links',
  'chosen-link',
  'answer',
  'blocked',
  'obstruction',
  'failed',
  'clusters',
  'nodes',
  'aim',
  'cursor',
] as const;
const WITH_STATES: readonly string[] = ['links', 'nodes'];

export function style(sources: readonly string[], layers: readonly LayerSpecification[], origin: string): StyleSpecification {
  return {
    version: 8,
    // Labels are drawn from this font; no glyph server is asked.
    'font-faces': { [FONT]: [{ url: new URL(inter, origin).href }] },
    sources: Object.fromEntries(
      sources.map((name) => [name, { type: 'geojson', data: EMPTY, ...(WITH_STATES.includes(name) ? { promoteId: 'id' } : {}) }]),
    ),
    // The relief comes when the server has said where there is ground.
    layers: layers.filter((layer) => layer.id !== RELIEF),
  } as StyleSpecification;
}
