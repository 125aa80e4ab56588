import { DiscardPolicy } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { z } from "zod";
import { bundleStore, streams } from "../../../domain/subjects.ts";
import { missingStreams, setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { streamOptions, withJetStream } from "./support.ts";
import { until } from "../../support/until.ts";

/** Streams that another version has set up: in an upgrade and in a rollback the roles of both run at the same time. */
const nats = withJetStream();
const apiRequest = z.object({ subject: z.string() });
const bundles = `OBJ_${bundleStore}`;
const subjectsOf = async (stream: string): Promise<readonly string[]> =>
  (await nats.connection.manager.streams.info(stream)).config.subjects;
const metadata = async (): Promise<Readonly<Record<string, string>>> =>
  (await nats.connection.manager.streams.info(bundles)).config.metadata ?? {};

test("setup that has nothing to change updates no stream and no consumer", async () => {
  const changes: string[] = [];
  // The server itself creates the consumer with which STATE reads RUNS, at a time of its own.
  const note = (subject: string, text: string): void => {
    if (!text.includes("JS_SRC_")) changes.push(subject);
  };
  const advisories = nats.connection.nats.subscribe("$JS.EVENT.ADVISORY.*.*.>", {
    callback: (_, message) => note(message.subject, message.subject),
  });
  // A consumer that is created again with the same settings has no advisory of its own, but its readers receive nothing for a while.
  const requests = nats.connection.nats.subscribe("$JS.EVENT.ADVISORY.API", {
    callback: (_, message) => {
      const text = message.string();
      const { subject } = apiRequest.parse(JSON.parse(text));
      if (/\.(CREATE|UPDATE|DELETE)\./.test(subject)) note(subject, text);
    },
  });
  await nats.connection.nats.flush();
  await setUpStreams(nats.connection, streamOptions);
  await nats.connection.nats.flush();
  expect(changes).toEqual([]);
  await setUpStreams(nats.connection, { ...streamOptions, storeBytes: 1_000_000_000 });
  await until(() => changes.includes("$JS.EVENT.ADVISORY.STREAM.UPDATED.RUNS"), "a change is announced");
  advisories.unsubscribe();
  requests.unsubscribe();
  await setUpStreams(nats.connection, streamOptions);
});

test("setup keeps the subjects and the streams of another version, which still publishes to them", async () => {
  const { manager, publisher } = nats.connection;
  const before = await subjectsOf(streams.deliveries);
  await manager.streams.update(streams.deliveries, { subjects: ["other.>", ...before] });
  await manager.streams.add({ name: "OTHER", subjects: ["elsewhere.>"] });
  await setUpStreams(nats.connection, streamOptions);
  expect(await subjectsOf(streams.deliveries)).toEqual(["other.>", ...before]);
  await publisher.publish("other.one", "{}");
  await publisher.publish("elsewhere.one", "{}");
  await publisher.publish("deliver.w.d", "{}");
});

test("setup makes a stream refuse messages that it used to drop the oldest for", async () => {
  const { manager } = nats.connection;
  await manager.streams.update(streams.workflows, { discard: DiscardPolicy.Old, max_msgs_per_subject: 10_000 });
  await setUpStreams(nats.connection, streamOptions);
  const { config } = await manager.streams.info(streams.workflows);
  expect([config.discard, config.max_msgs_per_subject]).toEqual([DiscardPolicy.New, -1]);
});

test("setup adds the subjects that an earlier version's stream lacks", async () => {
  const before = await subjectsOf(streams.deliveries);
  await nats.connection.manager.streams.update(streams.deliveries, { subjects: ["deliver.>"] });
  await setUpStreams(nats.connection, streamOptions);
  expect((await subjectsOf(streams.deliveries)).toSorted()).toEqual(before.filter((subject) => subject !== "other.>").toSorted());
});

test("a version starts on streams to which a newer one has added", async () => {
  const { manager } = nats.connection;
  const held = await metadata();
  await manager.streams.update(bundles, { metadata: { ...held, "headwater-set-up": `${held["headwater-set-up"]} NEWER=newer.>` } });
  expect(await missingStreams(nats.connection)).toEqual([]);
  await setUpStreams(nats.connection, streamOptions);
  expect((await metadata())["headwater-set-up"]).toContain("NEWER=newer.>");
});

test("a version refuses streams in a format that it cannot read, with what to do", async () => {
  const held = await metadata();
  await nats.connection.manager.streams.update(bundles, { metadata: { ...held, "headwater-format": "2" } });
  const refusal = { code: "newer_streams", message: expect.stringMatching(/format 2 .*start the newer version, or restore the backup/) };
  await expect(setUpStreams(nats.connection, streamOptions)).rejects.toMatchObject(refusal);
  await expect(missingStreams(nats.connection)).rejects.toMatchObject(refusal);
});
