import type { Resource } from "../../crds/resource.ts";
import { keyOf, type Informer } from "./informer.ts";
import { KeyIndex } from "./key-index.ts";

/** The keys of an informer's resources by values of theirs, so that "who depends on this?" does not read them all. */
export class ResourceIndex<S, T> {
  readonly #index = new KeyIndex();

  /** @param valuesOf none, one or several of a resource */
  constructor(informer: Informer<S, T>, valuesOf: (resource: Resource<S, T>) => string | undefined | Iterable<string>) {
    informer.onChange((resource, deleted) => this.#index.set(keyOf(resource), deleted ? undefined : valuesOf(resource)));
  }

  keys(value: string): readonly string[] {
    return [...this.#index.keys(value)];
  }
}
