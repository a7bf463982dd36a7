// A large mesh on the GPU: drawn into a picture larger than the view, which moves with the map. While
// the map moves only that picture is drawn; it is made anew when the view leaves it.
import type { CustomLayerInterface, CustomRenderMethodInput, Map as MapLibre } from 'maplibre-gl';
import { COLOURS, DASHES, RATINGS, WIDTHS } from '../verdict';
import { SYMBOL_SIDE_PX, symbol } from './icons';
import { anchored, mercatorX, mercatorY, program } from './mercator';
import { PLACE, ROLES, SEGMENT, type NetData } from './net-data';

/** Side of the picture over that of the view. */
const MARGIN = 1.5;
/** Change of zoom from which the picture is made anew while the map moves. */
const ZOOM_STEP = 0.5;
const SIDE_MAX_PX = 4096;
/** Side of a symbol at which it is drawn, px. */
const NODE_PX = 15;

const LINK_VERTEX = `#version 300 es
uniform vec4 u_frame;
uniform vec2 u_half;
uniform float u_ratio;
uniform float u_widths[6];
in vec2 a_corner;
in vec4 a_ends;
in float a_rating;
flat out int v_rating;
out float v_along;
void main() {
  v_rating = int(a_rating + 0.5);
  vec2 a = (a_ends.xy * u_frame.xy + u_frame.zw) * u_half;
  vec2 b = (a_ends.zw * u_frame.xy + u_frame.zw) * u_half;
  vec2 run = b - a;
  float len = max(length(run), 0.001);
  float width = u_widths[v_rating] * u_ratio;
  vec2 across = vec2(-run.y, run.x) / len * width * 0.5;
  v_along = a_corner.x * len / width;
  gl_Position = vec4((mix(a, b, a_corner.x) + across * a_corner.y) / u_half, 0.0, 1.0);
}`;

const LINK_FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 u_colours[6];
uniform vec2 u_dashes[6];
flat in int v_rating;
in float v_along;
out vec4 colour;
void main() {
  vec2 dash = u_dashes[v_rating];
  if (mod(v_along, dash.x + dash.y) > dash.x) discard;
  colour = u_colours[v_rating];
}`;

const NODE_VERTEX = `#version 300 es
uniform vec4 u_frame;
uniform vec2 u_half;
uniform float u_ratio;
in vec2 a_corner;
in vec2 a_place;
in float a_role;
out vec2 v_at;
void main() {
  vec2 unit = vec2(a_corner.x - 0.5, a_corner.y * 0.5);
  v_at = vec2((a_role + a_corner.x) / ${ROLES.length}.0, 0.5 + unit.y);
  vec2 place = (a_place * u_frame.xy + u_frame.zw) * u_half + vec2(unit.x, -unit.y) * ${NODE_PX}.0 * u_ratio;
  gl_Position = vec4(place / u_half, 0.0, 1.0);
}`;

const PICTURE_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D u_picture;
in vec2 v_at;
out vec4 colour;
void main() { colour = texture(u_picture, v_at); }`;

const QUAD_VERTEX = `#version 300 es
uniform mat4 u_matrix;
uniform vec2 u_span;
in vec2 a_corner;
out vec2 v_at;
void main() {
  vec2 unit = vec2(a_corner.x, a_corner.y * 0.5 + 0.5);
  v_at = vec2(unit.x, 1.0 - unit.y);
  gl_Position = u_matrix * vec4(unit * u_span, 0.0, 1.0);
}`;

interface Gpu {
  gl: WebGL2RenderingContext;
  links: WebGLProgram;
  nodes: WebGLProgram;
  quad: WebGLProgram;
  corners: WebGLBuffer;
  segments: WebGLBuffer;
  places: WebGLBuffer;
  symbols: WebGLTexture;
  picture: WebGLTexture;
  frame: WebGLFramebuffer;
}

/** The part of the world in the picture. */
interface Frame {
  west: number;
  north: number;
  width: number;
  height: number;
  zoom: number;
  pixels: [number, number];
}

export class NetLayer implements CustomLayerInterface {
  readonly type = 'custom' as const;
  readonly renderingMode = '2d' as const;
  /** Pictures made so far. */
  drawings = 0;
  #map: MapLibre | null = null;
  #gpu: Gpu | null = null;
  #data: NetData | null = null;
  #theme: 'light' | 'dark' = 'light';
  #roleColours: Record<string, string> = {};
  #frame: Frame | null = null;
  #stale = { data: true, symbols: true, picture: true };

  constructor(readonly id: string) {}

  /** Shows a mesh; null for none. */
  show(data: NetData | null): void {
    this.#data = data;
    this.#stale.data = true;
    this.#stale.picture = true;
    this.#map?.triggerRepaint();
  }

  restyle(theme: 'light' | 'dark', roleColours: Record<string, string>): void {
    [this.#theme, this.#roleColours] = [theme, roleColours];
    this.#stale.symbols = true;
    this.#stale.picture = true;
    this.#map?.triggerRepaint();
  }

  onAdd(map: MapLibre, context: WebGLRenderingContext | WebGL2RenderingContext): void {
    const gl = context as WebGL2RenderingContext;
    this.#map = map;
    this.#gpu = {
      gl,
      links: program(gl, LINK_VERTEX, LINK_FRAGMENT, ['a_corner', 'a_ends', 'a_rating']),
      nodes: program(gl, NODE_VERTEX, PICTURE_FRAGMENT, ['a_corner', 'a_place', 'a_role']),
      quad: program(gl, QUAD_VERTEX, PICTURE_FRAGMENT, ['a_corner']),
      corners: gl.createBuffer(),
      segments: gl.createBuffer(),
      places: gl.createBuffer(),
      symbols: gl.createTexture(),
      picture: gl.createTexture(),
      frame: gl.createFramebuffer(),
    };
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#gpu.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]), gl.STATIC_DRAW);
    this.#stale = { data: true, symbols: true, picture: true };
    this.#frame = null;
  }

  onRemove(): void {
    const gpu = this.#gpu;
    if (!gpu) return;
    const { gl } = gpu;
    for (const one of [gpu.links, gpu.nodes, gpu.quad]) gl.deleteProgram(one);
    for (const one of [gpu.corners, gpu.segments, gpu.places]) gl.deleteBuffer(one);
    for (const one of [gpu.symbols, gpu.picture]) gl.deleteTexture(one);
    gl.deleteFramebuffer(gpu.frame);
    [this.#gpu, this.#map] = [null, null];
  }

  /** True if the view, or its zoom, has left the picture. */
  #left(map: MapLibre): boolean {
    const frame = this.#frame;
    if (!frame || this.#stale.picture) return true;
    const off = Math.abs(map.getZoom() - frame.zoom);
    if (off > ZOOM_STEP || (off > 1e-3 && !map.isMoving())) return true;
    const bounds = map.getBounds();
    const [west, east] = [mercatorX(bounds.getWest()), mercatorX(bounds.getEast())];
    const [north, south] = [mercatorY(bounds.getNorth()), mercatorY(bounds.getSouth())];
    return west < frame.west || north < frame.north || east > frame.west + frame.width || south > frame.north + frame.height;
  }

  prerender(): void {
    const [map, gpu, data] = [this.#map, this.#gpu, this.#data];
    if (!map || !gpu || !data || !this.#left(map)) return;
    const { gl } = gpu;
    if (this.#stale.data) {
      for (const [buffer, values] of [[gpu.segments, data.segments], [gpu.places, data.places]] as const) {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      }
    }
    if (this.#stale.symbols) this.#drawSymbols(gpu);
    this.#stale = { data: false, symbols: false, picture: false };
    const frame = this.#place(map, gl);
    this.#draw(gpu, data, frame, map.getPixelRatio());
    this.#frame = frame;
    this.drawings++;
  }

  #drawSymbols({ gl, symbols }: Gpu): void {
    const side = SYMBOL_SIDE_PX;
    const all = new Uint8Array(side * ROLES.length * side * 4);
    for (const [at, role] of ROLES.entries()) {
      const { data } = symbol(role, this.#roleColours[role] ?? '#555555', '#ffffff');
      for (let row = 0; row < side; row++) {
        const into = (row * side * ROLES.length + at * side) * 4;
        for (let byte = 0; byte < side * 4; byte++) {
          const alpha = data[row * side * 4 + (byte | 3)] as number;
          const value = data[row * side * 4 + byte] as number;
          all[into + byte] = (byte & 3) === 3 ? alpha : (value * alpha) / 255;
        }
      }
    }
    gl.bindTexture(gl.TEXTURE_2D, symbols);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, side * ROLES.length, side, 0, gl.RGBA, gl.UNSIGNED_BYTE, all);
    this.#filter(gl);
  }

  #filter(gl: WebGL2RenderingContext): void {
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  }

  /** The part of the world around the view. */
  #place(map: MapLibre, gl: WebGL2RenderingContext): Frame {
    const bounds = map.getBounds();
    const [west, east] = [mercatorX(bounds.getWest()), mercatorX(bounds.getEast())];
    const [north, south] = [mercatorY(bounds.getNorth()), mercatorY(bounds.getSouth())];
    const [width, height] = [(east - west) * MARGIN, (south - north) * MARGIN];
    const [middle, centre] = [(west + east) / 2, (north + south) / 2];
    const pixels = [gl.drawingBufferWidth, gl.drawingBufferHeight].map((side) => Math.min(SIDE_MAX_PX, Math.round(side * MARGIN))) as [number, number];
    return { west: middle - width / 2, north: centre - height / 2, width, height, zoom: map.getZoom(), pixels };
  }

  #draw(gpu: Gpu, data: NetData, frame: Frame, ratio: number): void {
    const { gl } = gpu;
    const [wide, high] = frame.pixels;
    const before = gl.getParameter(gl.FRAMEBUFFER_BINDING) as WebGLFramebuffer | null;
    const port = gl.getParameter(gl.VIEWPORT) as Int32Array;
    gl.bindTexture(gl.TEXTURE_2D, gpu.picture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, wide, high, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    this.#filter(gl);
    gl.bindFramebuffer(gl.FRAMEBUFFER, gpu.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, gpu.picture, 0);
    gl.viewport(0, 0, wide, high);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.SCISSOR_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.colorMask(true, true, true, true);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.bindVertexArray(null);
    const west = frame.west - data.anchor[0];
    const north = frame.north - data.anchor[1];
    const scale = [2 / frame.width, -2 / frame.height] as const;
    const view = [...scale, -1 - west * scale[0], 1 - north * scale[1]] as const;
    const use = (made: WebGLProgram, buffer: WebGLBuffer, sizes: readonly [number, number], count: number) => {
      const at = (name: string) => gl.getUniformLocation(made, name);
      gl.useProgram(made);
      gl.uniform4f(at('u_frame'), ...view);
      gl.uniform2f(at('u_half'), wide / 2, high / 2);
      gl.uniform1f(at('u_ratio'), ratio);
      this.#corners(gpu);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      const stride = (sizes[0] + sizes[1]) * 4;
      sizes.forEach((size, index) => {
        gl.enableVertexAttribArray(index + 1);
        gl.vertexAttribPointer(index + 1, size, gl.FLOAT, false, stride, index * (sizes[0] as number) * 4);
        gl.vertexAttribDivisor(index + 1, 1);
      });
      return { at, draw: () => gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count) };
    };
    const links = use(gpu.links, gpu.segments, [4, 1], data.segments.length / SEGMENT);
    gl.uniform4fv(links.at('u_colours'), RATINGS.flatMap((rating) => colour(COLOURS[this.#theme][rating])));
    gl.uniform2fv(links.at('u_dashes'), RATINGS.flatMap((rating) => DASHES[rating].slice(0, 2)));
    gl.uniform1fv(links.at('u_widths'), RATINGS.map((rating) => WIDTHS[rating] * 0.6));
    links.draw();
    const nodes = use(gpu.nodes, gpu.places, [2, 1], data.places.length / PLACE);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, gpu.symbols);
    gl.uniform1i(nodes.at('u_picture'), 0);
    nodes.draw();
    for (const index of [1, 2]) {
      gl.vertexAttribDivisor(index, 0);
      gl.disableVertexAttribArray(index);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, before);
    gl.viewport(port[0] as number, port[1] as number, port[2] as number, port[3] as number);
  }

  #corners({ gl, corners }: Gpu): void {
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 8, 0);
    gl.vertexAttribDivisor(0, 0);
  }

  render(_context: WebGLRenderingContext | WebGL2RenderingContext, args: CustomRenderMethodInput): void {
    const [gpu, frame] = [this.#gpu, this.#frame];
    if (!gpu || !frame || !this.#data) return;
    const { gl } = gpu;
    const at = (name: string) => gl.getUniformLocation(gpu.quad, name);
    gl.useProgram(gpu.quad);
    gl.uniformMatrix4fv(at('u_matrix'), false, anchored(args.defaultProjectionData.mainMatrix as ArrayLike<number>, [frame.west, frame.north]));
    gl.uniform2f(at('u_span'), frame.width, frame.height);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, gpu.picture);
    gl.uniform1i(at('u_picture'), 0);
    gl.bindVertexArray(null);
    this.#corners(gpu);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}

/** A colour #rrggbb as four numbers of [0, 1]. */
function colour(hex: string): [number, number, number, number] {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as [number, number, number];
  return [red, green, blue, 1];
}
