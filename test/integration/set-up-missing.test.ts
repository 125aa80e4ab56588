import { sql } from "kysely";
import { expect, it } from "vitest";
import { bundleStore, streams } from "../../domain/subjects.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { missingStreams, setUpStreams } from "../../platform/jetstream/streams/streams.ts";
import { migrations } from "../../platform/postgres/migrations/list.ts";
import { untilMigrated } from "../../platform/postgres/migrations/migrations.ts";
import { waitForStreams } from "../../platform/jetstream/streams/wait-for-streams.ts";
import { withNats } from "../support/nats/nats.ts";
import { streamOptions, withJetStream } from "./jetstream/support.ts";
import { withDatabase } from "./postgres/support.ts";

/** The start-up errors for a NATS or a Postgres that an older version's setup created. */
const nats = withJetStream();
const empty = withNats();
const database = withDatabase();

const log = () => {
  const warnings: object[] = [];
  return { warnings, warn: (fields: object) => void warnings.push(fields) };
};

const mark = "headwater-set-up";
const bundles = `OBJ_${bundleStore}`;

async function change(how: (made: readonly string[]) => readonly string[]): Promise<void> {
  const { streams: manager } = nats.connection.manager;
  const { config } = await manager.info(bundles);
  const made = how((config.metadata?.[mark] ?? "").split(" "));
  await manager.update(bundles, { metadata: { ...config.metadata, [mark]: made.join(" ") } });
}

it("finds everything after setup", async () => {
  expect(await missingStreams(nats.connection)).toEqual([]);
  const { warnings, warn } = log();
  await waitForStreams(nats.connection, { warn }, 0);
  expect(warnings).toEqual([]);
});

it("names the missing streams and buckets, logs at once that it waits, and fails with what to do", async () => {
  await change((made) => made.filter((each) => !each.startsWith(`${streams.workflows}=`) && !each.startsWith("KV_FLOORS=")));
  const { warnings, warn } = log();
  await expect(waitForStreams(nats.connection, { warn }, 1_000)).rejects.toMatchObject({
    code: "not_set_up",
    message: expect.stringMatching(
      /lacks streams of this version \(WORKFLOWS, KV_FLOORS\), after 1 s .*: run setup .*npm start -- --setup/,
    ) as string,
  });
  expect(warnings).toEqual([{ op: "nats.wait", missing: [streams.workflows, "KV_FLOORS"] }]);
  const waiting = waitForStreams(nats.connection, log());
  await setUpStreams(nats.connection, streamOptions);
  await waiting;
});

it("reports a stream without all of its subjects, and all streams after setup of a version that stored no list", async () => {
  await change((made) => made.filter((each) => each !== `${streams.deliveries}=replay.>`));
  expect(await missingStreams(nats.connection)).toEqual([streams.deliveries]);
  await change(() => []);
  expect(await missingStreams(nats.connection)).toContain(streams.invocations);
  await setUpStreams(nats.connection, streamOptions);
  expect(await missingStreams(nats.connection)).toEqual([]);
});

it("accepts streams of a newer version, and keeps their names in the list", async () => {
  await change((made) => [...made, "LATER=later.>"]);
  await setUpStreams(nats.connection, streamOptions);
  expect(await missingStreams(nats.connection)).toEqual([]);
  const { config } = await nats.connection.manager.streams.info(bundles);
  expect(config.metadata?.[mark]).toContain("LATER=later.>");
});

it("refuses streams of a newer version, with what to do", async () => {
  const { streams: manager } = nats.connection.manager;
  const { config } = await manager.info(bundles);
  await manager.update(bundles, { metadata: { ...config.metadata, "headwater-format": "2" } });
  const refusal = {
    code: "newer_streams",
    message: expect.stringMatching(/newer version.*start the newer version, or restore the backup/),
  };
  await expect(waitForStreams(nats.connection, log())).rejects.toMatchObject(refusal);
  await expect(setUpStreams(nats.connection, streamOptions)).rejects.toMatchObject(refusal);
  await manager.update(bundles, { metadata: { ...config.metadata } });
});

it("reports that a server has no streams", async () => {
  const connection = await connect({ server: empty.connection, name: "test" });
  const { warn } = log();
  await expect(waitForStreams(connection, { warn }, 300)).rejects.toThrow(/has no streams of Headwater yet, .*--setup/);
  await connection.close();
});

it("names the migrations that the tables lack, for users who may not apply them", async () => {
  const last = migrations.at(-1)?.name ?? "";
  await sql`update headwater_schema set finished_at = null where name = ${last}`.execute(database.db);
  await expect(untilMigrated(database.db, 500)).rejects.toMatchObject({
    code: "not_set_up",
    message: expect.stringMatching(new RegExp(`lack changes of this version \\(${last}\\), .*--setup`)) as string,
  });
  await sql`update headwater_schema set finished_at = now() where name = ${last}`.execute(database.db);
  await untilMigrated(database.db, 0);
});
