// The ground, its coverage and large meshes, drawn into a picture larger than the view, which moves with
// the map. While the map moves only that picture is drawn; it is made anew when the view leaves it.
import type { CustomLayerInterface, CustomRenderMethodInput, Map as MapLibre } from 'maplibre-gl';
import { filter, flat, program, square, Target, useSquare } from './gpu';
import { anchored, mercatorX, mercatorY } from './mercator';

/** Side of the picture over that of the view. */
const MARGIN = 1.5;
/** Change of zoom from which the picture is made anew while the map moves. */
const ZOOM_STEP = 0.5;
const SIDE_MAX_PX = 4096;

/** The part of the world in the picture. */
export interface Frame {
  west: number;
  north: number;
  width: number;
  height: number;
  zoom: number;
  /** Width and height, px of the screen. */
  pixels: [number, number];
  /** The part in view when it was made. */
  view: Area;
  /** Px of the screen over those of the page. */
  ratio: number;
}

/** Edges of a part of the world. */
export interface Area {
  west: number;
  north: number;
  east: number;
  south: number;
}

/** The least area that holds both. */
export function joined(a: Area, b: Area): Area {
  return {
    west: Math.min(a.west, b.west),
    north: Math.min(a.north, b.north),
    east: Math.max(a.east, b.east),
    south: Math.max(a.south, b.south),
  };
}

/** Tells that what a painter draws has changed: in an area, else everywhere. */
export type Changed = (area?: Area) => void;

/** Draws a part of the picture. */
export interface Painter {
  open(gl: WebGL2RenderingContext, changed: Changed): void;
  close(): void;
  paint(frame: Frame): void;
}

/** An anchor in the copy of the world in which something of a width lies nearest to the picture. */
export function inView(frame: Frame, [x, y]: readonly [number, number], width = 0): [number, number] {
  return [x + Math.round(frame.west + frame.width / 2 - x - width / 2), y];
}

/** Scale and offset from places relative to an anchor to the picture's -1 to 1. */
export function placed(frame: Frame, [x, y]: readonly [number, number]): [number, number, number, number] {
  const [across, down] = [2 / frame.width, -2 / frame.height];
  return [across, down, -1 + (x - frame.west) * across, 1 + (y - frame.north) * down];
}

const VERTEX = `#version 300 es
uniform mat4 u_matrix;
uniform vec2 u_span;
in vec2 a_corner;
out vec2 v_at;
void main() {
  vec2 unit = vec2(a_corner.x, a_corner.y * 0.5 + 0.5);
  v_at = vec2(unit.x, 1.0 - unit.y);
  gl_Position = u_matrix * vec4(unit * u_span, 0.0, 1.0);
}`;

/** Shows a texture. */
export const PICTURE_FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D u_picture;
in vec2 v_at;
out vec4 colour;
void main() { colour = texture(u_picture, v_at); }`;

interface Gpu {
  gl: WebGL2RenderingContext;
  program: WebGLProgram;
  corners: WebGLBuffer;
  target: Target;
}

/** The edges of the view. */
function shown(map: MapLibre): Area {
  const bounds = map.getBounds();
  return {
    west: mercatorX(bounds.getWest()),
    east: mercatorX(bounds.getEast()),
    north: mercatorY(bounds.getNorth()),
    south: mercatorY(bounds.getSouth()),
  };
}

export class PictureLayer implements CustomLayerInterface {
  readonly type = 'custom' as const;
  readonly renderingMode = '2d' as const;
  /** Pictures made so far. */
  drawings = 0;
  #map: MapLibre | null = null;
  #gpu: Gpu | null = null;
  #frame: Frame | null = null;
  #stale = true;
  /** What has changed of a picture that is not stale. */
  #dirty: Area | null = null;

  /** `painters` from the ground up; `lowest` is true at zooms at which nothing is drawn below. */
  constructor(
    readonly id: string,
    private readonly painters: readonly Painter[],
    private readonly lowest: (zoom: number) => boolean = () => false,
  ) {}

  onAdd(map: MapLibre, context: WebGLRenderingContext | WebGL2RenderingContext): void {
    const gl = context as WebGL2RenderingContext;
    this.#map = map;
    this.#gpu = { gl, program: program(gl, VERTEX, PICTURE_FRAGMENT, ['a_corner']), corners: square(gl), target: new Target(gl) };
    this.#frame = null;
    const changed = (area?: Area) => {
      if (!area) this.#stale = true;
      else this.#dirty = this.#dirty ? joined(area, this.#dirty) : area;
      map.triggerRepaint();
    };
    for (const painter of this.painters) painter.open(gl, changed);
  }

  onRemove(): void {
    if (!this.#gpu) return;
    for (const painter of this.painters) painter.close();
    const { gl, program: made, corners, target } = this.#gpu;
    gl.deleteProgram(made);
    gl.deleteBuffer(corners);
    target.close();
    [this.#gpu, this.#map] = [null, null];
  }

  /** True if the view, or its zoom, has left the picture. */
  #left(map: MapLibre): boolean {
    const frame = this.#frame;
    if (!frame || this.#stale) return true;
    const off = Math.abs(map.getZoom() - frame.zoom);
    if (off > ZOOM_STEP || (off > 1e-3 && !map.isMoving())) return true;
    const { west, east, north, south } = shown(map);
    return west < frame.west || north < frame.north || east > frame.west + frame.width || south > frame.north + frame.height;
  }

  prerender(): void {
    const [map, gpu] = [this.#map, this.#gpu];
    if (!map || !gpu) return;
    const left = this.#left(map);
    if (!left && !this.#dirty) return;
    if (left || !this.#frame) this.#frame = this.#around(map, gpu.gl);
    this.#draw(gpu, this.#frame, left ? null : this.#dirty);
    [this.#stale, this.#dirty] = [false, null];
    this.drawings++;
  }

  /** The part of the world around the view. */
  #around(map: MapLibre, gl: WebGL2RenderingContext): Frame {
    const view = shown(map);
    const { west, east, north, south } = view;
    const sides = [gl.drawingBufferWidth, gl.drawingBufferHeight] as const;
    // A pixel of the picture is one of the screen: whole pixels are added on each edge, and rounding changes
    // the part of the world, not the scale.
    const pixels = sides.map((side) => Math.min(SIDE_MAX_PX, side + 2 * Math.round((side * (MARGIN - 1)) / 2))) as [number, number];
    const margins = sides.map((side, at) => (side * MARGIN > SIDE_MAX_PX ? MARGIN : (pixels[at] as number) / side)) as [number, number];
    const [width, height] = [(east - west) * margins[0], (south - north) * margins[1]];
    const [middle, centre] = [(west + east) / 2, (north + south) / 2];
    return {
      west: middle - width / 2,
      north: centre - height / 2,
      width,
      height,
      zoom: map.getZoom(),
      pixels,
      view,
      ratio: map.getPixelRatio(),
    };
  }

  /** Draws all of a frame, or an area of it. */
  #draw({ gl, target }: Gpu, frame: Frame, area: Area | null): void {
    const [wide, high] = frame.pixels;
    const x = (at: number) => ((at - frame.west) / frame.width) * wide;
    const y = (at: number) => (1 - (at - frame.north) / frame.height) * high;
    const corner = (area: Area) => [Math.floor(x(area.west)), Math.floor(y(area.south))] as const;
    const part =
      area && ([...corner(area), Math.ceil(x(area.east)) - corner(area)[0], Math.ceil(y(area.north)) - corner(area)[1]] as const);
    target.draw(frame.pixels, part, () => {
      for (const painter of this.painters) {
        flat(gl);
        painter.paint(frame);
      }
    });
  }

  render(_context: WebGLRenderingContext | WebGL2RenderingContext, args: CustomRenderMethodInput): void {
    const [gpu, frame, map] = [this.#gpu, this.#frame, this.#map];
    if (!gpu || !frame || !map) return;
    const { gl } = gpu;
    const at = (name: string) => gl.getUniformLocation(gpu.program, name);
    gl.useProgram(gpu.program);
    gl.uniformMatrix4fv(
      at('u_matrix'),
      false,
      anchored(args.defaultProjectionData.mainMatrix as ArrayLike<number>, [frame.west, frame.north]),
    );
    gl.uniform2f(at('u_span'), frame.width, frame.height);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, gpu.target.texture);
    // At the zoom of the picture its pixels are those of the screen: edges stay sharp.
    const same = Math.abs(map.getZoom() - frame.zoom) < 1e-3 && map.getPitch() === 0 && map.getBearing() === 0;
    filter(gl, same ? 'nearest' : 'linear');
    gl.uniform1i(at('u_picture'), 0);
    gl.bindVertexArray(null);
    useSquare(gl, gpu.corners);
    flat(gl);
    if (this.lowest(map.getZoom())) gl.disable(gl.BLEND);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}
