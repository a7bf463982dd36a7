// Pixels of screenshots: a reader of PNG files, and colours at places.
import { inflateSync } from 'node:zlib';

export type Colour = readonly [number, number, number];

/** Red, green and blue of #rrggbb, 0 to 255. */
export function rgb(hex: string): Colour {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Colour;
}

/** Greatest difference of a channel. */
export function off(a: Colour, b: Colour): number {
  return Math.max(...a.map((value, channel) => Math.abs(value - (b[channel] as number))));
}

export class Picture {
  private constructor(
    readonly width: number,
    readonly height: number,
    private readonly octets: Uint8Array,
    private readonly channels: number,
  ) {}

  /** A PNG file of 8 bits a channel that is not interlaced, as browsers write them. */
  static of(file: Buffer): Picture {
    let [width, height, channels] = [0, 0, 0];
    const packed: Buffer[] = [];
    for (let at = 8; at < file.length;) {
      const [length, kind, body] = [file.readUInt32BE(at), file.toString('latin1', at + 4, at + 8), at + 8];
      if (kind === 'IHDR') {
        [width, height] = [file.readUInt32BE(body), file.readUInt32BE(body + 4)];
        const [depth, colours, interlaced] = [file[body + 8], file[body + 9], file[body + 12]];
        channels = colours === 6 ? 4 : 3;
        if (depth !== 8 || interlaced !== 0 || (colours !== 2 && colours !== 6))
          throw new Error(`a PNG file of depth ${depth}, colours ${colours}, interlacing ${interlaced}`);
      } else if (kind === 'IDAT') packed.push(file.subarray(body, body + length));
      at = body + length + 4;
    }
    const lines = inflateSync(Buffer.concat(packed));
    const stride = width * channels;
    const octets = new Uint8Array(height * stride);
    for (let row = 0; row < height; row++) {
      const [filter, from, to] = [lines[row * (stride + 1)], row * (stride + 1) + 1, row * stride];
      for (let at = 0; at < stride; at++) {
        const left = at < channels ? 0 : (octets[to + at - channels] as number);
        const up = row ? (octets[to - stride + at] as number) : 0;
        const corner = row && at >= channels ? (octets[to - stride + at - channels] as number) : 0;
        let guess = 0;
        if (filter === 1) guess = left;
        else if (filter === 2) guess = up;
        else if (filter === 3) guess = (left + up) >> 1;
        else if (filter === 4) {
          const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
          guess = a <= b && a <= c ? left : b <= c ? up : corner;
        }
        octets[to + at] = ((lines[from + at] as number) + guess) & 255;
      }
    }
    return new Picture(width, height, octets, channels);
  }

  at(x: number, y: number): Colour {
    const from =
      (Math.min(this.height - 1, Math.max(0, Math.round(y))) * this.width + Math.min(this.width - 1, Math.max(0, Math.round(x)))) *
      this.channels;
    return [this.octets[from] as number, this.octets[from + 1] as number, this.octets[from + 2] as number];
  }

  /** True if a pixel no further than `reach` px has a colour. */
  has({ x, y }: { x: number; y: number }, colour: Colour, reach = 1, tolerance = 12): boolean {
    for (let down = -reach; down <= reach; down++)
      for (let across = -reach; across <= reach; across++) if (off(this.at(x + across, y + down), colour) <= tolerance) return true;
    return false;
  }
}
