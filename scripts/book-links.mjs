// Links of a rendered book that lead nowhere: `node book-links.mjs FOLDER`. Exit code 1 with their list.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const folder = resolve(process.argv[2]);
const pages = readdirSync(folder, { recursive: true })
  .filter((name) => name.endsWith('.html') && !/^(print|404|toc)\.html$/.test(name))
  .map((name) => join(folder, name));
const anchors = new Map();
const anchorsOf = (page) => {
  if (!anchors.has(page)) {
    const ids = readFileSync(page, 'utf8').matchAll(/\sid="([^"]+)"/g);
    anchors.set(page, new Set([...ids].map((match) => match[1])));
  }
  return anchors.get(page);
};

let count = 0;
const broken = [];
for (const page of pages) {
  const main = readFileSync(page, 'utf8').split('<main>')[1]?.split('</main>')[0] ?? '';
  for (const [, target] of main.matchAll(/(?:href|src)="([^"]+)"/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    count += 1;
    const [path, anchor] = target.split('#');
    const file = path === '' ? page : resolve(dirname(page), decodeURI(path));
    if (!existsSync(file)) broken.push(`${relative(folder, page)}: ${target}`);
    else if (anchor && file.endsWith('.html') && !anchorsOf(file).has(decodeURIComponent(anchor)))
      broken.push(`${relative(folder, page)}: ${target}: no such heading`);
  }
}
console.log(`book: ${pages.length} pages, ${count} links within, ${broken.length} broken`);
broken.forEach((line) => console.error(line));
process.exit(broken.length > 0 ? 1 : 0);
