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
  return [
    ['Devices', of('device').toSorted((a, b) => a.name.localeCompare(b.name))],
    ['Generic', of('generic')],
  ];
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

/** A rate that nearly all links need, bit/s. */
const RATE_BPS = 1e6;

/** The rate to ask of a chain of relays, bit/s: a megabit, or what the slower of these radios carries at most. */
export function rateTarget_bps(radios: readonly Node['radio'][]): number {
  const most = radios.map(({ waveform, bandwidth_hz }) => {
    // Spreading factor, bandwidth and coding rate 4/5 to 4/8 give the rate of a LoRa radio.
    if (waveform?.kind === 'lora')
      return Math.floor((waveform.spreading_factor * (bandwidth_hz ?? 0) * 4) / (2 ** waveform.spreading_factor * waveform.coding_rate));
    return waveform?.kind === 'narrowband' ? waveform.bit_rate_bps : RATE_BPS;
  });
  return Math.min(RATE_BPS, ...most);
}
