// Engines beside Chromium's: WebKit, that of Safari and of every browser of an iPhone, and Firefox's Gecko. The
// same tests run in each; ENGINE names it.
import { Firefox } from './firefox';
import type { Engine } from './screen';
import { served } from './server';
import { WebKit } from './webkit';

export const NAME = process.env['ENGINE'] ?? 'webkit';
const ENGINES: Record<string, (width: number, height: number) => Promise<Engine>> = { webkit: WebKit.start, firefox: Firefox.start };

export const test = served.extend<object, { engine: Engine }>({
  engine: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const start = ENGINES[NAME];
      if (!start) throw new Error(`invalid ENGINE: found ${NAME}, allowed ${Object.keys(ENGINES).join(', ')}`);
      const engine = await start(1280, 840);
      await use(engine);
      await engine.close();
    },
    { scope: 'worker' },
  ],
});
