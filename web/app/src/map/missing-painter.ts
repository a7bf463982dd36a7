// Hatching of ground that is not loaded: rectangles between the loaded cells.
import type { Box } from './features';
import { program, rgba } from './gpu';
import { LAT_MAX_DEG, mercatorX, mercatorY } from './mercator';
import { placed, type Changed, type Frame, type Painter } from './picture';
import { GROUND_ALPHA } from './theme';

/** Distance of lines along a row, and their thickness, px. */
const PERIOD_PX = 10;
const LINE_PX = 1.1;

const VERTEX = `#version 300 es
uniform vec4 u_frame;
in vec2 a_place;
void main() { gl_Position = vec4(a_place * u_frame.xy + u_frame.zw, 0.0, 1.0); }`;

const FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 u_ground;
uniform vec4 u_line;
uniform float u_origin;
uniform float u_ratio;
out vec4 colour;
void main() {
  float period = ${PERIOD_PX.toFixed(1)} * u_ratio;
  float off = abs(mod(gl_FragCoord.x - gl_FragCoord.y - u_origin, period) - 0.5 * period) * 0.7071;
  vec4 ground = vec4(u_ground.rgb, 1.0) * ${GROUND_ALPHA.toFixed(2)};
  colour = mix(ground, u_line, 0.4 * clamp(${(LINE_PX / 2).toFixed(2)} * u_ratio + 0.5 - off, 0.0, 1.0));
}`;

/** Rectangles of three worlds beside each other that no box covers. */
export function uncovered(boxes: readonly Box[]): Box[] {
  const copies = boxes.flatMap((box) => [-360, 0, 360].map((turn) => ({ ...box, west: box.west + turn, east: box.east + turn })));
  const edges = [-LAT_MAX_DEG, LAT_MAX_DEG, ...boxes.flatMap((box) => [box.south, box.north])].filter(
    (lat) => Math.abs(lat) <= LAT_MAX_DEG,
  );
  const lats = [...new Set(edges)].sort((a, b) => a - b);
  return lats.slice(1).flatMap((north, at) => {
    const south = lats[at] as number;
    const band = copies.filter((box) => box.south <= south && box.north >= north).sort((a, b) => a.west - b.west);
    const found: Box[] = [];
    let west = -540;
    for (const box of [...band, { west: 540, east: 540 }]) {
      if (box.west > west) found.push({ south, west, north, east: box.west });
      west = Math.max(west, box.east);
    }
    return found;
  });
}

export class MissingPainter implements Painter {
  /** Rectangles that are hatched. */
  count = 0;
  #gl: WebGL2RenderingContext | null = null;
  #changed: Changed = () => undefined;
  #program: WebGLProgram | null = null;
  #vertices: WebGLBuffer | null = null;
  #places = new Float32Array();
  #anchor: [number, number] = [0, 0];
  #stale = false;
  #colours = { ground: '#ffffff', line: '#888888' };

  /** Hatches from `zoom_min` on. */
  constructor(private readonly zoom_min: number) {}

  /** Hatches all but these cells. */
  show(known: readonly Box[]): void {
    const boxes = uncovered(known);
    const [first] = known;
    this.#anchor = [mercatorX(first?.west ?? 0), mercatorY(first?.north ?? 0)];
    this.#places = new Float32Array(
      boxes.flatMap((box) => {
        const [left, right] = [mercatorX(box.west) - this.#anchor[0], mercatorX(box.east) - this.#anchor[0]];
        const [top, bottom] = [mercatorY(box.north) - this.#anchor[1], mercatorY(box.south) - this.#anchor[1]];
        return [left, top, right, top, left, bottom, left, bottom, right, top, right, bottom];
      }),
    );
    this.count = boxes.length;
    this.#stale = true;
    this.#changed();
  }

  restyle(ground: string, line: string): void {
    this.#colours = { ground, line };
    this.#changed();
  }

  open(gl: WebGL2RenderingContext, changed: Changed): void {
    [this.#gl, this.#changed] = [gl, changed];
    this.#program = program(gl, VERTEX, FRAGMENT, ['a_place']);
    this.#vertices = gl.createBuffer();
    this.#stale = true;
  }

  close(): void {
    this.#gl?.deleteProgram(this.#program);
    this.#gl?.deleteBuffer(this.#vertices);
    this.#gl = null;
  }

  paint(frame: Frame): void {
    const gl = this.#gl;
    if (!gl || !this.count || !this.#program || frame.zoom < this.zoom_min) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#vertices);
    if (this.#stale) gl.bufferData(gl.ARRAY_BUFFER, this.#places, gl.STATIC_DRAW);
    this.#stale = false;
    const at = (name: string) => gl.getUniformLocation(this.#program as WebGLProgram, name);
    const place = placed(frame, this.#anchor);
    // The lines keep their place on the ground: their origin is the anchor.
    const origin = ((place[2] + 1) * frame.pixels[0] - (place[3] + 1) * frame.pixels[1]) / 2;
    gl.useProgram(this.#program);
    gl.uniform4f(at('u_frame'), ...place);
    gl.uniform4fv(at('u_ground'), rgba(this.#colours.ground));
    gl.uniform4fv(at('u_line'), rgba(this.#colours.line));
    gl.uniform1f(at('u_origin'), origin % (PERIOD_PX * frame.ratio));
    gl.uniform1f(at('u_ratio'), frame.ratio);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 8, 0);
    gl.vertexAttribDivisor(0, 0);
    gl.disable(gl.BLEND);
    gl.drawArrays(gl.TRIANGLES, 0, this.#places.length / 2);
  }
}
