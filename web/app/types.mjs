// Types of the interface from its document. Without operation ids: some occur twice in it.
import openapiTS, { astToString } from 'openapi-typescript';
import { readFileSync, writeFileSync } from 'node:fs';

for (const name of ['planning']) {
  const document = JSON.parse(readFileSync(new URL(`api/${name}.json`, import.meta.url), 'utf8'));
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) delete operation.operationId;
  }
  const types = await openapiTS(document, { defaultNonNullable: false });
  writeFileSync(new URL(`src/api/${name}.d.ts`, import.meta.url), astToString(types));
}
