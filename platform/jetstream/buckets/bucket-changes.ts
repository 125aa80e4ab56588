import type { MsgHdrs } from "@nats-io/transport-node";
import { changedSubject } from "../../../domain/subjects.ts";
import { isDeletion } from "./bucket.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

/**
 * Hears of entries of a bucket once they are stored, by what the server publishes of them: without a consumer, which costs more, and
 * which a runner may not make, because its settings can name any subject as the place to deliver to. `undefined` means that
 * some may have been missed: the connection was gone.
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
