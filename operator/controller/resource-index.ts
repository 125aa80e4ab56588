import type { Resource } from "../../crds/resource.ts";
import { keyOf, type Informer } from "./informer.ts";
import { KeyIndex } from "./key-index.ts";

/** Indexes the keys of an informer's resources by derived values, to find dependents without a scan. */
export class ResourceIndex<S, T> {
  readonly #index = new KeyIndex();

  /** @param valuesOf values of a resource: none, one or several */
  constructor(informer: Informer<S, T>, valuesOf: (resource: Resource<S, T>) => string | undefined | Iterable<string>) {
    informer.onChange((resource, deleted) => this.#index.set(keyOf(resource), deleted ? undefined : valuesOf(resource)));
  }

  keys(value: string): readonly string[] {
    return [...this.#index.keys(value)];
  }
}
