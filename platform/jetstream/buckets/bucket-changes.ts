import type { MsgHdrs } from "@nats-io/transport-node";
import { changedSubject } from "../../../domain/subjects.ts";
import { isDeletion } from "./bucket.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

/**
 * Reports changed entries of a bucket, from the subjects on which NATS republishes them. Unlike `Bucket.watch` it needs no consumer, which a
 * runner may not create. After a reconnect it reports `undefined`: changes may have been missed.
 */
export async function followChanges(
  connection: Connection,
  bucket: string,
  keys: string,
  onChange: (key: string | undefined, wasDeleted: boolean, headers?: MsgHdrs) => void,
): Promise<Stoppable> {
  const prefix = changedSubject(bucket, "").length;
  const subscription = connection.nats.subscribe(changedSubject(bucket, keys), {
    callback: (error, message) => {
      if (error === null) onChange(message.subject.slice(prefix), isDeletion(message.headers), message.headers);
    },
  });
  const end = connection.onStatus((status) => {
    if (status === "connected") onChange(undefined, false);
  });
  await connection.nats.flush();
  return {
    stop: () => {
      end();
      subscription.unsubscribe();
      return Promise.resolve();
    },
  };
}
