import { maxDetails } from "../../../domain/errors.ts";

/**
 * Bounds of what an answer says about a request: at most 100 details or warnings, and 64 KiB with the message. A request can have a hundred
 * thousand mistakes.
 */
const maxMessageBytes = 16 * 1024;
const maxListBytes = 40 * 1024;

export function boundedMessage(message: string): string {
  // A character has at most three bytes.
  if (message.length * 3 <= maxMessageBytes) return message;
  const bytes = Buffer.from(message);
  if (bytes.length <= maxMessageBytes) return message;
  return `${new TextDecoder().decode(bytes.subarray(0, maxMessageBytes)).replace(/\uFFFD+$/u, "")}… (${bytes.length} bytes)`;
}

/** The first items that fit. */
export function boundedList<Item>(items: readonly Item[]): readonly Item[] {
  const kept: Item[] = [];
  let bytes = 0;
  for (const item of items.slice(0, maxDetails)) {
    bytes += sizeOf(item);
    if (bytes > maxListBytes) break;
    kept.push(item);
  }
  return kept;
}

/** Of a list the first items; of an object its fields as long as they fit, and lists among them cut. */
export function boundedDetails(details: unknown): unknown {
  if (Array.isArray(details)) return boundedList(details);
  if (typeof details !== "object" || details === null) return sizeOf(details) > maxListBytes ? undefined : details;
  const fields = Object.entries(details).map(([name, value]): [string, unknown] => [
    name,
    Array.isArray(value) ? boundedList(value) : value,
  ]);
  return Object.fromEntries(boundedList(fields));
}

/** Bytes of the JSON. */
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
