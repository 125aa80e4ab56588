import { hash, randomUUID } from "node:crypto";
import { sql, type Kysely } from "kysely";
import { componentKind } from "../../../crds/component.ts";
import { labels } from "../../../crds/resource.ts";
import { defaultSettings, sourceKind } from "../../../crds/source.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import { createAccounts } from "../../../platform/postgres/accounts/index.ts";
import { createDatabase } from "../../../platform/postgres/connection.ts";
import { createPostgresResourceStore } from "../../../platform/postgres/resources/resource-store.ts";
import type { Tables } from "../../../platform/postgres/tables.ts";
import { startSystem, type System } from "../system.ts";

const owner = { id: "u_bench", username: "bench", email: "bench@example.com" };
export const eventsPerSource = 100;
const [sourcesAtOnce, keyCount] = [10_000, 64];

/** An API over a Postgres in which one owner has so many sources, and some of these a hundred events. */
export interface ListedSystem {
  readonly system: System;
  readonly namespace: string;
  readonly keys: readonly string[];
  /** Of those that emitted. */
  readonly emitters: readonly string[];
}

/** Rows as operator and recorder leave them, written by SQL alone: nothing runs, lists are all that is asked for. */
export async function startListed(sources: number, emitters: number): Promise<ListedSystem> {
  const system = await startSystem({ roles: ["api"] });
  const database = createDatabase({ url: system.databaseUrl });
  try {
    const keys = await createKeys(database.db);
    const namespace = namespaceOfOwner(owner.id);
    await createFirst(createPostgresResourceStore(database), namespace);
    for (let from = 2; from <= sources; from += sourcesAtOnce)
      await copySource(database.db, from, Math.min(from + sourcesAtOnce - 1, sources));
    // Their events come in turn, as they do.
    for (let event = 1; event <= eventsPerSource; event++) await emit(database.db, emitters, event);
    await sql`vacuum analyze`.execute(database.db);
    return { system, namespace, keys, emitters: Array.from({ length: emitters }, (_, index) => idOf(index + 1)) };
  } catch (error) {
    await system.stop();
    throw error;
  } finally {
    await database.close();
  }
}

const idOf = (number: number): string => `dc_b${String(number).padStart(8, "0")}`;

async function createKeys(db: Kysely<Tables>): Promise<readonly string[]> {
  const keys = Array.from({ length: keyCount }, () => `hw_${randomUUID()}`);
  const hashes = keys.map((key) => hash("sha256", key));
  await createAccounts({ db }).seedUser(owner, { hash: hashes[0] ?? "", prefix: "hw_", name: "bench" });
  await sql`
    insert into api_keys (key_hash, user_id, prefix, name)
    select hash, ${owner.id}, 'hw_', 'bench' from unnest(${hashes.slice(1)}::text[]) as hash`.execute(db);
  return keys;
}

/** A component, and the source of it that all others are copies of. */
async function createFirst(store: ReturnType<typeof createPostgresResourceStore>, namespace: string): Promise<void> {
  const component = await store.create(componentKind, {
    name: "sc-bench",
    namespace,
    labels: { [labels.id]: "sc_bench", [labels.owner]: owner.id },
    spec: { code: "export default { name: 'Bench', props: { timer: '$.interface.timer' }, run() {} };" },
  });
  const definition = {
    name: "Bench",
    type: "source",
    props: [{ name: "timer", type: "$.interface.timer" }],
    hooks: [],
    hasAdditionalProps: false,
  } as const;
  const [codeHash, bundle] = ["0".repeat(64), "1".repeat(64)];
  const build = { codeHash, bundle, bundleBytes: 100, needsNode: false, definition, lockfile: null };
  await store.updateStatus(componentKind, { ...component, status: { id: "sc_bench", build } });
  const source = await store.create(sourceKind, {
    name: resourceNameOf(idOf(1)),
    namespace,
    labels: { [labels.id]: idOf(1), [labels.owner]: owner.id },
    spec: {
      ...defaultSettings,
      name: "Bench",
      componentRef: { name: "sc-bench" },
      props: { timer: { intervalSeconds: 60 } },
    },
  });
  await store.updateStatus(sourceKind, {
    ...source,
    status: { id: idOf(1), componentId: "sc_bench", component: "sc-bench", nameSlug: "bench" },
  });
}

async function copySource(db: Kysely<Tables>, from: number, to: number): Promise<void> {
  const first = resourceNameOf(idOf(1));
  await sql`
    insert into resources (kind, namespace, name, uid, resource_version, created_version, generation, created_at, finalizers, labels, annotations, spec, status)
    select kind, namespace, 'dc-b' || lpad(n::text, 8, '0'), gen_random_uuid(), resource_version, created_version, generation, created_at + n * interval '1 second',
      finalizers, labels || jsonb_build_object(${labels.id}::text, 'dc_b' || lpad(n::text, 8, '0')), annotations, spec, status
    from resources, generate_series(${from}::int, ${to}::int) n where name = ${first} and kind = 'Source'`.execute(db);
}

async function emit(db: Kysely<Tables>, emitters: number, event: number): Promise<void> {
  await sql`
    insert into events (source, ms, seq, emit_id, channel, summary, ts, payload, run)
    select 'dc_b' || lpad(n::text, 8, '0'), 1795000000000 + ${event}::bigint * 60000, n, 'em_' || n || '_' || ${event}::int, '', 'an event',
      1795000000000, '{"n":' || n || ',"text":"' || repeat('x', 80) || '"}', 'r_' || n
    from generate_series(1, ${emitters}::int) n`.execute(db);
}
