import { PassThrough } from "node:stream";
import { decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountKind } from "../../../crds/account.ts";
import type { Kind } from "../../../crds/resource.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { defaultSettings, sourceKind } from "../../../crds/source.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { createDatabase, type Database } from "../../../platform/postgres/connection.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import { resealResources } from "../../../platform/postgres/resources/reseal.ts";
import { createSecrets, rotateMasterKey, type OwnSecrets } from "../../../platform/secrets/secrets.ts";
import { createLogger } from "../../../platform/telemetry/logger.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { startResealing } from "../../../platform/secrets/background-reseal.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";
import { until } from "../../support/until.ts";

const postgres = withMigratedPostgres();
const namespace = "hw-u-tester";
let [database, store, keys, secrets]: [Database, ResourceStore, TemporaryDirectory, OwnSecrets] = [] as never;

beforeAll(async () => {
  database = createDatabase({ url: postgres.urlOf("operator") });
  store = createPostgresResourceStore(database);
  keys = await temporaryDirectory("keys");
  secrets = await createSecrets(keys.path);
});
afterAll(async () => {
  await database.close();
  await keys.remove();
});

const sealed = async (text: string) => ({ sealed: await secrets.seal(text) });
const signal = new AbortController().signal;
const reseal = () => resealResources(database, (text) => secrets.reseal(text), signal);

/** As after `--rotate-key` and a restart. */
async function rotate(): Promise<string> {
  await rotateMasterKey(keys.path);
  secrets = await createSecrets(keys.path);
  return decodeProtectedHeader(await secrets.seal("x")).kid ?? "";
}

async function createSources(count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    await store.create(sourceKind, {
      namespace,
      name: `source-${n}-${count}`,
      spec: {
        componentRef: { name: "a" },
        ...defaultSettings,
        // A user's own field with the same name as ours.
        props: { note: { sealed: "not ours" } },
        secrets: { token: await sealed(`token ${n}`) },
      },
    });
}

async function everything() {
  const kinds: readonly Kind[] = [accountKind, sourceKind, webhookKind];
  return (await Promise.all(kinds.map((kind) => store.list(kind, { namespace })))).flatMap(({ items }) => items);
}

const keyIdsOf = (resources: readonly object[]): Set<string | undefined> =>
  new Set([...JSON.stringify(resources).matchAll(/eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+/g)].map(([text]) => decodeProtectedHeader(text).kid));

describe("after a key was added", () => {
  it("all sealed values in resources are sealed again, and nothing else changes", async () => {
    await createSources(3);
    const webhook = await store.create(webhookKind, {
      namespace,
      name: "hook",
      spec: { url: "https://example.com", active: true, signingKeys: [await sealed("whsec_1"), await sealed("whsec_2")] },
    });
    await store.updateStatus(webhookKind, { ...webhook, status: { id: "wh_1", signingKey: await sealed("whsec_3") } });
    const account = await store.create(accountKind, {
      namespace,
      name: "account",
      spec: {
        app: "shop",
        credentials: { key: await sealed("k") },
        oauth: { tokenUrl: "https://a.test", clientId: "c", refreshToken: await sealed("r") },
      },
    });
    const oauth = { accessToken: await sealed("t"), grant: await secrets.seal("digest") };
    await store.updateStatus(accountKind, { ...account, status: { id: "apn_1", oauth } });

    const before = await everything();
    const kid = await rotate();
    expect(await reseal()).toEqual({ resources: 5, unreadable: [] });
    const after = await everything();
    expect(keyIdsOf(after)).toEqual(new Set([kid]));
    const rest = (resources: Awaited<ReturnType<typeof everything>>) =>
      resources.map(({ metadata: { resourceVersion: _, ...metadata }, spec, status }) =>
        JSON.stringify({ metadata, spec, status }).replaceAll(/eyJ[\w.-]+/g, "sealed"),
      );
    expect(rest(after)).toEqual(rest(before));
    const { spec, status } = await store.get(accountKind, namespace, "account");
    expect(await secrets.open(spec.credentials["key"]?.sealed ?? "")).toBe("k");
    expect(await secrets.open(status.oauth?.grant ?? "")).toBe("digest");
    expect((await reseal()).resources).toBe(0);
  });

  it("a killed process leaves every value readable, and the next process continues", async () => {
    await createSources(20);
    const kid = await rotate();
    let left = 15;
    const asked = Promise.withResolvers<void>();
    const forever = new Promise<never>(() => undefined);
    // A killed process does nothing more: its pending request never resolves.
    void resealResources(database, async (text) => (left-- > 0 ? secrets.reseal(text) : (asked.resolve(), forever)), signal);
    await asked.promise;
    const { items } = await store.list(sourceKind, { namespace });
    expect(keyIdsOf(items).size).toBe(2);
    for (const { spec } of items) expect(await secrets.open(spec.secrets["token"]?.sealed ?? "")).toMatch(/^token \d+$/);
    expect((await reseal()).resources).toBeGreaterThan(0);
    expect(keyIdsOf(await everything())).toEqual(new Set([kid]));
  });

  it("a concurrent change is kept, and is sealed again as well", async () => {
    await createSources(1);
    const kid = await rotate();
    const name = "source-0-1";
    let changed = false;
    const outcome = await resealResources(
      database,
      async (text) => {
        const next = await secrets.reseal(text).catch(() => undefined);
        if (next !== undefined && !changed) {
          changed = true;
          const current = await store.get(sourceKind, namespace, name);
          await store.update(sourceKind, { ...current, spec: { ...current.spec, name: "Renamed" } });
        }
        return next;
      },
      signal,
    );
    expect(outcome.unreadable).toEqual([]);
    expect((await store.get(sourceKind, namespace, name)).spec.name).toBe("Renamed");
    expect(keyIdsOf(await everything())).toEqual(new Set([kid]));
  });

  it("a value that no key opens is reported and left unchanged", async () => {
    const lost = { sealed: await (await createSecrets(`${keys.path}/others`)).seal("lost") };
    await store.create(accountKind, {
      namespace,
      name: "lost",
      spec: { app: "shop", credentials: { lost, found: await sealed("found") } },
    });
    await rotate();
    expect((await reseal()).unreadable).toEqual(["Account hw-u-tester/lost"]);
    const { spec } = await store.get(accountKind, namespace, "lost");
    expect(spec.credentials["lost"]).toEqual(lost);
    expect(await secrets.open(spec.credentials["found"]?.sealed ?? "")).toBe("found");
    await store.delete(accountKind, namespace, "lost");
  });

  it("resealing retries while Postgres fails, until everything is sealed again", async () => {
    await createSources(2);
    const kid = await rotate();
    const destination = new PassThrough();
    let printed = "";
    destination.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    await postgres.client.query("alter table resources rename to resources_away");
    const resealing = startResealing(database, secrets, { logger: createLogger({ level: "debug", destination }) });
    try {
      await until(() => printed.includes("secrets could not be sealed with the newest key"), "it fails");
    } finally {
      await postgres.client.query("alter table resources_away rename to resources");
    }
    await until(() => printed.includes("all stored secrets are sealed with the newest key"), "everything is sealed again");
    await resealing.stop();
    expect(keyIdsOf(await everything())).toEqual(new Set([kid]));
  });

  it("watches report the resealed resources", async () => {
    const { resourceVersion } = await store.list(sourceKind, { limit: 1 });
    await rotate();
    const changes = store.watch(sourceKind, resourceVersion, AbortSignal.timeout(120_000))[Symbol.asyncIterator]();
    await reseal();
    expect((await changes.next()).value).toMatchObject({ type: "modified" });
    await changes.return?.();
  });
});
