// Answers that are refusals, broken or none, and names of files.
import { expect, test } from 'vitest';
import { Abandoned, Refusal, wanted } from '../src/api/client';
import { fileName } from '../src/files';

const fault = (asked: Promise<never>) =>
  wanted(asked).then(
    () => null,
    (fault: unknown) => fault,
  );

test('each way to fail has a text and a status of its own', async () => {
  const answer = (status: number, error: unknown) => Promise.resolve({ error, response: new Response(null, { status }) }) as never;
  for (const [asked, text, status] of [
    [Promise.reject(new TypeError('Failed to fetch')), 'The server does not answer.', 0],
    [Promise.reject(new SyntaxError('Unexpected end of JSON input')), 'The answer of the server is not complete. Try again.', 502],
    [answer(500, { detail: 'it panicked' }), 'it panicked', 500],
    [answer(502, '<html>Bad gateway</html>'), 'The server answered 502.', 502],
    [answer(404, undefined), 'The server answered 404.', 404],
    [answer(400, { detail: 'invalid', errors: [{ pointer: '/a', message: 'a: found 1' }] }), 'invalid a: found 1', 400],
  ] as const) {
    const found = await fault(asked as Promise<never>);
    expect(found).toBeInstanceOf(Refusal);
    expect([(found as Refusal).message, (found as Refusal).status]).toEqual([text, status]);
  }
});

test('a request that the page has ended is no failure', async () => {
  const found = await fault(Promise.reject(new DOMException('The user aborted a request.', 'AbortError')));
  expect(found).toBeInstanceOf(Abandoned);
});

test('files have the names of their answers, in any script', () => {
  for (const [field, name] of [
    ['attachment; filename="plan.geojson"', 'plan.geojson'],
    ['attachment; filename="a \\"b\\".csv"', 'a "b".csv'],
    ['attachment; filename="G_teborg.kml"; filename*=UTF-8\'\'G%C3%B6teborg.kml', 'Göteborg.kml'],
    ['attachment; filename=plain.png', 'plain.png'],
    ['attachment', ''],
    [null, ''],
  ] as const)
    expect(fileName(field), String(field)).toBe(name);
});
