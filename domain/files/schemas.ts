import { z } from "zod";
import { fileLimits, isFilePath, isPartName, partsOf, type FileChanges, type FileEntry } from "./run-files.ts";

export const partName = z.string().refine(isPartName, "is not the name of a part");

const path = z.string().refine(isFilePath, "is not a path below /tmp");
const about = { path, mode: z.int().min(0).max(0o777), modifiedMs: z.number().min(-8.64e15).max(8.64e15) };

const entry: z.ZodType<FileEntry> = z.discriminatedUnion("kind", [
  z
    .strictObject({
      kind: z.literal("file"),
      bytes: z.int().min(0).max(fileLimits.runBytes),
      parts: z.array(partName).max(partsOf(fileLimits.runBytes)),
      ...about,
    })
    .refine(({ bytes, parts }) => parts.length === partsOf(bytes), "has other parts than its size needs"),
  z.strictObject({ kind: z.literal("directory"), ...about }),
]);

/** Checked: they come from sandbox processes, and from the store. */
export const fileEntries = z.array(entry).max(fileLimits.entries);
export const fileChanges: z.ZodType<FileChanges> = z.strictObject({ removed: z.array(path).max(fileLimits.entries), put: fileEntries });
