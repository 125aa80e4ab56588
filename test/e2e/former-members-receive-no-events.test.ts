import { afterAll, beforeAll, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, until, type Receiver } from "./support/headwater.ts";

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

interface Created {
  readonly data: { readonly id: string };
}

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
  const asMember = (path: string, body: object) => member.call<Created>("POST", path, body);

  const org = (await headwater.call<Created>("POST", "/orgs", { name: "Acme" })).body.data.id;
  const invitation = (await headwater.call<Created>("POST", `/orgs/${org}/members`, { user_id: member.id })).body.data.id;
  expect((await asMember(`/users/me/invitations/${invitation}/accept`, {})).status).toBe(200);
  const source = (await headwater.call<Created>("POST", "/sources", { component_code: counter, org_id: org })).body.data.id;
  const webhook = (await asMember("/webhooks", { url: receiver.url })).body.data.id;
  const subscribed = await asMember("/subscriptions", { emitter_id: source, listener_id: webhook });
  expect(subscribed.status, subscribed.text).toBe(200);

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
