import type { Client } from "../../client/client.ts";
import type { Run } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { compareRuns, type Compared } from "../debug/compare.ts";
import { completeInputs, findRun } from "../debug/inputs.ts";
import { checkSandbox, runLocally, type LocalOutcome } from "../debug/local-run.ts";
import { exitCodes, Failure, usageFailure } from "../failure.ts";
import { eventLine, logLines, onOneLine } from "../output/events.ts";
import { dateTime } from "../output/time.ts";
import { propOptions } from "../props/given-values.ts";

const defaultPort = "9229";
const maxEventCharacters = 300;

export const command: Definition = {
  description:
    "Executes an ended run of a source again on this machine, in the sandbox of a runner, with the code, the event, the props and the db with which it ran, " +
    "and compares the result with the recorded one. Nothing is stored and nothing is emitted; requests of the code are real. " +
    "The API does not return secrets and accounts: they are asked for, or given with --prop. " +
    "With --inspect the run waits for a debugger such as Chrome's (chrome://inspect) or that of an editor, and pauses at its first statement. " +
    "Exit code 6 if the result differs. Not in the package of npm, which has no sandbox.",
  arguments: [{ name: "<run>", description: "id of a run of a source, r_…" }],
  options: [
    ...propOptions,
    { flags: "--event <json>", description: "run with this event, if that of the run is not stored: JSON, or @file" },
    { flags: "--db <json>", description: "start from this db, if that before the run is not stored: JSON by prop and key, or @file" },
    { flags: "--current", description: "with the code and props of now, if the version that ran is no longer deployed" },
    { flags: "--inspect [port]", description: `wait for a debugger on 127.0.0.1; by default on port ${defaultPort}, 0 is any free one` },
  ],
  examples: [
    { command: "hw debug r_0123456789ab", does: "Execute a run again, and compare.", isInert: true },
    { command: "hw debug r_0123456789ab --inspect", does: "Execute it under a debugger.", isInert: true },
    { command: "hw debug r_0123456789ab --prop limit=5", does: "Execute it with another value of a prop.", isInert: true },
  ],
  operations: ["getTrace", "getRun", "debugRun", "getComponent", "listEvents"],
  run: async (context, given) => {
    checkSandbox();
    const { client, out, env, signal } = context;
    const port = given.has("inspect") ? portOf(given.text("inspect")) : null;
    const { source, run } = await findRun(client, given.required("run"));
    const body = given.flag("current") ? { current_version: true } : {};
    const { data } = await client.call("debugRun", { path: { id: source, run_id: run.id }, body });
    const inputs = await completeInputs(context, given, run, data);
    const isForPeople = out.format === "table" || out.format === "wide";
    if (isForPeople) for (const line of headLines(run, data.deployment_id, inputs.event)) await out.line(line);
    const local = await runLocally(
      { ...inputs, inspect_port: port },
      { env, signal },
      {
        onInspector: async (url) =>
          out.note(`waiting for a debugger: ${url}\nopen chrome://inspect, or attach an editor to 127.0.0.1:${new URL(url).port}`),
        onLog: async (record) => {
          if (isForPeople) for (const line of logLines(record)) await out.line(line);
        },
      },
    );
    const compared = compareRuns({ run, events: await eventsOf(client, source, run) }, local, inputs.db);
    await report(context, run, data.deployment_id, local, compared);
  },
};

function portOf(text: string | undefined): number {
  const port = Number(text ?? defaultPort);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw usageFailure(`--inspect ${text} is no port`, "give a number from 0 to 65535");
}

function headLines({ id, source_id: source, trigger, started_at_ms: at }: Run, deployment: string, event: unknown): string[] {
  const text = JSON.stringify(event) ?? "none";
  const short = text.length > maxEventCharacters ? `${text.slice(0, maxEventCharacters)}… (${text.length} characters)` : text;
  return [`run      ${id} of ${source}, by ${trigger}, ${dateTime(at)}`, `version  ${deployment}`, `event    ${onOneLine(short)}`];
}

/** Events of the run that are still stored, by their index in it. */
async function eventsOf(client: Client, source: string, { event_ids: ids }: Run): Promise<ReadonlyMap<number, unknown>> {
  if (ids.length === 0) return new Map();
  const { data } = await client.call("listEvents", { path: { id: source }, query: { limit: 100 } });
  return new Map(data.flatMap(({ id, event }) => (ids.includes(id) ? [[ids.indexOf(id), event] as const] : [])));
}

async function report({ out }: Context, run: Run, deployment: string, local: LocalOutcome, compared: readonly Compared[]): Promise<void> {
  const isEqual = compared.every((each) => each.isEqual);
  const { emits, writes, response, error, result, durationMs } = local;
  const outcome = {
    duration_ms: durationMs,
    error,
    result: result === null ? null : (JSON.parse(result) as unknown),
    emits: emits.map(({ verdict, channel, id, payload }) => ({ verdict, name: channel, id, event: JSON.parse(payload) as unknown })),
    db_writes: writes.map(({ prop, key, value }) =>
      value === null ? { prop, key, deleted: true } : { prop, key, value: JSON.parse(value) as unknown },
    ),
    response,
  };
  const comparison = compared.map(({ aspect, recorded, local: here, isEqual: is_equal }) => ({ aspect, recorded, local: here, is_equal }));
  const answer = { data: { run_id: run.id, deployment_id: deployment, is_equal: isEqual, local: outcome, comparison } };
  await out.document(answer, () => [
    ...outcome.emits.map(
      ({ verdict, name, event }) =>
        `${verdict === "emitted" ? "would emit" : `would emit (${verdict})`}: ${eventLine({ event, metadata: metadataOf(name) })}`,
    ),
    ...outcome.db_writes.map(({ prop, key, ...write }) =>
      onOneLine(`would store: ${prop}.${key} ${"deleted" in write ? "deleted" : `= ${JSON.stringify(write.value)}`}`),
    ),
    ...(response === null ? [] : [onOneLine(`would respond: ${JSON.stringify(response)}`)]),
    ...(error?.stack === undefined ? [] : error.stack.split("\n").map(onOneLine)),
    "",
    ...compared.map(comparisonLine),
    `  duration  ${run.duration_ms} ms recorded, ${durationMs} ms here`,
  ]);
  if (!isEqual) {
    const names = compared.filter((each) => !each.isEqual).map(({ aspect }) => aspect);
    throw new Failure(`the run here differs from the recorded one: ${names.join(", ")}`, { exitCode: exitCodes.differs });
  }
}

const metadataOf = (name: string) => ({ emit_id: "", emitter_id: "", name, ts: Date.now() });

const comparisonLine = ({ aspect, recorded, local, isEqual }: Compared): string =>
  onOneLine(isEqual ? `= ${aspect.padEnd(9)} ${recorded}` : `≠ ${aspect.padEnd(9)} recorded ${recorded}, here ${local}`);
