import { ApiError, type Observation } from "./errors.ts";

/** What a person reads about an error: a message, and below it the lines of its cause. */
export interface ErrorText {
  readonly message: string;
  /** Stack and causes of an error that a component's code threw, or the lines of code around a mistake; may be empty. */
  readonly lines: readonly string[];
}

/** The message of an error with what the API answered about its cause. */
export function errorTextOf(error: Error): ErrorText {
  if (!(error instanceof ApiError)) return { message: error.message, lines: [] };
  const details = recordOf(error.details);
  if (error.observations.length > 0) {
    return {
      // The reason names the version that is still running; without one the request had no effect.
      message: textOf(details["message"]) ?? error.observations.map(headOf).join("; "),
      lines: error.observations.flatMap(({ err }) => stackLines(err)),
    };
  }
  const text = textOf(details["text"]);
  // Without a line it is the name of a file or of a step, which the message has.
  if (text !== undefined && (typeof details["line"] === "number" || text.includes("\n")))
    return { message: error.message, lines: text.split("\n").map((line) => `  ${line}`) };
  return { message: error.message, lines: stackLines(details) };
}

const headOf = ({ h: hook, err: { name, message } }: Observation): string => `hook ${hook} failed: ${name}: ${message}`;

/** The positions and causes of a stack, without the message that precedes them. */
function stackLines({ name, message, stack }: { readonly name?: unknown; readonly message?: unknown; readonly stack?: unknown }): string[] {
  const text = textOf(stack);
  if (text === undefined) return [];
  const head = `${String(name)}: ${String(message)}`;
  return (text.startsWith(head) ? text.slice(head.length) : text).split("\n").filter((line) => line.trim() !== "");
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {}; // Any object.
