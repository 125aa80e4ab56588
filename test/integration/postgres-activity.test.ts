import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { createActivity } from "../../platform/postgres/activity.ts";
import { withPostgres } from "../support/postgres.ts";
import { withDatabase } from "./postgres-support.ts";

const postgres = withPostgres();
const [recorder, database] = [withDatabase("delivery", postgres), withDatabase("operator", postgres)];
beforeAll(async () => {
  const run = (source: string, ms: number, error: object | null) =>
    sql`
    insert into runs (source, id, owner, deployment, started_ms, failed, summary)
    values (${source}, ${`r_${ms}`}, 'u_1', 'd_1', ${ms}, ${error !== null}, ${JSON.stringify({ error })})`.execute(recorder.db);
  await run("dc_failed", 1_000, { name: "TypeError", message: "no\nsecond line" });
  await run("dc_failed", 2_000, null);
  await run("dc_fine", 3_000, null);
  await run("dc_disabled", 4_000, { name: "SourceDisabled", code: "source_disabled", message: "three" });
});

describe("the activity of sources", () => {
  const since = (known: Readonly<Record<string, number>>) =>
    createActivity(database).since(Object.entries(known).map(([source, lastRunAt]) => ({ source, lastRunAt })));

  it("is the last run, and the last that failed, of those that ran since", async () => {
    expect(await since({ dc_failed: 0, dc_fine: 0, dc_never: 0 })).toEqual(
      expect.arrayContaining([
        { source: "dc_failed", lastRunAt: 2_000, lastErrorAt: 1_000, lastError: "TypeError: no" },
        { source: "dc_fine", lastRunAt: 3_000, lastErrorAt: undefined, lastError: undefined },
      ]),
    );
  });

  it("tells of a deployment that runners disabled", async () => {
    expect(await since({ dc_disabled: 0 })).toEqual([
      { source: "dc_disabled", lastRunAt: 4_000, lastErrorAt: 4_000, lastError: "SourceDisabled: three", disabled: "d_1" },
    ]);
  });

  it("leaves out who did not run since", async () => {
    expect((await since({ dc_failed: 2_000, dc_fine: 2_999 })).map(({ source }) => source)).toEqual(["dc_fine"]);
    expect(await since({})).toEqual([]);
  });
});
