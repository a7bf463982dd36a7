// Fields that take a position in any spelling.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, nodesOf, open, plan, test } from './server';

test('a node goes where its pasted position is, and stays where one is refused', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  const readers: string[] = [];
  page.on('request', (sent) => void (/positions[^/]*\.wasm$|position\.json/.test(sent.url()) && readers.push(sent.url())));
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  expect(readers, 'no reader before there is a text to read').toEqual([]);
  const field = page.locator('[name=place]');
  await field.fill("51°30', -0°7'");
  await field.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id))[0]!.lon).toBeCloseTo(-7 / 60, 9);
  await expect(field).toHaveValue('51.5000° N 0.1167° W');
  await field.fill('57.7 N 11.9 O');
  await field.press('Enter');
  await expect(page.locator('.messages')).toContainText('east in German');
  await expect(field).toHaveValue('51.5000° N 0.1167° W');
  await page.locator('#search').fill('32S 674955 6400292');
  await expect(page.locator('#found')).toContainText('a band, not a hemisphere');
  // Once, by the page itself; where it was built without the module, by its server.
  const paths = readers.map((url) => new URL(url).pathname);
  if (existsSync(join(import.meta.dirname, '../wasm/positions.wasm')))
    expect(paths).toEqual([expect.stringMatching(/^\/assets\/positions-.*\.wasm$/)]);
  else expect(new Set(paths)).toEqual(new Set(['/position.json']));
});
