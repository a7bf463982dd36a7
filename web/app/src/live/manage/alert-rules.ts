// Rules of alerts in few fields, as flows.
import type { Schema } from '../../ui/schema';

export type Cause = 'outage' | 'reading' | 'pending';

export const CAUSES: Record<Cause, { name: string; message: string }> = {
  outage: { name: 'a node is silent, and once it is back', message: '{{/trigger/summary}}' },
  reading: { name: 'a reading crosses a limit', message: '{{/trigger/value}}' },
  pending: { name: 'a node waits for approval', message: '{{/trigger/hostname}} ({{/trigger/mac}}) waits for approval' },
};

const READING: Record<string, Schema> = {
  metric: { type: 'string', maxLength: 64, description: 'Name of the reading, such as sys.temp_c.' },
  op: { oneOf: [{ const: 'ge' }, { const: 'gt' }, { const: 'le' }, { const: 'lt' }] },
  value: { type: 'number' },
  for_s: { type: 'integer', minimum: 0, maximum: 86_400, default: 60, description: 'The limit is crossed for this long.' },
};

/** Fields of a rule by its cause. */
export function schemaOf(cause: Cause): Schema {
  return {
    required: ['name', 'severity', ...(cause === 'reading' ? ['metric', 'op', 'value'] : [])],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 64 },
      severity: { oneOf: [{ const: 'info' }, { const: 'warning' }, { const: 'critical' }], default: 'warning' },
      ...(cause === 'reading' ? READING : {}),
      email: { type: 'array', items: { type: 'string' }, description: 'Addresses that get a notice.' },
      webhook: { type: 'string', maxLength: 128, description: 'URL that gets a notice.' },
    },
  };
}

/** The flow of a rule: what is wrong opens an alert, what is right again closes it. Its manual trigger is for tests. */
export function flowOf(cause: Cause, rule: Record<string, unknown>): object {
  const text = cause === 'reading' ? `${rule['metric']} is {{/trigger/value}}` : CAUSES[cause].message;
  const key = { outage: '{{/trigger/outage_id}}', pending: '{{/trigger/registration_id}}', reading: undefined }[cause];
  const step = (step_id: string, type: string, kind: string, params: object = {}) => ({ step_id, type, kind, params });
  const alert = (step_id: string, more: object) =>
    step(step_id, 'action', 'alert', { ...(key ? { key } : {}), message: text, severity: rule['severity'], ...more });
  const emails = rule['email'] as string[] | undefined;
  const notices = [
    ...(emails?.length ? [step('email', 'action', 'email', { to: emails, subject: text, body: text })] : []),
    ...(rule['webhook'] ? [step('webhook', 'action', 'webhook_out', { url: rule['webhook'], body: { text } })] : []),
  ];
  const event = (step_id: string, name: string) => step(step_id, 'trigger', 'node_event', { events: [name] });
  const steps = [step('test', 'trigger', 'manual'), alert('open', {}), ...notices];
  const edges: object[] = [{ from: 'test', to: 'open' }, ...notices.map(({ step_id }) => ({ from: 'open', to: step_id }))];
  if (cause === 'pending') {
    steps.push(event('waits', 'pending'));
    edges.push({ from: 'waits', to: 'open' });
  } else {
    steps.push(alert('close', { resolve: true }));
    if (cause === 'outage') {
      steps.push(event('silent', 'outage'), event('back', 'recovered'));
      edges.push(
        { from: 'silent', to: 'open' },
        { from: 'back', to: 'close' },
        ...notices.map(({ step_id }) => ({ from: 'close', to: step_id })),
      );
    } else {
      const { op, value, for_s = 60 } = rule;
      steps.push(
        step('reading', 'trigger', 'sensor_value', { metric: rule['metric'] }),
        step('limit', 'condition', 'threshold', { op, value, for_s }),
      );
      edges.push({ from: 'reading', to: 'limit' }, { from: 'limit', to: 'open' }, { from: 'limit', to: 'close', when: 'false' });
    }
  }
  return { name: rule['name'], mode: 'parallel', max_concurrency: 1000, steps, edges };
}

/** Inputs of a test, for every text of a rule. */
export const inputsOf = (name: string) => ({
  summary: `Test of ${name}`,
  outage_id: 'test',
  registration_id: 'test',
  hostname: 'test',
  mac: 'test',
  value: 0,
});
