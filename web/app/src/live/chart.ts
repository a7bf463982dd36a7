// Ranges of a chart, and series on one time axis.
import type { Series } from '../api/gateway';

export interface Range {
  id: string;
  name: string;
  /** Length, s. */
  length_s: number;
}

export const RANGES: readonly Range[] = [
  { id: '15m', name: '15 minutes', length_s: 900 },
  { id: '1h', name: '1 hour', length_s: 3600 },
  { id: '6h', name: '6 hours', length_s: 21_600 },
  { id: '1d', name: '1 day', length_s: 86_400 },
  { id: '7d', name: '7 days', length_s: 604_800 },
  { id: '30d', name: '30 days', length_s: 2_592_000 },
  { id: '1y', name: '1 year', length_s: 31_536_000 },
];

/** Points of a chart at most: more than pixels across show nothing. */
const POINTS_MAX = 600;
/** Range up to which samples are shown as they came, s. */
const RAW_S = 3600;

/** Step of the averages of a range, s; null for single samples. */
export function step(length_s: number): number | null {
  return length_s <= RAW_S ? null : Math.max(60, Math.ceil(length_s / POINTS_MAX / 60) * 60);
}

/** One row of times, s, and one of values for each series; where a series has no value there is a gap. */
export function columns(series: readonly Series[]): [number[], ...(number | null)[][]] {
  const times = [...new Set(series.flatMap((one) => one.points.map((point) => Number(point[0]))))].sort((a, b) => a - b);
  const rows = series.map((one) => {
    const values = new Map(one.points.map((point) => [Number(point[0]), Number(point[1])]));
    return times.map((time) => values.get(time) ?? null);
  });
  return [times.map((ms) => ms / 1000), ...rows];
}

export interface Summary {
  metric: string;
  unit: string;
  count: number;
  low: number;
  mean: number;
  high: number;
  last: number;
}

/** A series in figures, for those who do not see the chart. */
export function summary(series: Series): Summary | null {
  const values = series.points.map((point) => Number(point[1]));
  if (!values.length) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    metric: series.metric,
    unit: series.unit ?? '',
    count: values.length,
    low: Math.min(...values),
    mean,
    high: Math.max(...values),
    last: values.at(-1) as number,
  };
}
