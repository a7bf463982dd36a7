// What the layers that draw themselves share: programs, a square, attributes of instances, blending.
import { rgb } from '../palettes';

/** A program of two shaders; attributes have the places of `names`. */
export function program(gl: WebGL2RenderingContext, vertex: string, fragment: string, names: readonly string[]): WebGLProgram {
  const made = gl.createProgram() as WebGLProgram;
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind) as WebGLShader;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? 'a shader does not compile');
    gl.attachShader(made, shader);
  }
  names.forEach((name, at) => gl.bindAttribLocation(made, at, name));
  gl.linkProgram(made);
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
export function drawInstances(gl: WebGL2RenderingContext, corners: WebGLBuffer, instances: WebGLBuffer, sizes: readonly number[], count: number): void {
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

/** A texture that is drawn into. */
export class Target {
  readonly texture: WebGLTexture;
  readonly #buffer: WebGLFramebuffer;

  constructor(private readonly gl: WebGL2RenderingContext) {
    [this.texture, this.#buffer] = [gl.createTexture(), gl.createFramebuffer()];
  }

  /** Draws into all of it, which is made `pixels` wide and high, or into a part: left, bottom, width, height, px. */
  draw(pixels: readonly [number, number], part: readonly [number, number, number, number] | null, paint: () => void): void {
    const { gl } = this;
    const before = gl.getParameter(gl.FRAMEBUFFER_BINDING) as WebGLFramebuffer | null;
    const port = gl.getParameter(gl.VIEWPORT) as Int32Array;
    const box = gl.getParameter(gl.SCISSOR_BOX) as Int32Array;
    const cut = gl.isEnabled(gl.SCISSOR_TEST);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    if (!part) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, ...pixels, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    filter(gl, 'nearest');
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.#buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    gl.viewport(0, 0, ...pixels);
    gl.disable(gl.STENCIL_TEST);
    if (part) {
      gl.enable(gl.SCISSOR_TEST);
      gl.scissor(...part);
    } else gl.disable(gl.SCISSOR_TEST);
    gl.colorMask(true, true, true, true);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.bindVertexArray(null);
    flat(gl);
    paint();
    gl.bindFramebuffer(gl.FRAMEBUFFER, before);
    gl.viewport(...(port as unknown as [number, number, number, number]));
    gl.scissor(...(box as unknown as [number, number, number, number]));
    if (cut) gl.enable(gl.SCISSOR_TEST);
    else gl.disable(gl.SCISSOR_TEST);
  }

  close(): void {
    this.gl.deleteTexture(this.texture);
    this.gl.deleteFramebuffer(this.#buffer);
  }
}
