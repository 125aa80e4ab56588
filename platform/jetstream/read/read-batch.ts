import type { StoredMsg } from "@nats-io/jetstream";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";

export interface BatchQuery {
  /** Lowest sequence. */
  readonly seq: number;
  /** A subject, which may have wildcards. */
  readonly filter: string;
  /** Bounds; the first message is returned whatever its size. */
  readonly messages: number;
  readonly bytes: number;
}

/** Reads stored messages in order, without a consumer. `isLast`: no more messages follow. @throws when NATS does not answer */
export async function readBatch(
  { manager }: Connection,
  stream: string,
  { seq, filter, messages: batch, bytes }: BatchQuery,
): Promise<{ readonly messages: readonly StoredMsg[]; readonly isLast: boolean }> {
  const messages: StoredMsg[] = [];
  try {
    for await (const message of await manager.direct.getBatch(stream, { seq, next_by_subj: filter, batch, max_bytes: bytes }))
      messages.push(message);
  } catch (error) {
    if (!isMessageNotFound(error)) throw error;
  }
  return { messages, isLast: (messages.at(-1)?.pending ?? 0) === 0 };
}
