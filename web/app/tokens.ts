// Names of style sheets in the build: colours that scripts use too, and the widths of breakpoints.ts.
import type { Plugin } from 'vite';
import { MEDIA } from './src/breakpoints.ts';
import { ANSWER_COLOURS, BLOCKED_COLOURS, COLOURS, RATINGS } from './src/verdict.ts';

const SHEET = 'virtual:tokens.css';

function sheet(): string {
  const pairs: [name: string, light: string, dark: string][] = [
    ...RATINGS.map((rating): [string, string, string] => [rating, COLOURS.light[rating], COLOURS.dark[rating]]),
    ['answer', ANSWER_COLOURS.light, ANSWER_COLOURS.dark],
    ['blocked', BLOCKED_COLOURS.light, BLOCKED_COLOURS.dark],
  ];
  return `:root, .print-view { ${pairs.map(([name, light, dark]) => `--${name}: light-dark(${light}, ${dark});`).join(' ')} }`;
}

/** The style sheet `virtual:tokens.css`, and the queries in place of `(--phone)` and the like. */
export function tokens(): Plugin {
  return {
    name: 'tokens',
    enforce: 'pre',
    resolveId: (id) => (id === SHEET ? `\0${SHEET}` : undefined),
    load: (id) => (id === `\0${SHEET}` ? sheet() : undefined),
    transform(code, id) {
      if (!/\.css($|\?)/.test(id) || !code.includes('(--')) return undefined;
      const replaced = code.replace(/(@media[^{]*)\{/g, (rule) =>
        Object.entries(MEDIA).reduce((text, [name, query]) => text.replaceAll(`(${name})`, query), rule),
      );
      if (/@media[^{]*\(--/.test(replaced))
        throw new Error(`${id}: a query of @media has no such name; allowed ${Object.keys(MEDIA).join(', ')}`);
      return { code: replaced, map: null };
    },
  };
}
