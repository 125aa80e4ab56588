import type { LogRecord, RunError } from "../run-products.ts";
import type { SearchCandidate } from "./item.ts";
import { levelOfLine } from "./levels.ts";
import type { SearchedText } from "./match.ts";
import type { LogLevel, SearchKind, SearchQuery } from "./query.ts";

/** A stored item in the form of a result. */
export interface SearchedItem {
  readonly kind: SearchKind;
  /** Of a line of a console, and of an error. */
  readonly level: LogLevel | null;
  /** What words are compared with. */
  readonly texts: readonly SearchedText[];
}

/**
 * | kind | texts |
 * |---|---|
 * | event | its summary, its payload as JSON |
 * | log | its message; of an error, its name, message and stack |
 * | error | name, message, code and stack; the reason of a run of a workflow |
 * | run | the reason of a run of a workflow |
 *
 * A text that was cut is compared as it is stored, with the names of its fields.
 */
export function itemOf({ table, status, head, body }: SearchCandidate): SearchedItem {
  const reason = { text: head ?? "" };
  switch (table) {
    case "events":
      return { kind: "event", level: null, texts: [reason, { text: body ?? "", isJson: true }] };
    case "logs":
      return lineOf(body ?? "");
    case "runs":
    case "workflow_runs": {
      if (status !== "failed") return { kind: "run", level: null, texts: [reason] };
      const error =
        table === "runs" ? (parsed(body) as { readonly error?: RunError } | undefined)?.error : (parsed(body) as RunError | undefined);
      return { kind: "error", level: "error", texts: [...errorTexts(error ?? null, body), reason] };
    }
  }
}

function lineOf(body: string): SearchedItem {
  const record = parsed(body) as Partial<LogRecord> | undefined;
  const kind = record === undefined ? /^\{"k":"([a-z.]{1,40})"/.exec(body)?.[1] : record.k;
  const level = typeof kind === "string" ? (levelOfLine(kind) ?? null) : null;
  if (record === undefined) return { kind: "log", level, texts: [{ text: body.replace(/^\{"k":"[a-z.]+",/, "{"), isJson: true }] };
  const { msg, h: hook, err } = record;
  return { kind: "log", level, texts: [...textsOf(msg, hook), ...(err === undefined ? [] : errorTexts(err, null))] };
}

/** Runners may forge the fields. */
function errorTexts(error: RunError | null, body: string | null): readonly SearchedText[] {
  if (typeof error !== "object" || error === null) return [{ text: body ?? "", isJson: true }];
  const { name, message, code, stack } = error;
  return textsOf(`${name}: ${message}`, code, stack);
}

const textsOf = (...texts: readonly unknown[]): readonly SearchedText[] =>
  texts.filter((text) => typeof text === "string").map((text) => ({ text }));

/** Undefined: it was cut. */
function parsed(body: string | null): unknown {
  try {
    const value: unknown = JSON.parse(body ?? "");
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it is of a level that the query asks for. */
export const isOfLevels = ({ level }: Pick<SearchedItem, "level">, { levels }: Pick<SearchQuery, "levels">): boolean =>
  levels === undefined || (level !== null && levels.includes(level));
