import { lazy, Suspense, useId, useState, type KeyboardEvent } from "react";
import type { MetricsPoint } from "../../../client/generated/operations.ts";
import { formatTime } from "../format.ts";
import { SimpleTable } from "../simple-table.tsx";
import type { ChartKind, Numbers, Series, Tone } from "./series.ts";
import { text } from "./strings.ts";

const Plot = lazy(() => import("./plot.tsx"));

const tones: Readonly<Record<Tone, string>> = {
  accent: "text-accent",
  good: "text-good",
  bad: "text-bad",
  warn: "text-warn",
  muted: "text-muted",
};

interface ChartProps {
  readonly kind: ChartKind;
  readonly points: readonly MetricsPoint[];
  readonly total: Numbers;
}

/**
 * Curves over time, with the values at the cursor above them and a table of all values below. The arrow keys move the cursor as a pointer does;
 * screen readers read the point as the value of a slider.
 */
export function Chart({ kind, points, total }: ChartProps) {
  const [cursor, setCursor] = useState<number>();
  const heading = useId();
  const point = cursor === undefined ? undefined : points[cursor];
  const move = (event: KeyboardEvent): void => {
    const target = targetOf(event.key, cursor, points.length - 1);
    if (target === undefined) return;
    event.preventDefault();
    setCursor(target === "none" ? undefined : target);
  };
  const valueText = describe(kind, point ?? total, point === undefined ? text.total : formatTime(point.at_ms));
  return (
    <figure aria-labelledby={heading} className="flex min-w-0 flex-col gap-1">
      <figcaption className="flex flex-wrap items-baseline gap-x-4 text-sm">
        <span id={heading} className="font-medium">
          {kind.title}
        </span>
        {kind.series.map((series) => (
          <Value key={series.name} series={series} numbers={point ?? total} format={kind.format} />
        ))}
        <span className="text-muted">{point === undefined ? text.total : formatTime(point.at_ms)}</span>
      </figcaption>
      <div
        role="slider"
        tabIndex={0}
        aria-label={text.cursor(kind.title)}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, points.length - 1)}
        aria-valuenow={cursor ?? 0}
        aria-valuetext={valueText}
        onKeyDown={move}
        onBlur={() => setCursor(undefined)}
        className="min-h-[130px] min-w-0"
      >
        <Suspense fallback={null}>
          <Plot kind={kind} points={points} cursor={cursor} onCursor={setCursor} />
        </Suspense>
      </div>
      <ValuesTable kind={kind} points={points} total={total} />
    </figure>
  );
}

function targetOf(key: string, cursor: number | undefined, last: number): number | "none" | undefined {
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return Math.max(0, (cursor ?? last + 1) - 1);
    case "ArrowRight":
    case "ArrowUp":
      return Math.min(last, (cursor ?? -1) + 1);
    case "Home":
      return 0;
    case "End":
      return last;
    case "Escape":
      return "none";
    default:
      return undefined;
  }
}

function Value({ series, numbers, format }: { readonly series: Series; readonly numbers: Numbers; readonly format: ChartKind["format"] }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <span
        aria-hidden
        className={`inline-block w-3 border-t-2 ${series.isDashed === true ? "border-dashed" : ""} ${tones[series.tone]}`}
      />
      <span className="text-muted">{series.name}</span> {shown(series.value(numbers), format)}
    </span>
  );
}

const shown = (value: number | null, format: ChartKind["format"]): string => (value === null ? text.none : format(value));

const describe = ({ series, format }: ChartKind, numbers: Numbers, time: string): string =>
  [time, ...series.map(({ name, value }) => `${name} ${shown(value(numbers), format)}`)].join(", ");

/** The newest first. It is filled once it is opened: most readers look at the curves. */
function ValuesTable({ kind: { title, series, format }, points, total }: ChartProps) {
  const [isOpen, setIsOpen] = useState(false);
  const rowOf = (time: string, numbers: Numbers) => [time, ...series.map(({ value }) => shown(value(numbers), format))];
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)} className="text-sm">
      <summary className="text-muted">
        {text.showTable}
        <span className="sr-only">: {title}</span>
      </summary>
      {isOpen && (
        <div className="max-h-72 overflow-y-auto">
          <SimpleTable
            label={title}
            head={[text.from, ...series.map(({ name }) => name)]}
            rows={[rowOf(text.total, total), ...points.toReversed().map((point) => rowOf(formatTime(point.at_ms), point))]}
          />
        </div>
      )}
    </details>
  );
}
