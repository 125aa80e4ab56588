import { pause } from "../../../domain/retry.ts";
import { statfs } from "node:fs/promises";
import { z } from "zod";
import { openLink, type Link } from "../../jetstream/connection/link.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { systemCredentials } from "./nats-accounts.ts";
import { parseCredentials } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";
import type { NatsServer } from "./nats-server.ts";

const checkIntervalMs = 5_000;
/** With less space the disk would be full again at once. */
const minFreeBytes = 32 * 1024 * 1024;

const healthSchema = z.object({ data: z.object({ error: z.string().optional() }).optional() });

/**
 * After a failed write, because the disk was full, a stream stores nothing more and does not reply to publishers until nats-server is
 * restarted (seen in 2.15). So when there is space again, the server is shut down gracefully; `keepRunning` restarts it. Resolves when it
 * has ended. Never rejects.
 */
export async function endAfterWriteErrors(server: NatsServer, keys: NatsKeys, dataDirectory: string, logger: Logger): Promise<void> {
  const ended = new AbortController();
  void server.exited.then(() => ended.abort());
  let link: Link | undefined;
  try {
    const credentials = parseCredentials(await systemCredentials(keys));
    link = await openLink({ server: { servers: server.url, ...credentials }, name: "headwater write errors" });
    while (!ended.signal.aborted) {
      await pause(checkIntervalMs, ended.signal);
      const error = ended.signal.aborted ? undefined : await writeErrorOf(link);
      if (error === undefined || !(await hasRoom(dataDirectory))) continue;
      logger.error(
        { op: "process.restart", process: "nats-server", reason: error },
        "a stream could not be written, and the disk has space again: restarting nats-server",
      );
      await server.stop();
    }
  } catch (error) {
    if (!ended.signal.aborted) logger.warn({ op: "process.watch", process: "nats-server", err: error }, "write errors are not watched for");
  } finally {
    await link?.close();
  }
}

/** The server's health error; undefined if it is healthy or does not respond. */
async function writeErrorOf(link: Link): Promise<string | undefined> {
  try {
    const answer = await link.nats.request("$SYS.REQ.SERVER.PING.HEALTHZ", "", { timeout: checkIntervalMs });
    const error = healthSchema.parse(answer.json()).data?.error;
    return error?.includes("write error") === true ? error : undefined;
  } catch {
    return undefined;
  }
}

async function hasRoom(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize >= minFreeBytes;
}
