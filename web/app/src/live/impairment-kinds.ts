// Kinds of impairment, each once: fields of the form, values of the fields, words.
import type { Impairment, ImpairmentSystem } from '../api/gateway';
import { rate } from '../units';

export type Capabilities = ImpairmentSystem['capabilities'];

/** Values of the fields as typed, by key; empty is not impaired. */
export type Form = Record<string, string>;

/** Parts of the form, in order. */
export type Part = 'main' | 'bursts' | 'more' | 'correlations';

/** Field of the form: a number unless it has options or is a box. */
export interface Field {
  key: string;
  label: string;
  part: Part;
  number?: { min: number; max?: number; step: number | 'any' };
  box?: boolean;
  options?: (form: Form, can?: Capabilities) => string[];
  placeholder?: (form: Form) => string;
  applies?: (form: Form, can?: Capabilities) => boolean;
}

type Value<K extends keyof Impairment> = NonNullable<Impairment[K]>;

interface Kind<K extends keyof Impairment> {
  name: string;
  fields: Field[];
  toForm: (value?: Value<K>) => Form;
  fromForm: (form: Form) => Value<K> | undefined;
  words: (value: Value<K>) => string;
}

const NS_PER_MS = 1e6;
const DELAY_MS_MAX = 9_223_372_036_854;
const DISTRIBUTIONS = ['uniform', 'normal', 'pareto', 'paretonormal'] as const;

/** Bucket of a rate without one: 16 ms of data, at least one Ethernet frame. */
const derivedBurst = (bps: number) => Math.max(1514, Math.floor(bps / 500));

const text = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(Number(value.toPrecision(12))));
const share = (value: number | null | undefined) => text(value === null || value === undefined ? value : value * 100);
// A number of the browser's is not a text.
const isFilled = (value: string | number | null | undefined) => value !== null && value !== undefined && String(value).trim() !== '';
const whole = (value: string, factor = 1) => Math.round(Number(value) * factor);
const withCorrelation = (value: string) => (isFilled(value) ? { correlation: Number(value) / 100 } : {});

const number = (value: number) => String(Number(value.toPrecision(4)));
const ms = (ns: number) => `${number(ns / NS_PER_MS)} ms`;
const pct = (value: number) => `${number(value)} %`;
const correlationWords = (correlation: number | null | undefined) =>
  typeof correlation === 'number' ? `, correlation ${pct(correlation * 100)}` : '';

const time = (key: string, label: string): Field => ({ key, label, part: 'main', number: { min: 0, max: DELAY_MS_MAX, step: 'any' } });
const percent = (key: string, label: string, part: Part): Field => ({ key, label, part, number: { min: 0, max: 100, step: 'any' } });
const count = (key: string, label: string, part: Part): Field => ({ key, label, part, number: { min: 1, step: 1 } });
const correlation = (of: string): Field => percent(`${of}_correlation_pct`, `Correlation of ${of}, %`, 'correlations');
const bursts = (form: Form, can?: Capabilities) => isFilled(form.bursts) && (can?.supports_loss_gilbert_elliott ?? false);
const chance = (key: string, label: string): Field => ({
  key,
  label,
  part: 'bursts',
  number: { min: 0, max: 1, step: 'any' },
  applies: bursts,
});

/** Keys of the kinds that are a percentage with a correlation. */
type ShareKey = { [K in keyof Required<Impairment>]: { pct: number } extends Value<K> ? K : never }[keyof Impairment];

/** A share of packets that is drawn at random. */
function randomShare<K extends NonNullable<ShareKey>>(key: K, name: string): Kind<K> {
  return {
    name,
    fields: [percent(`${key}_pct`, `${name}, %`, 'more'), correlation(key)],
    toForm: (value) => ({ [`${key}_pct`]: text(value?.pct), [`${key}_correlation_pct`]: share(value?.correlation) }),
    fromForm: (form) =>
      isFilled(form[`${key}_pct`]) ? { pct: Number(form[`${key}_pct`]), ...withCorrelation(form[`${key}_correlation_pct`]) } : undefined,
    words: (value) => pct(value.pct) + correlationWords(value.correlation),
  };
}

const latency: Kind<'latency'> = {
  name: 'Delay',
  fields: [
    time('delay_ms', 'Delay, ms'),
    time('jitter_ms', 'Jitter, ms'),
    {
      key: 'distribution',
      label: 'Distribution of the jitter',
      part: 'main',
      options: (form, can) => [...new Set([...(can?.supports_distributions ?? []).map((one) => one.kind), form.distribution])],
    },
    correlation('delay'),
  ],
  toForm: (value) => {
    const stochastic = value?.kind === 'stochastic' ? value : null;
    const shape = stochastic?.distribution;
    return {
      delay_ms: text(value ? (value.kind === 'constant' ? value.duration : value.mean) / NS_PER_MS : null),
      jitter_ms: text(stochastic ? stochastic.jitter / NS_PER_MS : null),
      distribution: shape?.kind === 'table' ? shape.name : (shape?.kind ?? 'uniform'),
      delay_correlation_pct: share(stochastic?.correlation),
    };
  },
  fromForm: (form) => {
    if (isFilled(form.jitter_ms) && Number(form.jitter_ms) !== 0) {
      const kind = DISTRIBUTIONS.find((one) => one === form.distribution);
      const distribution = kind ? { kind } : { kind: 'table' as const, name: form.distribution };
      return {
        kind: 'stochastic',
        mean: whole(form.delay_ms || '0', NS_PER_MS),
        jitter: whole(form.jitter_ms, NS_PER_MS),
        distribution,
        ...withCorrelation(form.delay_correlation_pct),
      };
    }
    return isFilled(form.delay_ms) ? { kind: 'constant', duration: whole(form.delay_ms, NS_PER_MS) } : undefined;
  },
  words: (value) => {
    if (value.kind === 'constant') return ms(value.duration);
    const name = value.distribution?.kind === 'table' ? value.distribution.name : (value.distribution?.kind ?? 'uniform');
    return `${ms(value.mean)} ± ${ms(value.jitter)} ${name}${correlationWords(value.correlation)}`;
  },
};

const loss: Kind<'loss'> = {
  name: 'Loss',
  fields: [
    { ...percent('loss_pct', 'Loss, %', 'main'), applies: (form) => !isFilled(form.bursts) },
    {
      key: 'bursts',
      label: 'Loss in bursts (Gilbert-Elliott)',
      part: 'bursts',
      box: true,
      applies: (_, can) => can?.supports_loss_gilbert_elliott ?? false,
    },
    chance('p', 'p, good to bad'),
    chance('r', 'r, bad to good'),
    chance('one_minus_h', '1−h, loss in good'),
    chance('one_minus_k', '1−k, loss in bad'),
    correlation('loss'),
  ],
  toForm: (value) => {
    const plain = value?.model === 'bernoulli' ? value : null;
    const states = value?.model === 'gilbert-elliott' ? value : null;
    return {
      loss_pct: text(plain?.pct),
      loss_correlation_pct: share(plain?.correlation),
      bursts: states ? 'yes' : '',
      p: text(states?.p),
      r: text(states?.r),
      one_minus_h: text(states?.one_minus_h),
      one_minus_k: text(states?.one_minus_k),
    };
  },
  fromForm: (form) => {
    if (!isFilled(form.bursts))
      return isFilled(form.loss_pct)
        ? { model: 'bernoulli', pct: Number(form.loss_pct), ...withCorrelation(form.loss_correlation_pct) }
        : undefined;
    if (!isFilled(form.p) || !isFilled(form.r)) return undefined;
    return {
      model: 'gilbert-elliott',
      p: Number(form.p),
      r: Number(form.r),
      one_minus_h: Number(form.one_minus_h || 0),
      one_minus_k: Number(isFilled(form.one_minus_k) ? form.one_minus_k : 1),
    };
  },
  words: (value) => {
    if (value.model === 'bernoulli') return `${pct(value.pct)}${correlationWords(value.correlation)}`;
    return `in bursts: p ${number(value.p)}, r ${number(value.r)}, 1−h ${number(value.one_minus_h)}, 1−k ${number(value.one_minus_k)}`;
  },
};

const ceiling: Kind<'rate'> = {
  name: 'Rate',
  fields: [
    { key: 'rate_kbps', label: 'Rate, kbit/s', part: 'main', number: { min: 0.008, step: 'any' } },
    {
      ...count('burst_bytes', 'Burst, bytes', 'main'),
      placeholder: (form) => (form.rate_kbps ? String(derivedBurst(Number(form.rate_kbps) * 1000)) : 'of the rate'),
    },
  ],
  toForm: (value) => ({ rate_kbps: text(value ? value.bps / 1000 : null), burst_bytes: text(value?.burst_bytes) }),
  fromForm: (form) => {
    if (!isFilled(form.rate_kbps)) return undefined;
    const bps = whole(form.rate_kbps, 1000);
    return { bps, burst_bytes: isFilled(form.burst_bytes) ? whole(form.burst_bytes) : derivedBurst(bps) };
  },
  words: (value) => `${rate(value.bps)}, burst ${value.burst_bytes}\u00a0B`,
};

const queue: Kind<'queue'> = {
  name: 'Queue',
  fields: [
    count('queue', 'Queue', 'main'),
    { key: 'queue_unit', label: 'Unit of the queue', part: 'main', options: () => ['packets', 'bytes'] },
  ],
  toForm: (value) => ({ queue: text(value?.limit.value), queue_unit: value?.limit.unit ?? 'packets' }),
  fromForm: (form) =>
    isFilled(form.queue) ? { limit: { unit: form.queue_unit === 'bytes' ? 'bytes' : 'packets', value: whole(form.queue) } } : undefined,
  words: (value) => `${value.limit.value} ${value.limit.unit}`,
};

const reordering: Kind<'reordering'> = {
  name: 'Reordering',
  fields: [
    percent('reordering_pct', 'Reordering, %', 'more'),
    { ...count('gap', 'Gap, packets', 'more'), placeholder: () => '1' },
    correlation('reordering'),
  ],
  toForm: (value) => ({ reordering_pct: text(value?.pct), gap: text(value?.gap), reordering_correlation_pct: share(value?.correlation) }),
  fromForm: (form) =>
    isFilled(form.reordering_pct)
      ? {
          pct: Number(form.reordering_pct),
          gap: isFilled(form.gap) ? whole(form.gap) : 1,
          ...withCorrelation(form.reordering_correlation_pct),
        }
      : undefined,
  words: (value) => `${pct(value.pct)}, gap ${value.gap}${correlationWords(value.correlation)}`,
};

/** Rules are those of the command line: the form keeps them. */
const rules: Kind<'rules'> = {
  name: 'Rules',
  fields: [],
  toForm: (value) => ({ rules: value?.length ? JSON.stringify(value) : '' }),
  fromForm: (form) => (isFilled(form.rules) ? (JSON.parse(form.rules) as Value<'rules'>) : undefined),
  words: (value) => value.map((rule) => (rule.exclude ? `${rule.name} excluded` : rule.name)).join(', '),
};

/** A row for each kind of the interface: one without a row is an error of types. */
const KINDS: { [K in keyof Required<Impairment>]: Kind<K> } = {
  latency,
  loss,
  rate: ceiling,
  queue,
  duplication: randomShare('duplication', 'Duplication'),
  reordering,
  corruption: randomShare('corruption', 'Corruption'),
  rules,
};

const KEYS = Object.keys(KINDS) as (keyof Impairment)[];

/** Fields of a part of the form that apply. */
export const fields = (part: Part, form: Form, can?: Capabilities) =>
  KEYS.flatMap((key) => KINDS[key].fields.filter((field) => field.part === part && (field.applies?.(form, can) ?? true)));

const formOf = <K extends keyof Impairment>(key: K, impairment: Impairment): Form => KINDS[key].toForm(impairment[key] ?? undefined);

export const toForm = (impairment: Impairment): Form => Object.assign({}, ...KEYS.map((key) => formOf(key, impairment)));

function copy<K extends keyof Impairment>(key: K, form: Form, impairment: Impairment) {
  const value = KINDS[key].fromForm(form);
  if (value) impairment[key] = value;
}

/** The impairment of a form; what is out of range is refused by the daemon. */
export function fromForm(form: Form): Impairment {
  const impairment: Impairment = {};
  for (const key of KEYS) copy(key, form, impairment);
  return impairment;
}

function words<K extends keyof Impairment>(key: K, impairment: Impairment): string {
  const value = impairment[key];
  return value ? KINDS[key].words(value) : '';
}

/** Name of each kind with its words, which are empty for one that does not impair. */
export const describe = (impairment: Impairment) => KEYS.map((key) => ({ name: KINDS[key].name, words: words(key, impairment) }));
