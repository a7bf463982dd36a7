// Tests of modules that need no browser; `make test` runs them through tests/it/planning/page.rs.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  // Stores keep the state that a browser would show.
  resolve: { conditions: ['browser'] },
  test: { include: ['unit/*.test.ts'], environment: 'node' },
});
