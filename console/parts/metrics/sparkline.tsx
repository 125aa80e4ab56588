import type { Metrics, MetricsPoint } from "../../../client/generated/operations.ts";
import { formatCount, formatDuration } from "../format.ts";
import type { Column } from "../data-table.tsx";
import type { RangeName } from "./range.tsx";
import { text } from "./strings.ts";

const [width, height] = [96, 20];

/** What was done: runs, or attempts of a webhook. */
const doneOf = ({ runs, attempts }: Pick<MetricsPoint, "runs" | "attempts">, isWebhook: boolean): number => (isWebhook ? attempts : runs);
const failedOf = (point: Pick<MetricsPoint, "errors" | "failed_attempts">, isWebhook: boolean): number =>
  isWebhook ? point.failed_attempts : point.errors;

/** Bars of a range, the failed part of each in another colour. */
function Sparkline({ metrics, range }: { readonly metrics: Metrics; readonly range: RangeName }) {
  const { points, total } = metrics;
  const isWebhook = isOfWebhook(metrics);
  const highest = Math.max(1, ...points.map((point) => doneOf(point, isWebhook)));
  const step = width / Math.max(1, points.length);
  const pixels = (count: number): number => (count === 0 ? 0 : Math.max(1.5, (count / highest) * height));
  const bar = (count: number, index: number): string => {
    const [left, tall] = [index * step, pixels(count)];
    return count === 0 ? "" : `M${left.toFixed(1)} ${height}v${(-tall).toFixed(1)}h${(step * 0.75).toFixed(1)}v${tall.toFixed(1)}z`;
  };
  const label = text.spark(formatCount(doneOf(total, isWebhook)), formatCount(failedOf(total, isWebhook)), text.ranges[range]);
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" className="h-5 w-full max-w-32">
      <path d={points.map((point, index) => bar(doneOf(point, isWebhook), index)).join("")} className="fill-accent" />
      <path d={points.map((point, index) => bar(failedOf(point, isWebhook), index)).join("")} className="fill-bad" />
    </svg>
  );
}

const isOfWebhook = ({ id }: Metrics): boolean => id.startsWith("wh_");

function errorRate(metrics: Metrics): string {
  const isWebhook = isOfWebhook(metrics);
  const done = doneOf(metrics.total, isWebhook);
  return done === 0
    ? text.none
    : `${((failedOf(metrics.total, isWebhook) / done) * 100).toFixed(failedOf(metrics.total, isWebhook) === 0 ? 0 : 1)} %`;
}

/** Columns of a list about the last time of its items. */
export const metricsColumns = <Item extends { readonly id: string }>(
  of: ReadonlyMap<string, Metrics>,
  range: RangeName,
): readonly Column<Item>[] => {
  const cell = (show: (metrics: Metrics) => React.ReactNode) => (item: Item) => {
    const metrics = of.get(item.id);
    return metrics === undefined ? text.none : show(metrics);
  };
  return [
    { title: text.ranges[range], parts: 2, isSecondary: true, cell: cell((metrics) => <Sparkline metrics={metrics} range={range} />) },
    { title: text.errorRate, isSecondary: true, cell: cell(errorRate) },
    { title: "p95", isSecondary: true, cell: cell(({ total }) => (total.p95_ms === null ? text.none : formatDuration(total.p95_ms))) },
  ];
};
