import { setImmediate } from "node:timers/promises";
import type { Response } from "express";
import { WaitingBudget, type WaitingEntry } from "../../../domain/limits/waiting-budget.ts";
import { pageInfo } from "../../../domain/page.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import { maxPartBytes, type PartedList } from "./list-parts.ts";

/** Bytes of a part and its JSON. */
const partCost = 2 * maxPartBytes;
const mebibyte = 2 ** 20;
/** A client that has taken nothing for so long can lose its answer. */
const stalledMs = 5_000;
const checkMs = 1_000;
/** Shorter items are written without a pause. */
const longCharacters = 16 * 1024;

export interface ListWriting {
  /** Memory of the lists that are being written, by user. */
  readonly memory: WaitingBudget;
  /** The user who asks. */
  readonly holder: string;
  readonly select: (item: object) => object;
  readonly warnings: readonly Warning[];
}

/** Of all lists in progress, an eighth for one user. A user at the share waits; beyond the total, the user with the most loses an answer. */
export const listMemory = (): WaitingBudget => new WaitingBudget({ total: 64 * mebibyte, share: 8 * mebibyte });

/**
 * Writes a list part by part, at the pace of the client. Reads a part when there is memory for it, and lets other requests be answered between
 * two long items. A list of one part has the form of all answers; of a longer one `page_info` is behind `data`.
 *
 * @throws what reading throws; before the answer has begun if that concerns the first part
 */
export async function writeList(
  response: Response,
  list: PartedList<object>,
  { memory, holder, select, warnings }: ListWriting,
): Promise<void> {
  const closing = new AbortController();
  let stalledSince = Number.POSITIVE_INFINITY;
  const held = memory.open(holder, () => performance.now() - stalledSince > stalledMs && response.destroy() !== undefined);
  response.once("close", () => {
    closing.abort();
    held.shrink();
  });
  if (response.destroyed) return;
  const take = async (): Promise<void> => {
    // Whether a client has stalled changes without any event.
    const checking = setInterval(() => memory.serve(), checkMs);
    await held.take(partCost, closing.signal).finally(() => clearInterval(checking));
  };
  const setStalled = (isStalled: boolean): void => void (stalledSince = isStalled ? performance.now() : Number.POSITIVE_INFINITY);
  try {
    await writeParts(response, list, { held, take, setStalled, select, warnings, signal: closing.signal });
    setStalled(true);
  } catch (error) {
    held.shrink();
    if (!closing.signal.aborted) throw error; // Otherwise the client has gone.
  }
}

interface Writing extends Pick<ListWriting, "select" | "warnings"> {
  readonly held: WaitingEntry;
  /** Waits for memory for a part. */
  readonly take: () => Promise<void>;
  readonly setStalled: (isStalled: boolean) => void;
  readonly signal: AbortSignal;
}

async function writeParts(response: Response, list: PartedList<object>, writing: Writing): Promise<void> {
  const { held, take, select } = writing;
  const ending = warningsOf(writing);
  const ids: string[] = [];
  let [count, total] = [0, 0];
  const { form } = list;
  const info = (): object => (form === undefined ? {} : { page_info: { ...pageInfo(ids, total, form, ids.length - count), count } });
  await take();
  for await (const part of list.parts()) {
    if (!response.headersSent) total = part.total;
    ids.push(...part.ids);
    const items: readonly object[] = Array.isArray(part.data) ? part.data : [];
    count += items.length;
    if (part.isLast && !response.headersSent) {
      response.json({ ...info(), data: items.map(select), ...ending });
      return held.shrink(response.writableLength);
    }
    await writeItems(response, items, writing);
    held.shrink(response.writableLength);
    if (part.isLast) break;
    await take();
  }
  const rest = JSON.stringify({ ...info(), ...ending }).slice(1);
  response.end(rest === "}" ? "]}" : `],${rest}`);
  held.shrink(response.writableLength);
}

const warningsOf = ({ warnings }: Pick<ListWriting, "warnings">) => (warnings.length === 0 ? {} : { warnings });

async function writeItems(response: Response, items: readonly object[], writing: Writing): Promise<void> {
  const { select, setStalled, signal } = writing;
  for (const item of items) {
    const text = JSON.stringify(select(item));
    if (!response.headersSent) response.type("json");
    const isTaken = response.write(response.headersSent ? `,${text}` : `{"data":[${text}`);
    if (!isTaken) {
      setStalled(true);
      await drained(response, signal);
      setStalled(false);
    }
    if (text.length > longCharacters) await setImmediate(undefined, { signal });
  }
}

/** Resolves when the client has read what is queued. @throws when it has gone */
async function drained(response: Response, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    response.once("drain", () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
