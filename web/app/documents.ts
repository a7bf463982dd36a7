// What the documents of the interfaces list, in the build: schemas of forms and roles of operations from that of the
// gateway, values to choose from out of that of the planning server.
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

/** Enumerations of the planning interface that the page offers, by their names in the module. */
const CHOICES = { METRICS: 'Metric', COVERAGE_FORMATS: 'CoverageFormat' } as const;

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

/** Values of enumerations with their descriptions, in the order of the document. */
function choicesOf(path: URL): string {
  const { components } = JSON.parse(readFileSync(path, 'utf8')) as {
    components: { schemas: Record<string, { oneOf?: { const: string; description: string }[] }> };
  };
  return Object.entries(CHOICES)
    .map(([name, schema]) => {
      const values = components.schemas[schema]?.oneOf;
      if (!values?.length) throw new Error(`the document has no values of ${schema}`);
      const choices = values.map((value) => ({ id: value.const, about: value.description.replaceAll('\n', ' ').replaceAll('`', '') }));
      return `export const ${name} = ${JSON.stringify(choices)};`;
    })
    .join('\n');
}

/** The modules `virtual:gateway` and `virtual:planning`. */
export function documents(): Plugin {
  const modules: Record<string, () => string> = {
    'virtual:gateway': () => moduleOf(new URL('api/gateway.json', import.meta.url)),
    'virtual:planning': () => choicesOf(new URL('api/planning.json', import.meta.url)),
  };
  return {
    name: 'documents',
    resolveId: (id) => (id in modules ? `\0${id}` : undefined),
    load: (id) => (id.startsWith('\0') ? modules[id.slice(1)]?.() : undefined),
  };
}
