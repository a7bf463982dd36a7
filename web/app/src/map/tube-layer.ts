// Links above the raised ground: tubes from antenna to antenna, hidden where ground stands before them.
import type { CustomLayerInterface, CustomRenderMethodInput, Map as MapLibre } from 'maplibre-gl';
import type { Link } from '../api/client';
import { turned } from '../geo';
import type { Placed } from './features';
import { closes, COLOURS, rating, RATINGS } from '../verdict';
import { drawInstances, program, rgba, square } from './gpu';
import { anchored, mercatorX, mercatorY } from './mercator';

/** Numbers of a tube: two ends and the number of its rating. */
const TUBE = 7;
/** Thickness, px. */
const WIDTH_PX = 7;
const CIRCUMFERENCE_M = 2 * Math.PI * 6_371_008.8;

const VERTEX = `#version 300 es
uniform mat4 u_matrix;
uniform vec2 u_half;
uniform float u_width;
in vec2 a_corner;
in vec3 a_from;
in vec3 a_to;
in float a_rating;
flat out int v_rating;
out float v_across;
void main() {
  v_rating = int(a_rating + 0.5);
  v_across = a_corner.y;
  vec4 a = u_matrix * vec4(a_from, 1.0);
  vec4 b = u_matrix * vec4(a_to, 1.0);
  // An end behind the eye is drawn to where the tube passes it.
  float near = 0.0001;
  if (a.w < near) a = mix(a, b, clamp((near - a.w) / max(b.w - a.w, near), 0.0, 1.0));
  if (b.w < near) b = mix(b, a, clamp((near - b.w) / max(a.w - b.w, near), 0.0, 1.0));
  vec2 run = (b.xy / b.w - a.xy / a.w) * u_half;
  vec2 across = vec2(-run.y, run.x) / max(length(run), 0.001) * u_width * 0.5 / u_half;
  vec4 at = mix(a, b, a_corner.x);
  gl_Position = vec4(at.xy + across * a_corner.y * at.w, at.z, at.w);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 u_colours[6];
flat in int v_rating;
in float v_across;
out vec4 colour;
void main() {
  float round = sqrt(max(0.0, 1.0 - v_across * v_across));
  vec3 lit = u_colours[v_rating].rgb * (0.45 + 0.55 * round) + vec3(0.22) * pow(round, 8.0);
  colour = vec4(lit, 1.0);
}`;

export class TubeLayer implements CustomLayerInterface {
  readonly type = 'custom' as const;
  readonly renderingMode = '3d' as const;
  /** Tubes that are drawn. */
  count = 0;
  #map: MapLibre | null = null;
  #gl: WebGL2RenderingContext | null = null;
  #program: WebGLProgram | null = null;
  #buffers: [WebGLBuffer, WebGLBuffer] | null = null;
  #tubes = new Float32Array();
  #anchor: [number, number] = [0.5, 0.5];
  #stale = false;
  #theme: 'light' | 'dark' = 'light';

  constructor(readonly id: string) {}

  restyle(theme: 'light' | 'dark'): void {
    this.#theme = theme;
  }

  /** Shows the links that close, at the heights of their antennas over `ground`, m, as it is drawn. */
  show(links: readonly Link[], byId: ReadonlyMap<string, Placed>, ground: (node: Placed) => number | null, exaggeration: number): void {
    const ends = new Map<string, [number, number, number] | null>();
    const [first] = byId.values();
    this.#anchor = first ? [mercatorX(first.lon), mercatorY(first.lat)] : [0.5, 0.5];
    const end = (id: string) => {
      const known = ends.get(id);
      if (known !== undefined) return known;
      const node = byId.get(id);
      const foot_m = node ? ground(node) : null;
      const scale = node ? CIRCUMFERENCE_M * Math.cos((node.lat * Math.PI) / 180) : 1;
      const found: [number, number, number] | null =
        node && foot_m !== null
          ? [
              mercatorX(turned(node.lon, first?.lon ?? 0)) - this.#anchor[0],
              mercatorY(node.lat) - this.#anchor[1],
              (foot_m + (node.height_agl_m ?? 0) * exaggeration) / scale,
            ]
          : null;
      ends.set(id, found);
      return found;
    };
    const found: number[] = [];
    for (const link of links) {
      if (!closes(link.forward) && !closes(link.reverse)) continue;
      const [a, b] = [end(link.a_node_id), end(link.b_node_id)];
      if (!a || !b) continue;
      const middle = a.map((value, at) => (value + (b[at] as number)) / 2);
      found.push(
        ...a,
        ...middle,
        RATINGS.indexOf(rating(link, link.forward)),
        ...b,
        ...middle,
        RATINGS.indexOf(rating(link, link.reverse)),
      );
    }
    const same = found.length === this.#tubes.length && found.every((value, at) => Math.fround(value) === this.#tubes[at]);
    if (same) return;
    this.#tubes = new Float32Array(found);
    this.count = found.length / TUBE;
    this.#stale = true;
    this.#map?.triggerRepaint();
  }

  clear(): void {
    this.#tubes = new Float32Array();
    this.count = 0;
    this.#stale = true;
  }

  onAdd(map: MapLibre, context: WebGLRenderingContext | WebGL2RenderingContext): void {
    const gl = context as WebGL2RenderingContext;
    [this.#map, this.#gl] = [map, gl];
    this.#program = program(gl, VERTEX, FRAGMENT, ['a_corner', 'a_from', 'a_to', 'a_rating']);
    this.#buffers = [square(gl), gl.createBuffer()];
    this.#stale = true;
  }

  onRemove(): void {
    this.#gl?.deleteProgram(this.#program);
    for (const buffer of this.#buffers ?? []) this.#gl?.deleteBuffer(buffer);
    [this.#gl, this.#map] = [null, null];
  }

  render(context: WebGLRenderingContext | WebGL2RenderingContext, args: CustomRenderMethodInput): void {
    const gl = context as WebGL2RenderingContext;
    if (!this.count || !this.#program || !this.#buffers) return;
    const [corners, tubes] = this.#buffers;
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ARRAY_BUFFER, tubes);
    if (this.#stale) gl.bufferData(gl.ARRAY_BUFFER, this.#tubes, gl.STATIC_DRAW);
    this.#stale = false;
    const at = (name: string) => gl.getUniformLocation(this.#program as WebGLProgram, name);
    gl.useProgram(this.#program);
    gl.uniformMatrix4fv(at('u_matrix'), false, anchored(args.defaultProjectionData.mainMatrix as ArrayLike<number>, this.#anchor));
    gl.uniform2f(at('u_half'), gl.drawingBufferWidth / 2, gl.drawingBufferHeight / 2);
    gl.uniform1f(at('u_width'), WIDTH_PX * (this.#map?.getPixelRatio() ?? 1));
    gl.uniform4fv(
      at('u_colours'),
      RATINGS.flatMap((rated) => rgba(COLOURS[this.#theme][rated])),
    );
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
    drawInstances(gl, corners, tubes, [3, 3, 1], this.count);
  }
}
