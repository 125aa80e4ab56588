import { z } from "zod";
import { bytesOfPart } from "./file-url.ts";
import { fileLimits, isFilePath, isPartName, partsOf, type FileChanges, type FileEntry } from "./run-files.ts";

export const partName = z.string().refine(isPartName, "is not the name of a part");

/** Names of layers: more than a run has, since sixteen are joined. */
const layers = z.array(partName).max(1_000);
/** Checked: runners write it, and it names what a later run reads. */
export const filesOfStep = z.strictObject({ before: layers, after: layers.exactOptional() });

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

/**
 * Names of the parts of one file, in order: each but the last has `partBytes`, and has its size in its name. User code may have written it, so
 * it can name only parts of its own run.
 */
export const fileManifest = z
  .array(partName)
  .max(partsOf(fileLimits.runBytes))
  .refine(
    (parts) => parts.every((part, index) => isFull(part, index === parts.length - 1)),
    "has a part of another size than its place needs",
  );

function isFull(part: string, isLast: boolean): boolean {
  const bytes = bytesOfPart(part);
  return isLast ? bytes > 0 && bytes <= fileLimits.partBytes : bytes === fileLimits.partBytes;
}
