// Fields of a form from a JSON schema, and the body of what was typed.
import { readNumber } from '../units';

export interface Schema {
  type?: string | readonly string[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: readonly unknown[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
}

export interface Option {
  value: string;
  label: string;
}

/** `words` is a list of texts, `choices` several options, `json` any other value. */
export type Kind = 'text' | 'number' | 'duration' | 'choice' | 'choices' | 'flag' | 'words' | 'json';

export interface Field {
  name: string;
  label: string;
  kind: Kind;
  unit: string;
  hint: string;
  isRequired: boolean;
  isWhole: boolean;
  options: Option[];
  schema: Schema;
}

/** What a caller states of fields beyond their schema, by name. */
export interface Details {
  /** Fields in this order alone. */
  only?: readonly string[];
  labels?: Record<string, string>;
  options?: Record<string, readonly Option[]>;
}

export type Entry = string | boolean | string[];
/** What was typed, by name; the unit of a duration is at `name:unit`. */
export type Entries = Record<string, Entry>;
export type Faults = Record<string, string>;

/** Ends of names that are units, with their spelling. */
const UNITS: Record<string, string> = {
  s: 's',
  ms: 'ms',
  pct: '%',
  percent: '%',
  dbm: 'dBm',
  db: 'dB',
  m: 'm',
  v: 'V',
  w: 'W',
  bytes: 'bytes',
  kbps: 'kbit/s',
  bps: 'bit/s',
};
/** Units of a duration, s. */
export const DURATIONS: readonly { unit: string; size_s: number }[] = [
  { unit: 's', size_s: 1 },
  { unit: 'min', size_s: 60 },
  { unit: 'h', size_s: 3600 },
  { unit: 'd', size_s: 86_400 },
];
/** Times up to this are typed in seconds, s. */
const SECONDS_MAX_S = 600;

const typeOf = (schema: Schema) =>
  Array.isArray(schema.type) ? schema.type.find((type) => type !== 'null') : (schema.type as string | undefined);

/** A schema without null and with what it refers to. */
function plainSchema(schema: Schema, root: Schema): Schema {
  const target = schema.$ref ? root.$defs?.[schema.$ref.split('/').at(-1) as string] : undefined;
  if (target) return plainSchema({ ...target, ...schema, $ref: undefined } as Schema, root);
  const other = schema.anyOf?.filter((one) => one.type !== 'null');
  if (other?.length === 1) return plainSchema({ ...other[0], ...schema, anyOf: undefined } as Schema, root);
  return schema;
}

const constants = (schema: Schema): string[] => {
  const values = schema.enum ?? schema.oneOf?.map((one) => one.const) ?? [];
  return values.length && values.every((value) => typeof value === 'string') ? (values as string[]) : [];
};

function kindOf(name: string, schema: Schema, options: readonly Option[]): Kind {
  const type = typeOf(schema);
  if (type === 'array' && options.length) return 'choices';
  if (options.length) return 'choice';
  if (type === 'array' && typeOf(schema.items ?? {}) === 'string') return 'words';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number')
    return name.endsWith('_s') && (schema.maximum ?? Infinity) > SECONDS_MAX_S ? 'duration' : 'number';
  return type === 'string' ? 'text' : 'json';
}

/** A duration in the largest unit of which it is a whole number. */
export function spellDuration(time_s: number): { text: string; unit: string } {
  const { unit, size_s } =
    DURATIONS.findLast((one) => time_s % one.size_s === 0 && time_s >= one.size_s) ?? (DURATIONS[0] as (typeof DURATIONS)[number]);
  return { text: String(time_s / size_s), unit };
}

function bounds(kind: Kind, { minimum, maximum, minLength, maxLength }: Schema): string {
  const spell = (value: number) => (kind === 'duration' ? Object.values(spellDuration(value)).join(' ') : value.toLocaleString('en'));
  if (kind === 'text')
    return minLength !== undefined && minLength > 1 && maxLength !== undefined ? `${minLength} to ${maxLength} characters` : '';
  if (kind !== 'number' && kind !== 'duration') return '';
  return minimum !== undefined && maximum !== undefined && maximum < 2 ** 31 ? `${spell(minimum)} to ${spell(maximum)}` : '';
}

function labelOf(name: string): { label: string; unit: string } {
  const words = name.split('_');
  const unit = words.length > 1 ? (UNITS[words.at(-1) as string] ?? '') : '';
  const text = (unit ? words.slice(0, -1) : words).join(' ');
  return { label: text.charAt(0).toUpperCase() + text.slice(1), unit };
}

export function fieldsOf(schema: Schema, details: Details = {}): Field[] {
  const properties = schema.properties ?? {};
  return (details.only ?? Object.keys(properties)).flatMap((name): Field[] => {
    const property = properties[name];
    if (!property) return [];
    const own = plainSchema(property, schema);
    const texts = constants(typeOf(own) === 'array' ? plainSchema(own.items ?? {}, schema) : own);
    const options = [...(details.options?.[name] ?? texts.map((value) => ({ value, label: value.replaceAll('_', ' ') })))];
    const kind = kindOf(name, own, options);
    const { label, unit } = labelOf(name);
    const description = (own.description ?? '').replaceAll('`', '').replaceAll('\n', ' ');
    const hint = [
      kind === 'duration' ? description.replace(/, s\b/, '') : description,
      description.includes(' up to ') ? '' : bounds(kind, own),
    ]
      .filter(Boolean)
      .join(' ');
    return [
      {
        name,
        label: details.labels?.[name] ?? label,
        kind,
        unit: kind === 'duration' ? '' : unit,
        hint,
        isRequired: schema.required?.includes(name) ?? false,
        isWhole: typeOf(own) === 'integer',
        options,
        schema: own,
      },
    ];
  });
}

/** Values up to this length are on one line. */
const LINE_MAX = 80;

function spellJson(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length <= LINE_MAX ? line : JSON.stringify(value, null, 1);
}

/** What is typed in the fields for a value. */
export function entriesOf(fields: readonly Field[], value: Record<string, unknown> = {}): Entries {
  const entries: Entries = {};
  for (const { name, kind, schema, isRequired, options } of fields) {
    const one = value[name] ?? schema.default;
    const isAbsent = one === undefined || one === null;
    if (kind === 'flag') entries[name] = one === true;
    else if (kind === 'choices') entries[name] = Array.isArray(one) ? one.map(String) : [];
    else if (kind === 'words') entries[name] = Array.isArray(one) ? one.join(', ') : '';
    else if (kind === 'json') entries[name] = isAbsent ? '' : spellJson(one);
    else if (kind === 'duration') {
      const { text, unit } = isAbsent ? { text: '', unit: (schema.maximum ?? 0) > 86_400 ? 'd' : 'min' } : spellDuration(Number(one));
      [entries[name], entries[`${name}:unit`]] = [text, unit];
    } else entries[name] = isAbsent ? (kind === 'choice' && isRequired ? (options[0]?.value ?? '') : '') : String(one);
  }
  return entries;
}

function numberOf(field: Field, text: string, size: number): number {
  const number = readNumber(text);
  const { minimum: min = -Infinity, maximum: max = Infinity } = field.schema;
  const value = number === null ? NaN : number * size;
  if (value >= min && value <= max && !(field.isWhole && !Number.isInteger(value))) return value;
  throw new Error(
    `invalid ${field.label}: found ${text}, allowed ${bounds(field.kind, field.schema) || (field.isWhole ? 'a whole number' : 'a number')}`,
  );
}

/** The value of a field; undefined if it is empty. */
function valueOf(field: Field, entries: Entries): unknown {
  const entry = entries[field.name];
  if (typeof entry === 'boolean') return entry;
  if (Array.isArray(entry)) return entry.length || field.isRequired ? entry : undefined;
  const text = (entry ?? '').trim();
  if (field.kind === 'words') return text.split(/[\s,]+/).filter(Boolean);
  if (!text) return undefined;
  if (field.kind === 'number') return numberOf(field, text, 1);
  if (field.kind === 'duration')
    return numberOf(field, text, DURATIONS.find((one) => one.unit === entries[`${field.name}:unit`])?.size_s ?? 1);
  if (field.kind !== 'json') return text;
  // A text that is no JSON is that text.
  if (!/^[[{"\d-]|^(true|false|null)$/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch (fault) {
    throw new Error(`invalid ${field.label}: ${(fault as Error).message}`);
  }
}

/** The body of what was typed, and what is wrong with it by field. */
export function bodyOf(fields: readonly Field[], entries: Entries): { body: Record<string, unknown>; faults: Faults } {
  const [body, faults]: [Record<string, unknown>, Faults] = [{}, {}];
  for (const field of fields) {
    try {
      const value = valueOf(field, entries);
      if (value !== undefined) body[field.name] = value;
      else if (field.isRequired) faults[field.name] = `${field.label} is needed.`;
    } catch (fault) {
      faults[field.name] = (fault as Error).message;
    }
  }
  return { body, faults };
}
