// Names of readings for people; the gateway has them as `group.reading_unit`.
import type { Units } from '../units';

/** Ends of names that are units, with their spelling. */
const UNITS: Record<string, string> = {
  dbm: 'dBm',
  db: 'dB',
  mbps: 'Mbit/s',
  kbps: 'kbit/s',
  bps: 'bit/s',
  percent: '%',
  pct: '%',
  ms: 'ms',
  s: 's',
  mhz: 'MHz',
  v: 'V',
  mv: 'mV',
  a: 'A',
  ma: 'mA',
  w: 'W',
  c: '°C',
  celsius: '°C',
  hpa: 'hPa',
  pa: 'Pa',
  lux: 'lx',
  m: 'm',
  bytes: 'bytes',
};
/** Words that are not written in lower case. */
const WORDS: Record<string, string> = {
  wifi: 'Wi-Fi',
  lora: 'LoRa',
  gps: 'GPS',
  cpu: 'CPU',
  rssi: 'RSSI',
  snr: 'SNR',
  mcs: 'MCS',
  tx: 'transmitted',
  rx: 'received',
  tq: 'TQ',
  etx: 'ETX',
  mem: 'memory',
  temp: 'temperature',
};

/** A name such as `mesh.signal_dbm` as words: `Mesh: signal`. */
export function readingName(metric: string): string {
  const parts = metric.split('.').map((part) => part.split('_').filter(Boolean));
  const last = parts.at(-1);
  if (last && last.length > 1 && UNITS[last.at(-1) as string]) last.pop();
  const text = parts
    .map((words) => words.map((word) => WORDS[word.toLowerCase()] ?? word).join(' '))
    .filter(Boolean)
    .join(': ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Figures of a length in the units of the page: those of others stay. */
export function shownIn(unit: string, units: Units): { unit: string; factor: number } {
  return unit === 'm' && units === 'imperial' ? { unit: 'ft', factor: 1 / 0.3048 } : { unit, factor: 1 };
}

/** The unit of a reading: that the node states, or the one of its name. */
export function readingUnit(metric: string, unit: string | null | undefined): string {
  if (unit) return UNITS[unit.toLowerCase()] ?? unit;
  const end = metric.split(/[._]/).at(-1) ?? '';
  return metric.endsWith(`_${end}`) ? (UNITS[end] ?? '') : '';
}
