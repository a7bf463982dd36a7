// Changes of the propagation settings of a deployment, key by key: others may have changed the rest.
import type { Environment } from '../api/client';

/** New values by key; undefined takes a key away. */
export type EnvironmentChange = ReadonlyMap<string, unknown>;

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** Keys whose values differ, with the later ones. */
export function environmentChange(before: Environment, after: Environment): EnvironmentChange {
  const [from, to] = [before, after] as unknown as Record<string, unknown>[];
  const keys = new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})]);
  return new Map([...keys].filter((key) => !same(from?.[key], to?.[key])).map((key) => [key, to?.[key] ?? undefined]));
}

/** An environment with a change. */
export function withChange(environment: Environment, change: EnvironmentChange): Environment {
  const next: Record<string, unknown> = { ...environment };
  for (const [key, value] of change) {
    if (value === undefined) delete next[key];
    else next[key] = value;
  }
  return next as Environment;
}

/** The change that gives keys the values that an environment has. */
export function valuesOf(environment: Environment, keys: Iterable<string>): EnvironmentChange {
  const values = environment as unknown as Record<string, unknown>;
  return new Map([...keys].map((key) => [key, values[key] ?? undefined]));
}

/** True if an environment has the values of a change. */
export function has(environment: Environment, change: EnvironmentChange): boolean {
  return [...valuesOf(environment, change.keys())].every(([key, value]) => same(value, change.get(key)));
}
