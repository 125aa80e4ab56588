import { afterEach, expect, it } from "vitest";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { defaultPool, invokeSubject, packSubject, timerSubject } from "../../../domain/subjects.ts";
import { createSourceBacklogs } from "../../../platform/jetstream/invocations/source-backlogs.ts";
import { withJetStream } from "../jetstream/support.ts";

const nats = withJetStream();
afterEach(async () => void (await nats.connection.manager.streams.purge("INVOCATIONS")));

const pack = (...sources: readonly string[]): string =>
  encodePack(sources.map((source) => JSON.stringify({ source, trigger: "event", event: 1 })));
const publish = (subject: string, text: string) => nats.connection.publisher.publish(subject, text);
const read = async () => Object.fromEntries(await createSourceBacklogs(nats.connection).read());

it("is empty while no invocation waits", async () => {
  expect(await read()).toEqual({});
});

it("counts queued invocations in single messages and in packs, without timers", async () => {
  await publish(invokeSubject(defaultPool, 1, "dc_a"), pack("dc_a"));
  await publish(invokeSubject(defaultPool, 1, "dc_a"), pack("dc_a"));
  await publish(invokeSubject(defaultPool, 2, "dc_b"), pack("dc_b"));
  await publish(packSubject(defaultPool, 1), pack("dc_a", "dc_c", "dc_c"));
  await publish(timerSubject("dc_e", "timer"), "{}");
  expect(await read()).toEqual({ dc_a: 3, dc_b: 1, dc_c: 2 });
});

it("is estimated from the oldest packs when there are more than it reads", async () => {
  for (let n = 0; n < 600; n++) void publish(packSubject(defaultPool, 1), pack("dc_a", "dc_a", "dc_b"));
  await publish(packSubject(defaultPool, 1), pack("dc_a", "dc_a", "dc_b"));
  expect(await read()).toEqual({ dc_a: 1_202, dc_b: 601 });
});

it("is counted once for concurrent callers, and again for callers a second later", async () => {
  const backlogs = createSourceBacklogs(nats.connection);
  const [first, second] = await Promise.all([backlogs.read(), backlogs.read()]);
  expect(second).toBe(first);
  await publish(invokeSubject(defaultPool, 2, "dc_b"), pack("dc_b"));
  await expect.poll(async () => (await backlogs.read()).get("dc_b")).toBe(1);
});
