import { Unavailable } from "../domain/errors.ts";
import type { BuildLimits } from "./limits.ts";

/** Counts what is under way and in line: so much of all, and of each owner so much that there is room for others. */
export class Admissions {
  readonly #what: string;
  readonly #limits: Pick<BuildLimits, "waiting" | "waitingOfOwner">;
  readonly #byOwner = new Map<string, number>();
  #all = 0;

  /** @param what as an error says it: `builds are waiting` */
  constructor(what: string, limits: Pick<BuildLimits, "waiting" | "waitingOfOwner">) {
    this.#what = what;
    this.#limits = limits;
  }

  /** @param owner "" when it is not known @returns to be called once, when it is over @throws Unavailable `builder_busy` */
  enter(owner: string): () => void {
    const own = this.#byOwner.get(owner) ?? 0;
    if (owner !== "" && own >= this.#limits.waitingOfOwner) throw busy(`${own} of your ${this.#what} already`);
    if (this.#all >= this.#limits.waiting) throw busy(`${this.#all} ${this.#what} already`);
    this.#change(owner, 1);
    return () => this.#change(owner, -1);
  }

  #change(owner: string, by: 1 | -1): void {
    this.#all += by;
    const own = (this.#byOwner.get(owner) ?? 0) + by;
    if (own === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, own);
  }
}

const busy = (what: string): Unavailable => new Unavailable(`${what}: try again`, { code: "builder_busy" });
