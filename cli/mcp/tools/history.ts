import { z } from "zod";
import type { Client } from "../../../client/client.ts";
import type { MetricsPoint } from "../../../client/generated/operations.ts";
import { emitterOf } from "../../emitters.ts";
import { traceLines } from "../../output/trace-lines.ts";
import { referredTo } from "../../references.ts";
import { optionalTime } from "../../times.ts";
import { present } from "../../values.ts";
import { linesAnswer, listAnswer, nextOf, secondOf, wholeAnswer } from "./answer.ts";
import { eventRow, foundRow, logRow, runRow, workflowRunRow } from "./rows.ts";
import { after, defineTool, emitter, flag, limit, name, text, time, type Tool } from "./tool.ts";

const whole = flag("Show the items whole, at most 16 KB in all, instead of short");

const events = defineTool({
  name: "events",
  description: "Lists the newest events of a source or workflow; channel $errors has its errors.",
  effect: "read",
  operations: ["listEvents", "listWorkflowEvents"],
  input: { source: emitter, limit, after, channel: name("Only events of this channel").optional(), whole },
  call: async ({ client }, { source, limit: count, after: cursor, channel, whole: isWhole }) => {
    const { id, isWorkflow } = await emitterOf(client, source);
    const query = present({ limit: count, after: cursor, event_name: channel, expand: isWhole === true ? "event" : undefined });
    const page = isWorkflow
      ? await client.call("listWorkflowEvents", { path: { workflow_id: id }, query })
      : await client.call("listEvents", { path: { id }, query });
    if (isWhole === true) return wholeAnswer({ items: page.data, next: nextOf(page, count) }, "a smaller limit");
    return listAnswer(page.data.map(eventRow), { next: nextOf(page, count), whole: "whole: true shows all" });
  },
});

const logs = defineTool({
  name: "logs",
  description: "Lists the newest lines of the log of a source or workflow, with errors; whole also shows their stacks.",
  effect: "read",
  operations: ["listLogs", "listWorkflowLogs"],
  input: { source: emitter, limit, whole },
  call: async ({ client }, { source, limit: count, whole: isWhole }) => {
    const { id, isWorkflow } = await emitterOf(client, source);
    const query = { limit: count };
    const { data } = isWorkflow
      ? await client.call("listWorkflowLogs", { path: { workflow_id: id }, query })
      : await client.call("listLogs", { path: { id }, query });
    return isWhole === true
      ? wholeAnswer({ items: data }, "a smaller limit")
      : listAnswer(data.map(logRow), { whole: "whole: true shows all" });
  },
});

const runs = defineTool({
  name: "runs",
  description: "Lists the newest runs of a source or workflow, or shows one whole: with its logs, result and error, or its steps.",
  effect: "read",
  operations: ["listRuns", "getRun", "listWorkflowRuns", "getWorkflowRun"],
  input: { source: emitter, limit, after, failed: flag("Only failed runs"), run: name("Id of a run, r_…, to show").optional() },
  call: async ({ client }, { source, limit: count, after: cursor, failed, run }) => {
    const { id, isWorkflow } = await emitterOf(client, source);
    if (run !== undefined) return oneRun(client, { id, isWorkflow, run });
    const query = present({ limit: count, after: cursor });
    const more = "run shows one whole";
    if (isWorkflow) {
      const only = failed === true ? ({ status: "failed" } as const) : {};
      const page = await client.call("listWorkflowRuns", { path: { workflow_id: id }, query: { ...query, ...only } });
      return listAnswer(page.data.map(workflowRunRow), { next: nextOf(page, count), whole: more });
    }
    const page = await client.call("listRuns", { path: { id }, query: { ...query, ...present({ failed }) } });
    return listAnswer(page.data.map(runRow), { next: nextOf(page, count), whole: more });
  },
});

interface NamedRun {
  readonly id: string;
  readonly isWorkflow: boolean;
  readonly run: string;
}

async function oneRun(client: Client, { id, isWorkflow, run }: NamedRun): Promise<string> {
  const { data } = isWorkflow
    ? await client.call("getWorkflowRun", { path: { workflow_id: id, run_id: run } })
    : await client.call("getRun", { path: { id, run_id: run } });
  return wholeAnswer(data, `hw runs ${id} ${run} -o json`);
}

const search = defineTool({
  name: "search",
  description:
    "Searches events, log lines, runs and errors of everything that you may see, newest first. trace takes the trace of an item.",
  effect: "read",
  operations: ["search"],
  input: {
    query: text(`Words, "phrases" and fields: kind: level: source: status: run: channel: after:-2h before:2027-01-31`),
    limit,
    after: text("`next` of the previous answer with the same query: searches further back").optional(),
  },
  call: async ({ client }, { query: q, limit: count, after: cursor }) => {
    const {
      items,
      cursor: next,
      searched_to_ms: to,
    } = (await client.call("search", { query: { q, limit: count, ...present({ cursor }) } })).data;
    const more = to === null ? {} : { searched_to: secondOf(to) };
    return listAnswer(items.map(foundRow), { next, whole: "events, logs and runs of the source show one whole", more });
  },
});

const trace = defineTool({
  name: "trace",
  description:
    "Shows what led to a run, an event or a delivery, and all that it caused, as a tree with times: the one that was asked for has a >.",
  effect: "read",
  operations: ["getTrace"],
  input: {
    id: name("A run r_…, a delivery, a webhook-id, the trace of a found item, or an event id together with `of`"),
    of: emitter.optional().describe("The source or workflow of the event"),
    below: flag("Without what led to it"),
  },
  call: async ({ client }, { id, of, below }) => {
    const named = of === undefined ? id : `${(await emitterOf(client, of)).id}.${id}`;
    const { spans, focus_id: focus, cut } = (await client.call("getTrace", { path: { id: named }, query: present({ below }) })).data;
    const lines = traceLines(spans, focus, { width: undefined, isWide: true }).map((line) => line.trimEnd());
    const note = cut ? ["Some spans are missing: ask for one with a + with below."] : [];
    return linesAnswer([...lines, ...note], `hw trace ${named}`);
  },
});

const steps = ["auto", "minute", "5_minutes", "15_minutes", "hour", "day"] as const;
const maxHoursMs = 2 * 86_400_000;

const metrics = defineTool({
  name: "metrics",
  description:
    "Shows runs, errors, durations and waiting times of a source or workflow, or attempts at a webhook, in steps of time. Without `of`, of all. " +
    "Steps in which nothing happened, and zeros, are left out.",
  effect: "read",
  operations: ["getSourceMetrics", "getWorkflowMetrics", "getWebhookMetrics", "getMyMetrics"],
  input: {
    of: name("A source, workflow or webhook").optional(),
    from: time("Start, by default 24 hours ago"),
    to: time("End, by default now"),
    step: z.enum(steps).optional().describe("Length of a step, by default an hour, of more than two days a day"),
  },
  call: async ({ client }, { of, from, to, step }) => {
    const [start, end] = [optionalTime(from, "from", "past"), optionalTime(to, "to", "past")];
    const byDefault = (end ?? Date.now()) - (start ?? Date.now()) > maxHoursMs ? "day" : "hour";
    const { points, total, ...range } = await metricsOf(client, of, { ...present({ from: start, to: end }), step: step ?? byDefault });
    const busy = points.filter((point) => Object.entries(point).some(([field, value]) => field !== "at_ms" && value !== null && value > 0));
    return wholeAnswer({ ...range, total: withoutZeros(total), points: busy.map(withoutZeros) }, "a longer step or a shorter time");
  },
});

interface MetricsQuery {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly step: (typeof steps)[number];
}

async function metricsOf(client: Client, of: string | undefined, query: MetricsQuery) {
  if (of === undefined) return (await client.call("getMyMetrics", { query })).data;
  const { kind, id } = await referredTo(client, of, ["sources", "workflows", "webhooks"]);
  if (kind.name === "workflows") return (await client.call("getWorkflowMetrics", { path: { workflow_id: id }, query })).data;
  if (kind.name === "webhooks") return (await client.call("getWebhookMetrics", { path: { id }, query })).data;
  return (await client.call("getSourceMetrics", { path: { id }, query })).data;
}

const withoutZeros = (numbers: Partial<MetricsPoint>): object =>
  Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0));

export const history: readonly Tool[] = [events, logs, runs, search, trace, metrics];
