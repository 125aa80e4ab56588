import type { Database } from "../platform/postgres/connection.ts";
import { resealResources } from "../platform/postgres/resources/reseal.ts";
import type { OwnSecrets } from "../platform/secrets/secrets.ts";
import type { RoleContext } from "./context.ts";

/** After a key was added, in the background: nothing waits for it, and the next start goes on where this one ended. */
export function startResealing(database: Database, secrets: OwnSecrets, { logger }: RoleContext): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = resealResources(database, (sealed) => secrets.reseal(sealed), stopping.signal).then(
    ({ resources, unreadable }) => {
      if (resources > 0) logger.info({ op: "keys.reseal", resources }, "everything kept is sealed with the newest key");
      if (unreadable.length > 0)
        logger.warn({ op: "keys.reseal", unreadable: unreadable.slice(0, 20) }, "some secrets were sealed with keys that are not here");
    },
    (error: unknown) => {
      if (!stopping.signal.aborted)
        logger.warn({ op: "keys.reseal", err: error }, "not everything is sealed with the newest key: the next start goes on");
    },
  );
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
