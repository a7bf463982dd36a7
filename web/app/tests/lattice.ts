// A made-up mesh whose nodes lie on a lattice of pixels of the map, so that it is known which pixel shows what.
import { COLOURS, type Rating } from '../src/verdict';
import { Picture, rgb, type Colour } from './pixels';
import './server';

/** A page of any browser. */
export interface Surface {
  evaluate<T, Given>(work: (given: Given) => T | Promise<T>, given: Given): Promise<T>;
  screenshot(): Promise<Buffer>;
}

/** Rows and columns of nodes, and their distance, px. */
export interface Lattice {
  rows: number;
  columns: number;
  step: number;
  /** Each node is linked to all others, else to its neighbour in the row. */
  complete: boolean;
}

/** 80 nodes and 3,160 links. */
export const LINKED: Lattice = { rows: 8, columns: 10, step: 60, complete: true };
/** 900 nodes and 870 links. */
export const DENSE: Lattice = { rows: 30, columns: 30, step: 20, complete: false };

const ROLES = ['relay', 'team', 'sensor'] as const;
/** Rating of the links of a row; in a complete mesh they cross, so all have the first. */
const RATED: readonly Rating[] = ['good', 'excellent'];

/** A place of the page and the colour that it must have. */
export interface Spot {
  what: string;
  x: number;
  y: number;
  colour: Colour;
}

/** Puts the mesh into the plan that the page shows; `from` is the first node, px of the map. */
export async function fill(page: Surface, lattice: Lattice, from = { x: 130, y: 70 }): Promise<void> {
  await page.evaluate(
    ({ lattice: { rows, columns, step, complete }, from, roles, rated }) => {
      const { app, map } = window.groundwave;
      const model = app.plan.nodes[0]!;
      const nodes = Array.from({ length: rows * columns }, (_, at) => {
        const { lat, lng } = map.map.unproject([from.x + step * (at % columns), from.y + step * Math.floor(at / columns)]);
        return { ...model, id: `n${at}`, name: `Node ${at}`, role: roles[at % roles.length]!, lat, lon: lng };
      });
      const link = (a: number, b: number) => {
        const verdict = rated[complete ? 0 : Math.floor(a / columns) % rated.length]!;
        const direction = { verdict, link_margin_db: 12, link_prob: 0.95, rx_power_dbm: -90, usable_rate_bps: 1000 };
        return {
          a_node_id: `n${a}`,
          b_node_id: `n${b}`,
          distance_m: 1000,
          line_of_sight: true,
          missing_samples: 0,
          forward: direction,
          reverse: direction,
        };
      };
      const links = nodes.flatMap((_, a) =>
        nodes.flatMap((_, b) => (b > a && (complete || (b === a + 1 && b % columns)) ? [link(a, b)] : [])),
      );
      // Complete meshes show all links, so that those of neighbours are among them.
      if (complete) app.ui.perNode = Infinity;
      app.plan.nodes = nodes as never;
      app.plan.links = links as never;
    },
    { lattice, from, roles: ROLES, rated: RATED },
  );
}

/** Middles of nodes, and of links to the neighbour in the row, that are on the free part of the map. */
export async function spots(page: Surface, { rows, columns, complete }: Lattice, theme: 'light' | 'dark' = 'light'): Promise<Spot[]> {
  const found = await page.evaluate((_: null) => {
    const { app, map } = window.groundwave;
    const box = document.querySelector('.map')!.getBoundingClientRect();
    const places = app.plan.nodes.map(({ role, lat, lon }) => ({ role, ...map.map.project([lon, lat]) }));
    return {
      places: places.map(({ role, x, y }) => ({ role, x: x + box.x, y: y + box.y })),
      colours: Object.fromEntries(app.plan.roles.map(({ id, color }) => [id, color])),
    };
  }, null);
  const nodes = found.places.map(({ role, x, y }, at) => ({ what: `node ${at}`, x, y, colour: rgb(found.colours[role] as string) }));
  const links = nodes.flatMap((a, at) => {
    const b = nodes[at + 1];
    if (!b || (at + 1) % columns === 0) return [];
    const rated = RATED[complete ? 0 : Math.floor(at / columns) % RATED.length] as Rating;
    return [{ what: `link ${at}`, x: (a.x + b.x) / 2, y: a.y, colour: rgb(COLOURS[theme][rated]) }];
  });
  if (nodes.length !== rows * columns) throw new Error(`the plan has ${nodes.length} nodes`);
  const free = await page.evaluate(
    (all) => all.map(({ x, y }) => document.elementFromPoint(x, y)?.matches('.map canvas') ?? false),
    [...nodes, ...links].map(({ x, y }) => ({ x, y })),
  );
  return [...nodes, ...links].filter((_, at) => free[at]);
}

export async function picture(page: Surface): Promise<Picture> {
  return Picture.of(await page.screenshot());
}

const NAMED_MAX = 12;

/** Names of the spots that do not have their colour: the first of them, and how many there are. */
export async function lacking(page: Surface, all: readonly Spot[]): Promise<string[]> {
  const shown = await picture(page);
  const found = all.filter((spot) => !shown.has(spot, spot.colour)).map(({ what }) => what);
  return found.length > NAMED_MAX ? [...found.slice(0, NAMED_MAX), `${found.length} of ${all.length}`] : found;
}
