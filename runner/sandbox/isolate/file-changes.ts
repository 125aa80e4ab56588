import {
  type FileChanges,
  type FileEntry,
  fileLimits,
  isFilePath,
  isPartName,
  partsOf,
  totalBytes,
} from "../../../domain/files/run-files.ts";
import { hasMoreValues, isTooDeep } from "../message-size.ts";

/** Of a listing, each value has at least two characters. */
const maxValues = fileLimits.listingBytes / 2;
const maxTimeMs = 8.64e15;

/**
 * What an action has changed of the files of its run, checked as the parent does it (domain/files/schemas.ts): hostile code may have made
 * the text. By hand, because the program of the children has no schemas.
 */
export function parseFileChanges(text: unknown): FileChanges | undefined {
  if (typeof text !== "string" || text.length > fileLimits.listingBytes || Buffer.byteLength(text) > fileLimits.listingBytes)
    return undefined;
  if (isTooDeep(text) || hasMoreValues(text, maxValues)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!hasExactly(value, ["removed", "put"])) return undefined;
  const { removed, put } = value;
  if (!isListOf(removed, fileLimits.entries, isPath) || !isListOf(put, fileLimits.entries, isEntry)) return undefined;
  const changes = { removed, put };
  // Another text for the same value may be longer.
  if (totalBytes(put) > fileLimits.runBytes || Buffer.byteLength(JSON.stringify(changes)) > fileLimits.listingBytes) return undefined;
  return changes;
}

function isEntry(value: unknown): value is FileEntry {
  const about = ["kind", "path", "mode", "modifiedMs"];
  if (hasExactly(value, about)) return value["kind"] === "directory" && hasAbout(value);
  if (!hasExactly(value, [...about, "bytes", "parts"]) || value["kind"] !== "file" || !hasAbout(value)) return false;
  const { bytes, parts } = value;
  if (!isInteger(bytes, fileLimits.runBytes)) return false;
  return isListOf(parts, partsOf(fileLimits.runBytes), isPart) && parts.length === partsOf(bytes);
}

function hasAbout({ path, mode, modifiedMs }: Record<string, unknown>): boolean {
  return isPath(path) && isInteger(mode, 0o777) && typeof modifiedMs === "number" && Math.abs(modifiedMs) <= maxTimeMs;
}

const isPath = (value: unknown): value is string => typeof value === "string" && isFilePath(value);
const isPart = (value: unknown): value is string => typeof value === "string" && isPartName(value);
const isInteger = (value: unknown, max: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;

function isListOf<Value>(list: unknown, max: number, isValue: (value: unknown) => value is Value): list is Value[] {
  return Array.isArray(list) && list.length <= max && list.every(isValue);
}

function hasExactly(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));
}
