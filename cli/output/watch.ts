import { setTimeout as delay } from "node:timers/promises";
import type { OfflineContext } from "../context.ts";
import { formatTable, type Column } from "./table.ts";

/** A list that can be read again. */
export interface ListView<T> {
  readonly columns: readonly Column<T>[];
  readonly read: () => Promise<{ readonly data: readonly T[] }>;
}

const intervalMs = 2_000;

/** Prints the list, then each item that is new or changed, until the signal aborts. As JSON each is one line. */
export async function watchList<T>(
  { out, signal, terminal }: Pick<OfflineContext, "out" | "signal" | "terminal">,
  view: ListView<T>,
): Promise<void> {
  const seen = new Set<string>();
  const columns = view.columns.filter(({ isWide }) => isWide !== true || out.format === "wide");
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const { data } = await view.read();
    const changed = data.filter((item) => !seen.has(JSON.stringify(item)));
    for (const item of changed) seen.add(JSON.stringify(item));
    const rows = formatTable(columns, changed, { width: terminal.columns, hasHeader: isFirst });
    if (isFirst && (out.format === "table" || out.format === "wide")) await out.line(rows[0] ?? "");
    const shown = isFirst ? rows.slice(1) : rows;
    for (const [index, item] of changed.entries()) await out.record(item, () => [shown[index] ?? ""]);
    await delay(intervalMs, undefined, { signal }).catch(() => {}); // Aborted: the loop ends.
  }
}
