import { randomBytes } from "node:crypto";
import { encodePack } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { invokeSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";

export interface PublishedInvocation {
  readonly pool: string;
  readonly source: string;
  /** JSON. */
  readonly text: string;
  /** A repeated one is not stored again. */
  readonly messageId: string;
}

/** Queues one invocation of a source. Resolves once NATS has stored it. @throws Unavailable */
export async function publishInvocation(
  { publisher }: Pick<Connection, "publisher">,
  { pool, source, text, messageId }: PublishedInvocation,
): Promise<void> {
  await publisher.publish(invokeSubject(pool, partitionOf(source), source), encodePack([text]), { messageId });
}

/**
 * Publishes packs of invocations under new message ids, by which NATS recognizes one that is sent again because the connection or a server
 * was lost. Resolves once NATS has stored the pack. @throws Unavailable
 */
export function packPublisher({ publisher }: Pick<Connection, "publisher">): (subject: string, pack: string) => Promise<void> {
  const prefix = randomBytes(9).toString("base64url");
  let packs = 0;
  return async (subject, pack) => void (await publisher.publish(subject, pack, { messageId: `${prefix}.${(packs++).toString(36)}` }));
}
