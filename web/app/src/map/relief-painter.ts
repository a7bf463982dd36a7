// Shaded relief of the server, square by square, while coarser squares stand in for those that are awaited. With tint
// or contour lines the squares have heights and lines in channels of their own.
import type { Box } from './features';
import { filter, program, rgba, square, useSquare } from './gpu';
import { mercatorX, mercatorY } from './mercator';
import { joined, placed, type Area, type Changed, type Frame, type Painter } from './picture';
import type { MapTheme } from './theme';

/** Squares kept, 256 px each. */
const KEPT = 160;
/** Squares that are asked for at once: the browser has them wait for connections, not for drawing. */
const AT_ONCE = 12;
const SIDE_PX = 256;
/** Colours of the tint. */
const STOPS_MAX = 8;
/** Squares that come within this time are drawn at once: each drawing shows the whole screen anew. */
const TOGETHER_MS = 120;
/** A square that did not come is asked for again after this time. */
const RETRY_MS = 10_000;

const VERTEX = `#version 300 es
uniform vec4 u_place;
in vec2 a_corner;
out vec2 v_at;
void main() {
  v_at = vec2(a_corner.x, a_corner.y * 0.5 + 0.5);
  // Neighbours have their common edge from the same number: no line is left between them.
  gl_Position = vec4(mix(u_place.xy, u_place.zw, v_at), 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D u_picture;
uniform vec2 u_brightness;
uniform bool u_detailed;
uniform float u_codes[${STOPS_MAX}];
uniform vec3 u_colours[${STOPS_MAX}];
uniform int u_stops;
uniform vec4 u_contour;
in vec2 v_at;
out vec4 colour;
vec3 tint(float code) {
  vec3 found = u_colours[0];
  for (int at = 1; at < ${STOPS_MAX}; at++)
    if (at < u_stops) found = mix(found, u_colours[at], clamp((code - u_codes[at - 1]) / (u_codes[at] - u_codes[at - 1]), 0.0, 1.0));
  return found;
}
void main() {
  vec4 found = texture(u_picture, v_at);
  vec3 lit = vec3(u_brightness.x * found.a + (u_brightness.y - u_brightness.x) * found.r);
  if (u_detailed) {
    // Channels are multiplied by the alpha, which is below 1 at coasts alone.
    float alpha = max(found.a, 0.004);
    lit *= tint(found.g / alpha);
    lit = mix(lit, u_contour.rgb * found.a, u_contour.a * found.b / alpha);
  }
  colour = vec4(lit, found.a);
}`;

/** Contour lines, at their thickest, hide this share of the ground. */
const CONTOUR_ALPHA = 0.6;
/** Height of the highest code of the squares, m. */
const CODED_M_MAX = 6000;

/** What the relief shows besides light and shadow. */
export interface ReliefDetail {
  tint: boolean;
  contours: boolean;
}

/** Code of a height in the squares, [0, 1]. */
const codeOf = (height_m: number) => (1 + 254 * Math.sqrt(height_m / CODED_M_MAX)) / 255;

const WHITE = new Float32Array(3 * STOPS_MAX).fill(1);

interface Square {
  z: number;
  x: number;
  y: number;
  key: string;
  /** False in the margin of the picture. */
  inView: boolean;
}

function named(z: number, x: number, y: number, inView: boolean): Square {
  return { z, x, y, key: `${z}/${x}/${y}`, inView };
}

export class ReliefPainter implements Painter {
  #gl: WebGL2RenderingContext | null = null;
  #changed: Changed = () => undefined;
  #program: WebGLProgram | null = null;
  #corners: WebGLBuffer | null = null;
  #textures = new Map<string, WebGLTexture>();
  #asked = new Map<string, Square & { abort(): void }>();
  #waiting: Square[] = [];
  /** Times at which squares did not come, ms of the page. */
  #failed = new Map<string, number>();
  #bounds: readonly Area[] = [];
  #zoom = { min: 0, max: 0 };
  #brightness: readonly [number, number] = [0, 1];
  #detail: ReliefDetail = { tint: false, contours: false };
  #codes = new Float32Array(STOPS_MAX);
  #colours = new Float32Array(3 * STOPS_MAX);
  #stops = 1;
  #contour: readonly [number, number, number] = [0, 0, 0];
  /** Area of squares that have come and are not drawn yet. */
  #come: Area | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #cache: RequestCache = 'default';

  /** `template` with {z}, {x} and {y}; `failed` is told of the first square that does not come. */
  constructor(
    private readonly template: string,
    private readonly failed: (text: string) => void,
  ) {}

  /** Squares in the picture. */
  squares = 0;
  #painted = false;

  /** True once every square in view is there or has failed. */
  get settled(): boolean {
    const awaited = [...this.#asked.values(), ...this.#waiting];
    return this.#painted && !awaited.some(({ inView }) => inView);
  }

  show(cells: readonly Box[], zoom: { min: number; max: number }): void {
    this.#bounds = cells.map((box) => ({
      west: mercatorX(box.west),
      east: mercatorX(box.east),
      north: mercatorY(box.north),
      south: mercatorY(box.south),
    }));
    this.#zoom = zoom;
    this.#painted = false;
    this.#changed();
  }

  /** Drops the squares: the ground is another, also where a browser has kept them. */
  renew(): void {
    this.#drop();
    this.#cache = 'no-cache';
  }

  restyle({ relief: { min, max }, tint, contour }: MapTheme): void {
    this.#brightness = [min, max];
    this.#stops = tint.length;
    tint.forEach(([height_m, hex], at) => {
      this.#codes[at] = codeOf(height_m);
      this.#colours.set(rgba(hex).slice(0, 3), 3 * at);
    });
    this.#contour = rgba(contour).slice(0, 3) as [number, number, number];
    this.#changed();
  }

  /** Called when other details are shown. */
  detailed: (detail: ReliefDetail) => void = () => undefined;

  /** Shows ground by its height, contour lines, or neither. */
  setDetail(detail: ReliefDetail): void {
    const before = this.#query(this.#detail);
    this.#detail = detail;
    this.detailed(detail);
    if (before !== this.#query(detail)) {
      // Other squares, which hold more or less.
      this.#drop();
      this.#painted = false;
    }
    this.#changed();
  }

  /** What is asked for besides the light. */
  #query({ tint, contours }: ReliefDetail): string {
    return contours ? '?detail=contours' : tint ? '?detail=heights' : '';
  }

  #drop(): void {
    for (const asked of this.#asked.values()) asked.abort();
    for (const texture of this.#textures.values()) this.#gl?.deleteTexture(texture);
    this.#textures.clear();
    this.#failed.clear();
  }

  open(gl: WebGL2RenderingContext, changed: Changed): void {
    [this.#gl, this.#changed] = [gl, changed];
    this.#program = program(gl, VERTEX, FRAGMENT, ['a_corner']);
    this.#corners = square(gl);
    this.#textures.clear();
  }

  close(): void {
    for (const asked of this.#asked.values()) asked.abort();
    clearTimeout(this.#timer);
    [this.#timer, this.#come] = [undefined, null];
    this.#gl?.deleteProgram(this.#program);
    this.#gl?.deleteBuffer(this.#corners);
    for (const texture of this.#textures.values()) this.#gl?.deleteTexture(texture);
    this.#textures.clear();
    this.#asked.clear();
    this.#waiting = [];
    this.#gl = null;
  }

  /** Squares of a frame over loaded cells, those in view first, from the middle outwards. */
  #squares(frame: Frame): Square[] {
    const z = Math.min(Math.round(frame.zoom + 1), this.#zoom.max);
    if (z < this.#zoom.min) return [];
    const side = 2 ** z;
    const found: (Square & { off: number })[] = [];
    const within = (box: Area) =>
      box.west < frame.west + frame.width && box.east > frame.west && box.north < frame.north + frame.height && box.south > frame.north;
    const boxes = this.#bounds.filter(within);
    for (let y = Math.max(0, Math.floor(frame.north * side)); y < Math.min(side, (frame.north + frame.height) * side); y++)
      for (let x = Math.max(0, Math.floor(frame.west * side)); x < Math.min(side, (frame.west + frame.width) * side); x++) {
        const meets = (box: Area) => box.west * side < x + 1 && box.east * side > x && box.north * side < y + 1 && box.south * side > y;
        const off = Math.hypot((x + 0.5) / side - frame.west - frame.width / 2, (y + 0.5) / side - frame.north - frame.height / 2);
        if (boxes.some(meets)) found.push({ ...named(z, x, y, meets(frame.view)), off });
      }
    return found.sort((a, b) => Number(b.inView) - Number(a.inView) || a.off - b.off);
  }

  paint(frame: Frame): void {
    const gl = this.#gl;
    if (!gl || !this.#program || !this.#corners) return;
    const squares = this.#squares(frame);
    const lacking = squares.filter(({ key }) => !this.#textures.has(key));
    const drawn = squares.filter(({ key }) => this.#textures.has(key));
    const coarse = new Map(lacking.flatMap((one) => this.#parent(one) ?? []).map((one) => [one.key, one]));
    const patient = performance.now() - RETRY_MS;
    this.#want(lacking.filter(({ key }) => (this.#failed.get(key) ?? -Infinity) < patient));

    const at = (name: string) => gl.getUniformLocation(this.#program as WebGLProgram, name);
    gl.useProgram(this.#program);
    gl.uniform2f(at('u_brightness'), ...this.#brightness);
    gl.uniform1i(at('u_picture'), 0);
    gl.uniform1i(at('u_detailed'), Number(this.#query(this.#detail) !== ''));
    // Without tint the ground is grey: one colour, white.
    gl.uniform1fv(at('u_codes'), this.#codes);
    gl.uniform3fv(at('u_colours'), this.#detail.tint ? this.#colours : WHITE);
    gl.uniform1i(at('u_stops'), this.#detail.tint ? this.#stops : 1);
    gl.uniform4f(at('u_contour'), ...this.#contour, this.#detail.contours ? CONTOUR_ALPHA : 0);
    gl.activeTexture(gl.TEXTURE0);
    useSquare(gl, this.#corners);
    // A finer square replaces what a coarser one has left there.
    gl.disable(gl.BLEND);
    for (const one of [...[...coarse.values()].sort((a, b) => a.z - b.z), ...drawn]) {
      const side = 2 ** -one.z;
      const [, , left, top] = placed(frame, [one.x * side, one.y * side]);
      const [, , right, bottom] = placed(frame, [(one.x + 1) * side, (one.y + 1) * side]);
      const texture = this.#textures.get(one.key) as WebGLTexture;
      this.#textures.delete(one.key);
      this.#textures.set(one.key, texture);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform4f(at('u_place'), left, top, right, bottom);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    this.squares = drawn.length;
    this.#painted = true;
    for (const [key, texture] of this.#textures) {
      if (this.#textures.size <= Math.max(KEPT, drawn.length)) break;
      gl.deleteTexture(texture);
      this.#textures.delete(key);
    }
  }

  /** The finest square at hand that contains this one. */
  #parent({ z, x, y }: Square): Square | null {
    for (let up = 1; z - up >= this.#zoom.min; up++) {
      const found = named(z - up, x >> up, y >> up, false);
      if (this.#textures.has(found.key)) return found;
    }
    return null;
  }

  #want(squares: Square[]): void {
    const wanted = new Set(squares.map(({ key }) => key));
    for (const [key, asked] of this.#asked) if (!wanted.has(key)) asked.abort();
    this.#waiting = squares.filter(({ key }) => !this.#asked.has(key));
    this.#next();
  }

  #next(): void {
    while (this.#asked.size < AT_ONCE) {
      const one = this.#waiting.shift();
      if (!one) return;
      void this.#load(one);
    }
  }

  async #load(one: Square): Promise<void> {
    const { z, x, y, key } = one;
    const asked = new AbortController();
    this.#asked.set(key, { ...one, abort: () => asked.abort() });
    const url = this.template.replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y)) + this.#query(this.#detail);
    try {
      const answer = await fetch(url, { signal: asked.signal, cache: this.#cache });
      if (!answer.ok) throw new Error(`the relief ${key} was refused with status ${answer.status}`);
      const picture = await createImageBitmap(await answer.blob(), { premultiplyAlpha: 'premultiply', colorSpaceConversion: 'none' });
      this.#keep(one, picture);
    } catch (error) {
      if (!asked.signal.aborted) {
        // A server that is gone is shown elsewhere.
        if (!this.#failed.size && !(error instanceof TypeError)) this.failed(String(error instanceof Error ? error.message : error));
        this.#failed.set(key, performance.now());
      }
    }
    this.#asked.delete(key);
    this.#next();
    if (this.settled) this.#tell();
  }

  #keep({ z, x, y, key }: Square, picture: ImageBitmap): void {
    const gl = this.#gl;
    if (!gl) return;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, SIDE_PX, SIDE_PX, 0, gl.RGBA, gl.UNSIGNED_BYTE, picture);
    filter(gl, 'linear');
    this.#textures.set(key, texture);
    const side = 2 ** -z;
    const area = { west: x * side, north: y * side, east: (x + 1) * side, south: (y + 1) * side };
    this.#come = this.#come ? joined(this.#come, area) : area;
    this.#timer ??= setTimeout(() => this.#tell(), TOGETHER_MS);
  }

  /** Has the squares drawn that have come. */
  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#come) this.#changed(this.#come);
    this.#come = null;
  }
}
