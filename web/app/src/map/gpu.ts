// Common parts of the layers that draw themselves: programs, a square, attributes of instances, blending,
// textures that are drawn into.
import { whenIdle } from '../idle';
import { rgb } from '../palettes';

/** A program of two shaders; attributes have the places of `names`. Asking whether it compiled waits for the
 * compiler, so that is asked once the page is idle. */
export function program(gl: WebGL2RenderingContext, vertex: string, fragment: string, names: readonly string[]): WebGLProgram {
  const made = gl.createProgram() as WebGLProgram;
  const shaders = (
    [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ] as const
  ).map(([kind, text]) => {
    const shader = gl.createShader(kind) as WebGLShader;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
    return shader;
  });
  names.forEach((name, at) => gl.bindAttribLocation(made, at, name));
  gl.linkProgram(made);
  whenIdle(() => {
    // A program that is gone again tells nothing.
    if (!gl.isProgram(made) || gl.isContextLost() || gl.getProgramParameter(made, gl.LINK_STATUS)) return;
    throw new Error(
      shaders.map((shader) => gl.getShaderInfoLog(shader)).find(Boolean) ?? gl.getProgramInfoLog(made) ?? 'a program does not link',
    );
  });
  return made;
}

/** Corners of a strip: x of 0 and 1, y of -1 and 1. */
export function square(gl: WebGL2RenderingContext): WebGLBuffer {
  const corners = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, corners);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]), gl.STATIC_DRAW);
  return corners;
}

/** Attribute 0: the corners of a square. */
export function useSquare(gl: WebGL2RenderingContext, corners: WebGLBuffer): void {
  gl.bindBuffer(gl.ARRAY_BUFFER, corners);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 8, 0);
  gl.vertexAttribDivisor(0, 0);
}

/** Draws a square for each of `count` instances, whose numbers are attributes 1, 2 ... of `sizes`. */
export function drawInstances(
  gl: WebGL2RenderingContext,
  corners: WebGLBuffer,
  instances: WebGLBuffer,
  sizes: readonly number[],
  count: number,
): void {
  gl.bindVertexArray(null);
  useSquare(gl, corners);
  gl.bindBuffer(gl.ARRAY_BUFFER, instances);
  const stride = 4 * sizes.reduce((sum, size) => sum + size, 0);
  let offset = 0;
  for (const [index, size] of sizes.entries()) {
    gl.enableVertexAttribArray(index + 1);
    gl.vertexAttribPointer(index + 1, size, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(index + 1, 1);
    offset += 4 * size;
  }
  gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
  for (const index of sizes.keys()) {
    gl.vertexAttribDivisor(index + 1, 0);
    gl.disableVertexAttribArray(index + 1);
  }
}

/** Filter and edges of the texture that is bound. */
export function filter(gl: WebGL2RenderingContext, kind: 'nearest' | 'linear'): void {
  const wanted = kind === 'nearest' ? gl.NEAREST : gl.LINEAR;
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, wanted);
  for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
}

/** Flat drawing over what is there, in colours multiplied by their alpha. */
export function flat(gl: WebGL2RenderingContext): void {
  gl.disable(gl.DEPTH_TEST);
  gl.disable(gl.CULL_FACE);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
}

/** A colour #rrggbb as four numbers of [0, 1]. */
export function rgba(hex: string): [number, number, number, number] {
  const [red, green, blue] = rgb(hex);
  return [red / 255, green / 255, blue / 255, 1];
}

/** A part of a target: left, bottom, width, height, px. */
export type Part = readonly [number, number, number, number];

/** Destination of what is drawn. */
interface Destination {
  buffer: WebGLFramebuffer;
  /** Width and height, px. */
  pixels: readonly [number, number];
  part: Part | null;
}

/** Destinations of the targets whose drawing has begun and not ended; a context without one draws on the canvas. */
const DESTINATIONS = new WeakMap<WebGL2RenderingContext, Destination>();

/** Directs what is drawn next, with the state that flat drawing begins with. Asking the context for the state
 * instead would wait for all that the GPU has been given; MapLibre sets its own anew after this. */
function direct(gl: WebGL2RenderingContext, to: Destination | undefined): void {
  if (to) DESTINATIONS.set(gl, to);
  else DESTINATIONS.delete(gl);
  gl.bindFramebuffer(gl.FRAMEBUFFER, to?.buffer ?? null);
  gl.viewport(0, 0, ...(to?.pixels ?? ([gl.drawingBufferWidth, gl.drawingBufferHeight] as const)));
  gl.disable(gl.STENCIL_TEST);
  if (to?.part) {
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(...to.part);
  } else gl.disable(gl.SCISSOR_TEST);
  gl.colorMask(true, true, true, true);
  gl.bindVertexArray(null);
  gl.activeTexture(gl.TEXTURE0);
  flat(gl);
}

/** A texture that is drawn into. */
export class Target {
  readonly texture: WebGLTexture;
  readonly #buffer: WebGLFramebuffer;

  constructor(private readonly gl: WebGL2RenderingContext) {
    [this.texture, this.#buffer] = [gl.createTexture(), gl.createFramebuffer()];
  }

  /** Draws into all of it, which is made `pixels` wide and high, or into a part. Within the drawing of another
   * target, that one is drawn into again after this. */
  draw(pixels: readonly [number, number], part: Part | null, paint: () => void): void {
    const { gl } = this;
    const outer = DESTINATIONS.get(gl);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    if (!part) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, ...pixels, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    filter(gl, 'nearest');
    direct(gl, { buffer: this.#buffer, pixels, part });
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    try {
      paint();
    } finally {
      direct(gl, outer);
    }
  }

  close(): void {
    this.gl.deleteTexture(this.texture);
    this.gl.deleteFramebuffer(this.#buffer);
  }
}
