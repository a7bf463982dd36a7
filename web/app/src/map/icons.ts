// Symbols of the roles: a shape and a colour each, so that neither is needed alone.

/** Outline of each role in a square of -10 to 10. */
export const SHAPES: Record<string, string> = {
  command: 'M0-8.500 8.500 0 0 8.500-8.500 0Z',
  relay: 'M0-8.200 8.200 6.600h-16.400Z',
  team: 'M-6.800-6.800h13.600v13.600h-13.600Z',
  sensor: 'M-7.200 0a7.200 7.200 0 1 0 14.400 0a7.200 7.200 0 1 0-14.400 0',
  asset: 'M0-8 7.600-2.500 4.700 6.500h-9.400L-7.600-2.500Z',
  // Liveness in the live view.
  online: 'M-7.200 0a7.200 7.200 0 1 0 14.400 0a7.200 7.200 0 1 0-14.400 0',
  stale: 'M0-8.200 8.200 6.600h-16.400Z',
  offline: 'M-7-4.200-4.200-7 0-2.800 4.200-7 7-4.200 2.800 0 7 4.200 4.200 7 0 2.800-4.200 7-7 4.200-2.800 0Z',
  joining: 'M-7.500 0a7.500 7.500 0 1 0 15 0a7.500 7.500 0 1 0-15 0M-4 0a4 4 0 1 1 8 0a4 4 0 1 1-8 0',
};

/** Pictures are read back at once: on the GPU that waits for all that was drawn before, the first map too. */
const READ: CanvasRenderingContext2DSettings = { willReadFrequently: true };
const RATIO = 2;
const SIDE_PX = 24;
/** Side of the pictures of symbols, px. */
export const SYMBOL_SIDE_PX = SIDE_PX * RATIO;

type Pen = OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D;

/** The pen of a square that is not shown. WebKit before 16.4 draws on canvases of the page only. */
function penOf(side: number): Pen {
  const away = typeof OffscreenCanvas === 'function' ? new OffscreenCanvas(side, side).getContext('2d', READ) : null;
  if (away) return away;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = side;
  const pen = canvas.getContext('2d', READ);
  if (!pen) throw new Error('the browser draws no symbols');
  return pen;
}

/** A picture with its origin in the middle, drawn in px. */
function picture(draw: (pen: Pen) => void): ImageData {
  const pen = penOf(SYMBOL_SIDE_PX);
  pen.translate(SYMBOL_SIDE_PX / 2, SYMBOL_SIDE_PX / 2);
  pen.scale(RATIO, RATIO);
  draw(pen);
  return pen.getImageData(0, 0, SYMBOL_SIDE_PX, SYMBOL_SIDE_PX);
}

/** Picture of a role for the map. */
export function symbol(role: string, colour: string, edge: string): ImageData {
  const shape = new Path2D(SHAPES[role] ?? SHAPES['sensor']);
  return picture((pen) => {
    pen.lineJoin = 'round';
    pen.lineWidth = 4;
    pen.strokeStyle = edge;
    pen.stroke(shape);
    pen.fillStyle = colour;
    pen.fill(shape);
  });
}

/** A diagonal hatch that repeats. */
export function hatch(line: string, ground: string): ImageData {
  const side = 20;
  const pen = penOf(side);
  pen.fillStyle = ground;
  pen.fillRect(0, 0, side, side);
  pen.strokeStyle = line;
  pen.lineWidth = 2.2;
  pen.globalAlpha = 0.7;
  for (const at of [-side, 0, side]) {
    pen.beginPath();
    pen.moveTo(at - 2, side + 2);
    pen.lineTo(at + side + 2, -2);
    pen.stroke();
  }
  return pen.getImageData(0, 0, side, side);
}

/** The mark of a failed node: a cross over its symbol. */
export function cross(colour: string, halo: string): ImageData {
  const lines = new Path2D('M-9-9l18 18M9-9l-18 18');
  return picture((pen) => {
    pen.lineCap = 'round';
    for (const [width, style] of [
      [6, halo],
      [3, colour],
    ] as const) {
      pen.lineWidth = width;
      pen.strokeStyle = style;
      pen.stroke(lines);
    }
  });
}

/** The mark of an obstruction: a cross in a ring. */
export function obstruction(colour: string, ground: string): ImageData {
  return picture((pen) => {
    pen.beginPath();
    pen.arc(0, 0, 8.5, 0, 7);
    pen.fillStyle = ground;
    pen.fill();
    pen.lineWidth = 2.2;
    pen.strokeStyle = colour;
    pen.stroke();
    pen.stroke(new Path2D('M-3.500-3.500l7 7M3.500-3.500l-7 7'));
  });
}

export const PICTURE = { pixelRatio: RATIO };
