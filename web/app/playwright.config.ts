// Tests of the page in Debian's Chromium. `make test` runs them through tests/it/planning/page.rs.
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'tests',
  // A test machine has two processors and runs other tests beside this: limits end what hangs, they
  // do not measure.
  workers: 1,
  timeout: 240_000,
  expect: { timeout: 40_000 },
  // A machine that others keep busy may stall for seconds; what is wrong fails twice.
  retries: 1,
  reporter: 'line',
  use: {
    viewport: { width: 1280, height: 800 },
    actionTimeout: 40_000,
    reducedMotion: 'reduce',
    colorScheme: 'light',
    // Routes of a test see no request of a worker.
    serviceWorkers: 'block',
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
    },
  },
});
