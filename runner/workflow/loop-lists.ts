import { controlLimits } from "../../domain/workflow/control.ts";

/** Of the lists that are kept for a run, together: those of loops within each other, or of loops side by side. */
const maxCharacters = 4 * controlLimits.listBytes;

/**
 * The items of a run's loops: each step within a loop reads one, and to parse the whole list for it costs more than a small step. As texts, because
 * parsed values may take fifty times the memory of their text.
 */
export class LoopLists {
  /** JSON texts of items, by that of their list; the list that was used last is at the end. */
  readonly #items = new Map<string, readonly string[]>();
  #characters = 0;

  /** @param list JSON text of an array, as the state of a run has it @returns JSON text; null if it has no such item */
  item(list: string, index: number): string {
    const known = this.#items.get(list);
    const items = known ?? (JSON.parse(list) as readonly unknown[]).map((item) => JSON.stringify(item)); // Written by `decideEach`.
    if (known === undefined) this.#characters += list.length;
    this.#items.delete(list);
    this.#items.set(list, items);
    for (const oldest of this.#items.keys()) {
      if (this.#characters <= maxCharacters) break;
      this.#items.delete(oldest);
      this.#characters -= oldest.length;
    }
    return items[index] ?? "null";
  }
}
