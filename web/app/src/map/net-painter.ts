// Nodes and links of a large mesh: drawn once a picture, and copied into it when ground below them comes.
import { BREADTHS, COLOURS, DASHES, RATINGS, WIDTHS } from '../verdict';
import { SYMBOL_SIDE_PX, symbol } from './icons';
import { drawInstances, filter, program, rgba, square, Target, useSquare } from './gpu';
import { PLACE, ROLES, SEGMENT, type NetData } from './net-data';
import { inView, PICTURE_FRAGMENT, placed, type Changed, type Frame, type Painter } from './picture';

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
  v_rating = int(floor(a_rating));
  vec2 a = (a_ends.xy * u_frame.xy + u_frame.zw) * u_half;
  vec2 b = (a_ends.zw * u_frame.xy + u_frame.zw) * u_half;
  vec2 run = b - a;
  float len = max(length(run), 0.001);
  // Strong links are broad, weak ones thin.
  float width = u_widths[v_rating] * mix(${BREADTHS[0].toFixed(2)}, ${BREADTHS[1].toFixed(2)}, fract(a_rating)) * u_ratio;
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

const COPY_VERTEX = `#version 300 es
in vec2 a_corner;
out vec2 v_at;
void main() {
  v_at = vec2(a_corner.x, a_corner.y * 0.5 + 0.5);
  gl_Position = vec4(v_at * 2.0 - 1.0, 0.0, 1.0);
}`;

interface Gpu {
  gl: WebGL2RenderingContext;
  links: WebGLProgram;
  nodes: WebGLProgram;
  corners: WebGLBuffer;
  segments: WebGLBuffer;
  places: WebGLBuffer;
  symbols: WebGLTexture;
  copy: WebGLProgram;
  own: Target;
}

export class NetPainter implements Painter {
  /** Times it was drawn. */
  drawings = 0;
  #gpu: Gpu | null = null;
  #changed: Changed = () => undefined;
  #data: NetData | null = null;
  #theme: 'light' | 'dark' = 'light';
  #roleColours: Record<string, string> = {};
  #stale = { data: true, symbols: true };
  /** The frame that was drawn last. */
  #frame: Frame | null = null;

  /** Shows a mesh; null for none. */
  show(data: NetData | null): void {
    this.#data = data;
    this.#stale.data = true;
    this.#changed();
  }

  restyle(theme: 'light' | 'dark', roleColours: Record<string, string>): void {
    [this.#theme, this.#roleColours] = [theme, roleColours];
    this.#stale.symbols = true;
    this.#changed();
  }

  open(gl: WebGL2RenderingContext, changed: Changed): void {
    this.#changed = changed;
    this.#gpu = {
      gl,
      links: program(gl, LINK_VERTEX, LINK_FRAGMENT, ['a_corner', 'a_ends', 'a_rating']),
      nodes: program(gl, NODE_VERTEX, PICTURE_FRAGMENT, ['a_corner', 'a_place', 'a_role']),
      corners: square(gl),
      segments: gl.createBuffer(),
      places: gl.createBuffer(),
      symbols: gl.createTexture(),
      copy: program(gl, COPY_VERTEX, PICTURE_FRAGMENT, ['a_corner']),
      own: new Target(gl),
    };
    this.#stale = { data: true, symbols: true };
  }

  close(): void {
    const gpu = this.#gpu;
    if (!gpu) return;
    const { gl } = gpu;
    for (const one of [gpu.links, gpu.nodes, gpu.copy]) gl.deleteProgram(one);
    for (const one of [gpu.corners, gpu.segments, gpu.places]) gl.deleteBuffer(one);
    gl.deleteTexture(gpu.symbols);
    gpu.own.close();
    this.#gpu = null;
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
    filter(gl, 'linear');
  }

  paint(frame: Frame): void {
    const [gpu, data] = [this.#gpu, this.#data];
    if (!gpu || !data) return;
    const { gl } = gpu;
    if (frame !== this.#frame || this.#stale.data || this.#stale.symbols)
      gpu.own.draw(frame.pixels, null, () => this.#draw(gpu, data, frame));
    this.#frame = frame;
    gl.useProgram(gpu.copy);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, gpu.own.texture);
    gl.uniform1i(gl.getUniformLocation(gpu.copy, 'u_picture'), 0);
    useSquare(gl, gpu.corners);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  #draw(gpu: Gpu, data: NetData, frame: Frame): void {
    const { gl } = gpu;
    if (this.#stale.data) {
      for (const [buffer, values] of [
        [gpu.segments, data.segments],
        [gpu.places, data.places],
      ] as const) {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      }
    }
    if (this.#stale.symbols) this.#drawSymbols(gpu);
    this.#stale = { data: false, symbols: false };
    const use = (made: WebGLProgram) => {
      const at = (name: string) => gl.getUniformLocation(made, name);
      gl.useProgram(made);
      gl.uniform4f(at('u_frame'), ...placed(frame, inView(frame, data.anchor)));
      gl.uniform2f(at('u_half'), frame.pixels[0] / 2, frame.pixels[1] / 2);
      gl.uniform1f(at('u_ratio'), frame.ratio);
      return at;
    };
    const links = use(gpu.links);
    gl.uniform4fv(
      links('u_colours'),
      RATINGS.flatMap((rating) => rgba(COLOURS[this.#theme][rating])),
    );
    gl.uniform2fv(
      links('u_dashes'),
      RATINGS.flatMap((rating) => DASHES[rating].slice(0, 2)),
    );
    gl.uniform1fv(
      links('u_widths'),
      RATINGS.map((rating) => WIDTHS[rating] * 0.6),
    );
    drawInstances(gl, gpu.corners, gpu.segments, [4, 1], data.segments.length / SEGMENT);
    const nodes = use(gpu.nodes);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, gpu.symbols);
    gl.uniform1i(nodes('u_picture'), 0);
    drawInstances(gl, gpu.corners, gpu.places, [2, 1], data.places.length / PLACE);
    this.drawings++;
  }
}
