// Colours of the map in light and dark.

export interface MapTheme {
  name: 'light' | 'dark';
  sea: string;
  land: string;
  border: string;
  hatch: string;
  hatchGround: string;
  text: string;
  halo: string;
  ring: string;
  relief: { min: number; max: number; opacity: number };
}

/** Share of the colour between the lines of the hatching: coasts of the world shine through. */
export const GROUND_ALPHA = 0.45;

export const THEMES: Record<'light' | 'dark', MapTheme> = {
  light: {
    name: 'light',
    sea: '#cfdfe9',
    land: '#f2f0e9',
    border: '#b9b4a6',
    hatch: '#b98a4a',
    hatchGround: '#f7f1e6',
    text: '#15202b',
    halo: '#ffffff',
    ring: '#005a94',
    relief: { min: 0.42, max: 1, opacity: 1 },
  },
  dark: {
    name: 'dark',
    sea: '#14202a',
    land: '#262d32',
    border: '#48525a',
    hatch: '#8a6d3f',
    hatchGround: '#201d18',
    text: '#e6edf2',
    halo: '#12181d',
    ring: '#6bb8f5',
    relief: { min: 0, max: 0.3, opacity: 1 },
  },
};
