// Colours of the map in light and dark.

export interface MapTheme {
  name: 'light' | 'dark';
  sea: string;
  land: string;
  border: string;
  river: string;
  hatch: string;
  hatchGround: string;
  text: string;
  halo: string;
  ring: string;
  relief: { min: number; max: number; opacity: number };
  /** Colours of ground by its height above the sea, m, which the light is multiplied with; rising. */
  tint: readonly (readonly [number, string])[];
  contour: string;
  /** Heights on contour lines, and the edge around them. */
  contourName: string;
  contourHalo: string;
}

/** Share of the colour between the lines of the hatching: coasts of the world shine through. */
export const GROUND_ALPHA = 0.45;

export const THEMES: Record<'light' | 'dark', MapTheme> = {
  light: {
    name: 'light',
    sea: '#cfdfe9',
    land: '#f2f0e9',
    border: '#b9b4a6',
    river: '#8db4cf',
    hatch: '#b98a4a',
    hatchGround: '#f7f1e6',
    text: '#15202b',
    halo: '#ffffff',
    ring: '#005a94',
    relief: { min: 0.42, max: 1, opacity: 1 },
    tint: [
      [0, '#e6f0df'],
      [40, '#eff4df'],
      [120, '#fbf7df'],
      [300, '#f9ebcb'],
      [800, '#f0d6b0'],
      [1800, '#e2c7b4'],
      [3500, '#f6f6fa'],
    ],
    contour: '#7d5a34',
    contourName: '#5a3d1e',
    contourHalo: '#fdf9ee',
  },
  dark: {
    name: 'dark',
    sea: '#14202a',
    land: '#262d32',
    border: '#48525a',
    river: '#3f6a86',
    hatch: '#8a6d3f',
    hatchGround: '#201d18',
    text: '#e6edf2',
    halo: '#12181d',
    ring: '#6bb8f5',
    relief: { min: 0, max: 0.3, opacity: 1 },
    tint: [
      [0, '#a9d6bc'],
      [40, '#bdd9b4'],
      [120, '#dcd8a6'],
      [300, '#e8c98e'],
      [800, '#e0b184'],
      [1800, '#d3a7a0'],
      [3500, '#e6e8f4'],
    ],
    contour: '#c9a273',
    contourName: '#f0d4ac',
    contourHalo: '#1d1c18',
  },
};
