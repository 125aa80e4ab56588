import type { MetricsPoint } from "../../../client/generated/operations.ts";
import { formatCount, formatDuration } from "../format.ts";
import { text } from "./strings.ts";

export type Numbers = Omit<MetricsPoint, "at_ms">;
/** A colour of the theme. */
export type Tone = "accent" | "good" | "bad" | "warn" | "muted";

export interface Series {
  readonly name: string;
  readonly tone: Tone;
  readonly value: (numbers: Numbers) => number | null;
  readonly isBar?: boolean;
  /** A line that differs from another one also without its colour. */
  readonly isDashed?: boolean;
}

export interface ChartKind {
  readonly title: string;
  /** Bars are drawn in front of those before them. */
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** The highest value of the axis; absent: as high as the values. */
  readonly max?: number;
}

const percent = (value: number): string => `${value === 100 ? "100" : value.toFixed(1)} %`;
const milliseconds = (value: number): string => formatDuration(value);
const successOf = ({ runs, errors }: Numbers): number | null => (runs === 0 ? null : ((runs - errors) / runs) * 100);

const throughput: ChartKind = {
  title: text.throughput,
  series: [
    { name: text.runs, tone: "accent", isBar: true, value: ({ runs }) => runs },
    { name: text.errors, tone: "bad", isBar: true, value: ({ errors }) => errors },
  ],
  format: formatCount,
};
const success: ChartKind = {
  title: text.success,
  series: [{ name: text.success, tone: "good", value: successOf }],
  format: percent,
  max: 100,
};
const durations = (title: string): ChartKind => ({
  title,
  series: [
    { name: text.p50, tone: "accent", value: ({ p50_ms: ms }) => ms },
    { name: text.p95, tone: "warn", isDashed: true, value: ({ p95_ms: ms }) => ms },
  ],
  format: milliseconds,
});
const waiting: ChartKind = {
  title: text.waiting,
  series: [
    { name: text.waitAverage, tone: "accent", value: ({ wait_avg_ms: ms }) => ms },
    { name: text.waitMax, tone: "warn", isDashed: true, value: ({ wait_max_ms: ms }) => ms },
  ],
  format: milliseconds,
};
const deliveries: ChartKind = {
  title: text.deliveries,
  series: [
    { name: text.attempts, tone: "accent", isBar: true, value: ({ attempts }) => attempts },
    { name: text.failedAttempts, tone: "bad", isBar: true, value: ({ failed_attempts: failed }) => failed },
    { name: text.deadLetters, tone: "warn", isDashed: true, value: ({ dead_letters: dead }) => dead },
  ],
  format: formatCount,
};

export const chartsOfOwner = [throughput, success, durations(text.duration), waiting, deliveries];
export const chartsOfRuns = [throughput, success, durations(text.duration), waiting];
export const chartsOfWebhook = [deliveries, durations(text.attemptDuration)];
