import type { Client } from "../../client/client.ts";
import type { Metrics, MetricsPoint } from "../../client/generated/operations.ts";
import type { Definition, OptionDefinition } from "../command.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";
import { formatTable, type Column } from "../output/table.ts";
import { sparkline } from "../output/sparkline.ts";
import { dateTime } from "../output/time.ts";
import { referredTo, type Referred } from "../references.ts";
import { optionalTime } from "../times.ts";

const kinds = ["sources", "workflows", "webhooks"];
const steps = ["auto", "minute", "5_minutes", "15_minutes", "hour", "day"] as const;

interface Range {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly step: (typeof steps)[number] | undefined;
}
type Answer = { readonly data: Metrics };
type Numbers = Omit<MetricsPoint, "at_ms">;

const ms = (value: number | null): string => (value === null ? "-" : `${value < 10 ? value : Math.round(value)}ms`);
const attempted = ({ runs, attempts }: Numbers): number => (runs === 0 ? attempts : runs);

const runColumns: readonly Column<Numbers>[] = [
  { header: "RUNS", value: ({ runs }) => String(runs) },
  { header: "ERRORS", value: ({ errors }) => String(errors) },
  { header: "EVENTS", value: ({ events }) => String(events), isWide: true },
];
const durationColumns: readonly Column<Numbers>[] = [
  { header: "P50", value: ({ p50_ms: value }) => ms(value) },
  { header: "P95", value: ({ p95_ms: value }) => ms(value) },
  { header: "WAIT", value: ({ wait_avg_ms: value }) => ms(value) },
];
const deliveryColumns: readonly Column<Numbers>[] = [
  { header: "ATTEMPTS", value: ({ attempts }) => String(attempts) },
  { header: "FAILED", value: ({ failed_attempts: failed }) => String(failed) },
  { header: "DELIVERED", value: ({ deliveries }) => String(deliveries) },
  { header: "DEAD", value: ({ dead_letters: dead }) => String(dead), isWide: true },
];

/** Of a webhook there are no runs. */
const columnsOf = ({ id }: Metrics): readonly Column<Numbers>[] =>
  id.startsWith("wh_")
    ? [...deliveryColumns, ...durationColumns.slice(0, 2)]
    : [...runColumns, ...durationColumns, ...deliveryColumns.slice(0, 2)];

export const metricsOptions: readonly OptionDefinition[] = [
  { flags: "--from <time>", description: "from this time on: ISO 8601, an age such as 2h, or epoch seconds; by default 24h" },
  { flags: "--to <time>", description: "before this time; by default now" },
  { flags: "--step <step>", description: "length of a line; by default the shortest that gives at most 200", choices: steps },
  { flags: "--all", description: "show also steps in which nothing happened" },
];

export const rangeOf = (given: Given): Range => ({
  from: optionalTime(given.text("from"), "--from", "past"),
  to: optionalTime(given.text("to"), "--to", "past"),
  step: steps.find((each) => each === given.text("step")),
});

/** Prints a line for each step. */
export async function showMetrics({ out }: Pick<Context, "out">, given: Given, answer: Answer): Promise<void> {
  const isWide = out.format === "wide";
  await out.document(answer, () => linesOf(answer.data, { isWide, hasAll: given.flag("all") }));
}

export const command: Definition = {
  description:
    "Shows runs, errors, durations and waiting times of a source or workflow, or attempts at a webhook, in steps of time. With several, a line for each. Without any, all that you or the organization of --org own.",
  arguments: [{ name: "[subject...]", description: "sources, workflows or webhooks", completes: "source" }],
  options: metricsOptions,
  examples: [
    { command: "hw metrics hello", does: "Show the last 24 hours of a source." },
    { command: "hw metrics hello --from 7d --step day", does: "Show the last week, by day." },
  ],
  operations: ["getSourceMetrics", "getWorkflowMetrics", "getWebhookMetrics", "getMyMetrics", "getMetrics", "listMetrics"],
  run: async ({ client, out, profile }, given) => {
    const range = rangeOf(given);
    const named = await Promise.all(given.list("subject").map((text) => referredTo(client, text, kinds)));
    const [first, ...others] = named;
    if (others.length > 0) {
      const answer = await client.call("listMetrics", { query: { ...range, ids: named.map(({ id }) => id).join(",") } });
      await out.list(answer, totalColumns, ({ id }) => id);
      return;
    }
    const answer = first === undefined ? await ofOwner(client, profile.org, range) : await ofOne(client, first, range);
    await showMetrics({ out }, given, answer);
  },
};

const ofOwner = (client: Client, organization: string | undefined, query: Range): Promise<Answer> =>
  organization === undefined
    ? client.call("getMyMetrics", { query })
    : client.call("getMetrics", { path: { org_id: organization }, query });

function ofOne(client: Client, { kind, id }: Referred, query: Range): Promise<Answer> {
  if (kind.name === "workflows") return client.call("getWorkflowMetrics", { path: { workflow_id: id }, query });
  if (kind.name === "webhooks") return client.call("getWebhookMetrics", { path: { id }, query });
  return client.call("getSourceMetrics", { path: { id }, query });
}

const totalColumns: readonly Column<Metrics>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "OVER TIME", value: ({ points }) => sparkline(points.map(attempted), 24) },
  { header: "RUNS", value: ({ total }) => String(total.runs) },
  { header: "ERRORS", value: ({ total }) => String(total.errors) },
  { header: "ATTEMPTS", value: ({ total }) => String(total.attempts) },
  { header: "FAILED", value: ({ total }) => String(total.failed_attempts) },
  { header: "P95", value: ({ total }) => ms(total.p95_ms) },
];

function linesOf(metrics: Metrics, { isWide, hasAll }: { readonly isWide: boolean; readonly hasAll: boolean }): readonly string[] {
  const { points, total } = metrics;
  const shown = points.filter((point) => hasAll || point.runs + point.attempts + point.events + point.compute_ms > 0);
  const columns = columnsOf(metrics).filter((column) => isWide || column.isWide !== true);
  const timed = columns.map(({ header, value }) => ({ header, value: (row: Row) => value(row.numbers) }));
  const rows: readonly Row[] = [...shown.map((point) => ({ at: dateTime(point.at_ms), numbers: point })), { at: "TOTAL", numbers: total }];
  return [
    ...formatTable([{ header: "FROM", value: ({ at }: Row) => at, isWhole: true }, ...timed], rows),
    "",
    sparkline(points.map(attempted)),
  ];
}

interface Row {
  readonly at: string;
  readonly numbers: Numbers;
}
