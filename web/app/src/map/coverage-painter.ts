// Coverage on the GPU: a grid of hundredths of dBm as a texture, coloured by a palette in the shader.
import type { Grid } from '../store/grid';
import { filter, program } from './gpu';
import { mercatorX, mercatorY } from './mercator';
import { inView, placed, type Changed, type Frame, type Painter } from './picture';

export type Colouring = 'power' | 'probability' | 'verdict' | 'server';

export interface CoverageStyle {
  colouring: Colouring;
  /** 256 colours, RGBA. */
  palette: Uint8Array;
  /** Ends of the palette, in the unit of the cells: dBm, or dB of an SINR. */
  low: number;
  high: number;
  /** Cells below are left out, in the same unit. */
  threshold: number;
  /** Cells whose link works with less are left out where probabilities or verdicts are shown, percent. */
  threshold_percent: number;
  /** [0, 1]. */
  opacity: number;
  /** Values between the centres of cells are interpolated; else each cell has one colour. Servers have one always. */
  smooth: boolean;
}

/** Rows between two exact lines of latitude: within them the projection is taken as linear. */
const BAND_ROWS = 16;

const VERTEX = `#version 300 es
uniform vec4 u_frame;
in vec2 a_place;
in vec2 a_cell;
out vec2 v_cell;
void main() { v_cell = a_cell; gl_Position = vec4(a_place * u_frame.xy + u_frame.zw, 0.0, 1.0); }`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
uniform highp isampler2D u_power;
uniform highp usampler2D u_meta;
uniform highp usampler2D u_percent;
uniform sampler2D u_palette;
uniform ivec2 u_size;
uniform vec2 u_range;
uniform float u_threshold;
uniform float u_least_percent;
uniform float u_opacity;
uniform int u_colouring;
uniform bool u_smooth;
in vec2 v_cell;
out vec4 colour;
vec4 entry(float at) { return texelFetch(u_palette, ivec2(int(clamp(at, 0.0, 1.0) * 255.0 + 0.5), 0), 0); }
/** Power, dBm, and probability, percent, between the centres of the cells that have them. */
vec2 between() {
  vec2 place = v_cell - 0.5;
  ivec2 corner = ivec2(floor(place));
  vec2 part = place - vec2(corner);
  vec3 sum = vec3(0.0);
  for (int at = 0; at < 4; at++) {
    ivec2 step = ivec2(at & 1, at >> 1);
    ivec2 cell = clamp(corner + step, ivec2(0), u_size - 1);
    int raw = texelFetch(u_power, cell, 0).r;
    if (raw == -32768) continue;
    vec2 near = mix(1.0 - part, part, vec2(step));
    sum += near.x * near.y * vec3(float(raw) / 100.0, float(texelFetch(u_percent, cell, 0).r), 1.0);
  }
  return sum.xy / sum.z;
}
void main() {
  ivec2 cell = clamp(ivec2(v_cell), ivec2(0), u_size - 1);
  int raw = texelFetch(u_power, cell, 0).r;
  uint meta = texelFetch(u_meta, cell, 0).r;
  if (raw == -32768) {
    if ((meta & 128u) == 0u) discard;
    colour = vec4(0.55, 0.55, 0.58, 1.0) * 0.55 * u_opacity;
    return;
  }
  vec2 value = u_smooth && u_colouring != 2 ? between() : vec2(float(raw) / 100.0, float(texelFetch(u_percent, cell, 0).r));
  float power = value.x;
  float percent = value.y;
  bool by_probability = u_colouring == 1 || u_colouring == 3;
  if (by_probability ? percent < u_least_percent : power < u_threshold) discard;
  vec4 found;
  if (u_colouring == 1) {
    // The thresholds of the verdicts.
    float step = percent >= 99.0 ? 4.0 : percent >= 90.0 ? 3.0 : percent >= 50.0 ? 2.0 : percent >= 10.0 ? 1.0 : 0.0;
    if (step < 0.5) discard;
    found = entry(step / 255.0);
  } else if (u_colouring == 3) {
    found = entry(percent / 100.0);
  } else if (u_colouring == 2) {
    found = entry(float(meta & 63u) / 255.0);
  } else {
    found = entry((power - u_range.x) / (u_range.y - u_range.x));
  }
  // Cells whose path lacks terrain data are striped.
  if ((meta & 64u) != 0u && mod(gl_FragCoord.x + gl_FragCoord.y, 9.0) < 2.2) found = vec4(0.70, 0.15, 0.12, 1.0);
  colour = vec4(found.rgb, 1.0) * found.a * u_opacity;
}`;

export class CoveragePainter implements Painter {
  grid: Grid | null = null;
  style: CoverageStyle | null = null;
  /** Cells in the texture that is shown. */
  cells = 0;

  #gl: WebGL2RenderingContext | null = null;
  #changed: Changed = () => undefined;
  #program: WebGLProgram | null = null;
  #vertices: WebGLBuffer | null = null;
  #count = 0;
  #anchor: [number, number] = [0, 0];
  #width = 0;
  #textures: [WebGLTexture, WebGLTexture, WebGLTexture, WebGLTexture] | null = null;
  #size: [number, number] = [0, 0];
  #stale = { shape: false, cells: false, palette: false };

  show(grid: Grid | null): void {
    if (!grid && !this.grid) return;
    const shape = grid?.shape !== this.grid?.shape;
    this.grid = grid;
    this.#stale.cells = true;
    this.#stale.shape ||= shape;
    this.#changed();
  }

  restyle(style: CoverageStyle): void {
    const before = this.style;
    // Drawing the picture again takes processors from a coverage that is computed.
    if (before && (Object.keys(style) as (keyof CoverageStyle)[]).every((key) => style[key] === before[key])) return;
    this.#stale.palette ||= style.palette !== this.style?.palette;
    this.style = style;
    if (this.grid) this.#changed();
  }

  open(gl: WebGL2RenderingContext, changed: Changed): void {
    [this.#gl, this.#changed] = [gl, changed];
    this.#program = program(gl, VERTEX, FRAGMENT, ['a_place', 'a_cell']);
    this.#vertices = gl.createBuffer();
    this.#textures = [gl.createTexture(), gl.createTexture(), gl.createTexture(), gl.createTexture()] as [
      WebGLTexture,
      WebGLTexture,
      WebGLTexture,
      WebGLTexture,
    ];
    this.#stale = { shape: true, cells: true, palette: true };
    this.#size = [0, 0];
  }

  close(): void {
    const gl = this.#gl;
    if (!gl) return;
    gl.deleteProgram(this.#program);
    gl.deleteBuffer(this.#vertices);
    for (const texture of this.#textures ?? []) gl.deleteTexture(texture);
    this.#gl = null;
  }

  #fillShape(gl: WebGL2RenderingContext, grid: Grid): void {
    const { rows, columns, bounds } = grid.shape;
    const east = bounds.east < bounds.west ? bounds.east + 360 : bounds.east;
    this.#anchor = [mercatorX(bounds.west), mercatorY(bounds.north)];
    const right = mercatorX(east) - this.#anchor[0];
    this.#width = right;
    const found: number[] = [];
    for (let row = 0; ; row = Math.min(row + BAND_ROWS, rows)) {
      const lat = bounds.north + ((bounds.south - bounds.north) * row) / rows;
      const down = mercatorY(lat) - this.#anchor[1];
      found.push(0, down, 0, row, right, down, columns, row);
      if (row === rows) break;
    }
    this.#count = found.length / 4;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#vertices);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(found), gl.STATIC_DRAW);
  }

  #fillCells(gl: WebGL2RenderingContext, grid: Grid): void {
    const { rows, columns } = grid.shape;
    const [power, meta, , percent] = this.#textures as [WebGLTexture, WebGLTexture, WebGLTexture, WebGLTexture];
    const same = this.#size[0] === columns && this.#size[1] === rows;
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    const put = (texture: WebGLTexture, inner: number, outer: number, kind: number, values: ArrayBufferView) => {
      gl.bindTexture(gl.TEXTURE_2D, texture);
      if (same) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, columns, rows, outer, kind, values);
      else gl.texImage2D(gl.TEXTURE_2D, 0, inner, columns, rows, 0, outer, kind, values);
      filter(gl, 'nearest');
    };
    put(power, gl.R16I, gl.RED_INTEGER, gl.SHORT, grid.power);
    put(meta, gl.R8UI, gl.RED_INTEGER, gl.UNSIGNED_BYTE, grid.meta);
    put(percent, gl.R8UI, gl.RED_INTEGER, gl.UNSIGNED_BYTE, grid.percent);
    this.#size = [columns, rows];
    this.cells = rows * columns;
  }

  paint(frame: Frame): void {
    const { grid, style } = this;
    const gl = this.#gl;
    if (!gl || !grid || !style || !this.#program || !this.#textures) {
      this.cells = 0;
      return;
    }
    if (this.#stale.shape) this.#fillShape(gl, grid);
    if (this.#stale.cells || this.#stale.shape) this.#fillCells(gl, grid);
    if (this.#stale.palette) {
      gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
      gl.bindTexture(gl.TEXTURE_2D, this.#textures[2]);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, style.palette);
      filter(gl, 'nearest');
    }
    this.#stale = { shape: false, cells: false, palette: false };

    const at = (name: string) => gl.getUniformLocation(this.#program as WebGLProgram, name);
    gl.useProgram(this.#program);
    gl.uniform4f(at('u_frame'), ...placed(frame, inView(frame, this.#anchor, this.#width)));
    this.#textures.forEach((texture, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    });
    gl.uniform1i(at('u_power'), 0);
    gl.uniform1i(at('u_meta'), 1);
    gl.uniform1i(at('u_palette'), 2);
    gl.uniform1i(at('u_percent'), 3);
    gl.uniform2i(at('u_size'), grid.shape.columns, grid.shape.rows);
    gl.uniform2f(at('u_range'), style.low, style.high);
    gl.uniform1f(at('u_threshold'), style.threshold);
    gl.uniform1f(at('u_least_percent'), style.threshold_percent);
    gl.uniform1f(at('u_opacity'), style.opacity);
    gl.uniform1i(at('u_smooth'), Number(style.smooth));
    gl.uniform1i(at('u_colouring'), ['power', 'verdict', 'server', 'probability'].indexOf(style.colouring));
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#vertices);
    gl.enableVertexAttribArray(0);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 16, 0);
    gl.vertexAttribPointer(1, 2, gl.FLOAT, false, 16, 8);
    for (const attribute of [0, 1]) gl.vertexAttribDivisor(attribute, 0);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, this.#count);
    gl.disableVertexAttribArray(1);
    gl.activeTexture(gl.TEXTURE0);
  }
}
