// Tests of modules that need no browser; `make test` runs them through tests/it/planning/page.rs.
import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['unit/*.test.ts'], environment: 'node' } });
