import type { BulkAction } from "./bulk-actions.tsx";
import { text } from "./strings.ts";

interface Activation<Item> {
  readonly setActive: (item: Item, active: boolean) => Promise<unknown>;
  readonly remove: (item: Item) => Promise<unknown>;
  readonly labels?: { readonly pause: string; readonly resume: string };
}

/** What can be done to things that are active or paused: the first two can be taken back. */
export function activationActions<Item extends { readonly active: boolean }>({
  setActive,
  remove,
  labels = text,
}: Activation<Item>): readonly BulkAction<Item>[] {
  const change = (active: boolean): Omit<BulkAction<Item>, "label" | "done"> => ({
    applies: (item) => item.active !== active,
    perform: (item) => setActive(item, active),
    undo: (item) => setActive(item, !active),
  });
  return [
    { label: labels.pause, done: text.changed(labels.pause), ...change(false) },
    { label: labels.resume, done: text.changed(labels.resume), ...change(true) },
    { label: text.delete, done: text.changed(text.delete), applies: () => true, perform: remove },
  ];
}
