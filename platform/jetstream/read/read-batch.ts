import type { StoredMsg } from "@nats-io/jetstream";
import type { Connection } from "../connection/connection.ts";
import { isMessageNotFound } from "../connection/errors.ts";

export interface BatchQuery {
  /** The first sequence that will do. */
  readonly seq: number;
  /** With wildcards. */
  readonly filter: string;
  /** At most so many, and so many bytes; the first comes however large it is. */
  readonly messages: number;
  readonly bytes: number;
}

/** Stored messages in their order, without a consumer. @returns whether there are more behind them @throws when the server does not answer */
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
