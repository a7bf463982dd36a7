// Lines of equal height through a square of posts, by marching squares.

/** A place in a square of posts: columns from the west, rows from the north. */
export type PostPlace = readonly [column: number, row: number];

/** Distance of contour lines at a zoom of the relief, m, as the interface states it (`detail=contours`). */
export function contourInterval_m(zoom: number): number {
  if (zoom <= 8) return 500;
  if (zoom === 9) return 200;
  if (zoom <= 11) return 100;
  return zoom === 12 ? 50 : zoom === 13 ? 20 : 10;
}

/** Every so many lines one is an index line: broader, and with its height. */
export const INDEX_EVERY = 5;

/** Multiples of a distance within heights, without that of the sea. */
export function levelsWithin(heights_m: ArrayLike<number>, distance_m: number): number[] {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < heights_m.length; at++) {
    const height_m = heights_m[at] as number;
    low = Math.min(low, height_m);
    high = Math.max(high, height_m);
  }
  const levels: number[] = [];
  for (let level = Math.ceil(low / distance_m) * distance_m; level <= high; level += distance_m) if (level !== 0) levels.push(level);
  return levels;
}

/** Sides of a cell that a line joins, by which of its corners are at or above the level: top 0, right 1, bottom 2, left 3. */
const JOINED: readonly (readonly (readonly [number, number])[])[] = [
  [],
  [[3, 0]],
  [[0, 1]],
  [[3, 1]],
  [[1, 2]],
  [
    [3, 0],
    [1, 2],
  ],
  [[0, 2]],
  [[3, 2]],
  [[2, 3]],
  [[2, 0]],
  [
    [0, 1],
    [2, 3],
  ],
  [[2, 1]],
  [[1, 3]],
  [[1, 0]],
  [[0, 3]],
  [],
];

/** Lines of the places with a height; `heights_m` are rows of `side` posts. Lines end at the edge, or where they began. */
export function contourLines(heights_m: ArrayLike<number>, side: number, level_m: number): PostPlace[][] {
  const at = (column: number, row: number) => heights_m[row * side + column] as number;
  /** The place between two posts where the level lies. */
  const between = (a: number, b: number) => (b === a ? 0.5 : (level_m - a) / (b - a));
  /** Number of a side: those across have even numbers, those down odd ones, so that cells share them. */
  const number = (column: number, row: number, edge: number) =>
    2 * ((row + (edge === 2 ? 1 : 0)) * side + column + (edge === 1 ? 1 : 0)) + (edge % 2);
  const places = new Map<number, PostPlace>();
  const neighbours = new Map<number, number[]>();
  for (let row = 0; row + 1 < side; row++) {
    for (let column = 0; column + 1 < side; column++) {
      const [nw, ne, se, sw] = [at(column, row), at(column + 1, row), at(column + 1, row + 1), at(column, row + 1)];
      const code = (nw >= level_m ? 1 : 0) | (ne >= level_m ? 2 : 0) | (se >= level_m ? 4 : 0) | (sw >= level_m ? 8 : 0);
      const place = (edge: number): PostPlace =>
        edge === 0
          ? [column + between(nw, ne), row]
          : edge === 1
            ? [column + 1, row + between(ne, se)]
            : edge === 2
              ? [column + between(sw, se), row + 1]
              : [column, row + between(nw, sw)];
      for (const [from, to] of JOINED[code] ?? []) {
        const ends = [number(column, row, from), number(column, row, to)] as const;
        places.set(ends[0], place(from));
        places.set(ends[1], place(to));
        for (const [one, other] of [ends, [ends[1], ends[0]] as const]) neighbours.set(one, [...(neighbours.get(one) ?? []), other]);
      }
    }
  }
  const lines: PostPlace[][] = [];
  const left = new Set(places.keys());
  const follow = (begin: number) => {
    const line: PostPlace[] = [];
    for (let next: number | undefined = begin; next !== undefined; next = neighbours.get(next)?.find((other) => left.has(other))) {
      left.delete(next);
      line.push(places.get(next) as PostPlace);
    }
    if (line.length > 2 && neighbours.get(begin)?.length === 2) line.push(line[0] as PostPlace);
    if (line.length > 1) lines.push(line);
  };
  // Open lines from their ends, then closed ones.
  for (const [edge, others] of neighbours) if (others.length === 1 && left.has(edge)) follow(edge);
  for (const edge of neighbours.keys()) if (left.has(edge)) follow(edge);
  return lines;
}
