import { expect, it } from "vitest";
import { buckets, emittedSubject } from "../../../domain/subjects.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import { RunAnswers } from "../../../platform/jetstream/requests/run-answers.ts";
import { announceEmitted, followEmitted } from "../../../platform/jetstream/runs/emitted-events.ts";
import { withJetStream } from "./support.ts";

/** Runners execute user code, so the text of a message of theirs may be anything: it must end neither the connection nor the process. */
const streams = withJetStream();
const summary = {
  id: "r_1",
  source: "dc_1",
  trigger: "http",
  generation: 1,
  startedAt: 1,
  durationMs: 1.5,
  cpuMs: 0.5,
  eventIds: ["1-0"],
  logs: [{ k: "console.log", ts: 1, msg: "x" }],
  error: null,
  result: "7",
};
const foreign = [
  "",
  "x",
  "null",
  "7",
  "[]",
  "{}",
  '{"kind":"run"}',
  '{"kind":"run","run":null}',
  JSON.stringify({ kind: "run", run: { ...summary, error: "no" } }),
  JSON.stringify({ kind: "run", run: { ...summary, result: "no JSON" } }),
  '{"kind":"response","response":{"status":200,"headers":{"a":7},"body":""}}',
  '{"kind":"resume","outcome":null}',
  '{"kind":"not-run","reason":"because"}',
];

it("ignores answers that are no answers, and receives the next one of the same run", async () => {
  const runner = await streams.addConnection();
  const answers = new RunAnswers(streams.connection);
  answers.start();
  const { subject, answer } = answers.wait("r_1", ["run", "response", "resume", "not-run"], AbortSignal.timeout(60_000));
  await streams.connection.nats.flush();
  for (const text of foreign) runner.nats.publish(subject, text);
  runner.nats.publish(subject, JSON.stringify({ kind: "run", run: summary }));
  expect(await answer).toEqual({ kind: "run", run: summary });
  answers.stop();
  expect(streams.connection.status()).toBe("connected");
});

it("ignores announcements of events that are no events", async () => {
  const received: string[] = [];
  const next = Promise.withResolvers<void>();
  const stop = followEmitted(streams.connection, ({ emitId }) => {
    received.push(emitId);
    next.resolve();
  });
  await streams.connection.nats.flush();
  const other = await streams.addConnection();
  for (const text of foreign) other.nats.publish(emittedSubject("dc_1"), text);
  announceEmitted(other, { source: "dc_1", owner: "u_1", emitId: "e1", channel: "", ts: 1, payload: "{}" });
  await next.promise;
  stop();
  expect(received).toEqual(["e1"]);
});

it("leaves entries that are not JSON out of the entries of a bucket", async () => {
  const bucket = new Bucket<number>(streams.connection, buckets.runners, (json) => Number(json));
  await bucket.put("pool.one", 1);
  await streams.connection.publisher.publish(`$KV.${buckets.runners}.pool.two`, "{");
  expect(await bucket.readAll("pool.*")).toEqual(new Map([["pool.one", 1]]));
  expect(await bucket.list("pool.*")).toEqual(new Map([["pool.one", 1]]));
});
