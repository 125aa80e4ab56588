import { z } from "zod";
import { platformVersion } from "../../domain/version.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { adminOperation } from "./context.ts";
import type { InstallationReport, LagReport, RunnerReport } from "./ports.ts";
import { problemsOf } from "./problems.ts";
import { readStorage } from "./storage.ts";

const streamSchema = z.object({
  name: z.string(),
  messages: z.int(),
  bytes: z.int(),
  max_bytes: z.int().nullable().describe("The stream refuses messages above it; null: no limit."),
  limit_bytes: z
    .int()
    .nullable()
    .describe("`max_bytes`, or the share of the store that is intended for a stream without a limit; null: neither."),
  replicas: z.int().describe("NATS servers that store it."),
});

const runnerSchema = z.object({
  id: z.string(),
  memory_share: z.number().nullable().describe("Share of its memory limit in use, 0 to 1; null without a limit."),
  full_sources: z.int().describe("Sources whose backlog is full: they accept no more invocations."),
});

const count = (what: string) => z.int().describe(what);

const lagSchema = z.object({
  oldest_invocation_at: z
    .int()
    .nullable()
    .describe("When the oldest invocation was accepted whose run has not ended, epoch milliseconds; null: there is none."),
  unrouted: count("Commits whose events are not all routed."),
  due: count("Deliveries that are due."),
  scheduled: count("Deliveries whose next attempt is later."),
  ordered: count("Deliveries queued for ordered webhooks."),
  unrecorded: count("Commits that are not in Postgres: lists do not show them yet."),
});

const problemSchema = z.object({
  code: z.string().describe("Such as `stream_full`."),
  message: z.string(),
  runbook: z.string().describe("The section of docs/runbooks.md that says what to check and what to do."),
});

const statusSchema = z
  .object({
    version: z.string().describe("Version of Headwater."),
    nats_version: z.string(),
    ready: z.boolean().describe("Every check is `ok`."),
    checks: z.record(z.string(), z.string()).describe("`ok`, or what is missing, by name."),
    problems: z.array(problemSchema).describe("What needs an operator now; by limits of the alerts, which wait until they last."),
    lag: lagSchema.nullable().describe("How far delivery and the recorder are behind; null: it cannot be read."),
    backlog: z.int().describe("Accepted invocations that are not finished."),
    streams: z.array(streamSchema),
    pools: z.array(z.object({ name: z.string(), runners: z.array(runnerSchema) })).describe("Runner pools with live runners."),
    deliveries: z
      .array(z.object({ id: z.string(), partitions: z.array(z.int()).describe("Partitions whose events it routes.") }))
      .describe("Live replicas of the delivery role."),
  })
  .meta({ id: "InstallationStatus" });

export const adminStatusOperations = [
  adminOperation({
    route: "GET /status",
    id: "getStatus",
    summary: "Get the state of the installation: streams, runners, delivery replicas, backlog, versions",
    responses: one(statusSchema),
    handle: async (_call, { ports }) => {
      // The state must not wait for a forecast.
      const notRead = (error: unknown): undefined => {
        ports.log.warn({ op: "storage.read", err: error }, "the use of disks cannot be read");
      };
      const [{ ready, checks }, report, backlogs] = await Promise.all([
        ports.readiness.read(),
        ports.installation.read(),
        ports.sourceBacklogs.read(),
      ]);
      const backlog = [...backlogs.values()].reduce((sum, count) => sum + count, 0);
      const storage = checks["database"] === "ok" ? await readStorage(report.streams, ports).catch(notRead) : [];
      const problems = problemsOf({ checks, ...report, storage, now: ports.clock.now() });
      return ok({ version: platformVersion, ready, checks, problems: [...problems], backlog, ...reportResponse(report) });
    },
  }),
];

const reportResponse = ({ natsVersion, streams, runners, deliveries, lag }: InstallationReport) => ({
  nats_version: natsVersion,
  lag: lag === undefined ? null : lagResponse(lag),
  streams: streams.map(({ maxBytes, limitBytes, ...stream }) => ({ ...stream, max_bytes: maxBytes, limit_bytes: limitBytes })),
  pools: [...Map.groupBy(runners, ({ pool }) => pool)].map(([name, members]) => ({ name, runners: members.map(runnerResponse) })),
  deliveries: [...deliveries],
});

const lagResponse = ({ oldestInvocationAt, ...counts }: LagReport) => ({ oldest_invocation_at: oldestInvocationAt, ...counts });
const runnerResponse = ({ id, memoryShare, fullSources }: RunnerReport) => ({ id, memory_share: memoryShare, full_sources: fullSources });
