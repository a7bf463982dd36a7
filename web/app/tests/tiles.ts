// A source of ground on this machine: tiles of hills as Terrain Tiles publishes them, and forest as ESA WorldCover does,
// at a pace, or refusals.
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { coverFile, TREES } from './cover-file';

/** Posts along a side of a tile of 3 arc-seconds. */
const SIDE = 1201;
/** Height of the hills, m, and their number along a side of a tile. */
const HILL_M = 60;
const HILLS = 24;

/** An .hgt tile of hills between 20 m and 80 m. */
function hills(): Buffer {
  const posts = Buffer.alloc(2 * SIDE * SIDE);
  const wave = (at: number) => 0.5 - 0.5 * Math.cos((2 * Math.PI * HILLS * at) / (SIDE - 1));
  for (let row = 0; row < SIDE; row++)
    for (let column = 0; column < SIDE; column++)
      posts.writeInt16BE(20 + Math.round(HILL_M * wave(row) * wave(column)), 2 * (row * SIDE + column));
  return gzipSync(posts, { level: 1 });
}

export class Tiles {
  /** Paths of the requests. */
  readonly asked: string[] = [];
  /** First bytes of the requests that continue a tile. */
  readonly continued: number[] = [];
  /** Status of every answer; 200 for tiles. */
  status = 200;
  /** Pause in the middle of a tile, until it is released. */
  held: Promise<void> | null = null;
  #release: () => void = () => undefined;

  private constructor(
    private readonly server: HttpServer,
    readonly url: string,
  ) {}

  /** Serves the tiles of these squares, and 404 for others. */
  static async of(squares: readonly string[]): Promise<Tiles> {
    const ground = hills();
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      tiles.asked.push(path);
      const square = /\/([NS]\d\d[EW]\d{3})\.hgt\.gz$/.exec(path)?.[1];
      const cover = /_N(\d\d)E(\d{3})_Map\.tif$/.exec(path);
      if (tiles.status !== 200 || !(cover || (square && squares.includes(square)))) {
        response.writeHead(tiles.status === 200 ? 404 : tiles.status).end();
        return;
      }
      const tile = cover ? coverFile(Number(cover[1]), Number(cover[2]), 3, TREES) : ground;
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      if (from) tiles.continued.push(from);
      const part = from ? { 'content-range': `bytes ${from}-${tile.length - 1}/${tile.length}` } : {};
      response.writeHead(from ? 206 : 200, { etag: cover ? '"trees"' : '"hills"', 'content-length': tile.length - from, ...part });
      const half = from + ((tile.length - from) >> 1);
      response.write(tile.subarray(from, half));
      void Promise.resolve(tiles.held).then(() => response.end(tile.subarray(half)));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const tiles = new Tiles(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return tiles;
  }

  /** Stops every tile in its middle. */
  hold(): void {
    this.held = new Promise((release) => (this.#release = release));
  }

  release(): void {
    this.held = null;
    this.#release();
  }

  async close(): Promise<void> {
    this.release();
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}
