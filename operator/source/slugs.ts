import { nameSlug, uniqueSlug } from "../../domain/name-slug.ts";
import { keyOf } from "../controller/informer.ts";
import type { SourceResource } from "./resources.ts";

/**
 * Who has which slug within an owner's namespace. Kept by the one operator that leads, from what it has seen and what it
 * has given out: two sources of one name, reconciled at once, get two slugs.
 */
export class Slugs {
  readonly #byNamespace = new Map<string, Map<string, string>>();

  /** The source's slug if it still fits its name, else a free one, taken from now on. */
  claim(source: SourceResource): string {
    const wanted = nameSlug(source.spec.name ?? source.metadata.name);
    const taken = this.#taken(source.metadata.namespace);
    const key = keyOf(source);
    const current = source.status.nameSlug;
    if (current !== undefined && fits(current, wanted) && (taken.get(current) ?? key) === key) {
      taken.set(current, key);
      return current;
    }
    const slug = uniqueSlug(wanted, (candidate) => (taken.get(candidate) ?? key) !== key);
    this.release(source);
    taken.set(slug, key);
    return slug;
  }

  release(source: SourceResource): void {
    const taken = this.#taken(source.metadata.namespace);
    const key = keyOf(source);
    for (const [slug, holder] of taken) if (holder === key) taken.delete(slug);
  }

  /** A source that was there before us keeps what it has. */
  remember(source: SourceResource): void {
    const slug = source.status.nameSlug;
    if (slug !== undefined) this.#taken(source.metadata.namespace).set(slug, keyOf(source));
  }

  #taken(namespace: string): Map<string, string> {
    const known = this.#byNamespace.get(namespace);
    if (known !== undefined) return known;
    const created = new Map<string, string>();
    this.#byNamespace.set(namespace, created);
    return created;
  }
}

function fits(slug: string, wanted: string): boolean {
  return slug === wanted || (slug.startsWith(`${wanted}-`) && /^\d+$/.test(slug.slice(wanted.length + 1)));
}
