// A picture of the map with title, time and key.
import { clock } from './replay.svelte';
import { colour, dash, KINDS, RULES, width, type Measure } from './kinds';

const MARGIN_PX = 14;
const HEAD_PX = 34;
const KEY_PX = 30;

export interface Caption {
  title: string;
  at_s: number;
  rain_mm_h: number;
  measure: Measure;
  dark: boolean;
  names: string[];
}

/** Maps side by side, with the caption above and the key below. */
export async function compose(maps: HTMLCanvasElement[], caption: Caption): Promise<Blob> {
  const ratio = devicePixelRatio || 1;
  const [first] = maps;
  if (!first) throw new Error('There is no map to draw.');
  const canvas = document.createElement('canvas');
  canvas.width = maps.reduce((sum, map) => sum + map.width, 0);
  canvas.height = first.height + (HEAD_PX + KEY_PX) * ratio;
  const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
  const [ground, ink] = caption.dark ? ['#12181d', '#e6edf2'] : ['#ffffff', '#15202b'];
  pen.fillStyle = ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  let left = 0;
  for (const map of maps) {
    pen.drawImage(map, left, HEAD_PX * ratio);
    left += map.width;
  }
  pen.scale(ratio, ratio);
  pen.fillStyle = ink;
  pen.textBaseline = 'middle';
  pen.font = '600 15px Inter, sans-serif';
  const rain = caption.rain_mm_h > 0 ? ` · rain ${caption.rain_mm_h} mm/h` : '';
  pen.fillText(`${caption.title} · ${clock(caption.at_s)}${rain}`, MARGIN_PX, HEAD_PX / 2);
  pen.font = '600 12px Inter, sans-serif';
  if (caption.names.length > 1)
    caption.names.forEach((name, at) => pen.fillText(name, (at * first.width) / ratio + MARGIN_PX, HEAD_PX + 14));
  let x = MARGIN_PX;
  const y = canvas.height / ratio - KEY_PX / 2;
  pen.font = '12px Inter, sans-serif';
  for (const kind of KINDS) {
    pen.strokeStyle = colour(kind, caption.dark ? 'dark' : 'light');
    pen.lineWidth = width(kind);
    pen.setLineDash(dash(kind).map((length) => length * width(kind)));
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + 30, y);
    pen.stroke();
    const text = RULES[caption.measure][kind];
    pen.fillText(text, x + 36, y);
    x += 36 + pen.measureText(text).width + 16;
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser made no picture.'))), 'image/png'),
  );
}
