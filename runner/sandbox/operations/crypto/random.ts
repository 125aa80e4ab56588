import { randomBytes } from "node:crypto";
import { integerArgument, ownedBytes } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";

const maxBytes = 1024 * 1024;

/** `random(count)` → bytes, at most 1 MiB. */
export const randomSync: Record<string, SyncOperation> = {
  random: (_context, [count]) => ownedBytes(randomBytes(integerArgument(count, "size", 0, maxBytes))),
};
