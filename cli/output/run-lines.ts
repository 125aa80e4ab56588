import type { DryRun, Run, SourceTest, StartedRun } from "../../client/generated/operations.ts";
import { logLines } from "./events.ts";
import { fieldLines } from "./fields.ts";

/** A run, or what one would have stored, with its log. */
export function runLines(run: Run | DryRun | SourceTest | StartedRun): string[] {
  const { logs = [], ...fields } = run as Run; // The others have other fields.
  return [...fieldLines(fields), ...(logs.length === 0 ? [] : ["logs:", ...logs.flatMap(logLines).map((line) => `  ${line}`)])];
}
