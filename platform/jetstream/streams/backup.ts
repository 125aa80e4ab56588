import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import type { StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { NoRespondersError, RequestError } from "@nats-io/transport-node";
import { z } from "zod";
import { InvalidInput, Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import { bundleStore, buckets, streams } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { wireConfig } from "../connection/named-manager.ts";
import { formerCreation, identityOf } from "./stream-identity.ts";

const chunkBytes = 512 * 1024;
const requestTimeoutMs = 60_000;
/** Heartbeats expire within seconds. */
const skipped: readonly string[] = [`KV_${buckets.runners}`];

interface SavedStream {
  readonly config: StreamConfig;
  readonly state: { readonly messages: number; readonly last_seq: number };
  /** Stored in the metadata of the restored stream: positions in Postgres and in FLOORS name it. */
  readonly identity: string;
}

const answer = z.looseObject({ error: z.object({ description: z.string() }).optional(), deliver_subject: z.string().optional() });

/**
 * Saves each stream and bucket into a directory: `<stream>.json` and `<stream>.snapshot`, in the form of NATS itself. Consumers are
 * omitted: `setUpStreams` creates them, and work queues hold the messages that are not acked. No role may write in the meantime, or parts of
 * the backup would be inconsistent.
 *
 * @returns the names of the streams @throws InvalidInput when the directory holds files; Unavailable
 */
export async function saveStreams(connection: Connection, directory: string): Promise<readonly string[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if ((await readdir(directory)).length > 0) throw new InvalidInput(`${directory} is not empty: name a new directory for the backup`);
  const saved: string[] = [];
  for await (const info of connection.manager.streams.list()) {
    if (skipped.includes(info.config.name)) continue;
    await saveStream(connection, directory, info);
    saved.push(info.config.name);
  }
  return saved;
}

async function saveStream({ nats, newInbox, apiPrefix }: Connection, directory: string, info: StreamInfo): Promise<void> {
  const { name } = info.config;
  const file = createWriteStream(join(directory, `${name}.snapshot`), { mode: 0o600 });
  const inbox = newInbox();
  const chunks = nats.subscribe(inbox);
  const request = { deliver_subject: inbox, no_consumers: true, chunk_size: chunkBytes };
  parseAnswer(name, await ask(nats, `${apiPrefix}.STREAM.SNAPSHOT.${name}`, JSON.stringify(request)));
  for await (const chunk of chunks) {
    if (chunk.data.length === 0) {
      const { code = 204, description = "" } = chunk.headers ?? {};
      if (code >= 400) throw new Unavailable(`the stream ${name} cannot be saved: ${code} ${description}`);
      break;
    }
    if (!file.write(chunk.data)) await once(file, "drain");
    chunk.respond();
  }
  chunks.unsubscribe();
  file.end();
  await finished(file);
  const { messages, last_seq } = info.state;
  const saved: SavedStream = { config: info.config, state: { messages, last_seq }, identity: identityOf(info) };
  await writeFile(join(directory, `${name}.json`), JSON.stringify({ ...saved, state: info.state }), { mode: 0o600 });
}

/**
 * Restores a backup of `saveStreams` into servers without streams of Headwater. Sequences and times are preserved.
 *
 * @returns the names of the streams @throws InvalidInput when there is no backup; Unavailable, also when a stream exists already
 */
export async function restoreStreams(
  connection: Connection,
  directory: string,
  { replicas }: { readonly replicas: number },
): Promise<readonly string[]> {
  const files = await readdir(directory).catch(() => []);
  const names = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));
  if (!names.includes(streams.runs)) throw new InvalidInput(`${directory} holds no backup: it should have ${streams.runs}.json`);
  names.sort((a, b) => order(a) - order(b));
  for (const name of names) await restoreStream(connection, directory, name, replicas);
  return names;
}

/** STATE copies from RUNS, so RUNS comes first. The stream that records which streams exist comes last: roles wait for it. */
const order = (stream: string): number => (stream === `OBJ_${bundleStore}` ? 2 : stream === streams.state ? 1 : 0);

async function restoreStream(
  { nats, manager, names, apiPrefix }: Connection,
  directory: string,
  name: string,
  replicas: number,
): Promise<void> {
  const { config, state, identity } = JSON.parse(await readFile(join(directory, `${name}.json`), "utf8")) as SavedStream; // As saveStream wrote it.
  const { persist_mode: _singleServerOnly, ...kept } = config;
  const restored = { ...kept, num_replicas: replicas, metadata: { ...config.metadata, [formerCreation]: identity } };
  const subject = `${apiPrefix}.STREAM.RESTORE.${name}`;
  const { deliver_subject } = parseAnswer(name, await ask(nats, subject, JSON.stringify({ config: wireConfig(restored, names), state })));
  if (deliver_subject === undefined) throw new Unavailable(`the stream ${name} cannot be restored: NATS named no subject for its chunks`);
  const file = await open(join(directory, `${name}.snapshot`));
  try {
    const buffer = Buffer.alloc(chunkBytes);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, chunkBytes);
      const chunk = Buffer.from(buffer.subarray(0, bytesRead));
      const reply = await retry(() => ask(nats, deliver_subject, chunk), untilReached);
      if (reply !== "") parseAnswer(name, reply);
      if (bytesRead === 0) break;
    }
  } finally {
    await file.close();
  }
  const { messages, last_seq } = (await manager.streams.info(name)).state;
  if (last_seq < state.last_seq || messages < state.messages)
    throw new Unavailable(`the stream ${name} has ${messages} messages up to ${last_seq}, of ${state.messages} up to ${state.last_seq}`);
}

/** Of several servers, ours learns a moment later on which one the restore listens. A chunk without responders has reached none. */
const untilReached = {
  firstMs: 50,
  withinMs: 10_000,
  isTransient: (error: unknown) => error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders()),
} as const;

async function ask(nats: Connection["nats"], subject: string, body: string | Uint8Array): Promise<string> {
  return (await nats.request(subject, body, { timeout: requestTimeoutMs })).string();
}

function parseAnswer(stream: string, text: string): z.infer<typeof answer> {
  const parsed = answer.parse(JSON.parse(text));
  if (parsed.error !== undefined) throw new Unavailable(`the stream ${stream} cannot be saved or restored: ${parsed.error.description}`);
  return parsed;
}
