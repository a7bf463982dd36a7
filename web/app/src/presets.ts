// Presets by their fields: the server keeps fields, not the name of the preset they came from.
import type { AntennaPreset, Node, RadioPreset } from './api/client';

/** True if every field of `wanted` has the same value in `found`. */
export function alike(found: unknown, wanted: unknown): boolean {
  if (typeof wanted === 'number' && typeof found === 'number') return Math.abs(found - wanted) <= 1e-9 * Math.abs(wanted);
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(wanted).every(([key, value]) => alike((found as Record<string, unknown>)[key], value));
}

/** Presets by group, devices first, each by its name. */
export function grouped<T extends RadioPreset | AntennaPreset>(presets: readonly T[]): [string, T[]][] {
  const of = (group: T['group']) => presets.filter((preset) => preset.group === group);
  return [['Devices', of('device').toSorted((a, b) => a.name.localeCompare(b.name))], ['Generic', of('generic')]];
}

/** Id of the preset of a node's radio; null for one of its own. */
export function radioPreset(node: Node, presets: readonly RadioPreset[], antennas: readonly AntennaPreset[]): string | null {
  const same = presets.filter((preset) => alike(node.radio, preset.radio));
  // Devices of one radio differ by their antennas.
  return (same.find((preset) => preset.antenna_id && preset.antenna_id === antennaPreset(node, antennas)) ?? same[0])?.id ?? null;
}

/** Id of the preset of a node's antenna; null for one of its own. */
export function antennaPreset(node: Node, presets: readonly AntennaPreset[]): string | null {
  if (node.radio.antenna?.pattern) return null;
  return presets.find((preset) => alike(node.radio.antenna, preset.antenna))?.id ?? null;
}
