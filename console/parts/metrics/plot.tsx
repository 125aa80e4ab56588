import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { MetricsPoint } from "../../../client/generated/operations.ts";
import type { ChartKind, Series } from "./series.ts";

interface PlotProps {
  readonly kind: ChartKind;
  readonly points: readonly MetricsPoint[];
  /** Index of the point that is pointed at; undefined: none is. */
  readonly cursor: number | undefined;
  readonly onCursor: (index: number | undefined) => void;
}

const heightPixels = 130;
const font = "12px ui-sans-serif, system-ui, sans-serif";

/** Draws the curves. What it shows is also in the table beside it: a canvas says nothing to a screen reader. */
export default function Plot({ kind, points, cursor, onCursor }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const report = useRef(onCursor);
  report.current = onCursor;
  useEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new UPlot(
        optionsOf(kind, current, (index) => report.current(index)),
        dataOf(kind, points),
        current,
      );
    };
    draw();
    const resizing = new ResizeObserver(() => plot.current?.setSize({ width: widthOf(current), height: heightPixels }));
    resizing.observe(current);
    const theming = new MutationObserver(draw); // The canvas has the colours of the theme with which it was drawn.
    theming.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      resizing.disconnect();
      theming.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
    // Points that change later are set below, which keeps the cursor.
  }, [kind]);
  useEffect(() => plot.current?.setData(dataOf(kind, points)), [kind, points]);
  useEffect(() => {
    const { current } = plot;
    if (current === undefined) return;
    const at = cursor === undefined ? undefined : current.data[0][cursor];
    current.setCursor(at === undefined ? { left: -10, top: -10 } : { left: current.valToPos(at, "x"), top: 0 }, false);
  }, [cursor, points]);
  return <div ref={frame} aria-hidden className="min-w-0 overflow-hidden" style={{ height: heightPixels }} />;
}

const widthOf = (element: Element): number => Math.max(40, element.clientWidth);

/** uPlot takes times in seconds. */
const dataOf = ({ series }: ChartKind, points: readonly MetricsPoint[]): UPlot.AlignedData => [
  points.map(({ at_ms: at }) => at / 1_000),
  ...series.map(({ value }) => points.map((point) => value(point))),
];

function optionsOf({ series, format, max }: ChartKind, element: Element, onCursor: PlotProps["onCursor"]): UPlot.Options {
  const colours = getComputedStyle(element);
  const colour = (name: string): string => colours.getPropertyValue(`--color-${name}`);
  const axis = { stroke: colour("muted"), font, grid: { stroke: colour("line"), width: 1 }, ticks: { show: false } };
  return {
    width: widthOf(element),
    height: heightPixels,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { time: true }, y: { range: (_plot, _min, highest) => [0, max ?? (highest > 0 ? highest * 1.05 : 1)] } },
    axes: [
      { ...axis, size: 28, space: 70, values: (_plot, times) => times.map((at) => timeLabel(at * 1_000, times)) },
      { ...axis, size: 58, space: 30, values: (_plot, values) => values.map((value) => format(value)) },
    ],
    series: [{}, ...series.map((each) => seriesOf(each, colour(each.tone)))],
    hooks: { setCursor: [({ cursor: { idx } }) => onCursor(idx ?? undefined)] },
  };
}

function seriesOf({ name, isBar = false, isDashed = false }: Series, colour: string): UPlot.Series {
  const common = { label: name, stroke: colour, width: isBar ? 0 : 1.5 };
  const { bars } = UPlot.paths;
  if (isBar && bars !== undefined) return { ...common, fill: colour, paths: bars({ size: [0.8, 40] }), points: { show: false } };
  const points = { show: true, size: 4, fill: colour, filter: isolatedPoints };
  return { ...common, spanGaps: false, points, ...(isDashed ? { dash: [5, 4] } : {}) };
}

/** A value between two steps without any is no line, so it is drawn as a point. */
function isolatedPoints({ data }: UPlot, series: number): number[] {
  const values = data[series] ?? [];
  const has = (index: number): boolean => (values[index] ?? null) !== null;
  return Array.from(values, (_, index) => index).filter((index) => has(index) && !has(index - 1) && !has(index + 1));
}

const timeOfDay = new Intl.DateTimeFormat("en", { hour: "numeric", minute: "2-digit" });
const dayOfMonth = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const maxSecondsOfHours = 2 * 86_400;

/** In the reader's time zone. @param times those of all labels, epoch seconds */
const timeLabel = (ms: number, times: readonly number[]): string =>
  ((times.at(-1) ?? 0) - (times[0] ?? 0) <= maxSecondsOfHours ? timeOfDay : dayOfMonth).format(ms);
