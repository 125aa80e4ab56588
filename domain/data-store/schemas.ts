import { z } from "zod";
import {
  bytesOf,
  dataStoreLimits,
  isStoreKey,
  storeKeyRule,
  storeValueRule,
  type StoreOperation,
  type StoreResult,
} from "./data-stores.ts";
import { isJson } from "../json.ts";

export const storeKey = z.string().refine(isStoreKey, storeKeyRule);
const storeValue = z
  .string()
  .refine((text) => bytesOf(text) <= dataStoreLimits.valueBytes, storeValueRule)
  .refine(isJson, "a value must be JSON");
export const storeTtl = z.int().min(1).max(dataStoreLimits.ttlSeconds);
const version = z.int().min(0);

/** Operations, checked: they come from sandbox processes and by messages. */
export const storeOperation: z.ZodType<StoreOperation> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("get"), key: storeKey }),
  z.strictObject({
    kind: z.literal("set"),
    key: storeKey,
    value: storeValue,
    ttlSeconds: storeTtl.exactOptional(),
    ifVersion: version.exactOptional(),
  }),
  z.strictObject({ kind: z.literal("increment"), key: storeKey, by: z.number(), ttlSeconds: storeTtl.exactOptional() }),
  z.strictObject({ kind: z.literal("delete"), key: storeKey, ifVersion: version.exactOptional() }),
  z.strictObject({ kind: z.literal("clear") }),
  z.strictObject({ kind: z.literal("size") }),
  z.strictObject({
    kind: z.literal("list"),
    after: storeKey.exactOptional(),
    limit: z.int().min(1).max(dataStoreLimits.pageEntries).exactOptional(),
    withValues: z.boolean(),
  }),
]);

const entry = z.object({
  key: z.string(),
  version: z.number(),
  bytes: z.number(),
  updatedAt: z.number(),
  expiresAt: z.number().nullable(),
  value: z.string().exactOptional(),
});

export const storeResult: z.ZodType<StoreResult> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("get"), entry: entry.nullable() }),
  z.object({ kind: z.literal("set"), version: z.number() }),
  z.object({ kind: z.literal("increment"), version: z.number(), value: z.number() }),
  z.object({ kind: z.literal("delete"), existed: z.boolean() }),
  z.object({ kind: z.literal("clear"), deleted: z.number() }),
  z.object({ kind: z.literal("size"), entries: z.number(), bytes: z.number() }),
  z.object({ kind: z.literal("list"), entries: z.array(entry), next: z.string().nullable() }),
]);
