import { randomUUID } from "node:crypto";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { hasEnded, type Kind, type Resource } from "../../../crds/resource.ts";
import { resourceWithId } from "../../../crds/public-id.ts";
import { checkChange, parseSpec } from "../../../crds/validate.ts";
import { Conflict, NotFound, Unavailable } from "../../../domain/errors.ts";
import type { Database } from "../connection.ts";
import { defaultLimits, pruneTombstones, type TombstoneLimits } from "./prune.ts";
import { findRow, findRowsById, listRows, ownedKeys } from "./reads.ts";
import { resourceFrom } from "./row.ts";
import { checkMetadata, checkSpec, checkStatus } from "./validate.ts";
import { defaultTiming, watchRows, type WatchTiming } from "./watch.ts";
import { deleteResource, insertResource, replaceSpec, replaceStatus, type Key, type WriteRow } from "./writes.ts";

export interface StoreOptions {
  readonly timing?: Partial<WatchTiming>;
  readonly tombstones?: Partial<TombstoneLimits>;
}

/**
 * Stores resources in Postgres, in the embedded mode. See resources/writes.ts for the order of versions, and resources/watch.ts for
 * watches.
 */
export function createPostgresResourceStore(database: Database, options: StoreOptions = {}): ResourceStore {
  const { db } = database;
  const timing = { ...defaultTiming, ...options.timing };
  const prune = createPruner(database, { ...defaultLimits, ...options.tombstones });
  return {
    async get(kind, namespace, name) {
      const row = await findRow(db, { kind: kind.kind, namespace, name });
      if (row === undefined) throw missing({ kind: kind.kind, namespace, name });
      return resourceFrom(row);
    },
    async find(kind, namespace, name) {
      const row = await findRow(db, { kind: kind.kind, namespace, name });
      return row === undefined ? undefined : resourceFrom(row);
    },
    async findById<S, T>(kind: Kind<S, T>, id: string) {
      return resourceWithId(
        id,
        (await findRowsById(db, kind.kind, id)).map((row) => resourceFrom<S, T>(row)),
      );
    },
    async list<S, T>(kind: Kind<S, T>, options = {}) {
      const { rows, version, next } = await listRows(db, kind.kind, options);
      return {
        items: rows.map((row) => resourceFrom<S, T>(row)),
        resourceVersion: String(version),
        ...(next === undefined ? {} : { continue: next }),
      };
    },
    async create(kind, resource) {
      const metadata = checkMetadata(kind, resource);
      const content = { spec: checkSpec(kind, resource.name, resource.spec), status: "{}", uid: randomUUID() };
      const { rows } = await insertResource({ kind: kind.kind, ...nameOf(metadata) }, metadata, content).execute(db);
      const row = rows[0];
      if (row === undefined)
        throw new Conflict(`${kind.kind} '${resource.name}' exists already in namespace '${resource.namespace}'`, {
          code: "already_exists",
        });
      return resourceFrom(row);
    },
    async update(kind, resource) {
      const metadata = checkMetadata(kind, resource.metadata);
      const key = { kind: kind.kind, ...nameOf(metadata) };
      const spec = checkSpec(kind, key.name, resource.spec);
      if (kind.immutable !== undefined) await checkImmutable(db, kind, key, resource.spec);
      if (hasEnded(resource)) await deleteOwned(database, resource.metadata);
      const { rows } = await replaceSpec(key, versionOf(resource), metadata, spec).execute(db);
      return settle(key, resource, rows[0]);
    },
    async updateStatus(kind, resource) {
      const key = { kind: kind.kind, ...nameOf(resource.metadata) };
      const { rows } = await replaceStatus(key, versionOf(resource), checkStatus(kind, key.name, resource.status)).execute(db);
      return settle(key, resource, rows[0]);
    },
    async delete(kind, namespace, name) {
      await deleteWithOwned(database, { kind: kind.kind, namespace, name });
      await prune();
    },
    watch: (kind, version, signal) => watchRows(database, { kind: kind.kind, version, timing }, signal),
  };
}

/** If the stored resource changes after this check, its version changes too, and the write conflicts. */
async function checkImmutable<S, T>(db: Database["db"], kind: Kind<S, T>, key: Key, desired: S): Promise<void> {
  const row = await findRow(db, key);
  if (row !== undefined) checkChange(kind, key.name, parseSpec(kind, key.name, row.spec), parseSpec(kind, key.name, desired));
}

const nameOf = ({ namespace, name }: { namespace: string; name: string }): Omit<Key, "kind"> => ({ namespace, name });

const missing = ({ kind, namespace, name }: Key): NotFound => new NotFound(`${kind} '${name}' does not exist in namespace '${namespace}'`);

/** A version of another store matches no row, which is the conflict it should be. */
function versionOf(resource: Resource): number {
  return /^\d{1,15}$/.test(resource.metadata.resourceVersion) ? Number(resource.metadata.resourceVersion) : -1;
}

function settle<S, T>(key: Key, given: Resource<S, T>, row: WriteRow | undefined): Resource<S, T> {
  if (row === undefined) throw missing(key);
  const nothingToDo = row.outcome === "current" && row.same && row.resource_version === versionOf(given);
  if (row.outcome !== "current" || nothingToDo) return resourceFrom(row);
  throw new Conflict(
    `${key.kind} '${key.name}' was changed since resourceVersion ${given.metadata.resourceVersion}: read it again and repeat the change`,
  );
}

/**
 * Deletes owned resources before their owner: after a crash in between, the owner still exists and is deleted again. The other order would
 * leave unreachable resources.
 */
async function deleteWithOwned(database: Database, key: Key): Promise<void> {
  const row = await findRow(database.db, key);
  if (row !== undefined && row.finalizers.length === 0) await deleteOwned(database, row);
  await deleteOrMark(database, key);
}

async function deleteOwned(database: Database, owner: { readonly namespace: string; readonly uid: string }): Promise<void> {
  for (const key of await ownedKeys(database.db, owner)) {
    await deleteWithOwned(database, key).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }
}

/** If a finalizer changes between the statement's snapshot and its lock, neither branch applies: retry. */
async function deleteOrMark({ db }: Database, key: Key): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    const { rows } = await deleteResource(key).execute(db);
    const row = rows[0];
    if (row === undefined) throw missing(key);
    if (row.outcome !== "current" || row.same) return;
  }
  throw new Unavailable(`${key.kind} '${key.name}' changes too quickly to be deleted: try again`);
}

const pruneEveryMs = 60_000;

/** Deletions create tombstones, so deletions prune them: no timer needed. */
function createPruner({ db }: Database, limits: TombstoneLimits): () => Promise<void> {
  let next = performance.now() + pruneEveryMs;
  return async () => {
    if (performance.now() < next) return;
    next = performance.now() + pruneEveryMs;
    await pruneTombstones(db, limits);
  };
}
