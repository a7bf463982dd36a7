// A chart of series over time, drawn by uPlot, which is loaded with it.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Series } from '../api/gateway';
import { readingName, readingUnit } from './readings';
import { dayOf, timeOfDay } from '../units';
import { COLOURS as VERDICTS } from '../verdict';

/** Colours of the series, told apart by those who are colour-blind; the dashes tell them apart as well. */
const LINES = ['good', 'no_link', 'marginal', 'unknown'] as const;
const COLOURS = { light: LINES.map((name) => VERDICTS.light[name]), dark: LINES.map((name) => VERDICTS.dark[name]) };
const DASHES: (number[] | undefined)[] = [undefined, [8, 4], [3, 3], [10, 3, 2, 3]];

/** Span of an axis up to which it has times of day, s. */
const TIMES_SPAN_S = 2 * 86_400;
/** Span up to which times have seconds, s. */
const SECONDS_SPAN_S = 300;

/** Labels of a time axis: times of day, with the day where it begins or changes; days on long axes. */
export function timeLabels(times_s: readonly number[], span_s: number): string[] {
  return times_s.map((time_s, at) => {
    const time = new Date(time_s * 1000);
    if (span_s > TIMES_SPAN_S) return dayOf(time);
    const before = times_s[at - 1];
    const sameDay = before !== undefined && dayOf(new Date(before * 1000)) === dayOf(time);
    return `${at && !sameDay ? `${dayOf(time)} ` : ''}${timeOfDay(time, span_s <= SECONDS_SPAN_S)}`;
  });
}

export class Chart {
  #plot: uPlot | null = null;
  #key = '';
  readonly #watch: ResizeObserver;

  /** `zoomed` is told the range that was dragged over, s. */
  constructor(
    private readonly box: HTMLElement,
    private readonly zoomed: (left_s: number, right_s: number) => void,
  ) {
    this.#watch = new ResizeObserver(() => this.#plot?.setSize(this.#size()));
    this.#watch.observe(box);
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(80, this.box.clientWidth), height: Math.max(50, this.box.clientHeight) };
  }

  show(series: readonly Series[], data: [number[], ...(number | null)[][]], [from, to]: [number, number], dark: boolean): void {
    const key = `${dark} ${series.map((one) => `${one.metric} ${one.unit}`).join()}`;
    if (!this.#plot || key !== this.#key) {
      this.#plot?.destroy();
      this.#key = key;
      this.#plot = this.#make(series, dark);
    }
    this.#plot.setData(data as uPlot.AlignedData, false);
    this.#plot.setScale('x', { min: from / 1000, max: to / 1000 });
  }

  #make(series: readonly Series[], dark: boolean): uPlot {
    const theme = dark ? 'dark' : 'light';
    const [text, grid] = dark ? ['#a5b3be', '#2d3841'] : ['#4a5864', '#d3dbe1'];
    const axis: uPlot.Axis = {
      stroke: text,
      grid: { stroke: grid, width: 1 },
      ticks: { stroke: grid, width: 1 },
      font: '11px Inter, sans-serif',
    };
    // Series of one unit share a scale.
    const units = [...new Set(series.map((one) => readingUnit(one.metric, one.unit)))];
    const lines = series.map((one, at): uPlot.Series => {
      const colour = COLOURS[theme][at % COLOURS[theme].length] as string;
      const dash = DASHES[at % DASHES.length];
      return {
        label: readingName(one.metric),
        scale: `y${units.indexOf(readingUnit(one.metric, one.unit))}`,
        stroke: colour,
        width: 1.6,
        spanGaps: true,
        points: { size: 4 },
        ...(dash ? { dash } : {}),
      };
    });
    const sides = units.map((unit, at): uPlot.Axis => ({
      ...axis,
      scale: `y${at}`,
      side: at % 2 ? 1 : 3,
      size: 58,
      label: unit,
      labelSize: unit ? 16 : 0,
      labelFont: '11px Inter, sans-serif',
      grid: at ? { show: false } : (axis.grid as uPlot.Axis.Grid),
    }));
    const options: uPlot.Options = {
      ...this.#size(),
      series: [{ label: 'Time' }, ...lines],
      axes: [
        { ...axis, size: 26, values: (plot, times) => timeLabels(times, (plot.scales['x']?.max ?? 0) - (plot.scales['x']?.min ?? 0)) },
        ...sides,
      ],
      scales: { x: { time: true } },
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false } },
      hooks: {
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 4) return;
            this.zoomed(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    };
    return new uPlot(options, [[], ...series.map(() => [])] as uPlot.AlignedData, this.box);
  }

  destroy(): void {
    this.#watch.disconnect();
    this.#plot?.destroy();
  }
}
