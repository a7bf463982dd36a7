// The page as an installed one in the build: its manifest, its icons, and the service worker with the names of its files.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformWithOxc, type HtmlTagDescriptor, type Plugin } from 'vite';
import { icon } from './icons.ts';

const WORKER = 'sw.js';
const MANIFEST = 'manifest.webmanifest';
const ICONS = [
  { file: 'icon-192.png', side: 192, purpose: 'any' },
  { file: 'icon-512.png', side: 512, purpose: 'any' },
  { file: 'icon-maskable.png', side: 512, purpose: 'maskable' },
] as const;
/** Colours behind the page while it begins, and of the bar of the system, as in app.css. */
const COLOURS = { light: '#ffffff', dark: '#12181d' } as const;

const DOCUMENT = {
  name: 'Groundwave',
  short_name: 'Groundwave',
  description: 'Plan, watch and replay a wireless mesh on real terrain.',
  id: '/',
  start_url: '/',
  scope: '/',
  display: 'standalone',
  background_color: COLOURS.light,
  theme_color: COLOURS.light,
  icons: [
    { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' },
    ...ICONS.map(({ file, side, purpose }) => ({ src: `/${file}`, sizes: `${side}x${side}`, type: 'image/png', purpose })),
  ],
};

/** Data of the world that views load when they need them, and the table of the command line: kept once they were loaded. */
const ON_NEED = /(countries|waters|towns)[^/]*$/;
const FILES = /\.(html|js|css|wasm|woff2|svg|png|webmanifest)$/;

/** The worker as a script of its own, for the files of a folder. */
async function workerOf(folder: string, source: string): Promise<string> {
  const names = (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => FILES.test(name) && !ON_NEED.test(name) && name !== WORKER)
    .sort();
  const digest = createHash('sha256').update(source);
  for (const name of names) digest.update(name).update(readFileSync(join(folder, name)));
  const shell = { version: digest.digest('hex').slice(0, 16), files: names.map((name) => `/${name}`) };
  const { code } = await transformWithOxc(source, 'worker.ts');
  return code.replaceAll('__SHELL__', JSON.stringify(shell));
}

/** Writes manifest, icons and service worker beside the page, and names them in it. */
export function installed(): Plugin {
  let [root, folder] = ['', ''];
  return {
    name: 'installed',
    apply: 'build',
    configResolved(config) {
      root = config.root;
      folder = join(root, config.build.outDir);
    },
    transformIndexHtml: () => [
      { tag: 'link', attrs: { rel: 'manifest', href: `/${MANIFEST}` }, injectTo: 'head' },
      { tag: 'link', attrs: { rel: 'apple-touch-icon', href: '/icon-192.png' }, injectTo: 'head' },
      ...Object.entries(COLOURS).map(([scheme, content]): HtmlTagDescriptor => ({
        tag: 'meta',
        attrs: { name: 'theme-color', media: `(prefers-color-scheme: ${scheme})`, content },
        injectTo: 'head',
      })),
    ],
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: MANIFEST, source: JSON.stringify(DOCUMENT) });
      for (const { file, side, purpose } of ICONS)
        this.emitFile({ type: 'asset', fileName: file, source: icon(side, purpose === 'maskable') });
    },
    // Before the files are compressed.
    writeBundle: {
      order: 'post',
      async handler() {
        writeFileSync(join(folder, WORKER), await workerOf(folder, readFileSync(join(root, 'worker.ts'), 'utf8')));
      },
    },
  };
}
