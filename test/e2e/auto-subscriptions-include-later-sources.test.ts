import { afterAll, beforeAll, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, until, type Receiver } from "./support/headwater.ts";

const failing = (name: string): string => `
export default {
  name: "${name}",
  props: { http: "$.interface.http" },
  run() { throw new Error("${name} cannot"); },
};`;

interface Listed {
  readonly data: readonly { readonly id: string; readonly emitter_id: string; readonly listener_id: string; readonly event_name: string }[];
}
interface Deployed {
  readonly id: string;
  readonly endpoint: string;
}

const headwater = withSystem();
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

async function deploy(name: string): Promise<Deployed> {
  const { status, body, text } = await headwater.call<{
    data: { id: string; configured_props: { http: { endpoint_url: string } } };
  }>("POST", "/sources", { component_code: failing(name) });
  expect(status, text).toBe(200);
  return { id: body.data.id, endpoint: body.data.configured_props.http.endpoint_url };
}

const call = async (source: Deployed): Promise<void> => expect((await fetch(source.endpoint, { method: "POST" })).status).toBe(200);
const subscriptions = async () => (await headwater.call<Listed>("GET", "/users/me/subscriptions")).body.data;

it("subscribes a listener to the errors of sources created later, and of no earlier source", async () => {
  const before = await deploy("Before");
  const webhook = await headwater.call<{ data: { id: string } }>("POST", `/webhooks?url=${encodeURIComponent(receiver.url)}`);
  const query = `/auto_subscriptions?event_name=%24errors&listener_id=${webhook.body.data.id}`;
  const made = await headwater.call("POST", query);
  expect(made.status, made.text).toBe(200);
  const after = await deploy("After");
  expect(await subscriptions()).toEqual([
    { id: expect.any(String), emitter_id: after.id, listener_id: webhook.body.data.id, event_name: "$errors" },
  ]);

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
