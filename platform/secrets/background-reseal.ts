import { retry } from "../../domain/retry.ts";
import type { Database } from "../postgres/connection.ts";
import { resealResources } from "../postgres/resources/reseal.ts";
import type { OwnSecrets } from "./secrets.ts";
import type { Logger } from "../telemetry/logger.ts";

const retryMs = 5_000;

/**
 * Seals all stored secrets with the newest key, in the background. Nothing waits for it: a restart continues, and the log reports the
 * end.
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
    if (resources > 0) logger.info({ op: "keys.reseal", resources }, "all stored secrets are sealed with the newest key");
    if (unreadable.length > 0)
      logger.warn(
        { op: "keys.reseal", unreadable: unreadable.slice(0, 20) },
        "some secrets cannot be opened, because their keys are missing",
      );
  };
  const onFailure = (error: unknown): void =>
    logger.warn({ op: "keys.reseal", err: error }, "secrets could not be sealed with the newest key, retrying");
  const running = retry(resealAll, { firstMs: retryMs, signal, onFailure }).catch(() => undefined); // Stopped.
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
