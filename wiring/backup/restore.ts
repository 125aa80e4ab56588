import { basename } from "node:path";
import { InvalidInput } from "../../domain/errors.ts";
import { bundleStore, streams } from "../../domain/subjects.ts";
import { openBackup, type Backup } from "../../platform/backup/directory.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { isRestored, restoredBackupName, restoreStream } from "../../platform/jetstream/streams/backup.ts";
import { continueAfterCut, endAtCut } from "../../platform/jetstream/runs/backup-cut.ts";
import { alignGenerations } from "../../platform/jetstream/streams/restored-generations.ts";
import { connectKubernetes, type Kubernetes } from "../../platform/kubernetes/access/connection.ts";
import { requireOnlySaved, restoreResources, type MovedGeneration } from "../../platform/kubernetes/backup/restore.ts";
import { isDatabaseRestored, requireKnownMigration, restoreTables } from "../../platform/postgres/backup.ts";
import { readBackupKey } from "../../platform/secrets/backup-key.ts";
import type { RoleContext } from "../context.ts";
import { backupDatabaseOf, withNats } from "./connections.ts";
import { backupFacts, resourcesFile, streamFile, tableFile, type BackupFacts } from "./facts.ts";

/** Roles wait until setup has recorded on this stream that all exist. So it is restored last, and its existence ends the restore. */
const lastStream = `OBJ_${bundleStore}`;

/**
 * Restores a backup into an installation without data, whose roles wait for setup. Nothing is written before all files are verified and the
 * targets are empty, or hold a part of the same backup. Safe to repeat after a kill.
 *
 * @returns what to do next @throws InvalidInput for a damaged or newer backup, Conflict for a target with data, Unavailable
 */
export async function restoreBackup(context: RoleContext, directory: string): Promise<string> {
  const backup = await openUnlessRestored(context, directory);
  if (backup === undefined) return `This is the backup ${basename(directory)} already, which no longer exists: nothing to do.`;
  const facts = backupFacts.parse(backup.facts);
  refuseUnfit(context, facts);
  const log = (file: string, message: string): void => context.logger.info({ op: "backup.restore", file }, message);
  await backup.verify((file) => log(file, `${file} is being verified`));
  const isDone = await withNats(context, async (connection) => {
    const kubernetes = facts.hasResources ? await connectKubernetes({ userAgent: "headwater restore" }) : undefined;
    try {
      return await new InstallationRestore(
        context,
        { connection, kubernetes },
        { ...backup, name: basename(directory) },
        facts,
        log,
      ).restoreAll();
    } finally {
      await kubernetes?.close();
    }
  });
  const { id, version, createdAt } = backup.label;
  const what = `the backup of ${createdAt} (version ${version}, ${id})`;
  return isDone ? `This is ${what} already: nothing to do.` : `Restored is ${what}. Run setup now (npm start does), then the roles start.`;
}

/** Undefined when the backup was restored and has been removed since: a Job that a GitOps tool repeats later must not fail. */
async function openUnlessRestored(context: RoleContext, directory: string): Promise<Backup | undefined> {
  try {
    return await openBackup(directory, await readBackupKey(context.configuration.keysDirectory));
  } catch (error) {
    if (!(error instanceof InvalidInput && error.code === "no_backup")) throw error;
    const restored = await withNats(context, (connection) => restoredBackupName(connection, lastStream));
    if (restored === basename(directory)) return undefined;
    throw error;
  }
}

function refuseUnfit({ configuration: { resources } }: RoleContext, { hasResources, tables }: BackupFacts): void {
  requireKnownMigration(tables.migration);
  if (hasResources === (resources === "kubernetes")) return;
  const [from, into] = hasResources ? ["a cluster", "one machine"] : ["one machine", "a cluster"];
  throw new InvalidInput(`the backup is of ${from}, and this installation is on ${into}: restore it where resources are stored as before`, {
    code: "other_backup",
  });
}

interface Targets {
  readonly connection: Connection;
  readonly kubernetes: Kubernetes | undefined;
}

/** With the name of its directory. */
type NamedBackup = Backup & { readonly name: string };

class InstallationRestore {
  readonly #context: RoleContext;
  readonly #targets: Targets;
  readonly #backup: NamedBackup;
  readonly #facts: BackupFacts;
  readonly #log: (file: string, message: string) => void;

  constructor(
    context: RoleContext,
    targets: Targets,
    backup: NamedBackup,
    facts: BackupFacts,
    log: (file: string, message: string) => void,
  ) {
    this.#context = context;
    this.#targets = targets;
    this.#backup = backup;
    this.#facts = facts;
    this.#log = log;
  }

  /** @returns true if the backup was restored before */
  async restoreAll(): Promise<boolean> {
    const { connection } = this.#targets;
    const { cut } = this.#facts;
    const { id } = this.#backup.label;
    if (await isRestored(connection, lastStream, id)) return true;
    await this.#requireEmpty();
    await restoreTables(backupDatabaseOf(this.#context), this.#facts.tables, id, ({ name }) => this.#read(tableFile(name)));
    const moved = await this.#restoreResources();
    await this.#restoreStream(streams.runs);
    await endAtCut(connection, cut); // Before STATE copies from it.
    for (const { config } of this.#facts.streams) if (config.name !== lastStream) await this.#restoreStream(config.name);
    await continueAfterCut(connection, cut);
    await alignGenerations(connection, moved);
    await this.#restoreStream(lastStream);
    return false;
  }

  async #requireEmpty(): Promise<void> {
    const { connection, kubernetes } = this.#targets;
    const { id } = this.#backup.label;
    for (const { config } of this.#facts.streams) await isRestored(connection, config.name, id);
    const hasBegun = await isDatabaseRestored(backupDatabaseOf(this.#context), id);
    if (!hasBegun && kubernetes !== undefined) await requireOnlySaved(kubernetes, this.#backup.read(resourcesFile));
  }

  async #restoreResources(): Promise<readonly MovedGeneration[]> {
    const { kubernetes } = this.#targets;
    return kubernetes === undefined ? [] : restoreResources(kubernetes, () => this.#read(resourcesFile));
  }

  async #restoreStream(name: string): Promise<void> {
    const saved = this.#facts.streams.find(({ config }) => config.name === name);
    const { label, name: backupName } = this.#backup;
    const { id } = label;
    if (saved === undefined) throw new InvalidInput(`the backup lacks the stream ${name}`, { code: "damaged_backup" });
    if (await isRestored(this.#targets.connection, name, id)) return;
    const target = { replicas: this.#context.configuration.natsReplicas, id, name: backupName };
    await restoreStream(this.#targets.connection, saved, this.#read(streamFile(name)), target);
  }

  #read(file: string): AsyncIterable<Uint8Array> {
    this.#log(file, `${file} is being restored`);
    return this.#backup.read(file);
  }
}
