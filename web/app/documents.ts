// Schemas of the forms and roles of the operations in the build: a virtual module from the document of the gateway.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

/** Operations whose bodies are forms of the page. */
const FORMS = [
  'POST /v1/trust/join-keys',
  'PUT /v1/trust/policy',
  'POST /v1/trust/macs',
  'POST /v1/admin/users',
  'PATCH /v1/admin/users/{user_id}',
  'POST /v1/tokens',
  'POST /v1/firmware/rollouts',
  'POST /v1/flows',
  'POST /v1/sensors/i2c/assignments',
  'POST /v1/camera',
  'POST /v1/firewall/zones',
  'POST /v1/firewall/rules',
];

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface Operation {
  'x-needs'?: { role: string };
  tags?: string[];
  requestBody?: { content: Record<string, { schema: Json }> };
}

/** A schema with what it refers to in place of the references. */
function inlined(schema: Json, schemas: Record<string, Json>): Json {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, schemas));
  if (schema === null || typeof schema !== 'object') return schema;
  const { $ref, ...own } = schema;
  const rest = Object.fromEntries(Object.entries(own).map(([key, one]) => [key, inlined(one, schemas)]));
  if (typeof $ref !== 'string') return rest;
  const target = inlined(schemas[$ref.split('/').at(-1) as string] ?? {}, schemas);
  return { ...(target as object), ...rest };
}

function moduleOf(path: URL): string {
  const document = JSON.parse(readFileSync(path, 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Json> };
  };
  const operations = Object.entries(document.paths).flatMap(([at, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${at}`, operation] as const),
  );
  const roles = operations.map(([name, operation]) => [name, operation['x-needs']?.role ?? 'admin']);
  const forms = FORMS.map((name) => {
    const schema = operations.find(([other]) => other === name)?.[1].requestBody?.content['application/json']?.schema;
    if (!schema) throw new Error(`the document has no body of ${name}`);
    return [name, inlined(schema, document.components.schemas)];
  });
  const tags = [...new Set(operations.flatMap(([, operation]) => operation.tags ?? []))].sort();
  return `export const ROLES = ${JSON.stringify(Object.fromEntries(roles))};\nexport const FORMS = ${JSON.stringify(Object.fromEntries(forms))};\nexport const TAGS = ${JSON.stringify(tags)};`;
}

/** The module `virtual:gateway`. */
export function documents(): Plugin {
  const ID = 'virtual:gateway';
  return {
    name: 'documents',
    resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
    load: (id) => (id === `\0${ID}` ? moduleOf(new URL('api/gateway.json', import.meta.url)) : undefined),
  };
}
