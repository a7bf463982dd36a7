// GeoJSON of nodes, links, antenna lobes and missing ground.
import type { Feature, FeatureCollection, LineString, Point, Polygon } from 'geojson';
import { lossDb } from '../antenna-files';
import type { Link, RadioConfig } from '../api/client';
import { between, destination, turned, type LatLon } from '../geo';
import { closes, rating, strength, type Rating } from '../verdict';
import { LAT_MAX_DEG } from './mercator';

export interface Box {
  south: number;
  west: number;
  north: number;
  east: number;
}

type Antenna = NonNullable<RadioConfig['antenna']>;

/** A node as the map draws it. */
export interface Placed extends LatLon {
  id: string;
  name: string;
  /** Word of its symbol. */
  role: string;
  /** Height of the antenna above ground, m; on the ground where it is not known. */
  height_agl_m?: number;
}

/** No features. */
export const EMPTY: FeatureCollection = { type: 'FeatureCollection', features: [] };

export function nodeFeature(node: Placed): Feature<Point> {
  return {
    type: 'Feature',
    properties: { id: node.id, name: node.name, role: node.role },
    geometry: { type: 'Point', coordinates: [node.lon, node.lat] },
  };
}

/** Nodes as points; one of several on a spot is named, with the number of the others. */
export function nodeFeatures(nodes: readonly Placed[]): Feature<Point>[] {
  const spots = new Map<string, number>();
  const spot = ({ lat, lon }: Placed) => `${lat.toFixed(5)} ${lon.toFixed(5)}`;
  for (const node of nodes) spots.set(spot(node), (spots.get(spot(node)) ?? 0) + 1);
  return nodes.map((node) => {
    const count = spots.get(spot(node)) ?? 1;
    if (count === 1) return nodeFeature(node);
    spots.set(spot(node), 0);
    return nodeFeature({ ...node, name: count ? `${node.name} + ${count - 1}` : '' });
  });
}

/** Coordinates of a line, each next to the one before: across 180 degrees they go on. */
export function path(places: readonly LatLon[]): [number, number][] {
  let lon = places[0]?.lon ?? 0;
  return places.map((place) => [(lon = turned(place.lon, lon)), place.lat]);
}

/** The half of a link that leaves one end: it has the rating and the strength of that direction. */
function half(id: string, from: LatLon, to: LatLon, rated: Rating, margin_db: number, link: Link): Feature<LineString> {
  const middle = between(from, to, 0.5);
  return {
    type: 'Feature',
    properties: { id, rating: rated, strength: strength(margin_db), a: link.a_node_id, b: link.b_node_id },
    geometry: { type: 'LineString', coordinates: path([from, middle]) },
  };
}

/** Both directions of a link, each from its transmitter to the middle. */
export function linkHalves(link: Link, a: LatLon, b: LatLon): Feature<LineString>[] {
  const id = `${link.a_node_id}|${link.b_node_id}`;
  const [there, back] = [rating(link, link.forward), rating(link, link.reverse)];
  if (there === back) {
    const whole = half(id, a, b, there, Math.min(link.forward.link_margin_db, link.reverse.link_margin_db), link);
    whole.geometry.coordinates = path([a, b]);
    return [whole];
  }
  return [half(`${id}|f`, a, b, there, link.forward.link_margin_db, link), half(`${id}|r`, b, a, back, link.reverse.link_margin_db, link)];
}

/** Links that close in a direction, and those of the selected nodes that do not; none of failed nodes. */
export function linkFeatures(
  links: readonly Link[],
  nodes: ReadonlyMap<string, LatLon>,
  chosen: ReadonlySet<string>,
  failed: ReadonlySet<string> = new Set(),
): Feature<LineString>[] {
  const features: Feature<LineString>[] = [];
  for (const link of links) {
    if (failed.has(link.a_node_id) || failed.has(link.b_node_id)) continue;
    const shown =
      closes(link.forward) ||
      closes(link.reverse) ||
      (chosen.has(link.a_node_id) && chosen.has(link.b_node_id)) ||
      (chosen.size === 1 && (chosen.has(link.a_node_id) || chosen.has(link.b_node_id)));
    const [a, b] = [nodes.get(link.a_node_id), nodes.get(link.b_node_id)];
    if (shown && a && b) features.push(...linkHalves(link, a, b));
  }
  return features;
}

export function line(places: readonly LatLon[], properties: Record<string, unknown> = {}): Feature<LineString> {
  return { type: 'Feature', properties, geometry: { type: 'LineString', coordinates: path(places) } };
}

export function point(place: LatLon, properties: Record<string, unknown> = {}): Feature<Point> {
  return { type: 'Feature', properties, geometry: { type: 'Point', coordinates: [place.lon, place.lat] } };
}

/** Gain of a lobe below its peak, as the planner has it: 12 (angle / beamwidth)², at most the front-to-back ratio. */
function lobeDb(angle_deg: number, beamwidth_deg: number, front_to_back_db: number): number {
  return Math.min(12 * (angle_deg / beamwidth_deg) ** 2, front_to_back_db);
}

/** The horizontal lobe of a pointed antenna as a polygon, that of its pattern if it has one; the radius is in
 * proportion to amplitude. */
export function lobe(at: LatLon, azimuth_deg: number, antenna: Antenna, radius_m: number): Feature<Polygon> {
  const { azimuth_beamwidth_deg, front_to_back_db, pattern } = antenna;
  const ring: [number, number][] = [];
  for (let off = -180; off <= 180; off += 4) {
    const loss_db = pattern
      ? lossDb(pattern.horizontal_loss_db, off)
      : lobeDb(Math.abs(off), azimuth_beamwidth_deg ?? 360, front_to_back_db ?? 0);
    const share = 10 ** (-loss_db / 20);
    const place = destination(at, (azimuth_deg + off + 360) % 360, radius_m * Math.max(share, 0.03));
    ring.push([turned(place.lon, at.lon), place.lat]);
  }
  return { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } };
}

/** Everything outside the loaded cells, as one polygon with holes. */
export function missingGround(boxes: readonly Box[]): Feature<Polygon>[] {
  const ring = (box: Box) => [
    [box.west, box.south],
    [box.west, box.north],
    [box.east, box.north],
    [box.east, box.south],
    [box.west, box.south],
  ];
  const world = { south: -LAT_MAX_DEG, west: -180, north: LAT_MAX_DEG, east: 180 };
  const outside: Feature<Polygon> = {
    type: 'Feature',
    properties: {},
    geometry: { type: 'Polygon', coordinates: [ring(world), ...boxes.map(ring)] },
  };
  return [outside];
}

export function boxFeatures(boxes: readonly Box[]): Feature<Polygon>[] {
  const features = boxes.map((box): Feature<Polygon> => {
    const ring = [
      [box.west, box.south],
      [box.east, box.south],
      [box.east, box.north],
      [box.west, box.north],
      [box.west, box.south],
    ];
    return { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } };
  });
  return features;
}
