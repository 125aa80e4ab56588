import type { LogRecord } from "../../domain/run-products.ts";
import type { Execution } from "../sandbox/port.ts";
import type { Stacks } from "./ports.ts";

/**
 * Replaces positions in the bundle by positions in the component's own files, in the stacks of the error and of the logs. Synchronous when
 * there are no stacks, which is the common case.
 */
export function mapStacks(execution: Execution, bundle: string, stacks: Stacks): Execution | Promise<Execution> {
  const hasStack = (execution.outcome === "threw" || execution.outcome === "limited") && execution.error.stack !== undefined;
  const hasLogs = execution.outcome !== "crashed" && execution.logs.some(hasPosition);
  if (!hasStack && !hasLogs) return execution;
  return mapErrorStack(execution, bundle, stacks).then((mapped) => mapLogs(mapped, bundle, stacks));
}

/** The same for the error only. */
export async function mapErrorStack(execution: Execution, bundle: string, stacks: Stacks): Promise<Execution> {
  if (execution.outcome !== "threw" && execution.outcome !== "limited") return execution;
  const { stack } = execution.error;
  if (stack === undefined) return execution;
  return { ...execution, error: { ...execution.error, stack: await stacks.map(bundle, stack) } };
}

/** Maximum log records that are mapped: each costs a lookup in the source map. */
const maxMappedRecords = 1_000;
const position = /component\.js:\d+:\d+/;
/** Indentation, frame, and the text after it if the error has fields: ` {`. */
const frameLine = /^(\s*)(at .*:\d+:\d+\)?)(.*)$/;

async function mapLogs(execution: Execution, bundle: string, stacks: Stacks): Promise<Execution> {
  if (execution.outcome === "crashed") return execution;
  let mapped = 0;
  const logs: LogRecord[] = [];
  for (const record of execution.logs) {
    const shouldMap = hasPosition(record) && (mapped += 1) <= maxMappedRecords;
    logs.push(shouldMap ? { ...record, msg: await mapFrames(record.msg ?? "", bundle, stacks) } : record);
  }
  return { ...execution, logs };
}

const hasPosition = ({ msg }: LogRecord): boolean => msg !== undefined && position.test(msg);

/** Maps line by line, because the text around frames is the component's own. Frames outside the component's files are removed. */
async function mapFrames(text: string, bundle: string, stacks: Stacks): Promise<string> {
  let mapped = "";
  for (const line of text.split("\n")) {
    const [whole, indent = "", frame = "", rest = ""] = frameLine.exec(line) ?? [];
    if (whole === undefined) mapped += `\n${line}`;
    else {
      const own = position.test(frame) ? (await stacks.map(bundle, frame)).trim() : "";
      mapped += own === "" ? rest : `\n${indent}${own}${rest}`;
    }
  }
  return mapped.slice(1);
}
