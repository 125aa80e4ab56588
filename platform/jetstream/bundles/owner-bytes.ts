import { z } from "zod";
import { QuotaExceeded, Unavailable } from "../../../domain/errors.ts";
import { ownerShareBytes } from "../../../domain/limits/stream-share.ts";
import { bundleBytesSubject, bundleStore } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import { WrongLastSequence } from "../connection/errors.ts";
import { rollup } from "./object-store.ts";

const stream = `OBJ_${bundleStore}`;
/** Of the stream's limit. The rest is for the small shares that owners have in a full store. */
const intendedShare = 3 / 4;
const maxAttempts = 20;

const record = z.object({ bytes: z.number() });

export interface OwnerBytes {
  readonly bytes: number;
  /** Of the record; 0: there is none. */
  readonly sequence: number;
  /** Epoch ms at which the record was written. */
  readonly writtenAt: number;
}

/** What an owner is charged for in the store of bundles: builders add what they store, the sweep corrects it. */
export async function readOwnerBytes({ manager }: Connection, owner: string): Promise<OwnerBytes> {
  const message = await manager.direct.getMessage(stream, { last_by_subj: bundleBytesSubject(owner) });
  if (message === null) return { bytes: 0, sequence: 0, writtenAt: 0 };
  return { ...record.parse(message.json()), sequence: message.seq, writtenAt: message.time.getTime() };
}

/** @throws WrongLastSequence when another process has written the record in the meantime */
export async function writeOwnerBytes({ publisher }: Connection, owner: string, bytes: number, sequence: number): Promise<void> {
  const options = { headers: rollup, expectedLastSubjectSequence: sequence };
  await publisher.publish(bundleBytesSubject(owner), JSON.stringify({ bytes }), options);
}

/**
 * Charges an owner for bytes that are about to be stored.
 * @throws QuotaExceeded `bundles_full` when the owner's share does not have room for them
 */
export async function chargeOwner(connection: Connection, owner: string, more: number): Promise<void> {
  const { config, state } = await connection.manager.streams.info(stream);
  const maxBytes = config.max_bytes * intendedShare;
  const share = ownerShareBytes(maxBytes > 0 ? { bytes: state.bytes + more, maxBytes } : undefined);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { bytes, sequence } = await readOwnerBytes(connection, owner);
    if (bytes + more > share) throw refusal(bytes, more);
    try {
      return await writeOwnerBytes(connection, owner, bytes + more, sequence);
    } catch (error) {
      if (!(error instanceof WrongLastSequence)) throw error;
    }
  }
  throw new Unavailable("other builds of this owner are being stored: try again");
}

function refusal(bytes: number, more: number): QuotaExceeded {
  return new QuotaExceeded(
    `the bundles of this owner have ${bytes} bytes, and the store of bundles is too full for ${more} more: delete components, sources and workflows that are not needed; the room is free within 75 minutes`,
    { code: "bundles_full" },
  );
}
