import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { openLink, type Link } from "../jetstream/link.ts";
import type { Logger } from "../telemetry/logger.ts";
import { systemCredentials } from "./nats-accounts.ts";
import { parseCredentials } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";
import type { NatsServer } from "./nats-server.ts";

const lookEveryMs = 5_000;
/** With less room the disk would be full again at once. */
const leastRoomBytes = 32 * 1024 * 1024;

const healthSchema = z.object({ data: z.object({ error: z.string().optional() }).optional() });

/**
 * A stream that could not be written once, because the disk was full, stores nothing more until nats-server is started again, and does not answer
 * who publishes (seen in 2.15). So when there is room again the server is ended in good order; whoever keeps it running starts it.
 * Resolves when it has ended. Never rejects.
 */
export async function endAfterWriteErrors(server: NatsServer, keys: NatsKeys, dataDirectory: string, logger: Logger): Promise<void> {
  const ended = new AbortController();
  void server.exited.then(() => ended.abort());
  let link: Link | undefined;
  try {
    const credentials = parseCredentials(await systemCredentials(keys));
    link = await openLink({ server: { servers: server.url, ...credentials }, name: "headwater write errors" });
    while (!ended.signal.aborted) {
      await sleep(lookEveryMs, undefined, { signal: ended.signal }).catch(() => undefined);
      const error = ended.signal.aborted ? undefined : await writeErrorOf(link);
      if (error === undefined || !(await hasRoom(dataDirectory))) continue;
      logger.error(
        { op: "process.restart", process: "nats-server", reason: error },
        "a stream could not be written, and there is room again",
      );
      await server.stop();
    }
  } catch (error) {
    if (!ended.signal.aborted) logger.warn({ op: "process.watch", process: "nats-server", err: error }, "nobody looks for write errors");
  } finally {
    await link?.close();
  }
}

/** What the server says of its streams; undefined when all is well, or when it does not answer. */
async function writeErrorOf(link: Link): Promise<string | undefined> {
  try {
    const answer = await link.nats.request("$SYS.REQ.SERVER.PING.HEALTHZ", "", { timeout: lookEveryMs });
    const error = healthSchema.parse(answer.json()).data?.error;
    return error?.includes("write error") === true ? error : undefined;
  } catch {
    return undefined;
  }
}

async function hasRoom(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize >= leastRoomBytes;
}
