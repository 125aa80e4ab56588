import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startForeignNats, startLeafNode, type ForeignNats, type LeafNode } from "../support/nats/foreign-nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";

/** An account of NATS that Headwater has not signed, with a limit of storage, in the JetStream domain of a hub behind a leaf node. */
const emitter = `
export default {
  name: "Emitter",
  props: { http: "$.interface.http", timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } }, db: "$.service.db" },
  run({ body }) {
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    this.$emit({ say: body?.say ?? "tick", count });
  },
};`;

interface Created {
  readonly data: { readonly id: string; readonly configured_props: { readonly http: { readonly endpoint_url: string } } };
}

let directory: TemporaryDirectory;
let hub: ForeignNats;
let leaf: LeafNode;
let receiver: Receiver;
let headwater: Headwater;

beforeAll(async () => {
  directory = await temporaryDirectory("account");
  hub = await startForeignNats({ directory: join(directory.path, "hub"), domain: "hub", limits: { disk_storage: 4 * 2 ** 30 } });
  leaf = await startLeafNode({ directory: join(directory.path, "leaf"), hub, user: "headwater" });
  receiver = await startReceiver();
  const credentials = join(directory.path, "nats.creds");
  await writeFile(credentials, "headwater:headwater", { mode: 0o600 });
  headwater = await startHeadwater({
    dataDirectory: join(directory.path, "data"),
    env: {
      NATS_URL: leaf.url,
      HEADWATER_NATS_ACCOUNT: "shared",
      HEADWATER_NATS_CREDENTIALS: credentials,
      HEADWATER_NATS_DOMAIN: "hub",
      HEADWATER_STORE_SIZE: "2Gi",
    },
  });
});
afterAll(async () => {
  await receiver.close();
  expect(await headwater.stop(), headwater.output()).toBe(0);
  await leaf.stop();
  await hub.stop();
  await directory.remove();
});

it("delivers the events of requests and timers", async () => {
  const created = async (path: string, body: object) => {
    const answer = await headwater.call<Created>("POST", path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };
  const source = await created("/sources", { component_code: emitter });
  const webhook = await created("/webhooks", { url: receiver.url });
  await created("/subscriptions", { emitter_id: source.id, listener_id: webhook.id });
  const headers = { "content-type": "application/json" };
  const posted = await fetch(source.configured_props.http.endpoint_url, {
    method: "POST",
    body: JSON.stringify({ say: "hello" }),
    headers,
  });
  expect(posted.ok).toBe(true);
  for (const say of ["hello", "tick"])
    await until(() => receiver.received.some(({ body }) => body.includes(`"say":"${say}"`)), `${say} is delivered`, {
      more: headwater.output,
    });
});
