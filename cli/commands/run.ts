import type { DryRun, Run, StartedRun } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { emitterOf } from "../emitters.ts";
import { exitCodes, Failure, usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { fieldLines } from "../output/fields.ts";
import { runLines } from "../output/run-lines.ts";
import { endedRun, lastEventOf } from "../run-source.ts";
import { readText } from "../values.ts";

export const command: Definition = {
  description:
    "Runs a source or workflow now, and shows the run with its log. Without an event a source runs as from its timer. " +
    "Exit code 1 if the run fails.",
  arguments: [{ name: "<source>", description: "a source or workflow", completes: "source" }],
  options: [
    { flags: "--event <file>", description: "run with this event: a file with JSON, - for standard input, or the JSON itself" },
    { flags: "--event-id <event>", description: "run with a stored event of the source" },
    { flags: "--last", description: "run with the last event of the source that it listens to, or its own" },
    { flags: "--dry-run", description: "store nothing, and show what the run would have stored" },
    { flags: "--wait", description: "wait until the run ends, however long it takes" },
  ],
  examples: [
    { command: "hw run hello", does: "Run a source now." },
    { command: `hw run hello --event '{"path":"/by-hand"}'`, does: "Run it with an event." },
    { command: "hw run hello --dry-run", does: "Show what it would emit." },
  ],
  operations: ["runSource", "runWorkflow", "getRun", "getWorkflowRun", "listEvents", "listMySubscriptions"],
  run: async (context, given) => {
    const { client, terminal, out } = context;
    const { id, isWorkflow } = await emitterOf(client, given.required("source"));
    if (isWorkflow) return runWorkflow(context, id, given);
    const body = { ...(await eventOf(context, id, given)), ...(given.flag("dry-run") ? { dry_run: true } : {}) };
    const answer = await terminal.progress("Running", () => client.call("runSource", { path: { id }, body }));
    const data = await waited(context, id, given, answer.data);
    await out.document({ ...answer, data }, () => runLines(data));
    if ("error" in data && data.error !== null) {
      throw new Failure(`the run failed: ${data.error.message}`, { exitCode: exitCodes.failure });
    }
  },
};

interface ManualEvent {
  readonly event?: unknown;
  readonly event_id?: string;
  readonly emitter_id?: string;
}

async function eventOf({ client }: Context, id: string, given: Given): Promise<ManualEvent> {
  const [event, eventId, isLast] = [given.text("event"), given.text("event-id"), given.flag("last")];
  if ([event !== undefined, eventId !== undefined, isLast].filter(Boolean).length > 1)
    throw usageFailure("--event, --event-id and --last exclude each other");
  if (eventId !== undefined) return { event_id: eventId };
  if (isLast) return lastEventOf(client, id);
  return event === undefined ? {} : { event: await parseEvent(event) };
}

/** A file's JSON, or JSON itself. @throws Failure if it is neither */
export async function parseEvent(text: string): Promise<unknown> {
  const isJson = /^\s*["[{\d]|^(?:null|true|false)$/.test(text);
  const source = isJson ? text : await readText(text.replace(/^@/, ""));
  try {
    return JSON.parse(source) as unknown;
  } catch (error) {
    throw usageFailure(`the event is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function waited(
  { client, signal }: Context,
  id: string,
  given: Given,
  run: Run | DryRun | StartedRun,
): Promise<Run | DryRun | StartedRun> {
  if (!("status" in run) || run.status !== "running" || !given.flag("wait")) return run;
  return (await endedRun(client, id, run.id, signal)) ?? run;
}

async function runWorkflow({ client, out, terminal }: Context, id: string, given: Given): Promise<void> {
  if (given.flag("last") || given.has("event-id")) throw usageFailure("--last and --event-id are for sources", "give --event");
  const text = given.text("event");
  const body = text === undefined ? {} : { event: await parseEvent(text) };
  const answer = await terminal.progress("Running", () => client.call("runWorkflow", { path: { workflow_id: id }, body }));
  await out.document(answer, () => fieldLines(answer.data));
}
