import { randomBytes } from "node:crypto";
import { fileChanges } from "../../../domain/files/schemas.ts";
import { bytesOfPart } from "../../../domain/files/file-url.ts";
import { parseJsonOrNull } from "../../../domain/json.ts";
import {
  chargeOf,
  withChanges,
  type FileChanges,
  type FileEntry,
  type RunFiles,
  type RunOfFiles,
} from "../../../domain/files/run-files.ts";
import { Invariant, NotFound, QuotaExceeded, Unavailable } from "../../../domain/errors.ts";
import { waitUntil } from "../../../domain/retry.ts";
import { filePartSubject, streams } from "../../../domain/subjects.ts";
import type { Room } from "../../../runner/commit/ports.ts";
import type { Connection } from "../connection/connection.ts";
import { WrongLastSequence } from "../connection/errors.ts";

/** Any replica may answer a read, even one that has not stored the part yet. */
const maxReplicaLagMs = 2_000;
const pollMs = 50;

/**
 * The files of runs in the stream FILES: a message for each part, with a subject of its own, so that a runner needs no consumer.
 * @param reserve asks for room in the share of an owner
 */
export function createRunFiles(connection: Connection, reserve: (owner: string, bytes: number) => Promise<Room>): RunFiles {
  const read = (run: RunOfFiles, part: string): Promise<Uint8Array> => readPart(connection, run, part);
  const store = async (run: RunOfFiles, part: string, bytes: Uint8Array): Promise<void> => {
    const room = await reserve(run.owner, chargeOf(bytes.length));
    if (room.refusal !== undefined) throw new QuotaExceeded(room.refusal, { code: "files_full" });
    try {
      await writePart(connection, run, part, bytes);
    } finally {
      room.release();
    }
  };
  return {
    read,
    list: async (run, layers) => {
      // A forged list may repeat one.
      const changes = await Promise.all([...new Set(layers)].map(async (layer) => changesIn(await read(run, layer), layer)));
      return changes.reduce<readonly FileEntry[]>(withChanges, []);
    },
    write: async (run, bytes) => {
      const part = `${randomBytes(16).toString("hex")}-${bytes.length}`;
      await store(run, part, bytes);
      return part;
    },
    copy: async (run, parts, to) => copyParts(connection, run, parts, { ...run, run: to }, reserve),
  };
}

/** Of a layer. @throws Invariant for any other part: runners execute user code, and name what they like */
function changesIn(bytes: Uint8Array, layer: string): FileChanges {
  const changes = fileChanges.safeParse(parseJsonOrNull(new TextDecoder().decode(bytes)));
  if (changes.success) return changes.data;
  throw new Invariant(`the part ${layer} is no list of changed files that this version reads`);
}

/** Parts of which this process holds the bytes at a time, for each run that begins. */
const copiedTogether = 4;

/** A full store must not keep the copies of a run that cannot begin: room for all of them is asked for first. */
async function copyParts(
  connection: Connection,
  from: RunOfFiles,
  parts: readonly string[],
  to: RunOfFiles,
  reserve: (owner: string, bytes: number) => Promise<Room>,
): Promise<void> {
  const roomFor = (some: readonly string[]): Promise<Room> =>
    reserve(
      to.owner,
      some.reduce((sum, part) => sum + chargeOf(bytesOfPart(part)), 0),
    );
  let [missing, room] = [parts, await roomFor(parts)];
  if (room.refusal !== undefined) {
    // A copy that a crash has interrupted: what is stored counts already.
    const isStored = await Promise.all(parts.map((part) => hasPart(connection, to, part)));
    missing = parts.filter((_, index) => isStored[index] === false);
    room = await roomFor(missing);
  }
  if (room.refusal !== undefined) throw new QuotaExceeded(room.refusal, { code: "files_full" });
  try {
    for (let next = 0; next < missing.length; next += copiedTogether)
      await Promise.all(
        missing
          .slice(next, next + copiedTogether)
          .map(async (part) => writePart(connection, to, part, await readPart(connection, from, part))),
      );
  } finally {
    room.release();
  }
}

/** Asks the leader, without the bytes. @throws Unavailable if it cannot say it now */
async function hasPart({ publisher }: Connection, { owner, workflow, run }: RunOfFiles, part: string): Promise<boolean> {
  const subject = filePartSubject(owner, workflow, run, part);
  try {
    await publisher.publish(subject, "", { expectedLastSubjectSequence: Number.MAX_SAFE_INTEGER });
  } catch (error) {
    if (error instanceof WrongLastSequence && error.actual !== undefined) return error.actual > 0;
    // A full stream refuses the message before it looks.
    if (error instanceof Unavailable && error.code === "store_full") return false;
    throw error instanceof WrongLastSequence ? new Unavailable(`part ${part} of run ${run} is being stored: try again in a moment`) : error;
  }
  throw new Invariant("NATS stored a message that expects an impossible sequence");
}

async function readPart({ manager }: Connection, { owner, workflow, run }: RunOfFiles, part: string): Promise<Uint8Array> {
  const query = { last_by_subj: filePartSubject(owner, workflow, run, part) };
  let found: Uint8Array | undefined;
  const isFound = async (): Promise<boolean> => {
    const message = await manager.direct.getMessage(streams.files, query).catch((cause: unknown) => {
      throw new Unavailable(`the files of run ${run} cannot be read: try again in a moment`, { cause });
    });
    found = message?.data;
    return found !== undefined;
  };
  if ((await waitUntil(isFound, maxReplicaLagMs, pollMs)) && found !== undefined) return found;
  throw new NotFound(`the files of run ${run} are gone: they are kept for at most a day after its end`, { code: "files_gone" });
}

async function writePart({ publisher }: Connection, { owner, workflow, run }: RunOfFiles, part: string, bytes: Uint8Array): Promise<void> {
  try {
    // So it can be sent again if no answer arrives.
    await publisher.publish(filePartSubject(owner, workflow, run, part), bytes, { expectedLastSubjectSequence: 0 });
  } catch (error) {
    // No other message has its subject: the same bytes are stored.
    if (error instanceof WrongLastSequence) return;
    if (!(error instanceof Unavailable) || error.code !== "store_full") throw error;
    throw new QuotaExceeded(`the files of all runs fill the stream ${streams.files}: try again when runs have ended`, {
      code: "files_full",
      cause: error,
    });
  }
}
