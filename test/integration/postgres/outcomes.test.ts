import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import type { Attempt } from "../../../delivery/record/ports.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createFailingEndpoints } from "../../../platform/postgres/history/failing-endpoints.ts";
import { createOutcomes } from "../../../platform/postgres/history/outcomes.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

const postgres = withMigratedPostgres();
const [recorder, operator, api] = [withDatabase("delivery", postgres), withDatabase("operator", postgres), withDatabase("api", postgres)];
const hour = 3_600_000;
const now = 10 * hour;
const failures = { webhook: "wh_failing", url: "https://example.com/", since: now - 9_000, last: now - 9_000, circuitOpenUntil: now + 500 };

async function attempted(webhook: string, at: number, outcome: Attempt["outcome"], source = "dc_1"): Promise<void> {
  const delivery = `dlv_${webhook}_${at}_${source}`;
  const subject = { webhook, delivery, source, event: "1-0", owner: "u_1", subscription: "sub_1", emitId: "em_1", channel: "" };
  const error = outcome === "delivered" ? null : 'the endpoint answered 503 "outcome":"delivered"\nsecond line';
  const status = outcome === "delivered" ? 200 : 503;
  const attempt = { ...subject, attempt: 1, at, durationMs: 1, outcome, status, error };
  await createDeliveryRecords(recorder).recordAttempts([attempt as Attempt]);
}

async function ended(workflow: string, at: number, status: string, deployment = "d_1"): Promise<void> {
  const error = status === "failed" ? JSON.stringify({ name: "TypeError", message: "no\nsecond line", stack: "secret" }) : null;
  await sql`
    insert into workflow_runs (workflow, id, number, owner, deployment, trigger, status, started_ms, ended_ms, step_count, steps_done, compute_ms, error)
    values (${workflow}, ${`r_${at}`}, 1, 'u_1', ${deployment}, 'http', ${status}, ${at - 5}, ${status === "running" ? null : at}, 1, 1, 1, ${error})`.execute(
    recorder.db,
  );
}

beforeAll(async () => {
  await attempted("wh_failing", now - 10_000, "delivered");
  for (const at of [now - 9_000, now - 8_000]) await attempted("wh_failing", at, "retry");
  await attempted("wh_failing", now - 7_000, "dead");
  await attempted("wh_failing", now - 6_000, "delivered", "wh_failing"); // A test.
  await createFailingEndpoints(recorder).save([failures], []);
  await attempted("wh_recovered", now - 2 * hour, "retry");
  await attempted("wh_recovered", now - 20_000, "retry");
  await attempted("wh_recovered", now - 10_000, "delivered");
  for (let n = 0; n < 120; n++) await attempted("wh_busy", now - 500 + n, "delivered");
  await ended("p_failing", now - 9_000, "succeeded");
  await ended("p_failing", now - 8_000, "failed");
  await ended("p_failing", now - 7_000, "canceled");
  await ended("p_failing", now - 6_000, "failed");
  await ended("p_failing", now - 5_000, "running");
  await ended("p_changed", now - 8_000, "failed", "d_0");
});

describe.each(["operator", "api"] as const)("recent outcomes, read by the role %s", (role) => {
  const outcomes = () => createOutcomes({ operator, api }[role]);
  const webhook = async (id: string, since = 0) => (await outcomes().webhooks([{ webhook: id, since }], now)).get(id);
  const workflow = async (id: string, deployment = "d_1") => (await outcomes().workflows([{ workflow: id, deployment }], now)).get(id);

  it("count the attempts since the last success, without those of tests", async () => {
    expect(await webhook("wh_failing")).toEqual({
      position: expect.any(Number),
      total: 4,
      failed: { count: 3, since: now - 9_000 },
      failing: { count: 3, since: now - 9_000 },
      lastError: { name: "Error", message: 'the endpoint answered 503 "outcome":"delivered"' },
      failures,
    });
  });

  it("count the attempts of the last hour for the success rate", async () => {
    expect(await webhook("wh_recovered")).toMatchObject({
      total: 2,
      failed: { count: 1, since: now - 20_000 },
      failing: undefined,
      failures: undefined,
    });
  });

  it("read at most a hundred, none before the webhook was enabled, and nothing of one without any", async () => {
    expect(await webhook("wh_busy")).toMatchObject({ total: 100, failed: undefined });
    expect(await webhook("wh_failing", now - 8_500)).toMatchObject({ total: 2, failing: { count: 2, since: now - 8_000 } });
    expect(await webhook("wh_failing", now)).toBeUndefined();
    expect(await webhook("wh_none")).toBeUndefined();
    expect(await outcomes().webhooks([], now)).toEqual(new Map());
  });

  it("count ended runs of the version, without canceled ones", async () => {
    expect(await workflow("p_failing")).toEqual({
      position: now - 6_000,
      total: 3,
      failed: { count: 2, since: now - 8_000 },
      failing: { count: 2, since: now - 8_000 },
      lastError: { name: "TypeError", message: "no" },
    });
    expect(await workflow("p_changed")).toBeUndefined();
    expect(await workflow("p_changed", "d_0")).toMatchObject({ failing: { count: 1 } });
  });

  it("are read again only after further ones", async () => {
    const { position = 0 } = (await webhook("wh_busy")) ?? {};
    const known = (knownAs: number) => outcomes().webhooks([{ webhook: "wh_busy", since: 0, known: knownAs }], now);
    expect([(await known(position)).size, (await known(position - 1)).size]).toEqual([0, 1]);
    const runs = (knownAs: number) => outcomes().workflows([{ workflow: "p_failing", deployment: "d_1", known: knownAs }], now);
    expect([(await runs(now - 6_000)).size, (await runs(now - 6_001)).size]).toEqual([0, 1]);
  });
});
