import { afterAll, beforeAll, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { createWebhook, deploy, type Source } from "../support/system/sources.ts";

const failing = (name: string): string => `
export default {
  name: "${name}",
  props: { http: "$.interface.http" },
  run() { throw new Error("${name} cannot"); },
};`;

interface Listed {
  readonly data: readonly { readonly id: string; readonly emitter_id: string; readonly listener_id: string; readonly event_name: string }[];
}
const headwater = withSystem();
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

const call = async (source: Source): Promise<void> => expect((await fetch(source.endpoint, { method: "POST" })).status).toBe(200);
const subscriptions = async () => (await headwater.call<Listed>("GET", "/users/me/subscriptions")).body.data;

it("subscribes a listener to the errors of sources created later, and of no earlier source", async () => {
  const before = await deploy(headwater, failing("Before"));
  const webhook = await createWebhook(headwater, receiver.url);
  const query = `/auto_subscriptions?event_name=%24errors&listener_id=${webhook}`;
  const made = await headwater.call("POST", query);
  expect(made.status, made.text).toBe(200);
  const after = await deploy(headwater, failing("After"));
  expect(await subscriptions()).toEqual([{ id: expect.any(String), emitter_id: after.id, listener_id: webhook, event_name: "$errors" }]);

  await call(before);
  await call(after);
  await until(() => receiver.received.length > 0, "the error arrives");
  expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual([
    expect.objectContaining({ original_context: expect.objectContaining({ source_id: after.id }) }),
  ]);

  const ended = await headwater.call("DELETE", query);
  expect([ended.status, ended.body]).toEqual([200, made.body]);
  expect(await subscriptions()).toEqual([]);
});
