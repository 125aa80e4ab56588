import { hash, randomUUID } from "node:crypto";
import type { StoredMsg } from "@nats-io/jetstream";
import { z } from "zod";
import { InvalidInput, NotFound, Unavailable } from "../../../domain/errors.ts";
import { bundleStore } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { WrongLastSequence } from "../connection/errors.ts";
import type { PublishOptions } from "../connection/publisher.ts";

export interface BlobStore {
  /**
   * Stores bytes under their SHA-256 (lower-case hex), or an attachment under `<hash>.<suffix>`. An existing name is only renewed.
   * @param owner who is charged for the bytes
   * @throws InvalidInput when the bytes have another hash
   */
  put(name: string, bytes: Uint8Array, owner?: string): Promise<void>;
  /** @throws NotFound, Unavailable */
  get(hash: string): Promise<Uint8Array>;
  /** Is it stored? If it is, its age starts again, so that the sweep does not delete it before something refers to it. */
  renew(name: string): Promise<boolean>;
}

/** Well below the default `max_payload` of NATS, 1 MiB. */
const partBytes = 512 * 1024;
const stream = `OBJ_${bundleStore}`;
export const metaSubject = (name: string): string => `$O.${bundleStore}.M.${Buffer.from(name).toString("base64url")}`;
export const partSubject = (part: string): string => `$O.${bundleStore}.C.${part}`;
/** An entry of this age is written again when it is renewed. Much shorter than the time after which the sweep may delete it. */
const defaultRenewedAfterMs = 15 * 60_000;

/**
 * An entry of a NATS object store, except that each part has a subject of its own, which the entry lists. So a reader needs neither a
 * consumer nor permission to read the whole stream: with a hash it can read this object and no other.
 */
export const entry = z.object({
  name: z.string(),
  nuid: z.string(),
  size: z.number(),
  chunks: z.number(),
  parts: z.array(z.string()).optional(),
  deleted: z.boolean().optional(),
  /** Absent: an earlier version wrote it, or it has no owner. */
  owner: z.string().optional(),
});
export type Entry = z.infer<typeof entry>;

/** Another client gives all parts one subject, where only a single part can be read. */
export const partsOf = ({ parts, chunks, nuid }: Entry): readonly string[] | undefined => parts ?? (chunks === 1 ? [nuid] : undefined);

/** Opens the content-addressed store of bundles. */
export function openBlobStore(connection: Connection, renewedAfterMs: number = defaultRenewedAfterMs): BlobStore {
  return {
    renew: (name) => renew(connection, name, renewedAfterMs),
    put: async (name, bytes, owner) => {
      if (isHash(name) && hashOf(bytes) !== name)
        throw new InvalidInput(`the content of ${bytes.length} bytes does not have the hash ${name}`);
      if (!(await renew(connection, name, renewedAfterMs))) await write(connection, name, bytes, owner);
    },
    get: (name) => read(connection, name),
  };
}

async function findEntry(
  { manager }: Connection,
  name: string,
): Promise<{ readonly found: Entry; readonly message: StoredMsg } | undefined> {
  const message = await manager.direct.getMessage(stream, { last_by_subj: metaSubject(name) });
  if (message === null) return undefined;
  const found = entry.parse(message.json());
  return found.deleted === true || partsOf(found) === undefined ? undefined : { found, message };
}

/** The write expects the entry that was read: NATS refuses it if the sweep has deleted the entry in the meantime. */
async function renew(connection: Connection, name: string, renewedAfterMs: number): Promise<boolean> {
  for (;;) {
    const stored = await findEntry(connection, name);
    if (stored === undefined) return false;
    const { found, message } = stored;
    if (Date.now() - message.time.getTime() < renewedAfterMs) return true;
    try {
      await writeEntry(connection, found, { expectedLastSubjectSequence: message.seq });
      return true;
    } catch (error) {
      if (!(error instanceof WrongLastSequence)) throw error;
    }
  }
}

/** The entry is written last: without it no reader finds the parts. */
async function write(connection: Connection, name: string, bytes: Uint8Array, owner: string | undefined): Promise<void> {
  const parts: string[] = [];
  try {
    for (let start = 0; start < bytes.length || start === 0; start += partBytes) {
      const part = randomUUID().replaceAll("-", "");
      await connection.publisher.publish(partSubject(part), bytes.subarray(start, start + partBytes));
      parts.push(part);
    }
    const [nuid = ""] = parts;
    const of = owner === undefined ? {} : { owner };
    await writeEntry(connection, { name, nuid, size: bytes.length, chunks: parts.length, parts, ...of });
  } catch (error) {
    await Promise.all(parts.map((part) => emptyPart(connection, part)));
    throw error;
  }
}

/** Frees the bytes of a part that belongs to no bundle; the sweep deletes the rest. */
async function emptyPart({ publisher }: Connection, part: string): Promise<void> {
  await publisher.publish(partSubject(part), "", { headers: rollup }).catch(() => undefined);
}

/** NATS replaces the messages of the subject by this one. */
export const rollup = { "Nats-Rollup": "sub" } as const;

async function writeEntry({ publisher }: Connection, fields: Entry, options: PublishOptions = {}): Promise<void> {
  const text = JSON.stringify({ ...fields, bucket: bundleStore, mtime: new Date().toISOString() });
  await publisher.publish(metaSubject(fields.name), text, { ...options, headers: rollup });
}

async function read(connection: Connection, name: string): Promise<Uint8Array> {
  const stored = await findEntry(connection, name);
  const parts = stored === undefined ? undefined : partsOf(stored.found);
  if (parts === undefined) throw new NotFound(`bundle ${name} does not exist`);
  const bytes = Buffer.concat(await Promise.all(parts.map((part) => readPart(connection, name, part))));
  if (isHash(name) && hashOf(bytes) !== name) throw new Unavailable(`bundle ${name} does not have the content of its hash`);
  return bytes;
}

async function readPart({ manager }: Connection, name: string, part: string): Promise<Uint8Array> {
  const message = await manager.direct.getMessage(stream, { last_by_subj: partSubject(part) });
  if (message === null) throw new NotFound(`bundle ${name} is incomplete: build its component again`);
  return message.data;
}

const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);
const hashOf = (bytes: Uint8Array): string => hash("sha256", bytes);
