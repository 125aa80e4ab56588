import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { InstallationReport, LagReport } from "../../../api/admin/ports.ts";
import { Readiness } from "../../../api/http/telemetry/readiness.ts";
import { keys, withApi } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const runbooks = readFileSync(join(import.meta.dirname, "../../../docs/runbooks.md"), "utf8");
const nothingWaits: LagReport = { oldestInvocationAt: null, unrouted: 0, due: 0, scheduled: 0, ordered: 0, unrecorded: 0 };
const healthy: InstallationReport = {
  natsVersion: "2.15.1",
  streams: [{ name: "RUNS", messages: 1, bytes: 80, maxBytes: 100, limitBytes: 100, replicas: 1 }],
  runners: [{ id: "r1", pool: "default", memoryShare: null, fullSources: 0 }],
  deliveries: [{ id: "d1", partitions: [0] }],
  lag: nothingWaits,
};
let [report, failing]: [InstallationReport, string | undefined] = [healthy, undefined];
const log = { info: () => undefined, warn: () => undefined };
const check = {
  name: "operator",
  check: async () => {
    if (failing !== undefined) throw new Error(failing);
  },
};
const api = withApi({ adminToken }, { installation: { read: async () => report }, readiness: new Readiness([check], log) });

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly runbook: string;
}

async function problemsOf(change: Partial<InstallationReport>): Promise<readonly Problem[]> {
  report = { ...healthy, ...change };
  const { status, body } = await api.ask("GET", "/admin/v1/status", { key: adminToken });
  expect(status).toBe(200);
  for (const { runbook } of body.data.problems) expect(runbooks).toContain(`\n## ${runbook}\n`);
  return body.data.problems;
}

test("an installation at its limits has no problem", async () => {
  expect(await problemsOf({})).toEqual([]);
  expect(await problemsOf({ lag: { ...nothingWaits, unrouted: 1_000, due: 1_000, unrecorded: 1_000, scheduled: 1e6 } })).toEqual([]);
  // It may wait for the quota of its owner.
  expect(await problemsOf({ lag: { ...nothingWaits, oldestInvocationAt: Date.now() - 3_600_000 } })).toEqual([]);
});

test("before delivery has started the lag is unknown, which is no problem of its own", async () => {
  expect(await problemsOf({ lag: undefined, deliveries: [] })).toEqual([
    {
      code: "no_delivery",
      message: "no replica of the delivery role is alive: events wait until one starts",
      runbook: "HeadwaterPodsMissing",
    },
  ]);
});

test.each<readonly [Partial<InstallationReport>, string, string, string]>([
  [
    { streams: [{ name: "DELIVERIES", messages: 1, bytes: 81, maxBytes: null, limitBytes: 100, replicas: 1 }] },
    "stream_full",
    "the stream DELIVERIES has 81 of 100 bytes, 81 %",
    "HeadwaterStreamFull",
  ],
  [{ lag: { ...nothingWaits, unrouted: 1_001 } }, "delivery_behind", "1001 commits wait to be routed", "HeadwaterDeliveryBehind"],
  [{ lag: { ...nothingWaits, due: 1_001 } }, "delivery_behind", "1001 deliveries are due and wait", "HeadwaterDeliveryBehind"],
  [{ lag: { ...nothingWaits, unrecorded: 1_001 } }, "recorder_behind", "1001 commits are not in Postgres", "HeadwaterRecorderBehind"],
  [{ lag: undefined }, "unknown", "it is not known how far delivery is behind", "HeadwaterServerDown"],
  [
    { runners: [{ id: "r1", pool: "own", memoryShare: null, fullSources: 2 }] },
    "backlog_full",
    "2 sources of runner r1 in pool own have a full backlog",
    "HeadwaterRunsWait",
  ],
])("%j is a problem with a runbook", async (change, code, message, runbook) => {
  expect(await problemsOf(change)).toEqual([{ code, message: expect.stringContaining(message), runbook }]);
});

test("a failed check is a problem, with what is missing", async () => {
  failing = "no operator leads";
  await api.ask("GET", "/admin/v1/status", { key: adminToken }); // Reports of a passed check are reused for half a second.
  await expect
    .poll(() => problemsOf({}))
    .toEqual([{ code: "check_failed", message: "the check operator fails: no operator leads", runbook: "HeadwaterNoLeader" }]);
  failing = undefined;
});

test("other users do not see the state", async () => {
  for (const key of [keys.ada, keys.bob, null]) expect((await api.ask("GET", "/admin/v1/status", { key })).status).toBe(401);
});
