import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { call, startHeadwater, startReceiver, until, type Headwater, type Receiver } from "./support/headwater.ts";

const adminToken = randomBytes(32).toString("hex");
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
  readonly data: { readonly id: string; readonly key: string };
}

let directory: TemporaryDirectory;
let headwater: Headwater;
let receiver: Receiver;

beforeAll(async () => {
  directory = await temporaryDirectory("former-members");
  const adminTokenFile = join(directory.path, "admin-token");
  await writeFile(adminTokenFile, adminToken, { mode: 0o600 });
  headwater = await startHeadwater({ dataDirectory: join(directory.path, "data"), env: { HEADWATER_ADMIN_TOKEN_FILE: adminTokenFile } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  expect(await headwater.stop()).toBe(0);
  await directory.remove();
});

it("stops delivering an organization's events to a former member's webhook within seconds", async () => {
  const asAdmin = (path: string, body: object) =>
    call<Created>(headwater.apiUrl.replace("/v1", "/admin/v1"), adminToken, "POST", path, body);
  const user = (await asAdmin("/users", { username: "mel", email: "mel@example.com" })).body.data.id;
  const key = (await asAdmin(`/users/${user}/keys`, { name: "test" })).body.data.key;
  const asMember = (path: string, body: object) => call<Created>(headwater.apiUrl, key, "POST", path, body);

  const org = (await headwater.call<Created>("POST", "/orgs", { name: "Acme" })).body.data.id;
  const invitation = (await headwater.call<Created>("POST", `/orgs/${org}/members`, { user_id: user })).body.data.id;
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

  expect((await headwater.call("DELETE", `/orgs/${org}/members/${user}`)).status).toBe(204);
  await until(async () => {
    await emit();
    return delivered() + 10 <= emitted;
  }, "ten events in a row are emitted without a delivery");
});
