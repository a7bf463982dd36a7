import { defineConfig } from '@playwright/test';
import usual from './playwright.config';

// Pictures of the documents, not tests: with room for a slow machine.
export default defineConfig({
  ...usual,
  testMatch: 'pictures.ts',
  timeout: 240_000,
  workers: 1,
  reporter: [['line']],
  use: { ...usual.use, reducedMotion: 'no-preference' },
});
