import { Budget, type BudgetEntry } from "../../domain/budget.ts";
import { InvalidInput, LimitExceeded, Unavailable } from "../../domain/errors.ts";
import { measureJson } from "../../domain/json-shape.ts";

/** Of values that are parsed and not let go of yet, with what they take in memory; half for one user. */
const totalBytes = 64 * 2 ** 20;
/** A value that a parser makes takes so much at most, beside its bytes. */
const bytesPerValue = 64;
const limits = { depth: 64, values: 100_000 } as const;
/** Parsing more than this takes a millisecond or longer. */
const largeBytes = 64 * 2 ** 10;

/**
 * Admits bodies to be parsed: not too deep, not too many values, not too much of one user or of all at once. Of large ones one after
 * the other goes on, with the other work of the event loop in between.
 */
export class Parsing {
  readonly #budget = new Budget({ total: totalBytes, share: totalBytes / 2 });
  #turn: Promise<void> = Promise.resolve();

  /**
   * @returns what the values take, to be released when nothing holds them any more
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
      throw new Unavailable("too many large requests are under way: send it again as Retry-After says", { code: "overloaded" });
    if (bytes.length > largeBytes) await this.#myTurn();
    return entry;
  }

  #myTurn(): Promise<void> {
    return (this.#turn = this.#turn.then(() => new Promise((resolve) => setImmediate(resolve))));
  }
}
