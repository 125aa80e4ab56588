import { z } from "zod";
import type { AsideStore } from "../../runner/ports.ts";
import type { Connection } from "./connection.ts";
import { askOfPool } from "./pool-requests.ts";

const laid = z.object({ laid: z.array(z.object({ indexes: z.array(z.int()), at: z.int() })) });
const taken = z.object({
  isLast: z.boolean(),
  messages: z.array(z.object({ seq: z.int(), from: z.int(), isLeft: z.boolean(), storedAt: z.number(), pack: z.unknown() })),
});
const listed = z.object({ counts: z.record(z.string(), z.int()) });

/** What lies aside of a pool, for its runners: they ask for it, see pool-requests.ts. */
export function asideStoreOf(connection: Connection, pool: string): AsideStore {
  return {
    lay: async (parts) => laid.parse(await askOfPool(connection, pool, "lay", parts)).laid,
    take: async (source, request) => {
      const { messages, isLast } = taken.parse(await askOfPool(connection, pool, "take", { source, ...request }));
      return { messages: messages.map(({ pack, ...about }) => ({ ...about, text: JSON.stringify(pack) })), isLast };
    },
    clear: async (source, upTo) => void (await askOfPool(connection, pool, "clear", { source, upTo })),
    list: async (partition) => new Map(Object.entries(listed.parse(await askOfPool(connection, pool, "list", { partition })).counts)),
  };
}
