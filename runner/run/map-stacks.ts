import type { LogRecord } from "../../domain/invocation/invocation.ts";
import type { Stacks } from "../ports.ts";
import type { Execution } from "../sandbox/port.ts";

/** Stacks, in the error and in the log, in terms of the file its owner wrote, instead of the bundle made of it. Not a promise where there are none. */
export function withReadableStacks(execution: Execution, bundle: string, stacks: Stacks): Execution | Promise<Execution> {
  const hasStack = (execution.outcome === "threw" || execution.outcome === "limited") && execution.error.stack !== undefined;
  const hasLogs = execution.outcome !== "crashed" && execution.logs.some(hasPosition);
  if (!hasStack && !hasLogs) return execution;
  return withReadableStack(execution, bundle, stacks).then((mapped) => withReadableLogs(mapped, bundle, stacks));
}

/** The same for the error alone. */
export async function withReadableStack(execution: Execution, bundle: string, stacks: Stacks): Promise<Execution> {
  if (execution.outcome !== "threw" && execution.outcome !== "limited") return execution;
  const { stack } = execution.error;
  if (stack === undefined) return execution;
  return { ...execution, error: { ...execution.error, stack: await stacks.map(bundle, stack) } };
}

/** More lines with stacks than anybody reads; each costs a look into the source map. */
const mostMapped = 1_000;
const position = /component\.js:\d+:\d+/;
/** Indentation, frame, and what follows when the error has fields: ` {`. */
const frameLine = /^(\s*)(at .*:\d+:\d+\)?)(.*)$/;

async function withReadableLogs(execution: Execution, bundle: string, stacks: Stacks): Promise<Execution> {
  if (execution.outcome === "crashed") return execution;
  let mapped = 0;
  const logs: LogRecord[] = [];
  for (const record of execution.logs) {
    const isMapped = hasPosition(record) && (mapped += 1) <= mostMapped;
    logs.push(isMapped ? { ...record, msg: await readable(record.msg ?? "", bundle, stacks) } : record);
  }
  return { ...execution, logs };
}

const hasPosition = ({ msg }: LogRecord): boolean => msg !== undefined && position.test(msg);

/** Frame by frame, since what is around them is the component's own text. Frames outside its files are left out. */
async function readable(text: string, bundle: string, stacks: Stacks): Promise<string> {
  let shown = "";
  for (const line of text.split("\n")) {
    const [whole, indent = "", frame = "", rest = ""] = frameLine.exec(line) ?? [];
    if (whole === undefined) shown += `\n${line}`;
    else {
      const place = position.test(frame) ? (await stacks.map(bundle, frame)).trim() : "";
      shown += place === "" ? rest : `\n${indent}${place}${rest}`;
    }
  }
  return shown.slice(1);
}
