// Colours of the map in light and dark.

export interface MapTheme {
  name: 'light' | 'dark';
  sea: string;
  land: string;
  border: string;
  hatch: [number, number, number];
  hatchGround: [number, number, number];
  text: string;
  halo: string;
  ring: string;
  /** Colours of sea and land in full light, and how much the shade darkens. */
  ground: { sea: [number, number, number]; land: [number, number, number]; shade: number };
}

export const THEMES: Record<'light' | 'dark', MapTheme> = {
  light: {
    name: 'light',
    sea: '#cfdfe9',
    land: '#f2f0e9',
    border: '#b9b4a6',
    hatch: [196, 156, 104],
    hatchGround: [247, 241, 230],
    text: '#15202b',
    halo: '#ffffff',
    ring: '#005a94',
    ground: { sea: [207, 223, 233], land: [246, 243, 234], shade: 0.62 },
  },
  dark: {
    name: 'dark',
    sea: '#14202a',
    land: '#262d32',
    border: '#48525a',
    hatch: [110, 88, 54],
    hatchGround: [32, 29, 24],
    text: '#e6edf2',
    halo: '#12181d',
    ring: '#6bb8f5',
    ground: { sea: [20, 32, 42], land: [62, 70, 76], shade: 0.75 },
  },
};
