// What the build takes from the documents of the interfaces.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documents } from '../documents';
import { PERCENT_MIN } from '../src/verdict';

const { resolveId, load } = documents() as unknown as { resolveId(id: string): string | undefined; load(id: string): string | undefined };

/** The values that a module of the build exports. */
async function built(id: string): Promise<Record<string, { id: string; about: string }[]>> {
  const code = load(resolveId(id) as string) as string;
  return (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as never;
}

test('choices are those of the interface, in its order and with its descriptions', async () => {
  const { schemas } = JSON.parse(readFileSync(new URL('../api/planning.json', import.meta.url), 'utf8')).components;
  const { METRICS, COVERAGE_FORMATS } = await built('virtual:planning');
  for (const [choices, schema] of [
    [METRICS, 'Metric'],
    [COVERAGE_FORMATS, 'CoverageFormat'],
  ] as const) {
    expect(choices?.map(({ id }) => id)).toEqual(schemas[schema].oneOf.map((one: { const: string }) => one.const));
    for (const { about } of choices ?? []) expect(about).toMatch(/^[A-Z][^\n`]+\.$/);
  }
});

test('other modules are none of its', () => {
  expect([resolveId('virtual:other'), load('virtual:planning'), load('\0virtual:other')]).toEqual([undefined, undefined, undefined]);
});

test('verdicts have the probabilities of the interface', () => {
  const { schemas } = JSON.parse(readFileSync(new URL('../api/planning.json', import.meta.url), 'utf8')).components;
  const stated = schemas.CellVerdict.oneOf.flatMap((one: { const: string; description: string }) => {
    const percent = /(\d+) % or more/.exec(one.description)?.[1];
    return percent ? [[one.const, Number(percent)]] : [];
  });
  expect(Object.fromEntries(stated)).toEqual(PERCENT_MIN);
});
