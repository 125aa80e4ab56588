import type { Event, LogLine } from "../../client/generated/operations.ts";
import { printable } from "./printable.ts";
import { timeOfDay } from "./time.ts";

/** One event as a line: time, channel, summary and value. */
export function eventLine({ event, metadata }: Pick<Event, "event" | "metadata">): string {
  const channel = metadata.name === "" ? "" : ` [${metadata.name}]`;
  const summary = metadata.summary === undefined ? "" : ` ${metadata.summary}`;
  return onOneLine(`${timeOfDay(metadata.ts)}${channel}${summary} ${JSON.stringify(event)}`);
}

/** A line of a log; of an error its stack. */
export function logLines({ k: kind, ts, msg, h: hook, err }: Omit<LogLine, "run_id">): string[] {
  const text = err?.stack ?? (err === undefined ? (msg ?? hook ?? "") : `${err.name}: ${err.message}`);
  const level = kind.replace(/^console\./, "");
  return text
    .split("\n")
    .map((line, index) => onOneLine(index === 0 ? `${timeOfDay(ts)} ${level.padEnd(5)} ${line}` : `${" ".repeat(19)}${line}`));
}

/** On one line, without control characters. */
export const onOneLine = (text: string): string => printable(text.replaceAll("\t", "  ").replaceAll("\n", "\\n"));
