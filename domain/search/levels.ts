import type { LogLevel } from "./query.ts";

/** `k` of the lines of each level. */
const kinds: Readonly<Record<LogLevel, readonly string[]>> = {
  error: ["console.error", "error"],
  warn: ["console.warn"],
  info: ["console.info"],
  log: ["console.log"],
  debug: ["console.debug", "console.trace"],
};

export const kindsOfLines = (levels: readonly LogLevel[]): readonly string[] => levels.flatMap((level) => kinds[level]);

/** Undefined: the line is none of a console, such as that of a hook. */
export const levelOfLine = (kind: string): LogLevel | undefined =>
  (Object.keys(kinds) as LogLevel[]).find((level) => kinds[level].includes(kind)); // The keys of the record.
