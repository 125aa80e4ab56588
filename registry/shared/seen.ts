import { createHash } from "node:crypto";

/** So many ids are remembered, the oldest forgotten first: 12 characters each, so that ids of any length take 45 KiB of a db. */
export const capacity = 3_000;

/** Ids that were seen before, as they are kept in a db. */
export class Seen {
  readonly #marks: Set<string>;

  constructor(marks: readonly string[] = []) {
    this.#marks = new Set(marks);
  }

  has(id: string): boolean {
    return this.#marks.has(markOf(id));
  }

  /** What is still there is not forgotten before what is gone. */
  add(id: string): void {
    const mark = markOf(id);
    this.#marks.delete(mark);
    this.#marks.add(mark);
  }

  /** What to keep. */
  get marks(): readonly string[] {
    return [...this.#marks].slice(-capacity);
  }
}

const markOf = (id: string): string => createHash("sha256").update(id).digest("base64url").slice(0, 12);
