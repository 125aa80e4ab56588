import { hasMoved, type DeploymentEntry } from "../../../domain/source/deployment.ts";
import { isWorkflow, type WorkflowEntry } from "../../../domain/workflow/deployment.ts";
import { isVariablesEntry, type VariablesEntry } from "../../../domain/variable/variable.ts";
import { buckets, bundleBytesSubject, bundleStore } from "../../../domain/subjects.ts";
import type { BundleReference, StoredBundle, StoredBundles } from "../../../operator/stored-ports.ts";
import type { SourceVersion } from "../../../operator/versions.ts";
import type { WorkflowVersion } from "../../../operator/versions.ts";
import { Bucket } from "../buckets/bucket.ts";
import type { Connection } from "../connection/connection.ts";
import { WrongLastSequence } from "../connection/errors.ts";
import { followFrom } from "../read/follow.ts";
import { entry, metaSubject, partsOf, partSubject, type Entry } from "./object-store.ts";
import { readOwnerBytes, writeOwnerBytes } from "./owner-bytes.ts";

const stream = `OBJ_${bundleStore}`;
/** Longer than a build takes between its charge and its entry. */
const defaultSettledAfterMs = 3 * 60_000;

interface Stored {
  readonly fields: Entry;
  readonly seq: number;
  readonly storedAt: number;
}

/** A bundle and its source map, as listed. Either may be missing after an interrupted write. */
interface Listed extends StoredBundle {
  readonly entries: readonly Stored[];
}

export function createStoredBundles(connection: Connection, settledAfterMs: number = defaultSettledAfterMs): StoredBundles {
  const { streams, direct } = connection.manager;
  let listed: ReadonlyMap<string, Listed> = new Map();
  return {
    list: async () => {
      listed = bundlesOf(await readEntries(connection));
      return [...listed.values()];
    },
    deployed: async () => {
      const deployments = new Bucket(connection, buckets.deployments, (json) =>
        ofDeployment(json as DeploymentEntry | WorkflowEntry | VariablesEntry),
      ); // Only the operator writes it.
      const versions = new Bucket(connection, buckets.versions, (json) => ofVersion(json as SourceVersion | WorkflowVersion)); // As above.
      return [...(await deployments.list(">")).values(), ...(await versions.list(">")).values()].flat();
    },
    delete: async ({ hash }) => {
      const entries = listed.get(hash)?.entries ?? [];
      for (const { fields, seq } of entries) {
        // A renewal has a higher sequence, which this does not purge. So a build that has renewed the entry keeps it.
        const { purged } = await streams.purge(stream, { filter: metaSubject(fields.name), seq: seq + 1 });
        if (purged === 0) return false;
        for (const part of partsOf(fields) ?? []) await streams.purge(stream, { filter: partSubject(part) });
      }
      return true;
    },
    deleteOtherParts: async (kept, before) => {
      const used = new Set(kept.flatMap(({ hash }) => listed.get(hash)?.entries ?? []).flatMap(({ fields }) => partsOf(fields) ?? []));
      const { state } = await streams.info(stream, { subjects_filter: partSubject("*") });
      const others = Object.keys(state.subjects ?? {}).filter((subject) => !used.has(subject.slice(partSubject("").length)));
      for (const filter of others) {
        const part = await direct.getMessage(stream, { last_by_subj: filter });
        if (part !== null && part.time.getTime() < before) await streams.purge(stream, { filter });
      }
    },
    correctCharges: async (charges) => {
      const { state } = await streams.info(stream, { subjects_filter: bundleBytesSubject("*") });
      const charged = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(bundleBytesSubject("").length));
      for (const owner of new Set([...charged, ...charges.keys()]))
        await correct(connection, owner, charges.get(owner) ?? 0, settledAfterMs);
    },
  };
}

async function readEntries(connection: Connection): Promise<readonly Stored[]> {
  const found = new Map<string, Stored>();
  const following = await followFrom({
    connection,
    stream,
    from: "new",
    lastPerSubject: true,
    filter: `$O.${bundleStore}.M.*`,
    onMessage: (message) => {
      const parsed = entry.safeParse(JSON.parse(message.text()));
      if (parsed.success) found.set(parsed.data.name, { fields: parsed.data, seq: message.seq, storedAt: message.storedAt });
    },
  });
  await following.caughtUp;
  await following.stop();
  return [...found.values()];
}

/** The entry of the bundle comes before that of its source map: a runner that has the bundle always finds the map. */
function bundlesOf(entries: readonly Stored[]): ReadonlyMap<string, Listed> {
  const byHash = Map.groupBy(entries, ({ fields }) => fields.name.split(".")[0] ?? "");
  const bundles = [...byHash].map(([hash, found]): Listed => {
    const sorted = found.toSorted((a, b) => a.fields.name.length - b.fields.name.length);
    const [first] = sorted;
    const bytes = sorted.reduce((sum, { fields }) => sum + fields.size, 0);
    return { hash, owner: first?.fields.owner, bytes, storedAt: first?.storedAt ?? 0, entries: sorted };
  });
  return new Map(bundles.map((bundle) => [bundle.hash, bundle]));
}

function ofDeployment(deployment: DeploymentEntry | WorkflowEntry | VariablesEntry): readonly BundleReference[] {
  if (isVariablesEntry(deployment) || hasMoved(deployment)) return [];
  const { owner } = deployment;
  return isWorkflow(deployment) ? deployment.steps.map(({ bundle }) => ({ hash: bundle, owner })) : [{ hash: deployment.bundle, owner }];
}

/** The bundles of a workflow's version are in its deployment entry. */
function ofVersion(version: SourceVersion | WorkflowVersion): readonly BundleReference[] {
  if (!("build" in version)) return [];
  const { deployment, build } = version;
  return [deployment.bundle, build.bundle].map((hash) => ({ hash, owner: deployment.owner }));
}

/** Leaves a record alone that a build has just written, as its bundle may not be listed yet. */
async function correct(connection: Connection, owner: string, bytes: number, settledAfterMs: number): Promise<void> {
  const known = await readOwnerBytes(connection, owner);
  if (Date.now() - known.writtenAt < settledAfterMs) return;
  if (known.bytes === bytes && bytes === 0 && known.sequence > 0) {
    await connection.manager.streams.purge(stream, { filter: bundleBytesSubject(owner), seq: known.sequence + 1 });
    return;
  }
  if (known.bytes === bytes) return;
  try {
    await writeOwnerBytes(connection, owner, bytes, known.sequence);
  } catch (error) {
    if (!(error instanceof WrongLastSequence)) throw error; // A build has just written it.
  }
}
