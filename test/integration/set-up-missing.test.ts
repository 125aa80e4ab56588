import { sql } from "kysely";
import { expect, it } from "vitest";
import { bundleStore, streams } from "../../domain/subjects.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { missingStreams, setUpStreams } from "../../platform/jetstream/streams/streams.ts";
import { migrations, untilMigrated } from "../../platform/postgres/migrations/migrations.ts";
import { waitForStreams } from "../../platform/jetstream/streams/wait-for-streams.ts";
import { withNats } from "../support/nats/nats.ts";
import { streamOptions, withJetStream } from "./jetstream/support.ts";
import { withDatabase } from "./postgres/support.ts";

/** What a start says of a message server or a Postgres that setup of an older version left behind. */
const nats = withJetStream();
const empty = withNats();
const database = withDatabase();

const log = () => {
  const told: object[] = [];
  return { told, warn: (fields: object) => void told.push(fields) };
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
  const { told, warn } = log();
  await waitForStreams(nats.connection, { warn }, 0);
  expect(told).toEqual([]);
});

it("names the streams and buckets that are missing, tells at once that it waits, and says in the end what to do", async () => {
  await change((made) => made.filter((each) => !each.startsWith(`${streams.ordered}=`) && !each.startsWith("KV_LINES=")));
  const { told, warn } = log();
  await expect(waitForStreams(nats.connection, { warn }, 1_000)).rejects.toMatchObject({
    code: "not_set_up",
    message: expect.stringMatching(
      /lacks streams of this version \(ORDERED, KV_LINES\), after 1 s .*: run setup .*npm start -- --setup/,
    ) as string,
  });
  expect(told).toEqual([{ op: "nats.wait", missing: [streams.ordered, "KV_LINES"] }]);
  const waiting = waitForStreams(nats.connection, log());
  await setUpStreams(nats.connection, streamOptions);
  await waiting;
});

it("misses a stream that has not all of its subjects yet, and everything where setup was of a version that told nothing", async () => {
  await change((made) => made.filter((each) => each !== `${streams.deliveries}=replay.>`));
  expect(await missingStreams(nats.connection)).toEqual([streams.deliveries]);
  await change(() => []);
  expect(await missingStreams(nats.connection)).toContain(streams.invocations);
  await setUpStreams(nats.connection, streamOptions);
  expect(await missingStreams(nats.connection)).toEqual([]);
});

it("is content with what a newer version made, and keeps it told", async () => {
  await change((made) => [...made, "LATER=later.>"]);
  await setUpStreams(nats.connection, streamOptions);
  expect(await missingStreams(nats.connection)).toEqual([]);
  const { config } = await nats.connection.manager.streams.info(bundles);
  expect(config.metadata?.[mark]).toContain("LATER=later.>");
});

it("says of a server without any streams that there are none", async () => {
  const connection = await connect({ server: empty.connection, name: "test" });
  const { warn } = log();
  await expect(waitForStreams(connection, { warn }, 300)).rejects.toThrow(/has no streams of Headwater yet, .*--setup/);
  await connection.close();
});

it("names the changes that the tables lack, for those who may not change them", async () => {
  const last = Object.keys(migrations).at(-1) ?? "";
  await sql`delete from headwater_migrations where name = ${last}`.execute(database.db);
  await expect(untilMigrated(database.db, 500)).rejects.toMatchObject({
    code: "not_set_up",
    message: expect.stringMatching(new RegExp(`lack changes of this version \\(${last}\\), .*--setup`)) as string,
  });
  await sql`insert into headwater_migrations (name, timestamp) values (${last}, ${new Date().toISOString()})`.execute(database.db);
  await untilMigrated(database.db, 0);
});
