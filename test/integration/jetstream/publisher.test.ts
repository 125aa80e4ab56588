import { expect, test } from "vitest";
import { InvalidInput, LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import { streamNames } from "../../../domain/subjects.ts";
import { connect, type Connection } from "../../../platform/jetstream/connection/connection.ts";
import { withRepeatedReads } from "../../../platform/jetstream/connection/repeated-reads.ts";
import { WrongLastSequence } from "../../../platform/jetstream/connection/errors.ts";
import { setUpStreams } from "../../../platform/jetstream/streams/streams.ts";
import { startProxy } from "../../support/cuttable-proxy.ts";
import { streamOptions, withJetStream } from "./support.ts";
import { until } from "../../support/until.ts";

const nats = withJetStream();
const publish: typeof nats.connection.publisher.publish = (...args) => nats.connection.publisher.publish(...args);

test("a message is stored and its sequence is returned", async () => {
  const first = await publish("runs.0.u_1.dc_seq", "one");
  const second = await publish("runs.0.u_1.dc_seq", Buffer.from("two"));
  expect(second).toEqual({ seq: first.seq + 1, duplicate: false });
  expect((await nats.connection.manager.direct.getMessage("RUNS", { seq: second.seq }))?.string()).toBe("two");
});

test("a duplicate message id stores nothing and returns the first sequence", async () => {
  const first = await publish("invoke.default.0.dc_id", "{}", { messageId: "id-1" });
  expect(await publish("invoke.default.0.dc_id", "{}", { messageId: "id-1" })).toEqual({
    seq: first.seq,
    duplicate: true,
  });
});

test("a wrong expected sequence is refused with the actual one", async () => {
  const { seq } = await publish("runs.0.u_1.dc_cas", "one", { expectedLastSubjectSequence: 0 });
  const refused = await publish("runs.0.u_1.dc_cas", "two", { expectedLastSubjectSequence: 0 }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(WrongLastSequence);
  expect(refused).toMatchObject({ code: "wrong_last_sequence", actual: seq });
});

test("a subject outside all streams throws Unavailable after the timeout", async () => {
  await expect(publish("nowhere.at.all", "x", { timeoutMs: 300 })).rejects.toThrow(Unavailable);
});

test("a message larger than max_payload is refused before it is sent", async () => {
  await expect(publish("runs.0.u_1.dc_big", "x".repeat(9 * 1024 * 1024))).rejects.toThrow(LimitExceeded);
});

test("a header with a line break is refused", async () => {
  await expect(publish("runs.0.u_1.dc_header", "x", { messageId: "a\r\nNats-Rollup: all" })).rejects.toMatchObject({
    code: "invariant",
  });
});

test("a schedule that the server refuses is an invalid input", async () => {
  await expect(
    publish("timer.dc_bad.t", "x", { schedule: { schedule: "@every 500ms", target: "invoke.default.0.dc_bad" } }),
  ).rejects.toThrow(InvalidInput);
});

test("setup creates the streams of streamNames, and no others", async () => {
  const created: string[] = [];
  for await (const { config } of nats.connection.manager.streams.list()) created.push(config.name);
  expect(created.toSorted()).toEqual(streamNames.toSorted());
});

test("setup can be repeated and applies changes", async () => {
  await setUpStreams(nats.connection, { ...streamOptions, storeBytes: 1_000_000_000, maxAckPending: 77 });
  const info = await nats.connection.manager.streams.info("RUNS");
  expect(info.config.max_bytes).toBe(310_000_000);
  expect((await nats.connection.manager.consumers.info("INVOCATIONS", "runner-default-0")).config.max_ack_pending).toBe(77);
  expect((await nats.connection.manager.streams.info("STATE")).config.persist_mode).toBe("async");
});

test("without a server, connecting fails in time and names the address", async () => {
  await expect(connect({ server: { servers: "127.0.0.1:1", token: "s3cret" }, name: "none", startTimeoutMs: 300 })).rejects.toThrow(
    /127\.0\.0\.1:1: .*NATS_URL/,
  );
});

test("wrong credentials are reported at once, without the credentials", async () => {
  const error = await connect({
    server: { servers: nats.server.connection.servers, user: "x", pass: "s3cret" },
    name: "none",
  }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(Unavailable);
  expect(String(error)).not.toContain("s3cret");
});

test("after kill -9 nothing acknowledged is lost, and each publish either succeeds or is rejected", async () => {
  const acknowledged: number[] = [];
  let rejected = 0;
  let going = true;
  const writer = async (name: string): Promise<void> => {
    let last = 0;
    while (going) {
      try {
        ({ seq: last } = await publish(`runs.0.u_2.${name}`, name, { expectedLastSubjectSequence: last }));
        acknowledged.push(last);
      } catch (error) {
        rejected++;
        // Stored although its acknowledgement was lost: readers of the history detect this.
        if (error instanceof WrongLastSequence && error.actual !== undefined) last = error.actual;
        else if (!(error instanceof Unavailable)) throw error;
      }
    }
  };
  const plain = async (): Promise<void> => {
    while (going)
      await publish("runs.0.u_2.dc_plain", "x").then(
        ({ seq }) => acknowledged.push(seq),
        () => rejected++,
      );
  };
  const writers = [...Array.from({ length: 16 }, (_, i) => writer(`dc_w${i}`)), ...Array.from({ length: 16 }, plain)];
  await until(() => acknowledged.length > 500, "some publishes");
  await nats.server.crash();
  const before = acknowledged.length;
  await until(() => acknowledged.length > before + 500, "publishes go on after the restart");
  going = false;
  await Promise.all(writers);
  const { first_seq, last_seq, num_deleted } = (await nats.connection.manager.streams.info("RUNS")).state;
  expect(Math.max(...acknowledged)).toBeLessThanOrEqual(last_seq);
  expect([first_seq, num_deleted ?? 0]).toEqual([1, 0]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(rejected).toBeLessThan(100);
});

type Publish = Connection["publisher"]["publish"];

/** Calls `start` with a publish whose messages reach NATS only when each of them has been sent twice. */
async function publishTwice<Result>(messages: number, start: (publish: Publish) => Promise<Result>): Promise<Result> {
  const proxy = await startProxy(nats.server.server.port);
  const connection = await connect({ server: { ...nats.server.connection, servers: `127.0.0.1:${proxy.port}` }, name: "test" });
  const sent = (): number => connection.nats.stats().outMsgs;
  try {
    proxy.hold();
    const before = sent();
    const publishing = start((...args) => connection.publisher.publish(...args));
    await until(() => sent() >= before + 2 * messages, "each message is sent twice");
    proxy.release();
    return await publishing;
  } finally {
    await connection.close();
    await proxy.close();
  }
}

test("a publish that NATS received twice is stored once", async () => {
  const { seq } = await publish("runs.0.u_4.dc_twice", "first", { expectedLastSubjectSequence: 0 });
  const [second, invocation] = await publishTwice(2, (send) =>
    Promise.all([
      send("runs.0.u_4.dc_twice", "second", { expectedLastSubjectSequence: seq }),
      send("invoke.default.0.dc_twice", "{}", { messageId: "twice" }),
    ]),
  );
  expect(await publish("invoke.default.0.dc_twice", "{}", { messageId: "twice" })).toEqual({ seq: invocation.seq, duplicate: true });
  const third = await publish("runs.0.u_4.dc_twice", "third", { expectedLastSubjectSequence: second.seq });
  expect(third.seq).toBe(second.seq + 1);
});

test("a publish is refused with the actual sequence if NATS has refused all its copies", async () => {
  const { seq } = await publish("runs.0.u_4.dc_refused", "first", { expectedLastSubjectSequence: 0 });
  const [conflict, behind, trimmed] = await publishTwice(3, (send) => {
    const refused = (subject: string, expectedLastSubjectSequence: number): Promise<unknown> =>
      send(subject, "refused", { expectedLastSubjectSequence }).catch((error: unknown) => error);
    return Promise.all([
      refused("runs.0.u_4.dc_refused", 0),
      refused("runs.0.u_4.dc_refused", seq + 1_000),
      refused("runs.0.u_4.dc_trimmed", seq),
    ]);
  });
  for (const error of [conflict, behind, trimmed]) expect(error).toBeInstanceOf(WrongLastSequence);
  expect([conflict, behind, trimmed]).toMatchObject([{ actual: seq }, { actual: seq }, { actual: 0 }]);
});

test("a read is sent again until a server answers, a change is not", async () => {
  const received: string[] = [];
  nats.connection.nats.subscribe("test.api.>", {
    callback: (_, message) => {
      received.push(message.subject);
      if (received.filter((subject) => subject === message.subject).length === 2) message.respond("answer");
    },
  });
  const { request } = withRepeatedReads(nats.connection.nats);
  expect((await request("test.api.STREAM.INFO.x", "", { timeout: 60_000 })).string()).toBe("answer");
  await expect(request("test.api.STREAM.CREATE.x", "", { timeout: 2_000 })).rejects.toThrow(/timeout/i);
  expect(received).toEqual(["test.api.STREAM.INFO.x", "test.api.STREAM.INFO.x", "test.api.STREAM.CREATE.x"]);
});

test("while the server is away a publish waits and then succeeds", async () => {
  await nats.server.server.kill();
  await until(() => nats.connection.status() === "disconnected", "the connection is seen broken");
  const waiting = publish("runs.0.u_3.dc_late", "late");
  const hopeless = publish("runs.0.u_3.dc_late", "never", { timeoutMs: 200 });
  await expect(hopeless).rejects.toThrow(/it was not stored/);
  await nats.server.crash();
  expect((await waiting).seq).toBeGreaterThan(0);
});

test("a publish whose connection breaks and does not return in time is reported as unknown", async () => {
  const proxy = await startProxy(nats.server.server.port);
  const connection = await connect({ server: { ...nats.server.connection, servers: `127.0.0.1:${proxy.port}` }, name: "test" });
  proxy.hold();
  const options = { expectedLastSubjectSequence: 0, timeoutMs: 2_000 };
  const publishing = connection.publisher.publish("runs.0.u_3.dc_unknown", "x", options).catch((error: unknown) => error);
  await proxy.close();
  await until(() => connection.status() === "disconnected", "the connection is seen broken");
  expect(String(await publishing)).toContain("it is unknown whether it was stored");
  await connection.close();
});
