import { Budget, type BudgetEntry } from "../../../domain/limits/budget.ts";
import { InvalidInput, LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import { measureJson } from "../../../domain/json-shape.ts";

/** Bound on the memory of parsed values that are not released yet; a user may have half of it. */
const totalBytes = 64 * 2 ** 20;
/** Maximum memory of a parsed value, in addition to its bytes. */
const bytesPerValue = 64;
const limits = { depth: 64, values: 100_000 } as const;
/** Parsing a larger body takes a millisecond or longer. */
const largeBytes = 64 * 2 ** 10;

/**
 * Admits bodies for parsing, within bounds on depth, on values, and on memory per user and in total. Large bodies are parsed one by one,
 * with other work of the event loop in between.
 */
export class Parsing {
  readonly #budget = new Budget({ total: totalBytes, share: totalBytes / 2 });
  #turn: Promise<void> = Promise.resolve();

  /**
   * @returns the memory of the values; release it when nothing refers to them any more
   * @throws InvalidInput, LimitExceeded, Unavailable
   */
  async admitJson(bytes: Buffer, user: string): Promise<BudgetEntry> {
    const { depth, values } = measureJson(bytes, limits);
    if (depth > limits.depth) throw new InvalidInput(`the body is nested more than ${limits.depth} levels deep`);
    return this.#admit(bytes, values, user);
  }

  async admitForm(bytes: Buffer, user: string): Promise<BudgetEntry> {
    let fields = 1;
    for (let at = bytes.indexOf("&"); at >= 0 && fields <= limits.values; at = bytes.indexOf("&", at + 1)) fields++;
    return this.#admit(bytes, fields, user);
  }

  /** For a body whose own limits bound its parts. */
  async admitUpload(bytes: Buffer, user: string): Promise<BudgetEntry> {
    return this.#admit(bytes, 0, user);
  }

  async #admit(bytes: Buffer, values: number, user: string): Promise<BudgetEntry> {
    if (values > limits.values)
      throw new LimitExceeded(`the body has more than ${limits.values} values: send less at once`, { code: "too_many_values" });
    const entry = this.#budget.open(user);
    if (!entry.take(bytes.length + values * bytesPerValue))
      throw new Unavailable("too many large requests are in progress: retry as Retry-After says", { code: "overloaded" });
    if (bytes.length > largeBytes) await this.#nextTurn();
    return entry;
  }

  #nextTurn(): Promise<void> {
    return (this.#turn = this.#turn.then(() => new Promise((resolve) => setImmediate(resolve))));
  }
}
