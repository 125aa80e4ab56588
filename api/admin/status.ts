import { z } from "zod";
import { platformVersion } from "../../domain/version.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { adminOperation } from "./context.ts";
import type { InstallationReport, RunnerReport } from "./ports.ts";

const streamSchema = z.object({
  name: z.string(),
  messages: z.int(),
  bytes: z.int(),
  max_bytes: z.int().nullable().describe("The stream refuses messages above it; null: no limit."),
  replicas: z.int().describe("NATS servers that store it."),
});

const runnerSchema = z.object({
  id: z.string(),
  memory_share: z.number().nullable().describe("Share of its memory limit in use, 0 to 1; null without a limit."),
  full_sources: z.int().describe("Sources whose backlog is full: they accept no more invocations."),
});

const statusSchema = z
  .object({
    version: z.string().describe("Version of Headwater."),
    nats_version: z.string(),
    ready: z.boolean().describe("Every check is `ok`."),
    checks: z.record(z.string(), z.string()).describe("`ok`, or what is missing, by name."),
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
      const [{ ready, checks }, report, backlogs] = await Promise.all([
        ports.readiness.read(),
        ports.installation.read(),
        ports.sourceBacklogs.read(),
      ]);
      const backlog = [...backlogs.values()].reduce((sum, count) => sum + count, 0);
      return ok({ version: platformVersion, ready, checks, backlog, ...reportResponse(report) });
    },
  }),
];

const reportResponse = ({ natsVersion, streams, runners, deliveries }: InstallationReport) => ({
  nats_version: natsVersion,
  streams: streams.map(({ maxBytes, ...stream }) => ({ ...stream, max_bytes: maxBytes })),
  pools: [...Map.groupBy(runners, ({ pool }) => pool)].map(([name, members]) => ({ name, runners: members.map(runnerResponse) })),
  deliveries: [...deliveries],
});

const runnerResponse = ({ id, memoryShare, fullSources }: RunnerReport) => ({ id, memory_share: memoryShare, full_sources: fullSources });
