// Palettes of 256 colours, fit for colour-blind readers and in order of lightness.

export const PALETTES = {
  viridis: ['#440154', '#472c7a', '#3b518b', '#2c718e', '#21908d', '#27ad81', '#5cc863', '#aadc32', '#fde725'],
  cividis: ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#fee838'],
  inferno: ['#1b0c41', '#4a0c6b', '#781c6d', '#a52c60', '#cf4446', '#ed6925', '#fb9b06', '#f7d13d', '#fcffa4'],
  grey: ['#2b2b2b', '#464646', '#606060', '#7b7b7b', '#969696', '#b1b1b1', '#cccccc', '#e6e6e6', '#fafafa'],
} as const;

export type PaletteName = keyof typeof PALETTES;

/** Colours of servers that share a map. */
export const SERVERS = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#d55e00',
  '#56b4e9',
  '#f0e442',
  '#7a5195',
  '#8c564b',
  '#5f6f52',
] as const;

/** Colours of cells that the first, the second, and both of two nodes serve. */
export const COMMON_COLOURS = [SERVERS[5], SERVERS[1], '#6a1b9a'] as const;

/** Colours of verdicts on a coverage: no link, poor, marginal, good, excellent. */
export const VERDICT_COLOURS = ['#00000000', '#e08a3c', '#f0c75e', '#3f8fc4', '#1f4e8c'] as const;

/** Red, green and blue of #rrggbb, 0 to 255. */
export function rgb(hex: string): [number, number, number] {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

const made = new Map<string, Uint8Array>();

/** 256 RGBA colours of a palette. */
export function table(name: PaletteName | 'servers' | 'verdicts' | 'common'): Uint8Array {
  const kept = made.get(name);
  if (kept) return kept;
  const found = new Uint8Array(256 * 4);
  for (let at = 0; at < 256; at++) {
    let colour: number[];
    if (name === 'servers') colour = rgb(SERVERS[at % SERVERS.length] as string);
    else if (name === 'common') colour = rgb(COMMON_COLOURS[Math.min(at, COMMON_COLOURS.length - 1)] as string);
    else if (name === 'verdicts') colour = rgb(VERDICT_COLOURS[Math.min(at, VERDICT_COLOURS.length - 1)] as string);
    else {
      const stops = PALETTES[name];
      const where = (at / 255) * (stops.length - 1);
      const [low, high] = [rgb(stops[Math.floor(where)] as string), rgb(stops[Math.ceil(where)] as string)];
      colour = low.map((value, channel) => Math.round(value + ((high[channel] as number) - value) * (where % 1)));
    }
    found.set([...colour, 255], at * 4);
  }
  made.set(name, found);
  return found;
}

/** 256 RGBA colours over a range, one for each step that begins in it. */
export function stepped(name: PaletteName, from: readonly number[], [low, high]: readonly [number, number]): Uint8Array {
  const key = `${name} ${from.join()} ${low} ${high}`;
  const kept = made.get(key);
  if (kept) return kept;
  const base = table(name);
  const found = new Uint8Array(256 * 4);
  for (let at = 0; at < 256; at++) {
    const value = low + ((high - low) * at) / 255;
    const step = Math.max(
      0,
      from.findLastIndex((begin) => begin <= value + 1e-9),
    );
    found.set(base.subarray(shade(step, from.length) * 4, shade(step, from.length) * 4 + 4), at * 4);
  }
  made.set(key, found);
  return found;
}

/** Number of the colour of a step among 256. */
export function shade(step: number, count: number): number {
  return count > 1 ? Math.round((step * 255) / (count - 1)) : 128;
}

/** Colour of a step as text. */
export function stepColour(name: PaletteName, step: number, count: number): string {
  const at = shade(step, count) * 4;
  return `rgb(${[...table(name).subarray(at, at + 3)].join(' ')})`;
}

/** The colours of a palette from left to right, between two shares of the breadth. */
export function gradient(name: PaletteName, [from, to]: readonly [number, number] = [0, 1]): string {
  const stops = PALETTES[name];
  return `linear-gradient(90deg, ${stops.map((colour, at) => `${colour} ${((from + ((to - from) * at) / (stops.length - 1)) * 100).toFixed(2)}%`).join(', ')})`;
}
