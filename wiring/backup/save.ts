import { join } from "node:path";
import { Conflict, Unavailable } from "../../domain/errors.ts";
import { createBackup, pruneBackups, type BackupWriter } from "../../platform/backup/directory.ts";
import type { Connection } from "../../platform/jetstream/connection/connection.ts";
import { describeStream, streamChunks, streamsToSave, type SavedStream } from "../../platform/jetstream/streams/backup.ts";
import { currentCut, firstCommit, savingOrder, settledUpTo, type Cut, type SavingOrder } from "../../platform/jetstream/runs/backup-cut.ts";
import { areSetUp } from "../../platform/jetstream/streams/streams.ts";
import { connectKubernetes } from "../../platform/kubernetes/access/connection.ts";
import { resourceLines } from "../../platform/kubernetes/backup/save.ts";
import { openSnapshot, type TablesSnapshot } from "../../platform/postgres/backup.ts";
import { readOrCreateBackupKey } from "../../platform/secrets/backup-key.ts";
import { platformVersion } from "../../domain/version.ts";
import type { RoleContext } from "../context.ts";
import { backupDatabaseOf, withNats } from "./connections.ts";
import { resourcesFile, streamFile, tableFile, type BackupFacts } from "./facts.ts";

/** Commits may be removed from RUNS while it is saved under heavy load. */
const maxAttempts = 5;

export interface SaveOptions {
  /** Gets a directory for each backup, named by its time. */
  readonly parent: string;
  /** Backups to keep there; undefined: all. */
  readonly keep: number | undefined;
}

/**
 * Saves everything but the keys while the roles run (decision 0108). Requests are saved before the commits that answer them. FLOORS is saved
 * before RUNS, so commits above the floors are routed again after a restore. Commits missing from the backup were already copied, routed
 * and recorded, or come after the cut.
 *
 * @returns what to do next @throws InvalidInput, Unavailable
 */
export async function saveBackup(context: RoleContext, { parent, keep }: SaveOptions): Promise<string> {
  const directory = join(parent, nameAt(new Date()));
  const writer = await createBackup(directory, await readOrCreateBackupKey(context.configuration.keysDirectory), platformVersion);
  try {
    await withNats(context, async (connection) => {
      if (!(await areSetUp(connection))) throw new Conflict("NATS lacks streams of this version: run setup, then repeat the backup");
      await writer.complete(await new Saving(context, connection, writer).saveAll());
    });
  } catch (error) {
    await writer.abandon();
    throw error;
  }
  const removed = keep === undefined ? [] : await pruneBackups(directory, keep);
  const kept = removed.length === 0 ? "" : ` ${removed.length} older ones are removed.`;
  return `The backup is ${directory}.${kept} It opens only with the keys of this installation, which it does not contain.`;
}

/** 2026-11-27T02-57-14-083Z: several backups may begin within a second. */
const nameAt = (time: Date): string => time.toISOString().replaceAll(/[:.]/g, "-");

/** What is read after the streams that must fit together are saved. */
interface ConsistentCopy {
  readonly snapshot: TablesSnapshot;
  readonly cut: Cut;
}

class Saving {
  readonly #context: RoleContext;
  readonly #connection: Connection;
  readonly #writer: BackupWriter;
  readonly #streams = new Map<string, SavedStream>();

  constructor(context: RoleContext, connection: Connection, writer: BackupWriter) {
    this.#context = context;
    this.#connection = connection;
    this.#writer = writer;
  }

  async saveAll(): Promise<BackupFacts> {
    const order = savingOrder(await streamsToSave(this.#connection));
    const hasResources = this.#context.configuration.resources === "kubernetes";
    await this.#saveStreams(order.entries);
    if (hasResources) await this.#saveResources();
    const { snapshot, cut } = await this.#saveConsistently(order);
    try {
      await this.#saveStreams(order.rest);
      for (const table of snapshot.tables) await this.#write(tableFile(table.name), snapshot.rows(table));
      const { migration, tables } = snapshot;
      return { streams: [...this.#streams.values()], cut, tables: { migration, tables: [...tables] }, hasResources };
    } finally {
      await snapshot.close();
    }
  }

  /** Saves the streams that must fit together, and opens the snapshot of the tables that fits them. */
  async #saveConsistently(order: SavingOrder): Promise<ConsistentCopy> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const copy = await this.#trySaveConsistently(order);
      if (copy !== undefined) return copy;
      this.#context.logger.info({ op: "backup.repeat", attempt }, "RUNS was trimmed while it was saved: saving the streams again");
    }
    throw new Unavailable(
      `commits were removed from RUNS while it was saved, ${maxAttempts} times: repeat the backup when there is less load, or make HEADWATER_STORE_SIZE larger`,
      { code: "backup_overtaken" },
    );
  }

  /** Undefined: commits have been removed from RUNS that the saved FLOORS, STATE or tables need. */
  async #trySaveConsistently({ routed, accepted, commits }: SavingOrder): Promise<ConsistentCopy | undefined> {
    const settled = await settledUpTo(this.#connection);
    await this.#saveStreams(routed);
    const snapshot = await openSnapshot(backupDatabaseOf(this.#context));
    try {
      await this.#saveStreams(accepted);
      const cut = await currentCut(this.#connection);
      await this.#saveStreams(commits);
      if ((await firstCommit(this.#connection)) <= settled + 1) return { snapshot, cut };
    } catch (error) {
      await snapshot.close();
      throw error;
    }
    await snapshot.close();
    return undefined;
  }

  async #saveStreams(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#streams.set(name, await describeStream(this.#connection, name));
      await this.#write(streamFile(name), streamChunks(this.#connection, name));
    }
  }

  async #saveResources(): Promise<void> {
    const { logger } = this.#context;
    const kubernetes = await connectKubernetes({ userAgent: "headwater backup" });
    try {
      const onKind = (kind: string, count: number): void => logger.debug({ op: "backup.save", kind, count }, `${count} ${kind} are saved`);
      await this.#write(resourcesFile, resourceLines(kubernetes, onKind));
    } finally {
      await kubernetes.close();
    }
  }

  async #write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    let bytes = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    await this.#writer.write(name, counted());
    this.#context.logger.info({ op: "backup.save", file: name, bytes }, `${name} is saved`);
  }
}
