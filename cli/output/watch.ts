import { setTimeout as delay } from "node:timers/promises";
import type { OfflineContext } from "../context.ts";
import type { Item } from "../kinds/kind.ts";
import { formatTable, type Column } from "./table.ts";

/** A list that can be read again. */
export interface ListView {
  readonly columns: readonly Column<Item>[];
  readonly nameOf: ((item: Item) => string) | undefined;
  readonly read: () => Promise<{ readonly data: readonly Item[] }>;
}

const intervalMs = 2_000;

/** Prints the list, then each item that is new or changed, until the signal aborts. As JSON each is one line. */
export async function watchList(
  { out, signal, terminal }: Pick<OfflineContext, "out" | "signal" | "terminal">,
  view: ListView,
): Promise<void> {
  const seen = new Map<string, string>();
  const columns = view.columns.filter(({ isWide }) => isWide !== true || out.format === "wide");
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const { data } = await view.read();
    const changed = data.filter((item) => seen.get(String(item["id"])) !== JSON.stringify(item));
    for (const item of changed) seen.set(String(item["id"]), JSON.stringify(item));
    const rows = formatTable(columns, changed, { width: terminal.columns, hasHeader: isFirst });
    if (isFirst && changed.length > 0 && (out.format === "table" || out.format === "wide")) await out.line(rows.shift() ?? "");
    for (const [index, item] of changed.entries()) await out.record(item, () => [rows[index] ?? ""]);
    await delay(intervalMs, undefined, { signal }).catch(() => {}); // Aborted: the loop ends.
  }
}
