import { retry } from "../../../domain/retry.ts";
import type { Database } from "../connection.ts";
import { resealResources } from "./reseal.ts";
import type { OwnSecrets } from "../../secrets/secrets.ts";
import type { Logger } from "../../telemetry/logger.ts";

const retryMs = 5_000;

/**
 * After a key was added, in the background: nothing waits for it, and the next start goes on where this one ended. Whoever wants to know
 * when it is done reads it in the log.
 */
export function startResealing(
  database: Pick<Database, "db">,
  secrets: Pick<OwnSecrets, "reseal">,
  { logger }: { readonly logger: Logger },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const resealAll = async (): Promise<void> => {
    const { resources, unreadable } = await resealResources(database, (sealed) => secrets.reseal(sealed), signal);
    if (resources > 0) logger.info({ op: "keys.reseal", resources }, "everything kept is sealed with the newest key");
    if (unreadable.length > 0)
      logger.warn({ op: "keys.reseal", unreadable: unreadable.slice(0, 20) }, "some secrets were sealed with keys that are not here");
  };
  const onFailure = (error: unknown): void =>
    logger.warn({ op: "keys.reseal", err: error }, "not everything is sealed with the newest key yet, trying again");
  const running = retry(resealAll, { firstMs: retryMs, signal, onFailure }).catch(() => undefined); // Stopped.
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
