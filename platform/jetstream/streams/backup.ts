import { JetStreamApiCodes, JetStreamApiError, type StreamInfo } from "@nats-io/jetstream";
import { NoRespondersError, RequestError, type Msg } from "@nats-io/transport-node";
import { z } from "zod";
import { Conflict, Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import { buckets, streamNames } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { formerCreation, identityOf } from "./stream-identity.ts";

const chunkBytes = 512 * 1024;
const requestTimeoutMs = 60_000;
const defaultMaxIdleMs = 60_000;
/** Heartbeats expire within seconds. Setup creates these buckets again. */
const heartbeats: readonly string[] = [buckets.runners, buckets.replicas].map((bucket) => `KV_${bucket}`);
const saved: readonly string[] = streamNames.filter((name) => !heartbeats.includes(name));
/** Metadata of a restored stream: id and name of the backup that it comes from. */
const [restoredId, restoredName] = ["headwater-backup", "headwater-backup-name"];

const savedStream = z.object({
  config: z.looseObject({ name: z.string(), metadata: z.record(z.string(), z.string()).optional(), persist_mode: z.unknown().optional() }),
  state: z.looseObject({ messages: z.number(), last_seq: z.number() }),
  /** Stored in the metadata of the restored stream: positions in Postgres and in FLOORS name it. */
  identity: z.string(),
});
export const savedStreams = z.array(savedStream);
export type SavedStream = z.infer<typeof savedStream>;

const answer = z.looseObject({ error: z.object({ description: z.string() }).optional(), deliver_subject: z.string().optional() });

/** Names of the streams and buckets that are saved. Other applications may have streams in the same account. */
export async function streamsToSave({ manager }: Connection): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { config } of manager.streams.list()) if (saved.includes(config.name)) names.push(config.name);
  return names;
}

/** What restoring a stream needs besides its chunks. */
export async function describeStream({ manager }: Connection, name: string): Promise<SavedStream> {
  const info: StreamInfo = await manager.streams.info(name);
  return savedStream.parse({ config: info.config, state: info.state, identity: identityOf(info) });
}

/**
 * The chunks of a stream, in NATS' own form. Consumers are omitted: `setUpStreams` creates them, and work queues hold the messages that are not
 * acked. The copy contains every message that exists during the whole save. A message stored or removed in the meantime may or may not
 * be in it.
 *
 * @throws Unavailable also when no chunk arrives for `maxIdleMs`: a server that ends sends no error, and a lost connection loses chunks
 */
export async function* streamChunks(
  { nats, newInbox, apiPrefix }: Connection,
  name: string,
  maxIdleMs = defaultMaxIdleMs,
): AsyncGenerator<Uint8Array> {
  const inbox = newInbox();
  const chunks = nats.subscribe(inbox);
  try {
    const request = { deliver_subject: inbox, no_consumers: true, chunk_size: chunkBytes };
    parseAnswer(name, await ask(nats, `${apiPrefix}.STREAM.SNAPSHOT.${name}`, JSON.stringify(request)));
    const messages = chunks[Symbol.asyncIterator]();
    for (;;) {
      const chunk = await nextChunk(messages, name, maxIdleMs);
      if (chunk.data.length === 0) {
        const { code = 204, description = "" } = chunk.headers ?? {};
        if (code >= 400) throw new Unavailable(`the stream ${name} cannot be saved: ${code} ${description}`);
        return;
      }
      yield chunk.data;
      chunk.respond();
    }
  } finally {
    chunks.unsubscribe();
  }
}

async function nextChunk(messages: AsyncIterator<Msg, void>, name: string, maxIdleMs: number): Promise<Msg> {
  const late = Promise.withResolvers<never>();
  const message = `the stream ${name} cannot be saved: NATS sent no chunk for ${maxIdleMs / 1_000} s`;
  const timer = setTimeout(() => late.reject(new Unavailable(message)), maxIdleMs);
  try {
    const { value } = await Promise.race([messages.next(), late.promise]);
    if (value === undefined) throw new Unavailable(`the stream ${name} cannot be saved: the connection to NATS has ended`);
    return value;
  } finally {
    clearTimeout(timer);
  }
}

export interface RestoreTarget {
  readonly replicas: number;
  /** The backup. */
  readonly id: string;
  readonly name: string;
}

/** Whether the stream was restored from this backup. @throws Conflict when it exists and was not */
export async function isRestored({ manager }: Connection, name: string, backup: string): Promise<boolean> {
  try {
    const { config } = await manager.streams.info(name);
    if (config.metadata?.[restoredId] === backup) return true;
    throw new Conflict(`NATS has a stream ${name} already: restore into servers without streams of Headwater`, { code: "not_empty" });
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return false;
    throw error;
  }
}

/** The name of the backup that the stream was restored from. Undefined without such a stream. */
export async function restoredBackupName({ manager }: Connection, stream: string): Promise<string | undefined> {
  try {
    return (await manager.streams.info(stream)).config.metadata?.[restoredName];
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  }
}

/** Restores a stream that does not exist. It exists once it is complete. Sequences and times are preserved. @throws Unavailable */
export async function restoreStream(
  { nats, manager, apiPrefix }: Connection,
  { config, state, identity }: SavedStream,
  chunks: AsyncIterable<Uint8Array>,
  { replicas, ...backup }: RestoreTarget,
): Promise<void> {
  const { name, persist_mode: _singleServerOnly, ...kept } = config;
  // Setup sets the limits and what this version needs.
  const restored = {
    ...kept,
    name,
    num_replicas: replicas,
    max_bytes: -1,
    metadata: { ...ownMetadata(config.metadata), [formerCreation]: identity, [restoredId]: backup.id, [restoredName]: backup.name },
  };
  const begin = (): Promise<z.infer<typeof answer>> =>
    beginRestore(nats, `${apiPrefix}.STREAM.RESTORE.${name}`, name, { config: restored, state });
  const { deliver_subject } = await begin();
  if (deliver_subject === undefined) throw new Unavailable(`the stream ${name} cannot be restored: NATS named no subject for its chunks`);
  const send = async (chunk: Uint8Array): Promise<void> => {
    const reply = await retry(() => ask(nats, deliver_subject, chunk), untilReached);
    if (reply !== "") parseAnswer(name, reply);
  };
  for await (const chunk of chunks) for (const part of parts(chunk)) await send(part);
  await send(new Uint8Array());
  const { last_seq } = (await manager.streams.info(name)).state;
  if (last_seq < state.last_seq) throw new Unavailable(`the stream ${name} ends at ${last_seq} instead of ${state.last_seq}`);
}

/** Without what setup records when everything is there, and without what NATS adds. */
function ownMetadata(metadata: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== "headwater-set-up" && !key.startsWith("_nats.")));
}

/** For a moment after a client was killed, NATS still waits for its chunks. */
async function beginRestore(nats: Connection["nats"], subject: string, name: string, request: unknown): Promise<z.infer<typeof answer>> {
  const begin = async (): Promise<z.infer<typeof answer>> => parseAnswer(name, await ask(nats, subject, JSON.stringify(request)));
  return retry(begin, { firstMs: 500, withinMs: 30_000, isTransient: (error) => error instanceof Unavailable });
}

function* parts(chunk: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < chunk.length; start += chunkBytes) yield chunk.subarray(start, start + chunkBytes);
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
