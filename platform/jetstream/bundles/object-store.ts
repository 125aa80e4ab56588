import { hash, randomUUID } from "node:crypto";
import { z } from "zod";
import { InvalidInput, NotFound, Unavailable } from "../../../domain/errors.ts";
import { bundleStore } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

export interface BlobStore {
  /**
   * Stores bytes under their SHA-256 (lower-case hex), or an attachment under `<hash>.<suffix>`. An existing name is not written again.
   * @throws InvalidInput when the bytes have another hash
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @throws NotFound, Unavailable */
  get(hash: string): Promise<Uint8Array>;
  has(hash: string): Promise<boolean>;
  delete(hash: string): Promise<void>;
}

/** Well below the default `max_payload` of NATS, 1 MiB. */
const partBytes = 512 * 1024;
const stream = `OBJ_${bundleStore}`;
const metaSubject = (name: string): string => `$O.${bundleStore}.M.${Buffer.from(name).toString("base64url")}`;
const partSubject = (part: string): string => `$O.${bundleStore}.C.${part}`;

/**
 * An entry of a NATS object store, except that each part has a subject of its own, which the entry lists. So a reader needs neither a
 * consumer nor permission to read the whole stream: with a hash it can read this object and no other.
 */
const entry = z.object({
  name: z.string(),
  nuid: z.string(),
  size: z.number(),
  chunks: z.number(),
  parts: z.array(z.string()).optional(),
  deleted: z.boolean().optional(),
});
type Entry = z.infer<typeof entry>;

/** Opens the content-addressed store of bundles. */
export function openBlobStore(connection: Connection): BlobStore {
  return {
    has: async (name) => (await findParts(connection, name)) !== undefined,
    put: async (name, bytes) => {
      if (isHash(name) && hashOf(bytes) !== name)
        throw new InvalidInput(`the content of ${bytes.length} bytes does not have the hash ${name}`);
      if ((await findParts(connection, name)) === undefined) await write(connection, name, bytes);
    },
    get: (name) => read(connection, name),
    delete: async (name) => {
      const parts = await findParts(connection, name);
      if (parts === undefined) return;
      await writeEntry(connection, { name, nuid: parts[0] ?? "", size: 0, chunks: 0, deleted: true });
      for (const part of parts) await connection.manager.streams.purge(stream, { filter: partSubject(part) });
    },
  };
}

async function findParts({ manager }: Connection, name: string): Promise<readonly string[] | undefined> {
  const message = await manager.direct.getMessage(stream, { last_by_subj: metaSubject(name) });
  if (message === null) return undefined;
  const { parts, nuid, chunks, deleted } = entry.parse(message.json());
  if (deleted === true) return undefined;
  // Another client gives all parts one subject, where only a single part can be read.
  return parts ?? (chunks === 1 ? [nuid] : undefined);
}

/** The entry is written last: without it no reader finds the parts. */
async function write({ publisher, ...connection }: Connection, name: string, bytes: Uint8Array): Promise<void> {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length || start === 0; start += partBytes) {
    const part = randomUUID().replaceAll("-", "");
    await publisher.publish(partSubject(part), bytes.subarray(start, start + partBytes));
    parts.push(part);
  }
  const [nuid = ""] = parts;
  await writeEntry({ publisher, ...connection }, { name, nuid, size: bytes.length, chunks: parts.length, parts });
}

async function writeEntry({ publisher }: Connection, fields: Entry): Promise<void> {
  const text = JSON.stringify({ ...fields, bucket: bundleStore, mtime: new Date().toISOString() });
  await publisher.publish(metaSubject(fields.name), text, { headers: { "Nats-Rollup": "sub" } });
}

async function read(connection: Connection, name: string): Promise<Uint8Array> {
  const parts = await findParts(connection, name);
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
