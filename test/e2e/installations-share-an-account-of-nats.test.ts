import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountRoles, describeAccountRights } from "../../platform/jetstream/connection/account-rights.ts";
import { startForeignNats, startLeafNode, type ForeignNats, type LeafNode, type NatsPermissions } from "../support/nats/foreign-nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, startReceiver, until, type Headwater, type Receiver } from "./support/headwater.ts";

/**
 * An account of NATS that Headwater has not signed, with a limit of storage, serves two installations with a user for each role: one with
 * credentials files, the other through a leaf node, with the JetStream domain of the hub and with passwords.
 */
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

const rightsWith = (names: Parameters<typeof describeAccountRights>[0]): Readonly<Record<string, NatsPermissions>> =>
  JSON.parse(describeAccountRights(names)) as Readonly<Record<string, NatsPermissions>>; // As written.

let directory: TemporaryDirectory;
let hub: ForeignNats;
let leaf: LeafNode;
let receiver: Receiver;
let installations: readonly Headwater[] = [];

/** Writes `<role>.creds` of each role, and starts with them. */
async function startWith(
  name: string,
  credentialsOf: (role: string) => Promise<string>,
  env: Readonly<Record<string, string>>,
): Promise<Headwater> {
  const credentials = join(directory.path, `${name}-credentials`);
  await mkdir(credentials);
  for (const role of accountRoles) await writeFile(join(credentials, `${role}.creds`), await credentialsOf(role), { mode: 0o600 });
  return startHeadwater({
    dataDirectory: join(directory.path, name),
    env: {
      HEADWATER_NATS_ACCOUNT: "perRole",
      HEADWATER_NATS_CREDENTIALS: credentials,
      HEADWATER_NATS_PREFIX: name,
      HEADWATER_STORE_SIZE: "2Gi",
      ...env,
    },
  });
}

beforeAll(async () => {
  directory = await temporaryDirectory("account");
  hub = await startForeignNats({ directory: join(directory.path, "hub"), domain: "hub", limits: { disk_storage: 8 * 2 ** 30 } });
  const users = rightsWith({ domain: "hub", prefix: "edge" });
  leaf = await startLeafNode({ directory: join(directory.path, "leaf"), hub, users });
  receiver = await startReceiver();
  const near = rightsWith({ prefix: "near" });
  installations = await Promise.all([
    startWith("near", async (role) => (await hub.user(role, near[role])).creds, { NATS_URL: hub.url }),
    startWith("edge", async (role) => `${role}:${role}`, { NATS_URL: leaf.url, HEADWATER_NATS_DOMAIN: "hub" }),
  ]);
});
afterAll(async () => {
  await receiver.close();
  for (const installation of installations) expect(await installation.stop(), installation.output()).toBe(0);
  await leaf.stop();
  await hub.stop();
  await directory.remove();
});

async function deploy(headwater: Headwater): Promise<{ readonly id: string; readonly endpoint: string }> {
  const { status, body, text } = await headwater.call<Created>("POST", "/sources", { component_code: emitter });
  expect(status, text).toBe(200);
  return { id: body.data.id, endpoint: body.data.configured_props.http.endpoint_url };
}

const heard = (say: string): boolean => receiver.received.some(({ body }) => body.includes(`"say":"${say}"`));

describe("two installations in an account of a platform team", () => {
  it("deliver the events of their own sources", async () => {
    for (const [at, headwater] of installations.entries()) {
      const { id, endpoint } = await deploy(headwater);
      const webhook = await headwater.call<Created>("POST", "/webhooks", { url: receiver.url });
      expect(webhook.status, webhook.text).toBe(200);
      const subscription = await headwater.call("POST", "/subscriptions", { emitter_id: id, listener_id: webhook.body.data.id });
      expect(subscription.status, subscription.text).toBe(200);
      const posted = await fetch(endpoint, {
        method: "POST",
        body: JSON.stringify({ say: `hello ${at}` }),
        headers: { "content-type": "application/json" },
      });
      expect(posted.ok).toBe(true);
      await until(() => heard(`hello ${at}`), `the event of installation ${at} is delivered`, headwater.output);
    }
    await until(() => heard("tick"), "a tick of a timer is delivered");
    for (const headwater of installations) {
      const { body } = await headwater.call<{ readonly data: readonly unknown[] }>("GET", "/sources");
      expect(body.data).toHaveLength(1);
    }
    for (const server of [hub, leaf]) expect((await server.log()).split("\n").filter((line) => line.includes("Violation"))).toEqual([]);
  });
});
