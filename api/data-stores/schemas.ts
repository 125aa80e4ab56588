import { z } from "zod";
import { dataStoreLimits, isStoreKey, storeKeyRule } from "../../domain/data-store/data-stores.ts";
import { flag, itemCount, optional, text } from "../http/request/parameters.ts";

const isoTime = z.string().describe("ISO 8601, UTC.");
const version = z.int().min(0);

const name = text.min(1, "it must not be empty").max(255, "it must have at most 255 characters");
const description = text.max(2_000, "it must have at most 2000 characters");

export const dataStoreFields = z.object({
  name: name.describe("Display name."),
  description: optional(description).describe("What it is for."),
});

/** Absent fields stay unchanged; null removes a description. */
export const dataStoreChanges = z.object({
  name: name.optional().describe("Display name."),
  description: description.nullish().describe("What it is for."),
});

export const dataStoreDeletion = z.object({
  force: flag.optional().describe("True: also deletes a store that sources or workflows use."),
});

export const storeKeyText = z.string().refine(isStoreKey, storeKeyRule);

export const entryFields = z.object({
  value: z
    .unknown()
    .refine((value) => value !== undefined, "it is missing: null is a value")
    .describe("Any JSON, at most 1 MiB."),
  ttl: optional(z.int().min(1).max(dataStoreLimits.ttlSeconds)).describe("Seconds after which the key is gone. Absent: it stays."),
  if_version: optional(version).describe("The version that the entry must have; 0: the key must not exist. Absent: any."),
});

export const entryDeletion = z.object({
  if_version: z.coerce.number().pipe(version).optional().describe("The version that the entry must have. Absent: any."),
});

export const entryPages = z.object({
  limit: itemCount.optional().meta({ default: 100, description: "Maximum entries of a page, at most 100." }),
  after: text.optional().describe("The entries behind this key: `end_cursor` of `page_info`."),
  values: flag.optional().describe("False: without values. Default: true."),
});

export const dataStoreSchema = z
  .object({
    id: z.string().describe("`ds_…`: the value of a prop of type `data_store`."),
    name: z.string(),
    description: z.string().nullable(),
    entries: z.int().describe("Also those that have expired within the last minute."),
    bytes: z.int().describe("Of all keys and values, UTF-8."),
    created_at: isoTime,
    updated_at: isoTime,
  })
  .meta({ id: "DataStore", description: "Keys with JSON values, which sources, steps of workflows and the API share." });

export const entrySchema = z
  .object({
    key: z.string(),
    value: z.unknown().optional().describe("JSON. Absent with `values=false`."),
    version: z.int().describe("Another one after each change."),
    bytes: z.int().describe("Of key and value, UTF-8."),
    updated_at: isoTime,
    expires_at: isoTime.nullable().describe("Null: it stays."),
  })
  .meta({ id: "DataStoreEntry" });

export const setEntrySchema = z.object({ key: z.string(), version: z.int() }).meta({ id: "SetDataStoreEntry" });
