// Types of the interface from its document.
import openapiTS, { astToString } from 'openapi-typescript';
import { readFileSync, writeFileSync } from 'node:fs';

for (const name of ['planning', 'gateway']) {
  const document = JSON.parse(readFileSync(new URL(`api/${name}.json`, import.meta.url), 'utf8'));
  const types = await openapiTS(document, { defaultNonNullable: false });
  writeFileSync(new URL(`src/api/${name}.d.ts`, import.meta.url), astToString(types));
}
