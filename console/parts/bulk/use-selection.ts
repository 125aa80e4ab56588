import { useState } from "react";

export interface Selection<Item> {
  /** Those that are selected, in the order of the list. */
  readonly items: readonly Item[];
  readonly isAll: boolean;
  has(item: Item): boolean;
  /** @param isRange also all between the item and the one that was toggled before */
  toggle(item: Item, isRange: boolean): void;
  /** All that are loaded, or none. */
  toggleAll(): void;
  clear(): void;
  remove(keys: ReadonlySet<string>): void;
}

/**
 * Which items of a list are selected, by their keys: a list that is read again keeps them.
 * @param query of the list. With another one, such as another owner or filter, nothing is selected: what one does not see must not be changed
 */
export function useSelection<Item>(items: readonly Item[], keyOf: (item: Item) => string, query: object): Selection<Item> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState(JSON.stringify(query));
  if (asked !== JSON.stringify(query)) {
    setAsked(JSON.stringify(query));
    setKeys(new Set());
  }
  const [last, setLast] = useState<string>();
  const selected = items.filter((item) => keys.has(keyOf(item)));
  const isAll = items.length > 0 && selected.length === items.length;
  return {
    items: selected,
    isAll,
    has: (item) => keys.has(keyOf(item)),
    toggle: (item, isRange) => {
      const [from, to] = [items.findIndex((each) => keyOf(each) === last), items.findIndex((each) => keyOf(each) === keyOf(item))];
      const range = isRange && from >= 0 ? items.slice(Math.min(from, to), Math.max(from, to) + 1) : [item];
      const next = new Set(keys);
      for (const each of range) {
        if (keys.has(keyOf(item))) next.delete(keyOf(each));
        else next.add(keyOf(each));
      }
      setKeys(next);
      setLast(keyOf(item));
    },
    toggleAll: () => setKeys(new Set(isAll ? [] : items.map(keyOf))),
    clear: () => setKeys(new Set()),
    remove: (removed) => setKeys((now) => new Set([...now].filter((key) => !removed.has(key)))),
  };
}
