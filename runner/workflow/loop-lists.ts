import { controlLimits } from "../../domain/workflow/control.ts";

/** Of the lists that are kept for a run, together: those of loops within each other, or of loops side by side. */
const maxCharacters = 4 * controlLimits.listBytes;

/** The lists of a run's loops, parsed: each step within a loop reads its item, and to parse the whole list for it costs more than a small step. */
export class LoopLists {
  /** By their JSON text; the one that was used last is at the end. */
  readonly #parsed = new Map<string, readonly unknown[]>();
  #characters = 0;

  /** @param list JSON text of an array, as the state of a run has it @returns null if it has no such item */
  item(list: string, index: number): unknown {
    const known = this.#parsed.get(list);
    const items = known ?? (JSON.parse(list) as readonly unknown[]); // Written by `decideEach`.
    if (known === undefined) this.#characters += list.length;
    this.#parsed.delete(list);
    this.#parsed.set(list, items);
    for (const oldest of this.#parsed.keys()) {
      if (this.#characters <= maxCharacters) break;
      this.#parsed.delete(oldest);
      this.#characters -= oldest.length;
    }
    return items[index] ?? null;
  }
}
