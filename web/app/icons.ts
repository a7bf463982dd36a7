// Icons of the installed page in the build: PNG files of its sign, drawn by distances from lines.
import { crc32, deflateSync } from 'node:zlib';

type Colour = readonly [red: number, green: number, blue: number];
type Point = readonly [x: number, y: number];

/** Side of the square in which the sign is drawn, as in icon.svg. */
const SIDE = 18;
const HILL: readonly Point[] = [
  [2, 14],
  [9, 3],
  [16, 14],
];
/** Arc of the waves: the upper part of a circle between two ends. */
const ARC = {
  centre: [9, 17.57] as Point,
  radius: 5,
  half_rad: Math.asin(0.7),
  ends: [
    [5.5, 14],
    [12.5, 14],
  ] as readonly Point[],
};
const STROKE = 2;
const GROUND: Colour = [0, 90, 148];
const SIGN: Colour = [255, 255, 255];
/** Radius of the corners of the plain icon, share of its side. */
const CORNER = 0.2;

const distance = ([ax, ay]: Point, [bx, by]: Point) => Math.hypot(ax - bx, ay - by);

function toLine(at: Point, from: Point, to: Point): number {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const share = Math.min(1, Math.max(0, ((at[0] - from[0]) * dx + (at[1] - from[1]) * dy) / (dx * dx + dy * dy)));
  return distance(at, [from[0] + share * dx, from[1] + share * dy]);
}

/** Distance of a place from the middle of the strokes. */
function toSign(at: Point): number {
  const slopes = HILL.slice(1).map((to, index) => toLine(at, HILL[index] as Point, to));
  const [dx, dy] = [at[0] - ARC.centre[0], ARC.centre[1] - at[1]];
  const waves =
    Math.abs(Math.atan2(dx, dy)) <= ARC.half_rad
      ? Math.abs(Math.hypot(dx, dy) - ARC.radius)
      : Math.min(...ARC.ends.map((end) => distance(at, end)));
  return Math.min(...slopes, waves);
}

/** Distance out of a square with round corners, in its sides; negative inside. */
function outOfGround([x, y]: Point): number {
  const reach = (value: number) => Math.max(Math.abs(value - 0.5) - 0.5 + CORNER, 0);
  return Math.hypot(reach(x), reach(y)) - CORNER;
}

function chunk(kind: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

/** A PNG file of `side` px; a maskable one has ground to its edges, and its sign within the middle that every mask leaves. */
export function icon(side: number, isMaskable: boolean): Buffer {
  const size = isMaskable ? 0.6 : 0.78;
  const lines = Buffer.alloc(side * (1 + side * 4));
  const share = (distance_px: number) => Math.min(1, Math.max(0, 0.5 - distance_px));
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const [x, y] = [(column + 0.5) / side, (row + 0.5) / side];
      // The sign stands a little above the middle of its square.
      const at: Point = [((x - 0.5) / size) * SIDE + SIDE / 2, ((y - 0.5) / size) * SIDE + SIDE / 2 - 0.5];
      const sign = share(((toSign(at) - STROKE / 2) * size * side) / SIDE);
      const ground = isMaskable ? 1 : share(outOfGround([x, y]) * side);
      const pixel = GROUND.map((value, channel) => Math.round(value + ((SIGN[channel] as number) - value) * sign));
      lines.set([...pixel, Math.round(255 * ground)], row * (1 + side * 4) + 1 + column * 4);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // 8 bits a channel, red, green, blue and alpha.
  header.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
