import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { createActivity } from "../../../platform/postgres/history/activity.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "./support.ts";

const postgres = withMigratedPostgres();
const [recorder, operator, api] = [withDatabase("delivery", postgres), withDatabase("operator", postgres), withDatabase("api", postgres)];
const failure = { name: "TypeError", message: "no\nsecond line" };
beforeAll(async () => {
  const run = (source: string, ms: number, error: object | null, deployment = "d_1") =>
    sql`
    insert into runs (source, id, owner, deployment, started_ms, failed, summary)
    values (${source}, ${`r_${ms}`}, 'u_1', ${deployment}, ${ms}, ${error !== null}, ${JSON.stringify({ error })})`.execute(recorder.db);
  await run("dc_recovered", 1_000, failure);
  await run("dc_recovered", 2_000, null);
  await run("dc_fine", 3_000, null);
  await run("dc_disabled", 4_000, { name: "SourceDisabled", code: "source_disabled", message: "three" });
  await run("dc_failing", 5_000, null);
  for (const ms of [6_000, 7_000, 8_000]) await run("dc_failing", ms, failure);
  for (const ms of [6_000, 7_000]) await run("dc_updated", ms, failure);
  await run("dc_updated", 8_000, failure, "d_2");
});

const since = (known: Readonly<Record<string, number>>, database = operator) =>
  createActivity(database).since(Object.entries(known).map(([source, lastRunAt]) => ({ source, lastRunAt })));
const error = { name: "TypeError", message: "no" };

describe.each(["operator", "api"] as const)("the latest runs of sources, read by the role %s", (role) => {
  const read = (known: Readonly<Record<string, number>>) => since(known, { operator, api }[role]);

  it("includes the last run and the last failed one, and omits sources without runs", async () => {
    const found = await read({ dc_recovered: 0, dc_fine: 0, dc_never: 0 });
    expect(found.toSorted((a, b) => a.lastRunAt - b.lastRunAt)).toEqual([
      { source: "dc_recovered", lastRunAt: 2_000, lastError: { ...error, at: 1_000 }, failing: undefined },
      { source: "dc_fine", lastRunAt: 3_000, lastError: undefined, failing: undefined },
    ]);
  });

  it("counts failed runs since the last success", async () => {
    expect(await read({ dc_failing: 0 })).toEqual([
      {
        source: "dc_failing",
        lastRunAt: 8_000,
        lastError: { ...error, at: 8_000 },
        failing: { deployment: "d_1", count: 3, since: 6_000, error },
      },
    ]);
  });

  it("counts only failed runs of the last deployment", async () => {
    expect(await read({ dc_updated: 0 })).toMatchObject([{ failing: { deployment: "d_2", count: 1, since: 8_000 } }]);
  });
});

describe("the latest runs of sources", () => {
  it("name the deployment that runners disabled", async () => {
    expect(await since({ dc_disabled: 0 })).toMatchObject([
      { failing: { deployment: "d_1", error: { code: "source_disabled", message: "three" } } },
    ]);
  });

  it("leave out sources that have not run since the given time", async () => {
    expect((await since({ dc_recovered: 2_000, dc_fine: 2_999 })).map(({ source }) => source)).toEqual(["dc_fine"]);
    expect(await since({})).toEqual([]);
  });
});
