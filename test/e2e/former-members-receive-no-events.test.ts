import { afterAll, beforeAll, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import { create, createWebhook, deploy, subscribe } from "../support/system/sources.ts";

const counter = `
export default {
  name: "Counter",
  version: "0.0.1",
  props: { db: "$.service.db" },
  run() {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n });
  },
};`;

const headwater = withSystem();
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

it("stops delivering an organization's events to a former member's webhook within seconds", async () => {
  const member = await headwater.addUser();
  const org = (await create(headwater, "/orgs", { name: "Acme" })).id;
  const invitation = (await create(headwater, `/orgs/${org}/members`, { user_id: member.id })).id;
  expect((await member.call("POST", `/users/me/invitations/${invitation}/accept`, {})).status).toBe(200);
  const source = (await deploy(headwater, counter, {}, { org_id: org })).id;
  await subscribe(member, source, await createWebhook(member, receiver.url));

  let emitted = 0;
  const emit = async (): Promise<void> => {
    expect((await headwater.call("POST", `/sources/${source}/runs`, { event: {} })).status).toBe(200);
    emitted += 1;
  };
  const delivered = () => Math.max(0, ...receiver.received.map(({ body }) => (JSON.parse(body) as { readonly n: number }).n));
  await until(async () => {
    await emit();
    return delivered() > 0;
  }, "the member's webhook has an event");

  expect((await headwater.call("DELETE", `/orgs/${org}/members/${member.id}`)).status).toBe(204);
  await until(async () => {
    await emit();
    return delivered() + 10 <= emitted;
  }, "ten events in a row are emitted without a delivery");
});
