import { hash } from "node:crypto";
import { LookupCache } from "../../domain/lookup-cache.ts";
import type { VariableValues } from "../../domain/variable/variable.ts";
import type { RunPorts } from "./ports.ts";

/** Owners whose variables are cached, and owners that are cached as having none. */
const maxEntries = 1_000;
const maxAbsent = 10_000;

/** Variables of one owner. */
export interface OwnerVariables {
  readonly values: VariableValues;
  /** Changes with the values. */
  readonly revision: string;
}

/** Caches the variables of owners whose workflows ran recently. An entry that changes is evicted: the next step reads the new one. */
export class VariablesCache {
  readonly #entries: LookupCache<OwnerVariables>;

  constructor({ variables, secrets }: Pick<RunPorts, "variables" | "secrets">) {
    this.#entries = new LookupCache({
      lookup: async (owner) => {
        const entry = await variables?.find(owner);
        if (entry === undefined) return undefined;
        const text = await secrets.open(entry.variables);
        // Sealed by the operator from a record.
        return { values: JSON.parse(text) as VariableValues, revision: hash("sha256", text).slice(0, 16) };
      },
      follow: async (onChange) => {
        await variables?.onChange(onChange);
        return { stop: () => Promise.resolve() };
      },
      onChange: "evict",
      maxEntries,
      maxAbsent,
    });
  }

  start(): Promise<void> {
    return this.#entries.start();
  }

  /** Undefined: the owner has none. @throws Unavailable */
  of(owner: string): Promise<OwnerVariables | undefined> {
    return this.#entries.get(owner);
  }
}
