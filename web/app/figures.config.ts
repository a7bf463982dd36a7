import { defineConfig } from '@playwright/test';
import usual from './playwright.config';

// Figures, not tests: one after the other, with time for a slow machine, and with the map's own motion.
export default defineConfig({
  ...usual,
  testMatch: 'figures.ts',
  timeout: 240_000,
  workers: 1,
  reporter: [['line']],
  use: { ...usual.use, reducedMotion: 'no-preference' },
});
