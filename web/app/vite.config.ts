// Build of the page: hashed assets in dist/, each with a .br and a .gz beside it.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { documents } from './documents.ts';
import { gazetteer } from './gazetteer.ts';
import { installed } from './offline.ts';
import { tokens } from './tokens.ts';
import { worldWaters } from './waters.ts';

/** Smallest file that is compressed, bytes; scripts and modules always are, because the program has their compressed forms alone. */
const COMPRESSED_BYTES_MIN = 512;

function compressed(): Plugin {
  let folder = 'dist';
  return {
    name: 'compressed',
    apply: 'build',
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true }) as string[]) {
        const path = join(folder, name);
        if (!/\.(html|js|css|json|svg|mjs|tsv|wasm|webmanifest)$/.test(name)) continue;
        if (!/\.(js|wasm)$/.test(name) && statSync(path).size < COMPRESSED_BYTES_MIN) continue;
        const text = readFileSync(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
        writeFileSync(`${path}.br`, brotliCompressSync(text, { params }));
        writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
      }
    },
  };
}

/** The page names the map, which all views share: it is loaded beside the entry, not after it. */
function preloaded(): Plugin {
  return {
    name: 'preloaded',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const map = Object.values(bundle ?? {}).find(
          (chunk) => chunk.type === 'chunk' && chunk.moduleIds.some((id) => id.endsWith('/src/map/view.ts')),
        );
        if (!map) throw new Error('no chunk holds the map');
        return [{ tag: 'link', attrs: { rel: 'modulepreload', crossorigin: true, href: `/${map.fileName}` }, injectTo: 'head' }];
      },
    },
  };
}

export default defineConfig({
  plugins: [tokens(), svelte(), gazetteer(), worldWaters(), documents(), preloaded(), installed(), compressed()],
  build: {
    // The policy of the server allows neither data: modules nor inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1600,
    reportCompressedSize: false,
  },
});
