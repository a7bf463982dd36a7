// What of a map is at a point of the screen.
import type { Feature } from 'geojson';
import type { Map as MapLibre } from 'maplibre-gl';
import type { Link } from '../api/client';
import type { LatLon } from '../geo';
import { nearestHandle } from './aim';
import * as camera from './camera';
import type { Placed } from './features';
import { nearestLink, nearestNode } from './net-data';
import type { Hit } from './pointer';
import { CLUSTERS } from './style';

const CLICK_RADIUS_PX = 7;

export interface Targets {
  handles: readonly Feature[];
  /** Nodes outside clusters. */
  nodes: readonly Placed[];
  isClustered: boolean;
  /** Links that are drawn by a layer without features; null where they are lines. */
  links: readonly Link[] | null;
  byId: ReadonlyMap<string, Placed>;
}

/** The handle at a point of the screen, else the node, else the link. */
export function hitOf(map: MapLibre, at: { x: number; y: number }, touch: boolean, targets: Targets): Hit {
  const project = (place: LatLon) => map.project(camera.shown(map, place));
  const handle = nearestHandle(targets.handles, project, at, touch);
  if (handle) return { handle };
  if (targets.isClustered && map.queryRenderedFeatures([at.x, at.y], { layers: [CLUSTERS] }).length) return {};
  const node = nearestNode(targets.nodes, project, at, CLICK_RADIUS_PX + 7);
  if (node) return { node };
  if (targets.links) {
    const link = nearestLink(targets.links, targets.byId, project, at, CLICK_RADIUS_PX);
    return link ? { link } : {};
  }
  const box: [[number, number], [number, number]] = [
    [at.x - CLICK_RADIUS_PX, at.y - CLICK_RADIUS_PX],
    [at.x + CLICK_RADIUS_PX, at.y + CLICK_RADIUS_PX],
  ];
  const [feature] = map.queryRenderedFeatures(box, { layers: ['links'] });
  return feature ? { link: [String(feature.properties['a']), String(feature.properties['b'])] } : {};
}
