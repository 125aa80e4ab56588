import { ApiError } from "../../../client/errors.ts";
import { wrongProps } from "../../component/rejection.ts";
import type { Failure } from "../../failure.ts";

/** Hints of `hw` that name its flags, in the words of tools; by code of the API. */
const byCode: Readonly<Record<string, string>> = {
  event_missing: "give event, or last: true",
  unknown_prop: "the tool props lists the props of a file, component or source",
  run_failed: "the tool runs with failed: true shows why",
};

/** A flag beside a whole command: `hw mcp --write` can be typed, but `--prop` alone is no argument of a tool. */
const hasFlag = (hint: string): boolean => /(^|\s)--?\w/.test(hint.replaceAll(/`[^`]*`/g, ""));

/** What an agent may do about an error; undefined if there is nothing to add to the message, or only what a person types. */
export function toolHintOf({ cause, hint }: Failure): string | undefined {
  if (cause instanceof ApiError) {
    const props = cause.code === "invalid_props" ? wrongProps(cause) : [];
    if (props.length > 0) return `give props with ${props.join(", ")}; the tool props lists them`;
    const ofCode = byCode[cause.code === "invalid_props" ? "unknown_prop" : cause.code];
    if (ofCode !== undefined) return ofCode;
  }
  return hint === undefined || hasFlag(hint) ? undefined : hint;
}
