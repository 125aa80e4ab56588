const number = new Intl.NumberFormat("en");
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const formatCount = (count: number): string => number.format(count);

/** In the reader's time zone. */
export const formatTime = (ms: number): string => absolute.format(ms);

const steps = [
  [60, "second", 1],
  [3_600, "minute", 60],
  [86_400, "hour", 3_600],
  [30 * 86_400, "day", 86_400],
] as const;

/** `3 minutes ago`, `in 2 hours`; older than a month, the date. */
export function formatRelative(ms: number, nowMs: number): string {
  const seconds = Math.round((ms - nowMs) / 1_000);
  if (Math.abs(seconds) < 5) return "just now";
  const step = steps.find(([limit]) => Math.abs(seconds) < limit);
  return step === undefined ? absolute.format(ms) : relative.format(Math.trunc(seconds / step[2]), step[1]);
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}

export function formatBytes(bytes: number): string {
  const [size, unit] =
    bytes < 1_024
      ? [bytes, "B"]
      : bytes < 2 ** 20
        ? [bytes / 1_024, "KiB"]
        : bytes < 2 ** 30
          ? [bytes / 2 ** 20, "MiB"]
          : [bytes / 2 ** 30, "GiB"];
  return `${size < 10 && unit !== "B" ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** The beginning of a text, for places with little room. */
export const clip = (text: string, maxLength: number): string => (text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`);
